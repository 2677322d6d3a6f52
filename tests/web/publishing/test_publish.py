"""Publishing is reviewed first, sent once, and its outcome is never guessed."""

from collections.abc import Callable
from datetime import timedelta
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
from dashboard.ledger.operations import Target
from dashboard.operations.publish import LIST_LAG
from dashboard.operations.publish_review import MAX_PUBLISHES
from tests.conftest import person
from tests.support import wire
from tests.support.clock import stopped
from tests.support.fake_service import FakeService
from tests.support.html import elements, page_text
from tests.support.operations import operation
from tests.support.publish_dialog import ADDRESS, DIALOG, EARLIER, PublishDialog
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


def test_a_direction_override_is_a_named_finding(dialog: PublishDialog) -> None:
    dialog.service.latest = wire.version(supplementaryContext="Runs \u202e71 trucks.")
    seen = dialog.open().text
    assert "text in another order than it seems: U+202E right-to-left override." in seen
    assert "inserted: U+202E right-to-left override 71" in " ".join(seen.split())


def outcomes() -> list[str]:
    return list(Operation.objects.order_by("pk").values_list("outcome", flat=True))


# Review


def test_the_review_shows_live_and_future_text(dialog: PublishDialog) -> None:
    page = dialog.open().text
    assert "Live now Version 1" in page
    assert "After publishing Version 2" in page
    assert "removed: 64" in page
    assert "inserted: 71" in page


def test_htmx_gets_the_dialog_alone(dialog: PublishDialog) -> None:
    assert "<html" not in dialog.open(**DIALOG).html
    assert dialog.html.strip().startswith("<dialog")


def test_the_focus_is_on_cancel(dialog: PublishDialog) -> None:
    focused = [e for e in elements(dialog.open(**DIALOG).html) if "autofocus" in e.attributes]
    assert [(e.tag, e.attributes["data-closes"]) for e in focused] == [("a", "publish")]


def test_page_audience_and_conversation_are_read_together(dialog: PublishDialog) -> None:
    dialog.open()
    assert dialog.service.reads == 3


def test_pending_changes_outside_the_version_are_counted(dialog: PublishDialog) -> None:
    dialog.service.conversation = httpx.Response(
        200, json=wire.conversation(pendingChanges=[{"changeId": "1"}, {"changeId": "2"}])
    )
    assert "2 pending changes are not in version 2." in dialog.open().text


def test_an_unreadable_conversation_is_a_finding(dialog: PublishDialog) -> None:
    dialog.service.conversation = httpx.Response(500, json={"detail": "Broken."})
    assert "Pending changes are unknown." in dialog.open().text
    assert dialog.key


def test_an_audience_without_a_conversation_has_no_pending_changes(dialog: PublishDialog) -> None:
    dialog.service.conversation = httpx.Response(404, json={"detail": "None."})
    assert "None (no conversation)" in dialog.open().text


def test_nothing_live_and_no_text_have_a_placeholder(dialog: PublishDialog) -> None:
    dialog.service.live = None
    assert dialog.service.latest
    dialog.service.latest |= {"supplementaryContext": None, "becameDraftAt": None}
    page = dialog.open().text
    assert "Nothing is live" in page
    assert "Both are empty." in page
    assert "an unknown time" in page


def test_an_unknown_status_keeps_its_own_name(dialog: PublishDialog) -> None:
    assert dialog.service.latest
    dialog.service.latest |= {"status": "napping", "more": {"than": "the spec"}}
    assert "napping" in dialog.open().text


# Risks


@pytest.mark.parametrize("number", ["", "1", "two", "22"])
def test_a_risk_requires_the_number(number: str, dialog: PublishDialog) -> None:
    dialog.service.page |= {"status": "archived"}
    assert "then type 2" in dialog.publish(number=number).text
    assert dialog.service.keys == []
    assert outcomes() == []


@pytest.mark.parametrize("status", [404, 500])
def test_a_page_that_cannot_be_read_is_a_risk(status: int, dialog: PublishDialog) -> None:
    dialog.service.page_response = httpx.Response(status, json={"detail": "Broken."})
    page = dialog.open().text
    assert "Couldn’t read the page, so its status wasn’t checked." in page
    dialog.publish()
    assert dialog.service.keys == []
    dialog.publish(number="2")
    assert outcomes() == [Outcome.ACCEPTED]


