"""Open pages show what others do: their regions follow the feed."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.approvals.models import RequestState
from dashboard.approvals.requests import end_request
from dashboard.contract.audiences import Audience
from dashboard.contract.pages import PageItem
from dashboard.ledger.models import Publication
from dashboard.ledger.models.operations import OperationKind
from dashboard.ledger.operations import Target, begin
from dashboard.ledger.queries.subscriptions import label_subscription
from dashboard.ledger.recording import record_audiences, record_page
from dashboard.notifications.email_change import set_address
from dashboard.notifications.models import Notification
from dashboard.notifications.sending import turn_off
from dashboard.notifications.targets import change_target
from dashboard.saved_views.rules import create_view
from tests.support import wire
from tests.support.clock import stopped
from tests.support.fake_service import FakeService
from tests.support.html import text
from tests.support.live_page import LivePage, Region
from tests.support.one_audience import serve
from tests.support.seeding import (
    seed_approval,
    seed_audiences,
    seed_notification,
    seed_pages,
    seed_publication,
    seed_subscription,
    seed_target,
)

pytestmark = [
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
    pytest.mark.same_on_any_database,
]
MAX_POLL_QUERIES, MAX_OVERVIEW_QUERIES = 15, 20
NOTIFICATIONS = "/accounts/settings/notifications/"
AUDIENCE = "/pages/page_1/audiences/aud_1/"


class Watched:
    """A region of an open page. It refreshes if the next poll returns one of its topics."""

    def __init__(self, client: Client, url: str, name: str) -> None:
        self._page, self._region = LivePage(client, url), Region(client, url, name)

    @property
    def text(self) -> str:
        """The text that it shows after the next poll."""
        topics = self._page.poll().topics
        is_due = "*" in topics or any(
            f"{topic}:".startswith(f"{own}:") for topic in topics for own in self._region.topics
        )
        assert is_due, f"{topics} are not about {self._region.topics}"
        return self._region.refresh().text


def change_audience(**differs: Any) -> None:
    audience = Audience.model_validate(wire.audience(**differs))
    record_audiences("page_1", [audience], read_at=timezone.now())


def test_a_list_is_sent_the_rows_that_changed_alone(as_viewer: Client) -> None:
    names = ("North", "South", "West")
    seed_audiences(*(wire.audience(audienceId=name, effectiveName=name) for name in names))
    audiences = Region(as_viewer, "/audiences/", "results")
    everything, topics = audiences.rows, ["audience:page_1:South", "page:page_9"]
    assert len(everything) == 3
    assert audiences.refresh(*topics).rows == [row for row in everything if "South" in row]
    assert len(audiences.row_ids) == 3, "the others keep their places"
    assert audiences.refresh(*topics, "release:1").rows == everything


def test_all_rows_follow_the_rights_of_the_user(as_publisher: Client, paula: User) -> None:
    names = ("North", "South")
    seed_audiences(*(wire.audience(audienceId=name, effectiveName=name) for name in names))
    page = LivePage(as_publisher, "/audiences/")
    audiences = Region(as_publisher, "/audiences/", "results")
    assert audiences.html.count('type="checkbox" name="audience"') == 2
    paula.groups.clear()
    change_audience(audienceId="South")
    audiences.refresh(*page.poll().topics)
    assert len(audiences.rows) == 2
    assert 'name="audience"' not in audiences.html
    change_audience(audienceId="South", effectiveName="South-East")
    assert page.poll().topics == ["audience:page_1:South"]


def test_a_withdrawn_request_changes_in_the_list(as_viewer: Client) -> None:
    approval = seed_approval()
    requests = Watched(as_viewer, "/approvals/?state=open", "requests")
    end_request(approval, RequestState.WITHDRAWN, "Paula withdrew it.")
    assert "Withdrawn" in requests.text, "the row has left the list and is up to date"


def test_a_read_notification_changes_in_the_list(vera: User, as_viewer: Client) -> None:
    seed_notification(vera)
    pk = Notification.objects.get().pk
    unread = Watched(as_viewer, "/notifications/?state=unread", "notifications")
    as_viewer.post(f"/notifications/{pk}/read/")
    assert "Mark as read" not in unread.text, "the row has left the list and is up to date"


def test_a_switched_webhook_changes_in_the_list_and_on_its_page(
    as_viewer: Client, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.subscription())
    seed_subscription(active=True)
    page = Watched(as_viewer, "/webhooks/whs_1/", "subscription-head")
    rows = Watched(as_viewer, "/webhooks/?state=on", "subscriptions")
    sent = len(fake_service.sent)
    seed_subscription(active=False, url="https://new.example.com/")
    assert "new.example.com" in page.text
    assert "whs_1" in rows.text, "the row has left the list and is up to date"
    assert len(fake_service.sent) == sent, "whoever switched it has read it"


def test_an_open_form_says_that_its_webhook_changed(
    as_administrator: Client, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.subscription())
    seed_subscription()
    page = Watched(as_administrator, "/webhooks/whs_1/", "subscription-head")
    seed_subscription(active=False)
    assert "changed after you opened it" not in page.text, "the form doesn’t show the switch"
    label_subscription("whs_1", "CRM of the north")
    assert "The subscription changed after you opened it." in page.text
    label_subscription("whs_1", "CRM")
    assert "changed after you opened it" not in page.text
    seed_subscription(active=False, url="https://new.example.com/")
    seen = page.text
    assert "Your changes are still here." in seen
    assert "Save changes" not in seen, "the form is left alone"


def test_a_form_stays_when_its_user_may_no_longer_save_it(
    as_administrator: Client, ada: User, fake_service: FakeService
) -> None:
    fake_service.answers(200, json=wire.subscription())
    seed_subscription()
    page = Watched(as_administrator, "/webhooks/whs_1/", "subscription-head")
    ada.groups.clear()
    seen = page.text
    assert "Your changes can’t be saved." in seen
    assert "Target and events" not in seen, "the form is left alone"


@pytest.mark.parametrize("region", ["webhooks", "team-webhooks"])
def test_a_changed_webhook_changes_in_the_settings_and_on_its_page(
    region: str, as_administrator: Client, ada: User
) -> None:
    target = seed_target(user=ada if region == "webhooks" else None)
    settings = Watched(as_administrator, NOTIFICATIONS, region)
    page = Watched(as_administrator, f"{NOTIFICATIONS}webhooks/{target.pk}/", "target-head")
    change_target(target, name="Quiet", url=target.url, is_active=False)
    assert "Quiet Slack Off" in settings.text
    assert "Quiet Off" in page.text
    turn_off(target, "The receiver responded 410.")
    assert "The receiver responded 410. Turned off" in settings.text
    assert "Pressroom turned it off. The receiver responded 410." in page.text


def test_another_address_changes_in_the_settings(
    as_viewer: Client, vera: User, settings: Any
) -> None:
    settings.EMAIL_IS_ON = True
    email = Watched(as_viewer, NOTIFICATIONS, "email")
    set_address(vera, "vera@example.com")
    assert "Sent to vera@example.com" in email.text


def test_a_page_follows_its_head_and_its_body(as_viewer: Client, fake_service: FakeService) -> None:
    serve(fake_service, wire.audience())
    seed_pages(wire.page())
    head = Watched(as_viewer, "/pages/page_1/", "page-head")
    page = PageItem.model_validate(wire.page(name="Harbor fleets", pageContext="Ships."))
    record_page(page, read_at=timezone.now())
    seen = head.text
    assert "Harbor fleets" in seen
    assert "Ships." in seen


def test_an_audience_follows_its_details(as_viewer: Client, fake_service: FakeService) -> None:
    serve(fake_service, wire.audience())
    body = Watched(as_viewer, AUDIENCE, "audience-body")
    change_audience(computedName="Brightwater, Hull")
    assert "Brightwater, Hull" in body.text


def test_the_counts_of_saved_views_follow(vera: User, as_viewer: Client) -> None:
    seed_pages(wire.page())
    create_view(vera, "audiences", name="All of them", query="q=bright", is_team=False)
    views = Watched(as_viewer, "/accounts/password/", "side-views")
    change_audience()
    assert "All of them 1" in views.text


def test_a_view_shared_with_the_team_appears(paula: User, as_viewer: Client) -> None:
    views = Watched(as_viewer, "/accounts/password/", "side-views")
    create_view(paula, "audiences", name="Not live", query="live=none", is_team=True)
    assert "Not live" in views.text


def test_a_new_operation_waits_above_the_log(paula: User, as_viewer: Client) -> None:
    log = Watched(as_viewer, "/activity/", "log")
    target = Target("page_1", "aud_1", "ver_2", 2, target_name="Brightwater Foods")
    kind = OperationKind.PUBLISH_VERSION
    begin(operation_key="k1", actor=paula, kind=kind, target=target, body={})
    assert "Brightwater Foods" in log.text


def test_a_change_costs_the_overview_few_queries(
    paula: User, as_viewer: Client, fake_service: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch)  # The page was read just now.
    queued = wire.audience(latestVersion=wire.version(status="queued"))
    serve(fake_service, queued)
    seed_pages(wire.page())
    seed_audiences(queued)
    page, in_flight = LivePage(as_viewer, "/"), Region(as_viewer, "/", "in-flight")
    begin(operation_key="k1", actor=paula, kind=OperationKind.CREATE_PAGE, target=Target(), body={})
    with CaptureQueriesContext(connection) as poll:
        topics = page.poll().topics
    with CaptureQueriesContext(connection) as refresh:
        in_flight.refresh(*topics)
    assert len(poll) <= MAX_POLL_QUERIES, poll.captured_queries
    assert len(refresh) <= MAX_OVERVIEW_QUERIES, refresh.captured_queries


def test_rows_say_who_else_has_just_published_them(
    paula: User, as_viewer: Client, as_publisher: Client, fake_service: FakeService
) -> None:
    seed_pages(wire.page())
    live = wire.live_version(versionId="ver_2", versionNumber=2)
    audience = wire.audience(latestVersion=live, publishedVersion=live)
    seed_audiences(audience)
    serve(fake_service, audience)
    target = Target("page_1", "aud_1", "ver_2", 2)
    kind = OperationKind.PUBLISH_VERSION
    operation, _ = begin(operation_key="k1", actor=paula, kind=kind, target=target, body={})
    seed_publication(operation=operation, actor_name="Paula", reason="publish")
    for url in ("/audiences/", "/pages/page_1/"):
        page = as_viewer.get(url).text
        assert 'data-was="Paula published 2"' in page
        assert re.search(r"by Paula, \d+ s ago", text(page))
        assert "data-was" not in as_publisher.get(url).text
    Publication.objects.update(reason="rollback")
    audiences = Region(as_viewer, "/audiences/", "results")
    assert 'data-was="Paula rolled back to 2"' in audiences.html
    Publication.objects.update(started_at=timezone.now() - timedelta(minutes=3))
    [row] = audiences.refresh("page:page_9").rows
    assert "Paula" not in row, "it is rendered, though something else has changed"
