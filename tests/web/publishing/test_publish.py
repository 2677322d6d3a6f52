"""Publishing is reviewed first, sent once, and its outcome is never guessed."""

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.operations.publish import LIST_LAG
from dashboard.operations.publish_review import MAX_PUBLISHES
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.publish_dialog import ADDRESS, DIALOG, EARLIER, PROGRESS, form_in, publish, shown
from tests.support.publishing_service import (
    PublishingService,
    Way,
    accepts,
    answers,
    fails,
    garbage,
    lags,
    now,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def service(fake_service: FakeService) -> PublishingService:
    fake_service.answer = service = PublishingService()
    return service


def test_a_direction_override_is_a_named_finding(
    as_publisher: Client, service: PublishingService
) -> None:
    service.latest = wire.version(supplementaryContext="Runs \u202e71 trucks.")
    seen = text(shown(as_publisher))
    assert "text in another order than it seems: U+202E right-to-left override." in seen
    assert "inserted: U+202E right-to-left override 71" in " ".join(seen.split())


def key_in(html: str) -> str:
    match = re.search(r'name="operation_key" value="([^"]+)"', html)
    assert match
    return match[1]


def outcomes() -> list[str]:
    return list(Operation.objects.order_by("pk").values_list("outcome", flat=True))


# Review


def test_the_review_shows_live_and_future_text(
    as_publisher: Client, service: PublishingService
) -> None:
    page = text(shown(as_publisher))
    assert "Live now Version 1" in page
    assert "After publishing Version 2" in page
    assert "removed: 64" in page
    assert "inserted: 71" in page


def test_htmx_gets_the_dialog_alone(as_publisher: Client, service: PublishingService) -> None:
    page = shown(as_publisher, **DIALOG)
    assert "<html" not in page
    assert page.strip().startswith("<dialog")


def test_the_focus_is_on_cancel(as_publisher: Client, service: PublishingService) -> None:
    focused = [e for e in elements(shown(as_publisher, **DIALOG)) if "autofocus" in e.attributes]
    assert [(e.tag, e.attributes["data-closes"]) for e in focused] == [("a", "publish")]


def test_page_audience_and_conversation_are_read_together(
    as_publisher: Client, service: PublishingService
) -> None:
    shown(as_publisher)
    assert service.reads == 3


def test_pending_changes_outside_the_version_are_counted(
    as_publisher: Client, service: PublishingService
) -> None:
    service.conversation = httpx.Response(
        200, json=wire.conversation(pendingChanges=[{"changeId": "1"}, {"changeId": "2"}])
    )
    assert "2 pending changes are not in version 2." in text(shown(as_publisher))


def test_an_unreadable_conversation_is_a_finding(
    as_publisher: Client, service: PublishingService
) -> None:
    service.conversation = httpx.Response(500, json={"detail": "Broken."})
    page = shown(as_publisher)
    assert "Pending changes are unknown." in text(page)
    assert key_in(page)


def test_an_audience_without_a_conversation_has_no_pending_changes(
    as_publisher: Client, service: PublishingService
) -> None:
    service.conversation = httpx.Response(404, json={"detail": "None."})
    assert "None (no conversation)" in text(shown(as_publisher))


def test_nothing_live_and_no_text_have_a_placeholder(
    as_publisher: Client, service: PublishingService
) -> None:
    service.live = None
    assert service.latest
    service.latest |= {"supplementaryContext": None, "becameDraftAt": None}
    page = text(shown(as_publisher))
    assert "Nothing is live" in page
    assert "Both are empty." in page
    assert "an unknown time" in page


def test_an_unknown_status_keeps_its_own_name(
    as_publisher: Client, service: PublishingService
) -> None:
    assert service.latest
    service.latest |= {"status": "napping", "more": {"than": "the spec"}}
    assert "napping" in text(shown(as_publisher))


# Risks


@pytest.mark.parametrize("typed", ["", "1", "two", "22"])
def test_a_risk_requires_the_number(
    typed: str, as_publisher: Client, service: PublishingService
) -> None:
    service.page |= {"status": "archived"}
    page = publish(as_publisher, number=typed)
    assert "then type 2" in text(page)
    assert service.keys == []
    assert outcomes() == []


@pytest.mark.parametrize("status", [404, 500])
def test_a_page_that_cannot_be_read_is_a_risk(
    status: int, as_publisher: Client, service: PublishingService
) -> None:
    service.page_response = httpx.Response(status, json={"detail": "Broken."})
    page = text(shown(as_publisher))
    assert "Couldn’t read the page, so its status wasn’t checked." in page
    publish(as_publisher)
    assert service.keys == []
    publish(as_publisher, number="2")
    assert outcomes() == [Outcome.ACCEPTED]


def test_a_page_opened_in_the_form_is_read_again(
    as_publisher: Client, service: PublishingService
) -> None:
    form = form_in(shown(as_publisher))
    service.page_response = httpx.Response(500)
    response = as_publisher.post(ADDRESS, form)
    assert response.status_code == 422
    assert service.keys == []


def test_typed_text_is_preserved(as_publisher: Client, service: PublishingService) -> None:
    service.page |= {"status": "archived"}
    number = [e for e in elements(publish(as_publisher, number="17")) if e.tag == "input"][-1]
    assert number.attributes["value"] == "17"
    assert number.attributes["aria-invalid"] == "true"


def test_the_number_typed_right_publishes(as_publisher: Client, service: PublishingService) -> None:
    service.page |= {"status": "archived"}
    publish(as_publisher, number=" 2 ")
    assert outcomes() == [Outcome.ACCEPTED]


def test_a_new_risk_stops_the_publish(as_publisher: Client, service: PublishingService) -> None:
    form = {"operation_key": key_in(shown(as_publisher))}
    service.latest = wire.version(versionId="ver_3", versionNumber=3)
    answer = as_publisher.post(ADDRESS, form)
    assert answer.status_code == 422
    assert "Version 3 is newer." in text(answer.content.decode())
    assert service.keys == []


def its_text(service: PublishingService) -> None:
    assert service.latest
    service.latest |= {"supplementaryContext": "Runs 93 trucks."}


def its_agent(service: PublishingService) -> None:
    assert service.latest
    service.latest |= {"isNewPageAgent": False}


def what_is_live(service: PublishingService) -> None:
    service.live = wire.live_version(versionId="ver_0", versionNumber=0)


def what_the_live_one_says(service: PublishingService) -> None:
    service.live = wire.live_version(supplementaryContext="Runs 12 trucks.")


@pytest.mark.parametrize(
    "changes",
    [its_text, its_agent, what_is_live, what_the_live_one_says],
    ids=lambda item: item.__name__,
)
def test_changes_since_opening_are_shown_before_sending(
    changes: Callable[[PublishingService], None], as_publisher: Client, service: PublishingService
) -> None:
    form = form_in(shown(as_publisher))
    changes(service)
    answer = as_publisher.post(ADDRESS, form)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "Something changed since you opened this form. Nothing was sent." in text(page)
    assert (service.keys, outcomes()) == ([], [])
    as_publisher.post(ADDRESS, form_in(page))
    assert outcomes() == [Outcome.ACCEPTED]


def test_a_number_typed_for_one_risk_confirms_only_it(
    as_publisher: Client, service: PublishingService
) -> None:
    service.page |= {"status": "archived"}
    form = form_in(shown(as_publisher)) | {"number": "2"}
    service.latest = wire.version(versionId="ver_3", versionNumber=3)
    page = as_publisher.post(ADDRESS, form).content.decode()
    assert "Version 3 is newer." in text(page)
    assert form_in(page)["number"] == ""
    assert service.keys == []


def test_a_risky_form_without_its_hash_is_shown_again(
    as_publisher: Client, service: PublishingService
) -> None:
    service.page |= {"status": "archived"}
    form = {"operation_key": key_in(shown(as_publisher)), "number": "2"}
    answer = as_publisher.post(ADDRESS, form)
    assert answer.status_code == 422
    assert service.keys == []


def test_pending_changes_do_not_outdate_a_form(
    as_publisher: Client, service: PublishingService
) -> None:
    form = form_in(shown(as_publisher))
    service.conversation = httpx.Response(
        200, json=wire.conversation(pendingChanges=[{"changeId": "1"}])
    )
    as_publisher.post(ADDRESS, form)
    assert outcomes() == [Outcome.ACCEPTED]


def test_a_version_never_seen_is_not_published(
    as_publisher: Client, service: PublishingService
) -> None:
    strange = ADDRESS.replace("ver_2", "ver_9")
    page = shown(as_publisher, strange)
    assert "This version isn’t recorded here." in text(page)
    answer = as_publisher.post(strange, {"operation_key": key_in(page)})
    assert answer.status_code == 422
    assert service.keys == []


def test_an_unreadable_audience_is_a_risk(as_publisher: Client, service: PublishingService) -> None:
    service.way = answers(500)
    publish(as_publisher)
    service.latest = {"status": "queued"}
    assert "neither the latest nor the live version" in text(shown(as_publisher))
    assert outcomes() == [Outcome.UNKNOWN]
    page = text(shown(as_publisher, EARLIER))
    assert "The service’s data for this audience can’t be read." in page


def test_an_earlier_version_leads_to_the_rollback(
    as_publisher: Client, service: PublishingService
) -> None:
    shown(as_publisher)
    service.live = wire.version(versionId="ver_2", status="published", publishedAt="2026-03-05")
    service.latest = service.live
    assert as_publisher.get(EARLIER).url == EARLIER.replace("publish", "rollback")


# One key, one effect


@pytest.mark.parametrize("status", [200, 201, 202])
def test_the_status_code_of_an_accepted_publish_is_recorded(
    status: int, as_publisher: Client, service: PublishingService
) -> None:
    service.way = lambda of, request: httpx.Response(status, json=of.carry_out(request))
    assert f"Response Accepted ({status}) in" in text(publish(as_publisher))
    key = Operation.objects.get().operation_key
    assert f"Accepted {status} in" in text(shown(as_publisher, f"/activity/{key}/"))


def test_a_response_about_another_version_proves_nothing(
    as_publisher: Client, service: PublishingService
) -> None:
    service.way = lambda of, request: httpx.Response(200, json=wire.version(versionId="ver_9"))
    page = publish(as_publisher)
    assert outcomes() == [Outcome.UNKNOWN]
    assert "the service returned another version, ver_9" in text(page)


def test_a_publish_is_recorded_before_it_is_sent(
    as_publisher: Client, service: PublishingService
) -> None:
    def way(of: PublishingService, request: httpx.Request) -> httpx.Response:
        assert outcomes() == [Outcome.SENDING]
        return accepts(of, request)

    service.way = way
    publish(as_publisher)
    assert outcomes() == [Outcome.ACCEPTED]


def test_a_second_click_sends_nothing(as_publisher: Client, service: PublishingService) -> None:
    form = {"operation_key": key_in(shown(as_publisher))}
    pages = [as_publisher.post(ADDRESS, form, follow=True) for _ in range(2)]
    assert len(service.keys) == 1
    assert ["Publishing version 2" in text(p.content.decode()) for p in pages] == [True, True]


def test_a_form_opened_before_the_publish_sends_nothing(
    as_publisher: Client, service: PublishingService
) -> None:
    form = {"operation_key": key_in(shown(as_publisher))}
    publish(as_publisher)
    service.moves_on("published")
    page = as_publisher.post(ADDRESS, form, follow=True)
    assert "Version 2 is live" in text(page.content.decode())
    assert len(service.keys) == 1


def test_an_accepted_publish_is_in_progress_while_lists_lag(
    as_publisher: Client, service: PublishingService
) -> None:
    service.way = lags
    publish(as_publisher)
    page = shown(as_publisher)
    assert "Publishing version 2" in text(page)
    assert 'name="operation_key"' not in page


def test_an_outdated_form_leads_to_the_publish_in_progress(
    as_publisher: Client, service: PublishingService
) -> None:
    service.way = lags
    publish(as_publisher)
    answer = as_publisher.post(ADDRESS, {"operation_key": "mine"}, follow=True)
    assert "Publishing version 2" in text(answer.content.decode())


def test_a_list_without_the_publish_is_trusted_eventually(
    as_publisher: Client, service: PublishingService
) -> None:
    service.way = lags
    publish(as_publisher)
    Operation.objects.update(settled_at=timezone.now() - LIST_LAG)
    publish(as_publisher)
    assert len(set(service.keys)) == 2


def test_two_users_have_the_same_key(
    as_publisher: Client, service: PublishingService, django_user_model: Any
) -> None:
    other = Client()
    other.force_login(django_user_model.objects.create_superuser("root", password="root"))
    assert key_in(shown(as_publisher)) == key_in(shown(other))


@pytest.mark.parametrize("key", ["", "mine", "x" * 5_000, "pr-0000-0000-0000-0000-0000", "\0"])
def test_an_operation_key_of_other_origin_is_rejected(
    key: str, as_publisher: Client, service: PublishingService
) -> None:
    answer = as_publisher.post(ADDRESS, {"operation_key": key})
    assert answer.status_code == 422
    assert "This form is out of date." in text(answer.content.decode())
    assert service.keys == []


def test_the_key_of_another_version_is_rejected(
    as_publisher: Client, service: PublishingService
) -> None:
    publish(as_publisher)
    key = Operation.objects.get().operation_key
    assert as_publisher.post(EARLIER, {"operation_key": key}).status_code == 422
    assert as_publisher.get(f"{EARLIER}progress/?operation={key}").status_code == 404
    assert len(service.keys) == 1


# Outcomes


@pytest.mark.matrix(cells=3)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 422, 429])
def test_a_rejection_appears_beside_the_button_with_retry(
    status: int, as_publisher: Client, service: PublishingService
) -> None:
    service.way = answers(status, "Not <b>today</b>.")
    page = publish(as_publisher)
    assert outcomes() == [Outcome.REJECTED]
    assert f"The service returned {status}: Not <b>today</b>." in text(page)
    assert "Version 2 is unchanged (draft)." in text(page)
    service.way = accepts
    as_publisher.post(ADDRESS, {"operation_key": key_in(page)})
    assert outcomes() == [Outcome.REJECTED, Outcome.ACCEPTED]
    assert len(set(service.keys)) == 2


