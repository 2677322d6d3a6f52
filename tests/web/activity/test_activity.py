"""Activity: every operation with its requests, responses, check and retry."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.ledger.models import Attempt, Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import AttemptResult, Target, begin_retry, end
from dashboard.web.live.shell_state import shell_state
from tests.conftest import logged_in, person
from tests.support import wire
from tests.support.csv_files import csv_rows
from tests.support.fake_service import FakeService
from tests.support.html import elements, page_html, page_text, response_text, text
from tests.support.live_page import Region
from tests.support.operations import operation, operations
from tests.support.seeding import seed_pages, seed_publication

pytestmark = pytest.mark.django_db


def new_page(actor: User, key: str, **differs: Any) -> Operation:
    body = {"name": "Fleet", "brandId": "brand_1", "pageContext": "Lorries.", "pageType": "custom"}
    body |= {"actions": [], "actionCardWidgets": [], "scripts": []}  # type: ignore[dict-item]
    target = Target(target_name="Fleet")
    return operation(
        actor, key, kind=OperationKind.CREATE_PAGE, target=target, body=body, **differs
    )


def webhook(actor: User, key: str, **differs: Any) -> Operation:
    return operation(
        actor,
        key,
        kind=OperationKind.UPDATE_SUBSCRIPTION,
        target=Target(subscription_id="whs_1", target_name="CRM"),
        **{"body": {"active": False}, "before": wire.subscription()} | differs,
    )


LOST = AttemptResult(Outcome.UNKNOWN, "The service didn’t respond within 30 s.")
REFUSED = AttemptResult(Outcome.REJECTED, "The service returned 422: No.", 422, '{"detail": "No."}')


def interrupted(user: User) -> None:
    """Record a publish whose process was killed while it was being sent."""
    operation(user, "k1", ending=None)
    Attempt.objects.update(sent_at=timezone.now() - timedelta(minutes=5))


def html_of(client: Client, url: str = "/activity/", **headers: str) -> str:
    return page_html(client, url, **headers)


def text_of(client: Client, url: str = "/activity/") -> str:
    return page_text(client, url)


def keys_in(html: str) -> list[str]:
    links = [e.attributes.get("hx-get", "") for e in elements(html, "details")]
    return [link.split("/")[2] for link in links if link.startswith("/activity/")]


# The list


def test_a_row_shows_operation_user_target_and_outcome(as_viewer: Client, paula: User) -> None:
    operation(paula, "k1")
    page = text_of(as_viewer)
    assert "paula Publish version 2 Brightwater Foods Accepted" in page


def test_an_empty_log_says_so(as_viewer: Client) -> None:
    assert "No operations yet" in text_of(as_viewer)


def test_the_newest_come_first(as_viewer: Client, paula: User) -> None:
    operation(paula, "young")
    operation(paula, "old", at=timezone.now() - timedelta(days=1))
    assert keys_in(html_of(as_viewer)) == ["young", "old"]


FILTERED = [
    ("kind=create_page", ["page"]),
    ("outcome=rejected", ["webhook"]),
    ("outcome=accepted", ["page", "publish", "earlier"]),
    ("outcome=live", ["earlier"]),
    ("outcome=not-live-yet", ["publish"]),
    ("actor=ada", ["webhook"]),
    ("target=ver_2", ["publish"]),
    ("target=page_1", ["publish", "earlier"]),
    ("target=whs_1", ["webhook"]),
    ("since=2026-03-01", ["webhook", "page"]),
    ("since=1", ["webhook", "page", "publish", "earlier"]),
    ("since=2026-99-99", ["webhook", "page", "publish", "earlier"]),
    ("kind=nonsense", ["webhook", "page", "publish", "earlier"]),
    ("target=%00", ["webhook", "page", "publish", "earlier"]),
]


def test_the_filters_are_in_the_url(
    as_viewer: Client, paula: User, ada: User, subtests: pytest.Subtests
) -> None:
    target = Target("page_1", "aud_1", "ver_1", 1, target_name="Brightwater Foods")
    operation(paula, "earlier", target=target, at=datetime(2026, 2, 27, tzinfo=UTC))
    seed_publication(1, started_at=datetime(2026, 2, 27, 1, tzinfo=UTC))
    operation(paula, "publish", at=datetime(2026, 2, 28, 23, 59, tzinfo=UTC))
    new_page(paula, "page", at=datetime(2026, 3, 1, tzinfo=UTC))
    webhook(ada, "webhook", ending=REFUSED)
    for query, keys in FILTERED:
        with subtests.test(query=query):
            assert keys_in(html_of(as_viewer, f"/activity/?{query}")) == keys


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
def test_first_and_last_days_follow_the_time_zone(
    zone: str, as_viewer: Client, paula: User
) -> None:
    operation(paula, "k1")
    as_viewer.cookies["pressroom_timezone"] = zone
    for since, keys in (("0001-01-01", ["k1"]), ("0001-01-02", ["k1"]), ("9999-12-31", [])):
        assert keys_in(html_of(as_viewer, f"/activity/?since={since}")) == keys, since
        lines = exported(as_viewer, f"?since={since}")
        assert [line["operation key"] for line in lines] == keys, since


def test_no_match_says_so_with_a_way_back(as_viewer: Client, paula: User) -> None:
    operation(paula, "k1")
    assert "No operations match these filters" in text(
        html_of(as_viewer, "/activity/?target=elsewhere")
    )


def test_the_rest_loads_without_gap_or_repeat(as_viewer: Client, paula: User) -> None:
    for of_a_minute in range(12):
        operations(paula, [f"k{of_a_minute}-{number}" for number in range(10)])
    matching, address = [], "/activity/?kind=publish_version"
    assert "50 of 120" in text_of(as_viewer, address)
    while address:
        page = html_of(as_viewer, address, **{"HX-Request": "true", "HX-Target": "more"})
        assert "<html" not in page
        matching += keys_in(page)
        more = [e.attributes["hx-get"] for e in elements(page, "a") if "hx-get" in e.attributes]
        address = f"/activity/{more[0]}" if more else ""
    assert len(matching) == 120
    assert len(set(matching)) == 120


def test_loaded_rows_are_in_the_url_and_come_back(as_viewer: Client, paula: User) -> None:
    operations(paula, [f"k{number:03}" for number in range(320)], apart=timedelta(minutes=1))
    shown_at, last = "/activity/?kind=publish_version", "k049"
    for rows in (100, 150, 200):
        headers = {"HX-Request": "true", "HX-Target": "more"}
        headers["HX-Current-URL"] = f"http://testserver{shown_at}"
        url = f"/activity/?kind=publish_version&after={last}"
        shown_at = as_viewer.get(url, headers=headers)["HX-Replace-Url"]
        assert shown_at == f"/activity/?kind=publish_version&show={rows}"
        keys = keys_in(html_of(as_viewer, shown_at))
        assert len(keys) == rows
        last = keys[-1]
    headers["HX-Current-URL"] = f"http://testserver{shown_at}"
    beyond = as_viewer.get(f"/activity/?kind=publish_version&after={last}", headers=headers)
    assert beyond["HX-Replace-Url"] == f"/activity/?kind=publish_version&after={last}"


def test_fifty_rows_cost_no_more_queries_than_one(
    as_viewer: Client, paula: User, django_assert_max_num_queries: Any
) -> None:
    operations(paula, [f"k{number}" for number in range(50)])
    for number in range(50):
        seed_publication(number)
    shell_state()  # counts once; the pages below use the cache
    with django_assert_max_num_queries(15):
        html_of(as_viewer)


def test_an_operation_of_a_killed_process_is_unknown(as_viewer: Client, paula: User) -> None:
    operation(paula, "k1", ending=None)
    assert "In progress" in text_of(as_viewer)
    Attempt.objects.update(sent_at=timezone.now() - timedelta(minutes=5))
    assert "Outcome unknown" in text_of(as_viewer)
    detail = text_of(as_viewer, "/activity/k1/")
    assert "interrupted: Pressroom was stopped before the response" in detail


def test_an_interrupted_operation_is_unknown_without_a_write(
    as_publisher: Client, paula: User, fake_service: FakeService
) -> None:
    fake_service.fails(httpx.ConnectError)
    seed_pages(wire.page())
    interrupted(paula)
    watched = "/pages/page_1/audiences/aud_1/versions/ver_2/publish/progress/?operation=k1"
    with CaptureQueriesContext(connection) as queries:
        assert "Publish version 2, Brightwater Foods" in text_of(as_publisher, "/")
        assert keys_in(html_of(as_publisher, "/activity/?outcome=unknown")) == ["k1"]
        assert keys_in(html_of(as_publisher, "/activity/?outcome=sending")) == []
        assert "Check now" in html_of(as_publisher, "/activity/k1/")
        assert "Publish: outcome unknown" in text_of(as_publisher, "/pages/")
        assert "Check before retrying" in text_of(as_publisher, watched)
        assert exported(as_publisher)[0]["outcome"] == "Outcome unknown"
    sql = [query["sql"] for query in queries.captured_queries]
    assert not [item for item in sql if item.startswith(("UPDATE", "INSERT")) and "attempt" in item]
    assert Operation.objects.get().outcome == Outcome.SENDING


@pytest.mark.parametrize(
    "act",
    [lambda user: new_page(user, "k2"), lambda _: call_command("prune", "--older-than=30")],
    ids=["the next change", "a job"],
)
def test_a_later_write_records_that_it_is_unknown(
    paula: User, act: Callable[[User], object]
) -> None:
    interrupted(paula)
    act(paula)
    assert Operation.objects.get(operation_key="k1").outcome == Outcome.UNKNOWN


# One


def test_an_operation_shows_its_request_and_response(as_viewer: Client, paula: User) -> None:
    operation(paula, "k1", ending=REFUSED)
    page = text_of(as_viewer, "/activity/k1/")
    assert "POST /v0/pages/page_1/audiences/aud_1/versions/ver_2/publish" in page
    assert '"operationKey": "k1"' in page
    assert "The service returned 422: No." in page
    assert '"detail": "No."' in page


def open_operation(client: Client) -> Region:
    return Region(client, "/activity/k1/", "operation")


@pytest.mark.parametrize(
    ("outcome", "heading"),
    [
        (Outcome.ACCEPTED, "Time until live"),
        (Outcome.UNKNOWN, "Duration"),
        (Outcome.REJECTED, "Duration"),
    ],
)
def test_only_an_accepted_publish_has_a_time_until_live(
    as_viewer: Client, paula: User, outcome: Outcome, heading: str
) -> None:
    operation(paula, "k1", ending=AttemptResult(outcome))
    headings = re.findall("<dt>(.*?)</dt>", as_viewer.get("/activity/k1/").text)
    assert {*headings} & {"Time until live", "Duration"} == {heading}


@pytest.mark.parametrize(("ending", "words"), [(None, "Not yet"), (LOST, "Unknown")])
def test_an_open_operation_says_whether_it_completed(
    ending: AttemptResult | None, words: str, as_viewer: Client, paula: User
) -> None:
    operation(paula, "k1", ending=ending)
    assert f"Completed {words}" in text_of(as_viewer, "/activity/k1/")


def test_an_operation_is_followed_until_settled(as_viewer: Client, paula: User) -> None:
    sending = operation(paula, "k1", ending=None)
    page = open_operation(as_viewer)
    assert page.topics == ["operation:k1"]
    assert page.is_moving
    end(sending.attempts.get(), AttemptResult(Outcome.ACCEPTED, status_code=202))
    assert "Accepted, not live yet" in page.refresh().text
    assert "202" in page.text
    assert not page.is_moving
    assert not open_operation(as_viewer).is_moving


def test_an_interrupted_operation_is_unknown_and_not_read_again(
    as_publisher: Client, paula: User
) -> None:
    operation(paula, "k1", ending=None)
    page = open_operation(as_publisher)
    Attempt.objects.update(sent_at=timezone.now() - timedelta(minutes=5))
    assert "Outcome unknown" in page.refresh().text
    assert "Check now" in page.html
    assert not page.is_moving
    assert not open_operation(as_publisher).is_moving


def test_a_row_that_opens_gets_only_its_exchange(as_viewer: Client, paula: User) -> None:
    operation(paula, "k1")
    headers = {"HX-Request": "true", "HX-Target": "exchange-1"}
    page = html_of(as_viewer, "/activity/k1/", **headers)
    assert "<html" not in page
    assert '"operationKey": "k1"' in text(page)


@pytest.mark.parametrize("outcome", [Outcome.NOT_SENT, Outcome.REJECTED])
def test_a_publish_without_effect_offers_a_retry(
    outcome: Outcome, as_publisher: Client, paula: User
) -> None:
    operation(paula, "k1", ending=AttemptResult(outcome, "Stopped."))
    page = html_of(as_publisher, "/activity/k1/")
    links = [e.attributes.get("href") for e in elements(page, "a")]
    assert "/pages/page_1/audiences/aud_1/versions/ver_2/publish/" in links
    assert "Retry" in text(page)
    assert "View publish" not in text(page)


def test_a_viewer_is_not_offered_to_retry(as_viewer: Client, paula: User) -> None:
    operation(paula, "k1", ending=AttemptResult(Outcome.NOT_SENT, "Stopped."))
    assert "Retry" not in text_of(as_viewer, "/activity/k1/")


def test_an_unsent_operation_is_not_shown_as_sent(as_publisher: Client, paula: User) -> None:
    operation(paula, "k1", ending=AttemptResult(Outcome.NOT_SENT, "Stopped."))
    answer = text_of(as_publisher, "/activity/k1/").split("Response", 1)[1]
    assert "nothing reached the service" in answer
    assert "sent" not in answer.replace("Not sent", "").replace("Nothing was sent", "").lower()


def test_a_message_of_the_service_is_never_markup(as_viewer: Client, paula: User) -> None:
    message = "<script>alert(1)</script>"
    operation(paula, "k1", ending=AttemptResult(Outcome.REJECTED, message, 500, message))
    assert message not in html_of(as_viewer, "/activity/k1/")


def test_a_webhook_is_shown_before_and_after(as_viewer: Client, ada: User) -> None:
    body = {"active": False, "events": [], "url": "https://new.example"}
    webhook(ada, "k1", body=body)
    page = text_of(as_viewer, "/activity/k1/")
    assert "active on off" in page
    assert "Empty list" in page
    assert "https://hooks.example/in" in page


def test_an_unknown_operation_is_not_found(as_viewer: Client) -> None:
    assert as_viewer.get("/activity/none/").status_code == 404


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_changes_or_deletes_an_operation(
    method: str, as_administrator: Client, paula: User
) -> None:
    operation(paula, "k1")
    assert getattr(as_administrator, method)("/activity/k1/").status_code == 405
    assert getattr(as_administrator, method)("/activity/").status_code == 405
    assert Operation.objects.count() == 1


def test_removed_accounts_keep_their_operations(client: Client, paula: User) -> None:
    operation(paula, "k1")
    client.force_login(User.objects.create_superuser("root", password="root"))
    assert "peration" not in text_of(client, "/admin/")
    assert client.get("/admin/ledger/operation/").status_code == 404
    client.post(f"/admin/auth/user/{paula.pk}/delete/", {"post": "yes"})
    assert not User.objects.filter(username="paula").exists()
    assert "paula Publish version 2" in text_of(client)


# The file


def exported(client: Client, query: str = "") -> list[dict[str, str]]:
    return csv_rows(client, f"/activity/export.csv{query}")


def test_the_export_has_all_matches_and_no_formulas(
    as_viewer: Client, paula: User, ada: User
) -> None:
    operation(paula, "k1", target=Target("page_1", "aud_1", "ver_2", 2, target_name="=1+1"))
    webhook(ada, "k2", ending=REFUSED)
    lines = exported(as_viewer, "?actor=paula")
    assert [line["operation key"] for line in lines] == ["k1"]
    assert lines[0]["target"] == "'=1+1"
    assert lines[0]["outcome"] == "Accepted, not live yet"
    assert lines[0]["request body"] == '{"operationKey": "k1"}'


def test_list_filter_and_file_name_who_retried(as_viewer: Client, paula: User) -> None:
    lost = operation(paula, "k1", ending=LOST)
    operation(paula, "k2")
    attempt = begin_retry(lost, actor=person("quinn", "Publishers"))
    assert attempt is not None
    end(attempt, AttemptResult(Outcome.ACCEPTED, status_code=200))
    page = html_of(as_viewer, "/activity/?actor=quinn")
    assert keys_in(page) == ["k1"]
    assert "paula, quinn Publish version 2" in text(page)
    assert "<option selected>quinn</option>" in page
    [line] = exported(as_viewer, "?actor=quinn")
    first, second = line["attempt log"].split("; ")
    assert re.fullmatch(r"1: paula, \S+\+00:00, Outcome unknown", first)
    assert re.fullmatch(r"2: quinn, \S+\+00:00, Accepted, 200", second)
    assert line["user"] == "paula"


def test_a_user_who_retried_has_one_line(as_viewer: Client, paula: User) -> None:
    attempt = begin_retry(operation(paula, "k1", ending=LOST), actor=paula)
    assert attempt is not None
    assert len(exported(as_viewer, "?actor=paula")) == 1


# Settling


def settle(client: Client, how: str, key: str = "k1") -> str:
    answer = client.post(f"/activity/{key}/{how}/", follow=True)
    assert answer.status_code == 200
    return response_text(answer)


def test_a_page_that_is_among_the_newest_was_created(
    as_publisher: Client, paula: User, fake_service: FakeService
) -> None:
    new_page(paula, "k1", ending=LOST)
    fake_service.answers(200, json=wire.envelope(new_page_body("page_9")))
    assert "Create page: Accepted." in settle(as_publisher, "check")
    assert Operation.objects.get().page_id == "page_9"


def new_page_body(page_id: str, minutes_ago: int = 0) -> dict[str, Any]:
    """Return the service's JSON of the page that `new_page` requests."""
    words = {"name": "Fleet", "brandId": "brand_1", "pageContext": "Lorries."}
    at = timezone.now() - timedelta(minutes=minutes_ago)
    return wire.page(pageId=page_id, createdAt=at.isoformat(), **words)


