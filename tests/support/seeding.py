"""Record API objects in the ledger, for tests without a service."""

import json
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.approvals.models import ApprovalKind, ApprovalRequest, ApprovalRule
from dashboard.comments.models import Comment, TargetKind, Thread
from dashboard.contract.audiences import Audience
from dashboard.contract.pages import PageItem
from dashboard.contract.resource import ListEnvelope
from dashboard.contract.webhooks import WebhookSubscription
from dashboard.ledger.models import Publication
from dashboard.ledger.models.publications import PublicationReason
from dashboard.ledger.recording import record_audiences, record_pages
from dashboard.ledger.subscriptions import record_subscription
from dashboard.notifications.inbox import add_to_feed
from dashboard.notifications.models import (
    Channel,
    Delivery,
    DeliveryAttempt,
    DeliveryItem,
    DeliveryState,
    Event,
    Notification,
    WebhookFormat,
    WebhookTarget,
)
from dashboard.releases.approval_subjects import subject_of
from dashboard.releases.models import Release, ReleaseItem, ReleaseState
from dashboard.review.models import ReviewRun
from dashboard.saved_views.models import SavedView
from tests.support import wire

WAITING_FOR_APPROVAL = ReleaseState.WAITING_FOR_APPROVAL


def seed_pages(
    *pages: dict[str, Any], total: int | None = None, read_at: datetime | None = None
) -> None:
    """Record pages; `total` is the service's total count."""
    envelope = wire.envelope(*pages, totalCount=len(pages) if total is None else total)
    record_pages(ListEnvelope[PageItem].model_validate(envelope), read_at=read_at)


def seed_audiences(
    *audiences: dict[str, Any], page_id: str = "page_1", read_at: datetime | None = None
) -> None:
    """Record audiences of a page, and their versions."""
    models = [Audience.model_validate(audience) for audience in audiences]
    record_audiences(page_id, models, read_at=read_at)


def seed_subscription(**differs: Any) -> None:
    """Record a subscription."""
    subscription = WebhookSubscription.model_validate(wire.subscription(**differs))
    record_subscription(subscription, label="CRM")


def seed_release(pk: int = 1, **columns: Any) -> Release:
    """Record a checked release with the latest version of `aud_1`; its item has the same id."""
    now = timezone.now()
    names = {"created_by_name": "paula", "owner_name": "paula"}
    release = Release.objects.create(
        **{"pk": pk, "name": f"Release {pk}", "created_at": now} | names | columns
    )
    version, live = wire.version(), wire.live_version()
    ReleaseItem.objects.create(
        pk=pk,
        release=release,
        position=1,
        page_id="page_1",
        audience_id="aud_1",
        version_id="ver_2",
        version_number=2,
        audience_name="Brightwater Foods",
        page_name="Fleet telematics",
        version_body=json.dumps(version),
        live_body=json.dumps(live),
        live_version_id="ver_1",
        live_version_number=1,
        words_added=1,
        words_removed=1,
        page_status="published",
        digest="digest",
        checked_at=now,
    )
    return release


def seed_item(release: Release, number: int, **columns: Any) -> ReleaseItem:
    """Record the item of a release that publishes version `ver_{number}` of `aud_{number}`."""
    return ReleaseItem.objects.create(
        **{
            "release": release,
            "position": number,
            "page_id": "page_1",
            "audience_id": f"aud_{number}",
            "version_id": f"ver_{number}",
            "version_number": 2,
            "version_body": "{}",
        }
        | columns
    )


def seed_approval(pk: int = 1, **columns: Any) -> ApprovalRequest:
    """Record an approval request for the release with this id, by a user who was deleted."""
    release = Release.objects.filter(pk=pk).first()
    now = timezone.now()
    approval = ApprovalRequest.objects.create(
        **{
            "pk": pk,
            "kind": ApprovalKind.PUBLISH,
            "title": f"Publish Release {pk}",
            "subject": subject_of(release) if release else {},
            "digest": "digest",
            "requested_by_name": "paula",
            "requested_at": now,
            "expires_at": now + timedelta(days=7),
        }
        | columns
    )
    Release.objects.filter(pk=pk).update(approval=approval, state=WAITING_FOR_APPROVAL, wake_at=now)
    return approval


def seed_thread(pk: int = 1, body: str = "Who reviews this?", **columns: Any) -> Thread:
    """Record a thread on release 1; its comment has the same id as the thread."""
    now = timezone.now()
    times = {"created_at": now, "changed_at": now}
    where = {"place": "release:1", "kind": TargetKind.RELEASE, "object_id": "1"}
    thread = Thread.objects.create(**{"pk": pk} | times | where | columns)
    names = {"author_name": "paula", "created_at": now}
    Comment.objects.create(pk=pk, thread=thread, body=body, **names)
    return thread