UNANSWERED: list[Callable[[bool], Way]] = [
    lambda carried_out: answers(500, carried_out=carried_out),
    lambda carried_out: answers(503, carried_out=carried_out),
    lambda carried_out: answers(302, carried_out=carried_out),
    lambda carried_out: fails(httpx.ReadTimeout, carried_out=carried_out),
    lambda carried_out: fails(httpx.ReadError, carried_out=carried_out),
    lambda carried_out: fails(httpx.RemoteProtocolError, carried_out=carried_out),
]


@pytest.mark.matrix(cells=3)
@pytest.mark.parametrize("unanswered", UNANSWERED)
def test_no_response_is_unknown_until_a_check_proves_it(
    unanswered: Callable[[bool], Way], as_publisher: Client, service: PublishingService
) -> None:
    service.way = unanswered(False)
    page = text(publish(as_publisher))
    assert outcomes() == [Outcome.UNKNOWN]
    assert "We don’t know if version 2 was published" in page
    assert "version 2 is still draft (live: version 1)" in page
    assert "Check now" in page
    assert "Retry with the same key" in page


@pytest.mark.matrix(cells=3)
@pytest.mark.parametrize("unanswered", [*UNANSWERED, lambda _: garbage])
def test_an_unanswered_publish_that_succeeded_is_found(
    unanswered: Callable[[bool], Way], as_publisher: Client, service: PublishingService
) -> None:
    service.way = unanswered(True)
    page = publish(as_publisher)
    assert outcomes() == [Outcome.ACCEPTED]
    assert "No response, but version 2 is now" in text(page)
    assert len(service.keys) == 1