def test_one_page_of_two_equal_unresolved_requests_settles_neither(
    as_publisher: Client, paula: User, fake_service: FakeService
) -> None:
    for key in ("k1", "k2"):
        new_page(paula, key, ending=LOST)
    fake_service.answers(200, json=wire.envelope(new_page_body("page_new")))
    for key in ("k2", "k1"):
        message = text(settle(as_publisher, "check", key))
        assert "(ID page_new), but an identical request is open too" in message
    assert set(Operation.objects.values_list("outcome", flat=True)) == {Outcome.UNKNOWN}


@pytest.mark.parametrize("keys", [("k1", "k2"), ("k2", "k1")])
def test_two_pages_of_two_unresolved_requests_settle_both(
    keys: tuple[str, str], as_publisher: Client, paula: User, fake_service: FakeService
) -> None:
    now = timezone.now()
    new_page(paula, "k1", ending=LOST, at=now - timedelta(minutes=9))
    new_page(paula, "k2", ending=LOST, at=now - timedelta(minutes=8))
    fake_service.answers(
        200, json=wire.envelope(new_page_body("page_2", 8), new_page_body("page_1", 9))
    )
    for key in keys:
        settle(as_publisher, "check", key)
    pages = dict(Operation.objects.values_list("operation_key", "page_id"))
    assert pages == {"k1": "page_1", "k2": "page_2"}