def test_a_page_opened_in_the_form_is_read_again(dialog: PublishDialog) -> None:
    form = dialog.open().form
    dialog.service.page_response = httpx.Response(500)
    assert dialog.press(form).status == 422
    assert dialog.service.keys == []


def test_typed_text_is_preserved(dialog: PublishDialog) -> None:
    dialog.service.page |= {"status": "archived"}
    number = [e for e in elements(dialog.publish(number="17").html) if e.tag == "input"][-1]
    assert number.attributes["value"] == "17"
    assert number.attributes["aria-invalid"] == "true"


def test_the_number_typed_right_publishes(dialog: PublishDialog) -> None:
    dialog.service.page |= {"status": "archived"}
    dialog.publish(number=" 2 ")
    assert outcomes() == [Outcome.ACCEPTED]


def test_a_new_risk_stops_the_publish(dialog: PublishDialog) -> None:
    form = {"operation_key": dialog.open().key}
    dialog.service.latest = wire.version(versionId="ver_3", versionNumber=3)
    assert dialog.press(form).status == 422
    assert "Version 3 is newer." in dialog.text
    assert dialog.service.keys == []


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
    changes: Callable[[PublishingService], None], dialog: PublishDialog
) -> None:
    form = dialog.open().form
    changes(dialog.service)
    assert dialog.press(form).status == 422
    assert "Something changed since you opened this form. Nothing was sent." in dialog.text
    assert (dialog.service.keys, outcomes()) == ([], [])
    dialog.press()
    assert outcomes() == [Outcome.ACCEPTED]


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=5), "ben published version 3 just now. Nothing was sent."),
        (timedelta(minutes=4), "ben published version 3, 4 min ago. Nothing was sent."),
        (timedelta(hours=4), "Something changed since you opened this form. Nothing was sent."),
    ],
    ids=str,
)
def test_who_published_meanwhile_is_named(
    age: timedelta, words: str, dialog: PublishDialog
) -> None:
    form = dialog.open().form
    what_is_live(dialog.service)
    target = Target("page_1", "aud_1", "ver_3", 3, target_name="Brightwater Foods")
    operation(person("ben"), "key-ben", target=target, at=timezone.now() - age)
    assert words in dialog.press(form).text
    assert dialog.service.keys == []


def test_one_s_own_publish_is_no_news(dialog: PublishDialog, paula: User) -> None:
    form = dialog.open().form
    what_is_live(dialog.service)
    target = Target("page_1", "aud_1", "ver_3", 3, target_name="Brightwater Foods")
    operation(paula, "key-own", target=target)
    assert "Something changed since you opened this form." in dialog.press(form).text


def test_a_number_typed_for_one_risk_confirms_only_it(dialog: PublishDialog) -> None:
    dialog.service.page |= {"status": "archived"}
    form = dialog.open().form | {"number": "2"}
    dialog.service.latest = wire.version(versionId="ver_3", versionNumber=3)
    assert "Version 3 is newer." in dialog.press(form).text
    assert dialog.form["number"] == ""
    assert dialog.service.keys == []


def test_a_risky_form_without_its_hash_is_shown_again(dialog: PublishDialog) -> None:
    dialog.service.page |= {"status": "archived"}
    form = {"operation_key": dialog.open().key, "number": "2"}
    assert dialog.press(form).status == 422
    assert dialog.service.keys == []


def test_pending_changes_do_not_outdate_a_form(dialog: PublishDialog) -> None:
    form = dialog.open().form
    dialog.service.conversation = httpx.Response(
        200, json=wire.conversation(pendingChanges=[{"changeId": "1"}])
    )
    dialog.press(form)
    assert outcomes() == [Outcome.ACCEPTED]


def test_a_version_never_seen_is_not_published(dialog: PublishDialog) -> None:
    dialog.url = ADDRESS.replace("ver_2", "ver_9")
    assert "This version isn’t recorded here." in dialog.open().text
    assert dialog.press({"operation_key": dialog.key}).status == 422
    assert dialog.service.keys == []