def seed_view(owner: User | None, pk: int = 1, **columns: Any) -> SavedView:
    """Record a saved view of a user, or of the team."""
    now = timezone.now()
    names = {"created_by_name": "paula", "changed_by_name": "paula"}
    state = {"list_name": "audiences", "name": f"View {pk}", "query": "live=changed"}
    times = {"created_at": now, "changed_at": now}
    return SavedView.objects.create(**{"pk": pk, "owner": owner} | state | names | times | columns)


def seed_rule(**covers: bool) -> ApprovalRule:
    """Turn a rule on, such as `covers_publishing=True`; without any, nothing needs an approval."""
    return ApprovalRule.objects.create(changed_at=timezone.now(), changed_by_name="ada", **covers)


def seed_review(user: User, *keys: tuple[str, str], pk: int = 1, **columns: Any) -> ReviewRun:
    """Record a review of these audiences, by default `aud_1`."""
    now = timezone.now()
    pairs = [list(key) for key in keys or [("page_1", "aud_1")]]
    values = {"title": "Unpublished changes", "keys": pairs, "matches": len(pairs)}
    times = {"created_at": now, "active_at": now}
    return ReviewRun.objects.create(**{"pk": pk, "user": user} | values | times | columns)


def seed_publication(number: int = 2, **columns: Any) -> Publication:
    """Record that a version of `aud_1` went live just now; by default outside Pressroom.

    Ends the audience's earlier publication.
    """
    ids = {"page_id": "page_1", "audience_id": "aud_1", "version_id": f"ver_{number}"}
    names = {"audience_name": "Brightwater Foods", "page_name": "Fleet telematics"}
    now = columns.get("started_at") or timezone.now()
    times = {"started_at": now, "published_at": now, "seen_at": now, "last_seen_at": now}
    reason = PublicationReason.OUTSIDE
    values = {"version_number": number, "reason": reason} | times | ids | names | columns
    before = Publication.objects.filter(page_id=values["page_id"], ended_at=None)
    before.filter(audience_id=values["audience_id"]).update(ended_at=values["started_at"])
    return Publication.objects.create(**values)


def seed_target(pk: int = 1, **columns: Any) -> WebhookTarget:
    """Record a team webhook in Slack's format."""
    names = {"name": "Publishing channel", "created_by_name": "ada"}
    where = {"url": f"https://hooks.example.com/{pk}", "format": WebhookFormat.SLACK}
    return WebhookTarget.objects.create(
        **{"pk": pk, "created_at": timezone.now()} | names | where | columns
    )


def seed_event(number: int = 1, **columns: Any) -> Event:
    """Record an event without notifications."""
    audience = "Brightwater Foods"
    doing = f"Publishing version {number} of {audience}"
    about = {
        "kind": "publish_failed",
        "path": f"/activity/key-{number}/",
        "facts": {"doing": doing, "audience": audience},
    }
    return Event.objects.create(
        **{"key": f"event:{number}", "at": timezone.now()} | about | columns
    )


def seed_notification(user: User, number: int = 1, **columns: Any) -> Notification:
    """Record an unread notification of a user, for the event with this number or a new one."""
    event = Event.objects.filter(key=f"event:{number}").first() or seed_event(number)
    add_to_feed([user.pk])
    return Notification.objects.create(
        **{"user": user, "event": event, "created_at": event.at} | columns
    )


def seed_delivery(pk: int = 1, **columns: Any) -> Delivery:
    """Record a failed delivery of one event to a team webhook, which was given up."""
    now = timezone.now()
    target = WebhookTarget.objects.first() or seed_target()
    result = {"state": DeliveryState.GIVEN_UP, "attempts": 9, "attempted_at": now}
    response = {"status_code": 503, "problem": "The receiver responded 503."}
    values = {"pk": pk, "channel": Channel.WEBHOOK, "target": target, "message_id": f"msg_{pk}"}
    times = {"created_at": now, "retry_until": now}
    delivery = Delivery.objects.create(**values | result | response | times | columns)
    DeliveryAttempt.objects.create(delivery=delivery, at=now, **response)
    of_item = {"channel": delivery.channel, "user": delivery.user, "target": delivery.target}
    event = Event.objects.filter(key=f"event:{pk}").first() or seed_event(pk)
    DeliveryItem.objects.create(event=event, delivery=delivery, due_at=now, **of_item)
    return delivery