def test_an_earlier_page_belongs_to_the_first_request(
    as_publisher: Client, paula: User, fake_service: FakeService
) -> None:
    new_page(paula, "k1", ending=LOST, at=timezone.now() - timedelta(hours=1))
    new_page(paula, "k2", ending=LOST)
    fake_service.answers(200, json=wire.envelope(new_page_body("page_1", 59)))
    for key in ("k2", "k1"):
        settle(as_publisher, "check", key)
    outcomes = dict(Operation.objects.values_list("operation_key", "outcome"))
    assert outcomes == {"k1": Outcome.ACCEPTED, "k2": Outcome.UNKNOWN}


@pytest.mark.parametrize(
    "differs",
    [{"createdAt": "2026-03-01T09:00:00Z"}, {"pageContext": "Ships."}, {"name": "Fleets"}],
)
def test_another_page_proves_nothing(
    differs: dict[str, Any], as_publisher: Client, paula: User, fake_service: FakeService
) -> None:
    new_page(paula, "k1", ending=LOST)
    fake_service.answers(200, json=wire.envelope(new_page_body("page_9") | differs))
    assert "not found among the newest pages" in settle(as_publisher, "check")
    assert Operation.objects.get().outcome == Outcome.UNKNOWN


def test_a_page_is_retried_only_after_a_check(
    as_publisher: Client, paula: User, fake_service: FakeService
) -> None:
    new_page(paula, "k1", ending=LOST)
    fake_service.answers(200, json=wire.envelope())
    assert "Retry" not in text_of(as_publisher, "/activity/k1/")
    settle(as_publisher, "send-again")
    assert fake_service.sent == []
    settle(as_publisher, "check")
    assert "may create a duplicate. Retry" in text_of(as_publisher, "/activity/k1/")
    fake_service.answers(201, json=wire.page(name="Fleet"))
    assert "Create page: Accepted." in settle(as_publisher, "send-again")


