"""A rejected version has a warning wherever it can be published, until a newer one exists."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.comments.models import Thread
from dashboard.comments.threads import add_comment
from dashboard.ledger.models import AudienceRecord, PageRecord
from dashboard.ledger.models.objects import LiveStatus
from dashboard.notifications.models import Event, Follow, Notification
from dashboard.notifications.recipients import notify_pending
from dashboard.releases.checking import check_release
from dashboard.releases.drafting import create_release
from tests.support.clock import Clock
from tests.support.publish_dialog import PublishDialog
from tests.support.release_service import PublishingAudiences
from tests.support.review_desk import ReviewDesk

KEY = ("page_1", "aud_1")
DIALOG = "/pages/page_1/audiences/aud_1/versions/ver_aud_1_2/publish/"


@pytest.fixture
def rejected(desk: ReviewDesk) -> ReviewDesk:
    """Paula's desk, after she rejected the first version."""
    return desk.decide("reject", reason="Too narrow.")


def live_status() -> str:
    return AudienceRecord.objects.get(audience_id="aud_1").live_status


def dialog(client: Client, service: PublishingAudiences) -> PublishDialog:
    return PublishDialog(client, service, DIALOG).open()  # type: ignore[arg-type]


def test_the_publish_dialog_warns_of_it(
    rejected: ReviewDesk, service: PublishingAudiences, as_ben: Client
) -> None:
    opened = dialog(as_ben, service)
    assert "paula rejected version 2" in opened.text
    assert "Too narrow." in opened.text
    assert "Type 2 to publish" in opened.text


def test_it_can_be_published_all_the_same(
    rejected: ReviewDesk, service: PublishingAudiences, as_ben: Client
) -> None:
    opened = dialog(as_ben, service).press(number="2")
    assert opened.state == "Version 2 is live"
    assert live_status() == LiveStatus.UP_TO_DATE


def test_a_dialog_opened_before_it_sends_nothing(
    desk: ReviewDesk, service: PublishingAudiences, as_ben: Client
) -> None:
    opened = dialog(as_ben, service)
    desk.decide("reject")
    opened.press()
    assert "Something changed since you opened this form." in opened.text
    assert service.sent == []


def test_a_release_warns_of_it(rejected: ReviewDesk, service: PublishingAudiences) -> None:
    user = AudienceRecord and rejected.client.get("/").wsgi_request.user
    release = create_release(name="", note="", audiences=[KEY], user=user)  # type: ignore[arg-type]
    check_release(release)
    [finding] = release.items.get().findings
    assert finding["headline"] == "paula rejected version 2"
    assert finding["severity"] == "risk"


def test_it_leaves_the_unpublished_changes(rejected: ReviewDesk, as_viewer: Client) -> None:
    changed = as_viewer.get("/audiences/?live=changed").text
    only_rejected = as_viewer.get("/audiences/?live=rejected").text
    assert ("Name of aud_1" in changed, "Name of aud_2" in changed) == (False, True)
    assert ("Name of aud_1" in only_rejected, "Name of aud_2" in only_rejected) == (True, False)


def test_its_page_has_other_changes_still(rejected: ReviewDesk) -> None:
    assert PageRecord.objects.get().any_changed, "two others have changes"


def test_a_newer_version_ends_it(rejected: ReviewDesk, service: PublishingAudiences) -> None:
    service.record()
    assert live_status() == LiveStatus.REJECTED
    service.edit(KEY)
    service.record()
    assert live_status() == LiveStatus.CHANGED


def test_another_text_of_the_version_is_not_warned_of(
    rejected: ReviewDesk, service: PublishingAudiences, as_ben: Client
) -> None:
    service.change(KEY, latestVersion=service.version(KEY, 2, supplementaryContext="Another"))
    opened = dialog(as_ben, service)
    assert "paula rejected version 2 before its text changed" in opened.text
    assert "Type 2 to publish" not in opened.text