def test_a_failed_connection_is_not_sent_and_retryable(
    as_publisher: Client, service: PublishingService
) -> None:
    service.way = fails(httpx.ConnectError, carried_out=False)
    page = publish(as_publisher)
    assert outcomes() == [Outcome.NOT_SENT]
    assert "Not sent." in text(page)
    service.way = accepts
    as_publisher.post(ADDRESS, {"operation_key": key_in(page)})
    assert outcomes() == [Outcome.NOT_SENT, Outcome.ACCEPTED]


def test_an_unknown_outcome_keeps_its_url_and_its_key(
    as_publisher: Client, service: PublishingService
) -> None:
    service.way = answers(500)
    publish(as_publisher)
    page = shown(as_publisher)
    assert "We don’t know if version 2 was published" in text(page)
    assert 'name="operation_key"' not in page


def test_a_retry_uses_the_same_key(as_publisher: Client, service: PublishingService) -> None:
    service.way = answers(500)
    publish(as_publisher)
    service.way = accepts
    key = Operation.objects.get().operation_key
    answer = as_publisher.post(f"/activity/{key}/send-again/", {"from": "publish"}, headers=DIALOG)
    assert "Publishing version 2" in text(answer.content.decode())
    assert outcomes() == [Outcome.ACCEPTED]
    assert service.keys == [key, key]