@pytest.mark.parametrize(
    ("now", "before", "outcome"),
    [
        (False, {"active": True}, Outcome.ACCEPTED),
        (True, {"active": True}, Outcome.UNKNOWN),
        (False, {"active": False}, Outcome.UNKNOWN),
        (False, None, Outcome.UNKNOWN),
    ],
)
def test_a_webhook_with_the_requested_values_is_settled(
    now: bool, before: Any, outcome: Outcome, ada: User, fake_service: FakeService
) -> None:
    webhook(ada, "k1", before=before, ending=LOST)
    fake_service.answers(200, json=wire.subscription(active=now))
    settle(logged_in(ada), "check")
    assert fake_service.sent[0].content == b"{}"
    assert Operation.objects.get().outcome == outcome


def test_a_webhook_update_is_retried_with_the_same_body(
    as_administrator: Client, ada: User, fake_service: FakeService
) -> None:
    webhook(ada, "k1", ending=LOST)
    fake_service.answers(200, json=wire.subscription())
    assert "Update webhook: Accepted." in settle(as_administrator, "send-again")
    assert [request.content for request in fake_service.sent] == [b"{}", b'{"active":false}']


def test_a_check_without_a_response_says_so(
    as_administrator: Client, ada: User, fake_service: FakeService
) -> None:
    webhook(ada, "k1", ending=LOST)
    fake_service.fails(httpx.ReadTimeout)
    assert "the check failed. The service didn’t respond" in settle(as_administrator, "check")


def test_a_settled_operation_is_not_retried(
    as_publisher: Client, paula: User, fake_service: FakeService
) -> None:
    operation(paula, "k1")
    settle(as_publisher, "send-again")
    settle(as_publisher, "check")
    assert fake_service.sent == []


@pytest.mark.parametrize("how", ["check", "send-again"])
def test_only_users_who_may_do_it_may_settle_it(
    how: str, as_viewer: Client, paula: User, ada: User, fake_service: FakeService
) -> None:
    operation(paula, "k1", ending=LOST)
    webhook(ada, "k2", ending=LOST)
    assert as_viewer.post(f"/activity/k1/{how}/").status_code == 403
    assert logged_in(paula).post(f"/activity/k2/{how}/").status_code == 403
    assert "You don’t have permission to resolve this." in text_of(as_viewer, "/activity/k1/")
    assert fake_service.sent == []