def test_an_unreadable_audience_is_a_risk(dialog: PublishDialog) -> None:
    dialog.service.way = answers(500)
    dialog.publish()
    dialog.service.latest = {"status": "queued"}
    assert "neither the latest nor the live version" in dialog.open().text
    assert outcomes() == [Outcome.UNKNOWN]
    page = page_text(dialog.client, EARLIER)
    assert "The service’s data for this audience can’t be read." in page


def test_an_earlier_version_leads_to_the_rollback(dialog: PublishDialog) -> None:
    dialog.open()
    dialog.service.live = wire.version(
        versionId="ver_2", status="published", publishedAt="2026-03-05"
    )
    dialog.service.latest = dialog.service.live
    assert dialog.client.get(EARLIER).url == EARLIER.replace("publish", "rollback")


# One key, one effect


@pytest.mark.parametrize("status", [200, 201, 202])
def test_the_status_code_of_an_accepted_publish_is_recorded(
    status: int, dialog: PublishDialog
) -> None:
    dialog.service.way = lambda of, request: httpx.Response(status, json=of.carry_out(request))
    assert f"Response Accepted ({status}) in" in dialog.publish().text
    key = Operation.objects.get().operation_key
    assert f"Accepted {status} in" in page_text(dialog.client, f"/activity/{key}/")


def test_a_response_about_another_version_proves_nothing(dialog: PublishDialog) -> None:
    dialog.service.way = lambda of, request: httpx.Response(
        200, json=wire.version(versionId="ver_9")
    )
    dialog.publish()
    assert outcomes() == [Outcome.UNKNOWN]
    assert "the service returned another version, ver_9" in dialog.text


def test_a_publish_is_recorded_before_it_is_sent(dialog: PublishDialog) -> None:
    def way(of: PublishingService, request: httpx.Request) -> httpx.Response:
        assert outcomes() == [Outcome.SENDING]
        return accepts(of, request)

    dialog.service.way = way
    dialog.publish()
    assert outcomes() == [Outcome.ACCEPTED]


def test_a_second_click_sends_nothing(dialog: PublishDialog) -> None:
    form = {"operation_key": dialog.open().key}
    assert [dialog.press(form).state for _ in range(2)] == ["Publishing version 2"] * 2
    assert len(dialog.service.keys) == 1


def test_a_form_opened_before_the_publish_sends_nothing(dialog: PublishDialog) -> None:
    form = {"operation_key": dialog.open().key}
    dialog.publish()
    dialog.service.moves_on("published")
    assert dialog.press(form).state == "Version 2 is live"
    assert len(dialog.service.keys) == 1


def test_an_accepted_publish_is_in_progress_while_lists_lag(dialog: PublishDialog) -> None:
    dialog.service.way = lags
    dialog.publish()
    assert dialog.open().state == "Publishing version 2"
    assert 'name="operation_key"' not in dialog.html


def test_an_outdated_form_leads_to_the_publish_in_progress(dialog: PublishDialog) -> None:
    dialog.service.way = lags
    dialog.publish()
    assert dialog.press({"operation_key": "mine"}).state == "Publishing version 2"


def test_a_list_without_the_publish_is_trusted_eventually(dialog: PublishDialog) -> None:
    dialog.service.way = lags
    dialog.publish()
    Operation.objects.update(settled_at=timezone.now() - LIST_LAG)
    dialog.publish()
    assert len(set(dialog.service.keys)) == 2


def test_two_users_have_the_same_key(dialog: PublishDialog, django_user_model: Any) -> None:
    other = Client()
    other.force_login(django_user_model.objects.create_superuser("root", password="root"))
    assert dialog.open().key == PublishDialog(other, dialog.service).open().key


@pytest.mark.parametrize("key", ["", "mine", "x" * 5_000, "pr-0000-0000-0000-0000-0000", "\0"])
def test_an_operation_key_of_other_origin_is_rejected(key: str, dialog: PublishDialog) -> None:
    assert dialog.press({"operation_key": key}).status == 422
    assert "This form is out of date." in dialog.text
    assert dialog.service.keys == []


def test_the_key_of_another_version_is_rejected(dialog: PublishDialog) -> None:
    dialog.publish()
    key = Operation.objects.get().operation_key
    assert dialog.client.post(EARLIER, {"operation_key": key}).status_code == 422
    assert dialog.client.get(f"{EARLIER}progress/?operation={key}").status_code == 404
    assert len(dialog.service.keys) == 1


