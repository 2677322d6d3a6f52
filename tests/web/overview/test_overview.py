"""The overview, from the ledger only: what needs attention, each with its next step."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.accounts.preferences import save_preferences
from dashboard.ledger.models import AudienceRecord, Operation, PageRecord, Publication
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.models.publications import PublicationReason
from dashboard.ledger.operations import AttemptResult, Target, begin, end
from dashboard.web.live.shell_state import shell_state
from tests.conftest import logged_in
from tests.support import wire
from tests.support.clock import stopped
from tests.support.fake_service import FakeService
from tests.support.html import elements, page_html, response_text, text
from tests.support.live_page import Region
from tests.support.one_audience import serve
from tests.support.seeding import seed_audiences, seed_pages, seed_publication

pytestmark = pytest.mark.django_db

UNKNOWN = AttemptResult(Outcome.UNKNOWN, "The service didn’t respond within 30 s.")
FAILED = AttemptResult(Outcome.REJECTED, "The service returned 422: No such version.", 422)
SUCCEEDED = AttemptResult(Outcome.ACCEPTED)
HOSTILE = "<img src=x onerror=alert(1)>"


def get(client: Client, url: str = "/", *, target: str = "", status: int = 200) -> str:
    return page_html(client, url, target, status=status)


def operation(actor: User, key: str, ending: AttemptResult, **differs: Any) -> Operation:
    at = differs.pop("at", None)
    values: dict[str, Any] = {
        "kind": OperationKind.PUBLISH_VERSION,
        "target": Target("page_1", "aud_1", "ver_2", 2, target_name="Brightwater Foods"),
        "body": {"operationKey": key},
    }
    operation, attempt = begin(operation_key=key, actor=actor, **values | differs)
    assert attempt is not None
    operation = end(attempt, ending)
    if at:
        Operation.objects.filter(pk=operation.pk).update(requested_at=at)
    return operation


def queued(**differs: Any) -> dict[str, Any]:
    at = timezone.now() - timedelta(seconds=20)
    latest = wire.version(status="queued", queuedAt=at.isoformat())
    return wire.audience(latestVersion=latest | differs)


def section(html: str, heading: str) -> str:
    """Return the text from one heading to the next."""
    return text(html.split(f">{heading}", 1)[1].split("<h2", 1)[0])


# Empty ledger, no service


def test_a_new_installation_shows_three_first_steps(
    as_publisher: Client, fake_service: FakeService
) -> None:
    html = get(as_publisher)
    assert "Get started" in text(html)
    links = {e.attributes.get("href") for e in elements(html, "a")}
    assert {"/pages/?read=0", "/webhooks/", "/pages/new/"} <= links
    assert fake_service.sent == []


def test_an_empty_built_in_service_names_what_fills_it(
    as_viewer: Client, as_administrator: Client, ada: User, settings: Any
) -> None:
    User.objects.filter(pk=ada.pk).update(is_staff=True)
    fill = ("load_sample_data", "import_people FILE.csv", "import_pages FILE.json")
    for client, may_manage in ((as_viewer, False), (as_administrator, True)):
        html = get(client)
        assert [words for words in fill if words in text(html)] == list(fill)
        links = [e.attributes.get("href") for e in elements(html, "a")]
        assert links.count("/admin/") == (2 if may_manage else 0)  # the menu also has a link
    settings.EMBEDDED_API = False
    assert "import_people" not in get(as_administrator)


def test_viewers_get_no_link_to_create_a_page(as_viewer: Client) -> None:
    links = [e.attributes.get("href") for e in elements(get(as_viewer), "a")]
    assert "/pages/new/" not in links
    assert "/people/" in links


def test_the_overview_calls_no_service(as_viewer: Client, fake_service: FakeService) -> None:
    fake_service.fails(httpx.ConnectError)
    seed_pages(wire.page())
    seed_audiences(queued())
    html = get(as_viewer)
    assert "Brightwater Foods" in section(html, "Versions in progress")
    assert fake_service.sent == []


# Needs attention


def test_an_unknown_outcome_has_a_check_button(as_publisher: Client, paula: User) -> None:
    operation(paula, "k1", UNKNOWN, at=timezone.now() - timedelta(days=40))
    html = get(as_publisher)
    section_text = section(html, "Needs attention")
    assert (
        "Publish version 2, Brightwater Foods The service didn’t respond within 30 s."
        in section_text
    )
    assert "Check now" in section_text
    actions = [e.attributes.get("action") for e in elements(html, "form")]
    assert "/activity/k1/check/" in actions


def test_check_now_stays_on_the_overview(
    as_publisher: Client, paula: User, fake_service: FakeService
) -> None:
    operation(paula, "k1", UNKNOWN)
    form = get(as_publisher).split('action="/activity/k1/check/"', 1)[1].split("</form>")[0]
    fields = {e.attributes["name"]: e.attributes["value"] for e in elements(form, "input")}
    response = as_publisher.post("/activity/k1/check/", fields, follow=True)
    assert response.redirect_chain == [("/", 302)]
    assert "Publish version 2: Outcome unknown. Last check:" in response_text(response)


def test_failures_never_displace_an_unknown_outcome(as_publisher: Client, paula: User) -> None:
    operation(paula, "lost", UNKNOWN, at=timezone.now() - timedelta(days=2))
    for number in range(22):
        target = Target("page_1", "aud_1", f"ver_{number}", number)
        operation(paula, f"k{number}", FAILED, target=target)
    html = get(as_publisher)
    assert "/activity/lost/check/" in [e.attributes.get("action") for e in elements(html, "form")]
    assert "Needs attention <small>23</small>" in html
    assert "3 more in Activity" in section(html, "Needs attention")
    links = [e.attributes.get("href") for e in elements(html, "a")]
    assert "/activity/?outcome=rejected" in links


def test_viewers_open_but_cannot_resolve_an_unknown_outcome(as_viewer: Client, paula: User) -> None:
    operation(paula, "k1", UNKNOWN)
    html = get(as_viewer)
    assert "Check now" not in html
    assert "/activity/k1/" in [e.attributes.get("href") for e in elements(html, "a")]


@pytest.mark.parametrize(("hours", "is_shown"), [(23, True), (25, False)])
def test_failures_of_the_last_day_need_attention(
    hours: int, is_shown: bool, as_publisher: Client, paula: User
) -> None:
    operation(paula, "k1", FAILED, at=timezone.now() - timedelta(hours=hours))
    assert ("422: No such version." in section(get(as_publisher), "Needs attention")) is is_shown


def test_a_failure_needs_no_attention_after_an_equal_success(
    as_publisher: Client, paula: User
) -> None:
    page = {"kind": OperationKind.CREATE_PAGE, "target": Target(target_name="Fleet"), "body": {}}
    operation(paula, "k1", FAILED, at=timezone.now() - timedelta(hours=1))
    operation(paula, "k2", SUCCEEDED)
    operation(paula, "k3", FAILED, at=timezone.now() - timedelta(hours=1), **page)
    operation(paula, "k4", AttemptResult(Outcome.ACCEPTED, page_id="page_9"), **page)
    assert "Nothing needs attention." in section(get(as_publisher), "Needs attention")


def test_creating_another_page_resolves_no_failure(as_publisher: Client, paula: User) -> None:
    page = {"kind": OperationKind.CREATE_PAGE, "body": {}}
    hour_ago = timezone.now() - timedelta(hours=1)
    operation(paula, "k1", FAILED, at=hour_ago, target=Target(target_name="Fleet"), **page)
    operation(paula, "k2", SUCCEEDED, target=Target(target_name="Ships"), **page)
    assert "Create page, Fleet" in section(get(as_publisher), "Needs attention")


def change(actor: User, key: str, ending: AttemptResult, **body: Any) -> None:
    at = timezone.now() - timedelta(hours=1) if ending is FAILED else None
    target = Target(subscription_id="whs_1", target_name="CRM")
    operation(
        actor, key, ending, at=at, kind=OperationKind.UPDATE_SUBSCRIPTION, target=target, body=body
    )


@pytest.mark.parametrize(
    ("later", "is_shown"),
    [
        ([{"active": True}], True),
        ([{"url": "https://b.example"}], True),
        ([{"url": "https://b.example", "events": []}], False),
        ([{"url": "https://b.example"}, {"events": []}], False),
    ],
)
def test_a_failed_update_is_resolved_by_all_its_fields(
    later: list[dict[str, Any]], is_shown: bool, as_administrator: Client, ada: User
) -> None:
    change(ada, "failed", FAILED, url="https://a.example", events=["form.submitted"])
    for number, body in enumerate(later):
        change(ada, f"done {number}", SUCCEEDED, **body)
    section_text = section(get(as_administrator), "Needs attention")
    assert ("422: No such version." in section_text) is is_shown


@pytest.mark.usefixtures("clock")
def test_a_version_queued_unusually_long_needs_attention(as_viewer: Client) -> None:
    seed_pages(wire.page())
    long_ago = timezone.now() - timedelta(minutes=18)
    seed_audiences(queued(queuedAt=long_ago.isoformat()))
    assert "Queued Version 2, Brightwater Foods In progress for 18 min" in section(
        get(as_viewer), "Needs attention"
    )


@pytest.mark.parametrize(
    "late",
    [
        {"status": "processing", "queuedAt": "2026-03-01T09:00:00Z"},
        {"status": "pending", "queuedAt": None},
        {"status": "queued", "queuedAt": "2026-03-01T09:00:00Z"},
    ],
)
def test_a_late_version_needs_attention(late: dict[str, Any], as_viewer: Client) -> None:
    seed_pages(wire.page())
    seed_audiences(queued(**late), queued() | {"audienceId": "aud_2"})
    html = get(as_viewer)
    assert "Needs attention <small>1</small>" in html
    assert "Versions in progress <small>2</small>" in html
    assert '<a class="lead" href="#in-flight">2</a>' in html
    word = str(late["status"]).capitalize()
    assert f"{word} Version 2, Brightwater Foods In progress for" in section(
        html, "Needs attention"
    )
    listed = section(html, "Versions in progress")
    assert word not in listed.removeprefix("2").split("Queued")[0]
    assert listed.endswith("1 takes longer than usual: see Needs attention.")


def test_a_late_version_is_found_behind_many_newer_ones(as_viewer: Client) -> None:
    seed_pages(wire.page())
    seed_audiences(queued(queuedAt="2026-03-01T09:00:00Z") | {"effectiveName": "Stuck"})
    seed_audiences(*(queued() | {"audienceId": f"aud_{n}"} for n in range(2, 12)))
    assert "Stuck" in section(get(as_viewer), "Needs attention")


def test_more_late_versions_than_are_shown_are_counted(as_viewer: Client) -> None:
    seed_pages(wire.page())
    pending = queued(status="pending", queuedAt=None)
    seed_audiences(*(pending | {"audienceId": f"aud_{n}"} for n in range(11)))
    html = get(as_viewer)
    assert "Needs attention <small>11</small>" in html
    assert "6 more versions taking longer than usual" in section(html, "Needs attention")


@pytest.mark.usefixtures("clock")
def test_time_in_progress_counts_from_the_queue(as_viewer: Client) -> None:
    seed_pages(wire.page())
    seed_audiences(queued(status="processing"))
    AudienceRecord.objects.update(changed_at=timezone.now() - timedelta(days=6))
    assert "20 s" in section(get(as_viewer), "Versions in progress")


def test_an_undated_version_counts_from_when_it_was_seen(as_viewer: Client) -> None:
    seed_pages(wire.page())
    seed_audiences(queued(queuedAt=None))
    AudienceRecord.objects.update(changed_at=timezone.now() - timedelta(minutes=2))
    assert "seen for 2 min" in section(get(as_viewer), "Versions in progress")
    AudienceRecord.objects.update(changed_at=timezone.now() - timedelta(minutes=20))
    assert "Seen in progress for 20 min" in section(get(as_viewer), "Needs attention")


def test_dialog_and_overview_show_the_same_times(
    as_publisher: Client, fake_service: FakeService, paula: User
) -> None:
    for number in range(5):
        seconds = 30 + 10 * number
        at = datetime.now(UTC) - timedelta(minutes=9)
        live = wire.live_version(
            versionId=f"old_{number}",
            queuedAt=(at - timedelta(seconds=seconds)).isoformat(),
            publishedAt=at.isoformat(),
        )
        old = wire.audience(audienceId=f"aud_x{number}", publishedVersion=live, latestVersion=live)
        seed_audiences(old)
    latest = queued(queuedAt=(datetime.now(UTC) - timedelta(minutes=7)).isoformat())
    seed_audiences(latest)
    operation(paula, "k1", SUCCEEDED)
    serve(fake_service, latest)
    html = get(as_publisher)
    section_text = section(html, "Needs attention")
    assert "Versions typically take 50 s, 95% within 1 min 10 s." in section_text
    assert ": median 50 s, 95% within 1 min 10 s." in text(html)
    dialog = get(
        as_publisher, "/pages/page_1/audiences/aud_1/versions/ver_2/publish/progress/?operation=k1"
    )
    assert "Typically 50 s, 95% within 1 min 10 s" in text(dialog)


@pytest.mark.matrix(cells=4)
@pytest.mark.parametrize("seconds_before", range(1, 11))
def test_a_chart_keeps_its_day_past_midnight(
    as_viewer: Client, monkeypatch: pytest.MonkeyPatch, seconds_before: int
) -> None:
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    first_day = midnight - timedelta(days=14)
    live = wire.live_version(
        queuedAt=first_day.isoformat(), publishedAt=(first_day + timedelta(seconds=40)).isoformat()
    )
    seed_pages(wire.page())
    seed_audiences(wire.audience(publishedVersion=live, latestVersion=live))
    stopped(monkeypatch, at=midnight - timedelta(seconds=seconds_before), tick_s=1)
    section_text = text(get(as_viewer))
    charts_begin_there = f"per day, {first_day:%-d %B} to" in section_text
    assert (" 40 s " in section_text) is charts_begin_there


# In progress


def test_what_changed_is_announced(as_viewer: Client, fake_service: FakeService) -> None:
    seed_pages(wire.page())
    seed_audiences(queued())
    age_everything()
    serve(fake_service, queued(status="processing"))
    page = Region(as_viewer, "/", "in-flight")
    assert page.is_moving
    assert "Processing" in page.refresh().html
    assert "Version 2 of Brightwater Foods: processing." in page.text
    assert page.is_moving
    assert "Brightwater Foods: processing." not in page.refresh().text


def test_without_a_change_nothing_is_announced(
    as_viewer: Client, fake_service: FakeService
) -> None:
    seed_pages(wire.page())
    seed_audiences(queued())
    age_everything()
    serve(fake_service, queued())
    page = Region(as_viewer, "/", "in-flight")
    assert "in-flight-announcement" not in page.refresh().html
    assert page.is_moving


def test_nothing_is_read_once_nothing_is_in_progress(
    as_viewer: Client, fake_service: FakeService
) -> None:
    seed_audiences(queued())
    age_everything()
    serve(fake_service, wire.audience(latestVersion=wire.live_version(versionId="ver_2")))
    assert text(get(as_viewer)).count("Service not checked yet") == 2
    html = get(as_viewer, target="in-flight")
    assert not is_moving(html)
    assert "No versions in progress." in text(html)
    assert text(html).count("Service operational") == 2, "also in the sidebar"


def test_a_failed_read_shows_an_error_and_is_repeated(
    as_viewer: Client, fake_service: FakeService
) -> None:
    seed_audiences(queued())
    age_everything()
    fake_service.fails(httpx.ConnectError)
    html = get(as_viewer, target="in-flight")
    assert "Refresh failed." in text(html)
    assert "Brightwater Foods" in html
    assert is_moving(html)


def test_three_pages_are_read_at_once_moving_versions_first(
    as_viewer: Client, fake_service: FakeService
) -> None:
    for number in range(8):
        seed_audiences(queued(status="pending"), page_id=f"page_{number}")
    seed_audiences(queued(queuedAt="2026-03-01T09:00:00Z"), page_id="page_late")
    seed_audiences(queued(), page_id="page_8")
    age_everything()
    fake_service.answers(200, json=wire.envelope())
    get(as_viewer, target="in-flight")
    assert len(fake_service.sent) == 3
    assert fake_service.sent[0].url.path == "/v0/pages/page_8/audiences"


def test_a_late_version_that_goes_live_needs_no_attention(
    as_viewer: Client, fake_service: FakeService
) -> None:
    seed_pages(wire.page())
    seed_audiences(queued(queuedAt="2026-03-01T09:00:00Z"))
    age_everything()
    assert is_moving(get(as_viewer))
    serve(fake_service, wire.audience(latestVersion=wire.live_version(versionId="ver_2")))
    html = get(as_viewer, target="in-flight")
    assert "Version 2 of Brightwater Foods" not in section(html, "Needs attention")
    assert "Nothing needs attention." in section(html, "Needs attention")
    assert not is_moving(html)


def test_an_operation_in_progress_is_followed_until_it_completes(
    as_viewer: Client, fake_service: FakeService, paula: User
) -> None:
    target = Target("page_1", "aud_1", "ver_2", 2, target_name="Brightwater Foods")
    _, attempt = begin(
        operation_key="k1", actor=paula, kind=OperationKind.PUBLISH_VERSION, target=target, body={}
    )
    assert attempt
    seed_pages(wire.page())
    assert is_moving(get(as_viewer))
    assert "In progress" in section(get(as_viewer, target="in-flight"), "Recent operations")
    end(attempt, SUCCEEDED)
    html = get(as_viewer, target="in-flight")
    assert "Accepted" in section(html, "Recent operations")
    assert not is_moving(html)
    assert fake_service.sent == []


def age_everything() -> None:
    """Date the last reads back by a minute, so that audiences are due for a read."""
    AudienceRecord.objects.update(last_seen_at=timezone.now() - timedelta(minutes=1))


def is_moving(html: str) -> bool:
    part = next(e for e in elements(html, "section") if e.attributes.get("id") == "in-flight")
    assert "audience" in part.attributes["data-live"].split()
    return "data-moving" in part.attributes


# Changes since the last visit


def visited(user: User, *, ago: timedelta) -> None:
    save_preferences(user, overview_seen_at=timezone.now() - ago)


def test_the_first_visit_has_no_changes_to_show(as_viewer: Client) -> None:
    seed_pages(wire.page())
    assert "Changes since your last visit will appear here." in section(
        get(as_viewer), "Since your last visit"
    )


def test_it_shows_what_changed_since_the_last_visit(
    as_viewer: Client, vera: User, paula: User
) -> None:
    seed_pages(wire.page())
    seed_audiences(wire.audience(publishedVersion=live_now()))
    operation(paula, "k1", SUCCEEDED)
    PageRecord.objects.update(first_seen_at=timezone.now() - timedelta(days=9))
    visited(vera, ago=timedelta(hours=2))
    section_text = section(get(as_viewer), "Since your last visit")
    assert "1 version went live: Brightwater Foods, version 1" in section_text
    assert "Audiences: 0 updated, 1 new" in section_text
    assert "Pages: 1 updated, 0 new" in section_text
    assert "Operations: 1 accepted" in section_text


def test_own_publishes_are_not_listed_as_changes(
    as_publisher: Client, as_viewer: Client, paula: User, vera: User
) -> None:
    seed_pages(wire.page())
    live = live_now()
    mine = wire.audience(publishedVersion=live, latestVersion=live)
    seed_audiences(mine, wire.audience(audienceId="aud_2", effectiveName="Of another"))
    long_ago = timezone.now() - timedelta(days=9)
    PageRecord.objects.update(first_seen_at=long_ago, changed_at=long_ago)
    AudienceRecord.objects.update(first_seen_at=long_ago)
    operation(paula, "k1", SUCCEEDED, target=Target("page_1", "aud_1", live["versionId"], 1))
    Publication.objects.update(started_at=timezone.now())
    own_publish = Operation.objects.get(operation_key="k1")
    Publication.objects.filter(audience_id="aud_1").update(operation=own_publish)
    for user in (paula, vera):
        visited(user, ago=timedelta(hours=2))
    own = section(get(as_publisher), "Since your last visit")
    assert "1 version went live: Of another, version 1" in own
    assert "Audiences: 1 updated" in own
    assert "Operations:" not in own
    other = section(get(as_viewer), "Since your last visit")
    assert "2 versions went live:" in other
    assert "Brightwater Foods" in other
    assert "Audiences: 2 updated" in other
    assert "Operations: 1 accepted" in other


def test_a_republish_by_another_is_listed_for_the_first(
    as_publisher: Client, paula: User, vera: User
) -> None:
    seed_pages(wire.page())
    live = live_now()
    seed_audiences(wire.audience(publishedVersion=live))
    target = Target("page_1", "aud_1", live["versionId"], 1)
    operation(paula, "k1", SUCCEEDED, target=target, at=timezone.now() - timedelta(days=1))
    operation(vera, "k2", SUCCEEDED, target=target)
    visited(paula, ago=timedelta(hours=2))
    assert "1 version went live" in section(get(as_publisher), "Since your last visit")


def test_no_changes_have_a_sentence(as_viewer: Client, vera: User) -> None:
    seed_pages(wire.page())
    long_ago = timezone.now() - timedelta(days=9)
    PageRecord.objects.update(first_seen_at=long_ago, changed_at=long_ago)
    visited(vera, ago=timedelta(hours=2))
    assert "No known changes." in section(get(as_viewer), "Since your last visit")


def test_a_reload_shows_the_same_changes(as_viewer: Client, vera: User) -> None:
    seed_pages(wire.page())
    visited(vera, ago=timedelta(hours=2))
    first, again = get(as_viewer), get(as_viewer)
    assert "1 new" in section(first, "Since your last visit")
    assert "1 new" in section(again, "Since your last visit")


def test_a_visit_counts_on_every_device(
    as_viewer: Client, vera: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = stopped(monkeypatch)
    for _ in range(2):
        as_viewer.post("/visited/")
        clock.advance(3600)
    seed_pages(wire.page())
    elsewhere = logged_in(vera)
    assert "1 new" in section(get(elsewhere), "Since your last visit")
    elsewhere.post("/visited/")
    assert "1 new" in section(get(as_viewer), "Since your last visit")
    clock.advance(3600)
    assert "No known changes." in section(get(as_viewer), "Since your last visit")


def live_now(number: int = 1, *, days_ago: int = 0) -> dict[str, Any]:
    at = datetime.now(UTC) - timedelta(days=days_ago, minutes=5)
    queued_at = at - timedelta(seconds=40)
    return wire.live_version(
        versionId=f"live_{number}",
        audienceId=f"aud_{number}",
        publishedAt=at.isoformat(),
        queuedAt=queued_at.isoformat(),
    )


# Counts, charts, health


def test_counts_show_how_much_of_the_total_is_loaded(as_viewer: Client) -> None:
    seed_pages(wire.page(audiencesCount=7), total=1204)
    seed_audiences(wire.audience())
    section_text = text(get(as_viewer))
    assert "“Load the rest” does it at once. 1,204 1 loaded. Load the rest" in section_text
    assert "Audiences 1+ of 7, 1 live" in section_text


def test_charts_have_a_title_and_a_table(as_viewer: Client, paula: User) -> None:
    seed_audiences(
        *(wire.audience(audienceId=f"aud_{n}", publishedVersion=live_now(n)) for n in range(5))
    )
    before = live_now(5, days_ago=2)
    seed_audiences(wire.audience(audienceId="aud_5", publishedVersion=before))
    operation(paula, "accepted, but not live", SUCCEEDED)
    html = get(as_viewer)
    charts = [e for e in elements(html, "svg") if e.attributes.get("role") == "img"]
    assert {e.attributes["aria-labelledby"] for e in charts} == {"publishes-t", "queue-t"}
    assert "6 live, 0 failed, 0 outcome unknown. Most in a day: 5 on" in text(html)
    assert "median 40 s, 95th percentile 40 s" in text(html)
    assert html.count("Show as table") == 2
    assert not any("style" in e.attributes for e in elements(html))


def test_one_day_is_a_sentence_and_no_chart(as_viewer: Client) -> None:
    seed_pages(wire.page())
    seed_publication()
    html = get(as_viewer)
    assert "1 live, 0 failed, 0 outcome unknown. None on other days." in text(html)
    assert "publishes-t" not in html


def test_published_today_counts_versions_that_went_live(as_viewer: Client, paula: User) -> None:
    operation(paula, "accepted, but not live", SUCCEEDED)
    assert "Published today 0 0 yesterday" in text(get(as_viewer))
    seed_publication(2, started_at=timezone.now() - timedelta(days=1))
    # The start of this publication is unknown.
    seed_publication(
        1, audience_id="aud_2", reason=PublicationReason.FIRST_SEEN, is_start_seen=True
    )
    assert "Published today 0 1 yesterday" in text(get(as_viewer))
    seed_publication(3)
    seed_publication(1, reason=PublicationReason.ROLLBACK)
    assert "Published today 2 1 yesterday" in text(get(as_viewer))


def test_health_reflects_the_requests_made(as_viewer: Client, fake_service: FakeService) -> None:
    seed_pages(wire.page())
    assert "No requests in the last hour" in text(get(as_viewer))
    fake_service.fails(httpx.ReadTimeout)
    as_viewer.get("/pages/")
    assert "0 slow, 1 failed request in the last hour" in text(get(as_viewer))
    assert "Service unavailable" in text(get(as_viewer))


def test_the_last_eight_operations_are_listed(as_viewer: Client, paula: User) -> None:
    for number in range(9):
        operation(paula, f"k{number}", SUCCEEDED)
    section_text = section(get(as_viewer), "Recent operations")
    assert section_text.count("paula Publish version 2") == 8


def test_the_number_of_queries_is_constant(
    as_publisher: Client, paula: User, django_assert_max_num_queries: Any
) -> None:
    for number in range(30):
        seed_pages(wire.page(pageId=f"page_{number}"))
        seed_audiences(queued() | {"audienceId": f"aud_{number}"}, page_id=f"page_{number}")
        operation(paula, f"k{number}", UNKNOWN)
        seed_publication(number)
    shell_state()  # counts once; the page below uses the cache
    with django_assert_max_num_queries(31):
        get(as_publisher)


def test_text_from_the_service_is_never_markup(as_publisher: Client, paula: User) -> None:
    seed_pages(wire.page(name=HOSTILE))
    seed_audiences(queued() | {"effectiveName": HOSTILE})
    target = Target("page_1", "a/b", "ver_2", 2, target_name=HOSTILE)
    operation(paula, "k1", AttemptResult(Outcome.UNKNOWN, HOSTILE), target=target)
    html = get(as_publisher)
    assert HOSTILE not in html
    assert not any(e.tag == "img" for e in elements(html))


def test_administrators_see_how_to_fix_a_rejected_key(
    as_viewer: Client, as_administrator: Client, fake_service: FakeService
) -> None:
    fake_service.answers(401)
    as_viewer.get("/people/")
    seen = response_text(as_viewer.get("/"))
    assert "API key rejected" in seen
    assert "Contact an administrator." in seen
    assert "SERVICE_API_KEY" not in seen
    assert "Set a valid SERVICE_API_KEY" in response_text(as_administrator.get("/"))