def test_undone_it_is_as_before(rejected: ReviewDesk, service: PublishingAudiences) -> None:
    rejected.undo()
    assert live_status() == LiveStatus.CHANGED
    assert "rejected version 2" not in dialog(rejected.client, service).text


def follow(user_name: str) -> None:
    Follow.objects.create(
        user=User.objects.get(username=user_name),
        page_id="page_1",
        audience_id="aud_1",
        created_at="2026-01-01T00:00:00Z",
    )


def test_followers_are_notified_after_ten_seconds(
    desk: ReviewDesk, bens: ReviewDesk, clock: Clock
) -> None:
    follow("ben")
    desk.decide("reject")
    notify_pending("worker")
    assert not Notification.objects.filter(event__kind="version_rejected").exists()
    clock.advance(timedelta(seconds=11).total_seconds())
    notify_pending("worker")
    notification = Notification.objects.get(event__kind="version_rejected")
    assert notification.user.username == "ben"


def test_undone_decisions_send_no_notice(desk: ReviewDesk, clock: Clock) -> None:
    desk.decide("reject")
    desk.undo()
    clock.advance(11)
    notify_pending("worker")
    assert not Event.objects.filter(kind="version_rejected").exists()


def test_a_mention_is_notified_after_ten_seconds(
    desk: ReviewDesk, bens: ReviewDesk, clock: Clock
) -> None:
    desk.decide("needs-work", comment="@ben, see the price line.")
    notify_pending("worker")
    assert not Notification.objects.exists()
    clock.advance(11)
    notify_pending("worker")
    assert Notification.objects.get(event__kind="mentioned").user.username == "ben"


def test_an_undone_mention_notifies_nobody(
    desk: ReviewDesk, bens: ReviewDesk, clock: Clock
) -> None:
    desk.decide("needs-work", comment="@ben, see the price line.").undo()
    clock.advance(400)
    notify_pending("worker")
    assert not Notification.objects.exists()


def test_an_assignee_is_notified_after_ten_seconds(
    desk: ReviewDesk, ben: User, clock: Clock
) -> None:
    desk.decide("needs-work", comment="See the price line.", assignee=str(ben.pk))
    notify_pending("worker")
    assert not Notification.objects.exists()
    clock.advance(11)
    notify_pending("worker")
    assert [(n.user, n.event.kind) for n in Notification.objects.all()] == [(ben, "assigned")]


def test_an_undone_assignment_sends_no_notice(desk: ReviewDesk, ben: User, clock: Clock) -> None:
    desk.decide("needs-work", comment="See the price line.", assignee=str(ben.pk)).undo()
    clock.advance(400)
    notify_pending("worker")
    assert not Notification.objects.exists()


def test_a_reply_to_what_was_undone_is_notified_of(
    desk: ReviewDesk, bens: ReviewDesk, vera: User, clock: Clock
) -> None:
    follow("ben")
    desk.decide("needs-work", comment="See the price line.")
    add_comment(vera, Thread.objects.get(), "It is right.")
    desk.undo()
    clock.advance(400)
    notify_pending("worker")
    facts = Notification.objects.get(user__username="ben").event.facts
    assert (facts["count"], facts["names"]) == ("1 new comment", "vera")


def test_a_rejected_first_version_leaves_what_is_not_live(
    service: PublishingAudiences, as_publisher: Client
) -> None:
    service.change(KEY, publishedVersion=None)
    service.record()
    desk = ReviewDesk(as_publisher, query="sort=name").begin().decide("reject")
    matches = {
        status: "Name of aud_1" in as_publisher.get(f"/audiences/?live={status}").text
        for status in ("not-live", "live", "rejected")
    }
    assert matches == {"not-live": False, "live": False, "rejected": True}
    assert not PageRecord.objects.get().any_not_live
    service.record()
    assert live_status() == LiveStatus.REJECTED_FIRST
    desk.undo()
    assert live_status() == LiveStatus.NOT_LIVE