# Outcomes


@pytest.mark.matrix(cells=3)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 422, 429])
def test_a_rejection_appears_beside_the_button_with_retry(
    status: int, dialog: PublishDialog
) -> None:
    dialog.service.way = answers(status, "Not <b>today</b>.")
    dialog.publish()
    assert outcomes() == [Outcome.REJECTED]
    assert f"The service returned {status}: Not <b>today</b>." in dialog.text
    assert "Version 2 is unchanged (draft)." in dialog.text
    dialog.service.way = accepts
    dialog.press({"operation_key": dialog.key})
    assert outcomes() == [Outcome.REJECTED, Outcome.ACCEPTED]
    assert len(set(dialog.service.keys)) == 2


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
    unanswered: Callable[[bool], Way], dialog: PublishDialog
) -> None:
    dialog.service.way = unanswered(False)
    assert dialog.publish().state == "We don’t know if version 2 was published"
    assert outcomes() == [Outcome.UNKNOWN]
    for words in (
        "version 2 is still draft (live: version 1)",
        "Check now",
        "Retry with the same key",
    ):
        assert words in dialog.text


@pytest.mark.matrix(cells=3)
@pytest.mark.parametrize("unanswered", [*UNANSWERED, lambda _: garbage])
def test_an_unanswered_publish_that_succeeded_is_found(
    unanswered: Callable[[bool], Way], dialog: PublishDialog
) -> None:
    dialog.service.way = unanswered(True)
    dialog.publish()
    assert outcomes() == [Outcome.ACCEPTED]
    assert "No response, but version 2 is now" in dialog.text
    assert len(dialog.service.keys) == 1


def test_a_failed_connection_is_not_sent_and_retryable(dialog: PublishDialog) -> None:
    dialog.service.way = fails(httpx.ConnectError, carried_out=False)
    dialog.publish()
    assert outcomes() == [Outcome.NOT_SENT]
    assert "Not sent." in dialog.text
    dialog.service.way = accepts
    dialog.press({"operation_key": dialog.key})
    assert outcomes() == [Outcome.NOT_SENT, Outcome.ACCEPTED]


def test_an_unknown_outcome_keeps_its_url_and_its_key(dialog: PublishDialog) -> None:
    dialog.service.way = answers(500)
    dialog.publish()
    assert dialog.open().state == "We don’t know if version 2 was published"
    assert 'name="operation_key"' not in dialog.html


def test_a_retry_uses_the_same_key(dialog: PublishDialog) -> None:
    dialog.service.way = answers(500)
    dialog.publish()
    dialog.service.way = accepts
    key = Operation.objects.get().operation_key
    assert dialog.send_again(**DIALOG).state == "Publishing version 2"
    assert outcomes() == [Outcome.ACCEPTED]
    assert dialog.service.keys == [key, key]


def test_a_rejected_retry_leaves_the_outcome_unknown(dialog: PublishDialog) -> None:
    dialog.service.way = fails(httpx.ReadTimeout, carried_out=False)
    dialog.publish()
    dialog.service.way = answers(409, "Used before.")
    page = dialog.send_again().text
    assert outcomes() == [Outcome.UNKNOWN]
    assert "Used before." in page
    assert "We don’t know" in page


# Progress


def test_progress_stops_polling_once_live(dialog: PublishDialog) -> None:
    assert dialog.publish().state == "Publishing version 2"
    dialog.service.moves_on("processing")
    assert "<dialog" not in dialog.poll().html
    assert "Publishing version 2: processing" in dialog.text
    dialog.service.moves_on("published")
    assert dialog.poll().state == "Version 2 is live"
    assert "data-polls" not in dialog.html


def test_only_a_change_of_status_is_announced(dialog: PublishDialog) -> None:
    dialog.publish()
    assert 'id="pub-announcement"' not in dialog.poll().html


def test_a_poll_takes_one_call(dialog: PublishDialog) -> None:
    dialog.publish()
    before = dialog.service.reads
    dialog.poll()
    assert dialog.service.reads == before + 1