def test_a_rejected_retry_leaves_the_outcome_unknown(
    as_publisher: Client, service: PublishingService
) -> None:
    service.way = fails(httpx.ReadTimeout, carried_out=False)
    publish(as_publisher)
    service.way = answers(409, "Used before.")
    key = Operation.objects.get().operation_key
    answer = as_publisher.post(f"/activity/{key}/send-again/", {"from": "publish"}, follow=True)
    page = text(answer.content.decode())
    assert outcomes() == [Outcome.UNKNOWN]
    assert "Used before." in page
    assert "We don’t know" in page


# Progress


def progress_address(html: str) -> str:
    polling = [e for e in elements(html) if e.attributes.get("id") == "progress"]
    return polling[0].attributes.get("hx-get", "")


def test_progress_stops_polling_once_live(as_publisher: Client, service: PublishingService) -> None:
    page = publish(as_publisher)
    address = progress_address(page)
    assert "Publishing version 2" in text(page)
    service.moves_on("processing")
    part = shown(as_publisher, address, **PROGRESS)
    assert "<dialog" not in part
    assert "Publishing version 2: processing" in text(part)
    service.moves_on("published")
    dialog = shown(as_publisher, progress_address(part), **PROGRESS)
    assert "Version 2 is live" in text(dialog)
    assert "data-polls" not in dialog


