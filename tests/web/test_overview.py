"""The overview: from the ledger alone, with each thing that needs a person and its next step."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import AudienceRecord, Operation, PageRecord
from dashboard.ledger.models.operations import Kind, Outcome
from dashboard.ledger.operations import Ending, Target, begin, end
from dashboard.web.flight import LOOKS
from tests import wire
from tests.far_end import FarEnd
from tests.web.html import elements, text
from tests.web.one_audience import serve
from tests.web.remembering import know_audiences, know_pages

pytestmark = pytest.mark.django_db

LOST = Ending(Outcome.UNKNOWN, "The service did not answer within 30 s.")
REFUSED = Ending(Outcome.REJECTED, "The service answered 422: No such version.", 422)
DONE = Ending(Outcome.ACCEPTED)
HOSTILE = "<img src=x onerror=alert(1)>"


def get(client: Client, address: str = "/", *, target: str = "", status: int = 200) -> str:
    headers = {"HX-Request": "true", "HX-Target": target} if target else {}
    response = client.get(address, headers=headers)
    assert response.status_code == status
    return response.content.decode()


def operation(actor: User, key: str, ending: Ending, **differs: Any) -> Operation:
    at = differs.pop("at", None)
    given: dict[str, Any] = {
        "kind": Kind.PUBLISH_VERSION,
        "target": Target("page_1", "aud_1", "ver_2", 2, target_name="Brightwater Foods"),
        "body": {"operationKey": key},
    }
    made, attempt = begin(operation_key=key, actor=actor, **given | differs)
    assert attempt is not None
    made = end(attempt, ending)
    if at:
        Operation.objects.filter(pk=made.pk).update(requested_at=at)
    return made


def queued(**differs: Any) -> dict[str, Any]:
    at = datetime.now(UTC) - timedelta(seconds=20)
    latest = wire.version(status="queued", queuedAt=at.isoformat())
    return wire.audience(latestVersion=latest | differs)


def section(html: str, heading: str) -> str:
    """Return the text from one heading to the next."""
    return text(html.split(f">{heading}", 1)[1].split("<h2", 1)[0])


# Nothing known, and no service


def test_an_empty_installation_names_three_things_to_do(
    as_publisher: Client, far_end: FarEnd
) -> None:
    html = get(as_publisher)
    assert "Three things to do first" in text(html)
    links = {e.attributes.get("href") for e in elements(html, "a")}
    assert {"/pages/?read=0", "/webhooks/", "/pages/new/"} <= links
    assert far_end.sent == []


def test_who_may_not_create_a_page_is_not_sent_to_do_so(as_viewer: Client) -> None:
    links = [e.attributes.get("href") for e in elements(get(as_viewer), "a")]
    assert "/pages/new/" not in links
    assert "/people/" in links


def test_nothing_is_asked_of_the_service_before_the_page_is_shown(
    as_viewer: Client, far_end: FarEnd
) -> None:
    far_end.fails(httpx.ConnectError)
    know_pages(wire.page())
    know_audiences(queued())
    html = get(as_viewer)
    assert "Brightwater Foods" in section(html, "Versions in flight")
    assert far_end.sent == []


# What needs a person


def test_an_unknown_outcome_has_its_words_and_a_way_to_check_it(
    as_publisher: Client, paula: User
) -> None:
    operation(paula, "k1", LOST, at=timezone.now() - timedelta(days=40))
    html = get(as_publisher)
    said = section(html, "Needs attention")
    assert "Publish version 2, Brightwater Foods The service did not answer within 30 s." in said
    assert "Check now" in said
    actions = [e.attributes.get("action") for e in elements(html, "form")]
    assert "/activity/k1/check/" in actions


def test_what_failed_pushes_no_unknown_outcome_out(as_publisher: Client, paula: User) -> None:
    operation(paula, "lost", LOST, at=timezone.now() - timedelta(days=2))
    for number in range(22):
        target = Target("page_1", "aud_1", f"ver_{number}", number)
        operation(paula, f"k{number}", REFUSED, target=target)
    html = get(as_publisher)
    assert "/activity/lost/check/" in [e.attributes.get("action") for e in elements(html, "form")]
    assert "Needs attention <small>23</small>" in html
    assert "3 more in Activity" in section(html, "Needs attention")
    links = [e.attributes.get("href") for e in elements(html, "a")]
    assert "/activity/?outcome=rejected" in links


def test_who_may_not_publish_can_open_an_unknown_outcome_but_not_settle_it(
    as_viewer: Client, paula: User
) -> None:
    operation(paula, "k1", LOST)
    html = get(as_viewer)
    assert "Check now" not in html
    assert "/activity/k1/" in [e.attributes.get("href") for e in elements(html, "a")]


@pytest.mark.parametrize(("hours", "is_shown"), [(23, True), (25, False)])
def test_what_failed_within_a_day_needs_attention(
    hours: int, is_shown: bool, as_publisher: Client, paula: User
) -> None:
    operation(paula, "k1", REFUSED, at=timezone.now() - timedelta(hours=hours))
    assert ("422: No such version." in section(get(as_publisher), "Needs attention")) is is_shown


def test_what_was_mended_since_needs_nobody(as_publisher: Client, paula: User) -> None:
    page = {"kind": Kind.CREATE_PAGE, "target": Target(target_name="Fleet"), "body": {}}
    operation(paula, "k1", REFUSED, at=timezone.now() - timedelta(hours=1))
    operation(paula, "k2", DONE)
    operation(paula, "k3", REFUSED, at=timezone.now() - timedelta(hours=1), **page)
    operation(paula, "k4", Ending(Outcome.ACCEPTED, page_id="page_9"), **page)
    assert "Nothing. No operation is" in section(get(as_publisher), "Needs attention")


def test_another_page_that_was_created_mends_nothing(as_publisher: Client, paula: User) -> None:
    page = {"kind": Kind.CREATE_PAGE, "body": {}}
    hour_ago = timezone.now() - timedelta(hours=1)
    operation(paula, "k1", REFUSED, at=hour_ago, target=Target(target_name="Fleet"), **page)
    operation(paula, "k2", DONE, target=Target(target_name="Ships"), **page)
    assert "Create page, Fleet" in section(get(as_publisher), "Needs attention")


def test_a_version_queued_unusually_long_needs_attention(as_viewer: Client) -> None:
    know_pages(wire.page())
    long_ago = datetime.now(UTC) - timedelta(minutes=18)
    know_audiences(queued(queuedAt=long_ago.isoformat()))
    assert "Queued for 18 min" in section(get(as_viewer), "Needs attention")


# What is on its way


def test_a_look_tells_what_moved_and_looks_again_soon(as_viewer: Client, far_end: FarEnd) -> None:
    know_audiences(queued())
    age_everything()
    serve(far_end, queued(status="processing"))
    html = get(as_viewer, "/?looks=5", target="flight")
    assert "Processing" in html
    assert "Version 2 of Brightwater Foods: processing." in text(html)
    assert polling(html) == ("/?looks=0", "load delay:2s, again")


def test_looks_that_bring_nothing_become_rarer(as_viewer: Client, far_end: FarEnd) -> None:
    know_audiences(queued())
    age_everything()
    serve(far_end, queued())
    html = get(as_viewer, "/?looks=4", target="flight")
    assert polling(html) == ("/?looks=5", "load delay:20s, again")
    assert "flight-said" not in html


def test_looking_ends_when_nothing_is_on_its_way(as_viewer: Client, far_end: FarEnd) -> None:
    know_audiences(queued())
    age_everything()
    serve(far_end, wire.audience(latestVersion=wire.live_version(versionId="ver_2")))
    html = get(as_viewer, "/?looks=0", target="flight", status=286)
    assert polling(html) is None
    assert "No version seen here is on its way" in text(html)


def test_looking_ends_when_nobody_seems_to_care(as_viewer: Client, far_end: FarEnd) -> None:
    know_audiences(queued())
    html = get(as_viewer, f"/?looks={LOOKS}", target="flight", status=286)
    assert polling(html) is None
    assert "stopped looking by itself. Look again" in text(html)


def test_a_look_that_fails_says_so_and_goes_on(as_viewer: Client, far_end: FarEnd) -> None:
    know_audiences(queued())
    age_everything()
    far_end.fails(httpx.ConnectError)
    html = get(as_viewer, "/?looks=0", target="flight")
    assert "The last look failed." in text(html)
    assert "Brightwater Foods" in html
    assert polling(html) == ("/?looks=1", "load delay:3s, again")


def test_a_look_reads_three_pages_those_that_move_before_those_that_wait(
    as_viewer: Client, far_end: FarEnd
) -> None:
    for number in range(9):
        status = "queued" if number == 8 else "pending"
        know_audiences(queued(status=status), page_id=f"page_{number}")
    age_everything()
    far_end.answers(200, json=wire.envelope())
    get(as_viewer, "/?looks=0", target="flight")
    assert len(far_end.sent) == 3
    assert far_end.sent[0].url.path == "/v0/pages/page_8/audiences"


@pytest.mark.parametrize("looks", ["", "-1", "x", "9999999999", "²"])
def test_a_count_of_looks_that_is_none_is_read_as_none(
    looks: str, as_viewer: Client, far_end: FarEnd
) -> None:
    know_audiences(queued())
    assert "Brightwater Foods" in get(as_viewer, f"/?looks={looks}", target="flight")


def age_everything() -> None:
    """Let what was just seen be seen a minute ago, so that it is due for a look."""
    AudienceRecord.objects.update(last_seen_at=timezone.now() - timedelta(minutes=1))


def polling(html: str) -> tuple[str, str] | None:
    part = next(e for e in elements(html, "section") if e.attributes.get("id") == "flight")
    if "hx-get" not in part.attributes:
        return None
    return part.attributes["hx-get"], part.attributes["hx-trigger"]


# What changed since the last look


def looked(client: Client, user: User, *, ago: timedelta) -> None:
    at = int((timezone.now() - ago).timestamp())
    client.cookies[f"overview-{user.pk}"] = f"0.{at}"


def test_the_first_look_has_nothing_to_compare_with(as_viewer: Client) -> None:
    know_pages(wire.page())
    assert "This is your first look" in section(get(as_viewer), "Since you last looked")


def test_it_tells_what_changed_since_the_last_look(
    as_viewer: Client, vera: User, paula: User
) -> None:
    know_pages(wire.page())
    know_audiences(wire.audience(publishedVersion=live_now()))
    operation(paula, "k1", DONE)
    PageRecord.objects.update(first_seen_at=timezone.now() - timedelta(days=9))
    looked(as_viewer, vera, ago=timedelta(hours=2))
    said = section(get(as_viewer), "Since you last looked")
    assert "1 version went live: Brightwater Foods, version 1" in said
    assert "Audiences: 0 changed, 1 seen here for the first time" in said
    assert "Pages: 1 changed, 0 seen here for the first time" in said
    assert "Operations: 1 done, 0 failed, 0 of unknown outcome" in said


def test_nothing_changed_has_a_sentence(as_viewer: Client, vera: User) -> None:
    know_pages(wire.page())
    long_ago = timezone.now() - timedelta(days=9)
    PageRecord.objects.update(first_seen_at=long_ago, changed_at=long_ago)
    looked(as_viewer, vera, ago=timedelta(hours=2))
    assert "has changed" in section(get(as_viewer), "Since you last looked")


def test_a_reload_does_not_forget_what_changed(as_viewer: Client, vera: User) -> None:
    know_pages(wire.page())
    looked(as_viewer, vera, ago=timedelta(hours=2))
    first, again = get(as_viewer), get(as_viewer)
    assert "1 seen here for the first time" in section(first, "Since you last looked")
    assert "1 seen here for the first time" in section(again, "Since you last looked")


@pytest.mark.parametrize("kept", ["", "x.y", "1", "-5.3", "9999999999999.9999999999999", "0.²"])
def test_a_cookie_that_can_t_be_read_is_a_first_look(
    kept: str, as_viewer: Client, vera: User
) -> None:
    know_pages(wire.page())
    as_viewer.cookies[f"overview-{vera.pk}"] = kept
    assert "This is your first look" in text(get(as_viewer))


def live_now() -> dict[str, Any]:
    at = datetime.now(UTC) - timedelta(minutes=5)
    queued_at = at - timedelta(seconds=40)
    return wire.live_version(publishedAt=at.isoformat(), queuedAt=queued_at.isoformat())


# Counts, charts, health


def test_counts_say_how_much_of_the_whole_is_known(as_viewer: Client) -> None:
    know_pages(wire.page(audiencesCount=7), total=1204)
    know_audiences(wire.audience())
    said = text(get(as_viewer))
    assert "Pages known 1 of 1,204, read the rest" in said
    assert "Audiences known 1 of 7, 1 live" in said


def test_charts_are_drawn_without_a_style_and_said_in_words_and_in_a_table(
    as_viewer: Client, paula: User
) -> None:
    know_audiences(wire.audience(publishedVersion=live_now()))
    operation(paula, "k1", DONE)
    html = get(as_viewer)
    drawings = [e for e in elements(html, "svg") if e.attributes.get("role") == "img"]
    assert {e.attributes["aria-labelledby"] for e in drawings} == {"publishes-t", "queue-t"}
    assert "1 done, 0 failed, 0 of unknown outcome. Most done: 1 on" in text(html)
    assert "half of all within 40 s, 95 in 100 within 40 s" in text(html)
    assert html.count("Show as a table") == 2
    assert not any("style" in e.attributes for e in elements(html))


def test_health_is_of_the_calls_that_were_made(as_viewer: Client, far_end: FarEnd) -> None:
    know_pages(wire.page())
    assert "Nothing was asked of it in the last 60 minutes" in text(get(as_viewer))
    far_end.fails(httpx.ReadTimeout)
    as_viewer.get("/pages/")
    assert "0 slow and 1 unanswered in 60 min" in text(get(as_viewer))
    assert "Service not answering" in text(get(as_viewer))


def test_the_last_eight_operations_are_listed(as_viewer: Client, paula: User) -> None:
    for number in range(9):
        operation(paula, f"k{number}", DONE)
    said = section(get(as_viewer), "Recent operations")
    assert said.count("paula Publish version 2") == 8


def test_it_takes_as_many_queries_for_much_as_for_little(
    as_publisher: Client, paula: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        know_pages(wire.page(pageId=f"page_{number}"))
        know_audiences(queued() | {"audienceId": f"aud_{number}"}, page_id=f"page_{number}")
        operation(paula, f"k{number}", LOST)
    with django_assert_max_num_queries(22):
        get(as_publisher)


def test_what_the_service_says_is_never_markup(as_publisher: Client, paula: User) -> None:
    know_pages(wire.page(name=HOSTILE))
    know_audiences(queued() | {"effectiveName": HOSTILE})
    target = Target("page_1", "a/b", "ver_2", 2, target_name=HOSTILE)
    operation(paula, "k1", Ending(Outcome.UNKNOWN, HOSTILE), target=target)
    html = get(as_publisher)
    assert HOSTILE not in html
    assert not any(e.tag == "img" for e in elements(html))