def test_progress_survives_a_reload(dialog: PublishDialog) -> None:
    dialog.publish()
    assert dialog.open().state == "Publishing version 2"
    dialog.service.moves_on("published")
    assert "Version 2 is already live." in dialog.open().text


def test_a_cancelled_version_is_reported_with_the_live_one(dialog: PublishDialog) -> None:
    dialog.publish()
    dialog.service.moves_on("cancelled", cancelledAt="2026-03-09T10:00:00Z")
    assert "Version 2 was canceled. Version 1 is live." in dialog.poll().text
    assert dialog.poll_url == ""


def test_a_failed_poll_is_reported_and_polling_continues(
    dialog: PublishDialog, fake_service: FakeService
) -> None:
    dialog.publish()
    fake_service.fails(httpx.ConnectError)
    assert "Refresh failed." in dialog.poll().text
    assert dialog.poll_url


def test_an_outcome_that_becomes_unknown_replaces_the_whole_dialog(dialog: PublishDialog) -> None:
    dialog.publish()
    Operation.objects.update(outcome=Outcome.UNKNOWN)
    Operation.objects.get().attempts.update(outcome=Outcome.UNKNOWN)
    dialog.service.latest = wire.version()
    assert dialog.poll().headers["HX-Retarget"] == "closest dialog"
    assert dialog.state == "We don’t know if version 2 was published"


def test_an_older_queued_version_overtakes_nothing(dialog: PublishDialog) -> None:
    dialog.open()
    dialog.service.live = wire.live_version(versionId="ver_0", versionNumber=0)
    dialog.publish()
    dialog.service.moves_on("processing")
    dialog.url = EARLIER
    dialog.publish(number="1")
    dialog.service.moves_on("published")
    assert dialog.poll().state == "Publishing version 1"
    assert dialog.poll_url
    dialog.service.live = wire.live_version(queuedAt=now(), publishedAt=now())
    assert dialog.poll().state == "Version 1 is live"


# The service is away


def test_publishing_is_disabled_while_the_service_does_not_respond(
    dialog: PublishDialog, fake_service: FakeService
) -> None:
    dialog.open()
    fake_service.fails(httpx.ConnectError)
    assert "Publishing is disabled until the service responds." in dialog.open().text
    buttons = [e.attributes for e in elements(dialog.html, "button")]
    assert {"class": "button primary", "type": "button", "aria-disabled": "true"} in buttons


def test_a_click_during_an_outage_is_recorded_not_sent(
    dialog: PublishDialog, fake_service: FakeService
) -> None:
    form = {"operation_key": dialog.open().key}
    fake_service.fails(httpx.ConnectError)
    assert "The pre-publish checks couldn’t run." in dialog.press(form).text
    assert outcomes() == [Outcome.NOT_SENT]


def test_a_service_that_hangs_is_waited_for_once(
    dialog: PublishDialog, fake_service: FakeService
) -> None:
    dialog.open()
    fake_service.sent.clear()
    fake_service.fails(httpx.ReadTimeout)
    dialog.open()
    assert len(fake_service.sent) == 1


@pytest.mark.parametrize("status", [404, 500])
def test_an_unrecorded_unreadable_audience_is_an_error_page(
    status: int, dialog: PublishDialog, fake_service: FakeService
) -> None:
    fake_service.answers(status, json={"detail": "Gone."})
    assert dialog.open().status in (404, 502)
    assert "Gone." in dialog.text


def test_the_page_costs_few_queries(
    dialog: PublishDialog,
    django_assert_max_num_queries: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stopped(monkeypatch)  # A second later, the audience would be recorded as seen again.
    dialog.open()
    with django_assert_max_num_queries(32):
        dialog.open()


def test_few_of_many_publishes_are_read(dialog: PublishDialog, paula: User) -> None:
    dialog.open()
    dialog.publish()
    dialog.service.moves_on("published")
    dialog.open()
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
    assert "Publishing version 0 hasn’t finished." in page_text(dialog.client, rollback)
    with CaptureQueriesContext(connection) as queries:
        page_text(dialog.client, rollback)
    of_many = [query["sql"] for query in queries if "ledger_operation" in query["sql"]]
    assert any(f"LIMIT {MAX_PUBLISHES}" in sql for sql in of_many)