def test_only_a_change_of_status_is_announced(
    as_publisher: Client, service: PublishingService
) -> None:
    address = progress_address(publish(as_publisher))
    assert 'id="pub-announcement"' not in shown(as_publisher, address, **PROGRESS)


def test_a_poll_takes_one_call(as_publisher: Client, service: PublishingService) -> None:
    address = progress_address(publish(as_publisher))
    before = service.reads
    shown(as_publisher, address, **PROGRESS)
    assert service.reads == before + 1


def test_progress_survives_a_reload(as_publisher: Client, service: PublishingService) -> None:
    publish(as_publisher)
    assert "Publishing version 2" in text(shown(as_publisher))
    service.moves_on("published")
    assert "Version 2 is already live." in text(shown(as_publisher))


def test_a_cancelled_version_is_reported_with_the_live_one(
    as_publisher: Client, service: PublishingService
) -> None:
    address = progress_address(publish(as_publisher))
    service.moves_on("cancelled", cancelledAt="2026-03-09T10:00:00Z")
    part = shown(as_publisher, address, **PROGRESS)
    assert "Version 2 was canceled. Version 1 is live." in text(part)
    assert progress_address(part) == ""


def test_a_failed_poll_is_reported_and_polling_continues(
    as_publisher: Client, service: PublishingService, fake_service: FakeService
) -> None:
    address = progress_address(publish(as_publisher))
    fake_service.fails(httpx.ConnectError)
    part = shown(as_publisher, address, **PROGRESS)
    assert "Refresh failed." in text(part)
    assert progress_address(part)


def test_an_outcome_that_becomes_unknown_replaces_the_whole_dialog(
    as_publisher: Client, service: PublishingService
) -> None:
    address = progress_address(publish(as_publisher))
    Operation.objects.update(outcome=Outcome.UNKNOWN)
    Operation.objects.get().attempts.update(outcome=Outcome.UNKNOWN)
    service.latest = wire.version()
    answer = as_publisher.get(address, headers=PROGRESS)
    assert answer["HX-Retarget"] == "closest dialog"
    assert "We don’t know if version 2 was published" in text(answer.content.decode())


def test_an_older_queued_version_overtakes_nothing(
    as_publisher: Client, service: PublishingService
) -> None:
    shown(as_publisher)
    service.live = wire.live_version(versionId="ver_0", versionNumber=0)
    publish(as_publisher)
    service.moves_on("processing")
    page = publish(as_publisher, EARLIER, number="1")
    service.moves_on("published")
    part = shown(as_publisher, progress_address(page), **PROGRESS)
    assert "Publishing version 1" in text(part)
    assert progress_address(part)
    service.live = wire.live_version(queuedAt=now(), publishedAt=now())
    assert "Version 1 is live" in text(shown(as_publisher, progress_address(part), **PROGRESS))


# The service is away


def test_publishing_is_disabled_while_the_service_does_not_respond(
    as_publisher: Client, service: PublishingService, fake_service: FakeService
) -> None:
    shown(as_publisher)
    fake_service.fails(httpx.ConnectError)
    page = shown(as_publisher)
    assert "Publishing is disabled until the service responds." in text(page)
    buttons = [e.attributes for e in elements(page, "button")]
    assert {"class": "button primary", "type": "button", "aria-disabled": "true"} in buttons


def test_a_click_during_an_outage_is_recorded_not_sent(
    as_publisher: Client, service: PublishingService, fake_service: FakeService
) -> None:
    form = {"operation_key": key_in(shown(as_publisher))}
    fake_service.fails(httpx.ConnectError)
    page = as_publisher.post(ADDRESS, form, follow=True).content.decode()
    assert "The pre-publish checks couldn’t run." in text(page)
    assert outcomes() == [Outcome.NOT_SENT]


def test_a_service_that_hangs_is_waited_for_once(
    as_publisher: Client, service: PublishingService, fake_service: FakeService
) -> None:
    shown(as_publisher)
    fake_service.sent.clear()
    fake_service.fails(httpx.ReadTimeout)
    shown(as_publisher)
    assert len(fake_service.sent) == 1


@pytest.mark.parametrize("status", [404, 500])
def test_an_unrecorded_unreadable_audience_is_an_error_page(
    status: int, as_publisher: Client, fake_service: FakeService
) -> None:
    fake_service.answers(status, json={"detail": "Gone."})
    answer = as_publisher.get(ADDRESS)
    assert answer.status_code in (404, 502)
    assert "Gone." in text(answer.content.decode())


def test_the_page_costs_few_queries(
    as_publisher: Client, service: PublishingService, django_assert_max_num_queries: Any
) -> None:
    shown(as_publisher)
    with django_assert_max_num_queries(26):
        shown(as_publisher)


def test_few_of_many_publishes_are_read(
    as_publisher: Client, paula: User, service: PublishingService
) -> None:
    shown(as_publisher)
    publish(as_publisher)
    service.moves_on("published")
    shown(as_publisher)
    settled = {"outcome": Outcome.ACCEPTED, "settled_at": timezone.now(), "before": {}}
    Operation.objects.bulk_create(
        Operation(
            operation_key=f"k{number}",
            kind=OperationKind.PUBLISH_VERSION,
            page_id="page_1",
            audience_id="aud_1",
            version_id=f"ver_{3 + number}" if number < 500 else "ver_1",
            requested_at=timezone.now(),
            **settled,
        )
        for number in range(1000)
    )
    lost = {"version_id": "ver_0", "version_number": 0, "outcome": Outcome.UNKNOWN}
    Operation.objects.filter(operation_key="k0").update(**lost)
    rollback = EARLIER.replace("publish", "rollback")
    assert "Publishing version 0 hasn’t finished." in text(shown(as_publisher, rollback))
    with CaptureQueriesContext(connection) as queries:
        shown(as_publisher, rollback)
    of_many = [query["sql"] for query in queries if "ledger_operation" in query["sql"]]
    assert any(f"LIMIT {MAX_PUBLISHES}" in sql for sql in of_many)
