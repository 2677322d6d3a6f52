"""Fill the ledger and the notifications as after weeks of use, with one rollback."""

import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from importlib.resources import files
from itertools import pairwise

from django.contrib.auth.models import User
from django.db.models import F, Max, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Least

from dashboard import clock
from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.wire import read_date
from dashboard.ledger.models import (
    AudienceRecord,
    Operation,
    PageRecord,
    Publication,
    SubscriptionRecord,
    VersionRecord,
)
from dashboard.ledger.models.operations import OperationKind, Outcome, actor_name
from dashboard.ledger.models.publications import PublicationReason
from dashboard.ledger.queries.audiences import outside_publications, rollback_targets
from dashboard.ledger.queries.pages import page_names
from dashboard.ledger.recording import version_record
from dashboard.ledger.subscriptions import record_subscription
from dashboard.notifications import receivers
from dashboard.notifications.kinds import TEAM_KINDS
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
from dashboard.notifications.outbox import RETRIED_FOR
from dashboard.notifications.recipients import notify_pending
from dashboard.operations.checking import PublishTarget
from dashboard.operations.publish import publish_reviewed
from dashboard.operations.publish_review import review_publish
from dashboard.releases.models import Release, ReleaseItem, ReleaseState
from dashboard.service.reading import read_audiences, read_pages
from dashboard.service.subscriptions import fetch_subscription

SeenVersion = tuple[str, AudienceVersion, datetime, datetime]
TEXTS = tomllib.loads(files(__package__).joinpath("history.toml").read_text(encoding="utf-8"))
OUTSIDE_COUNT = 4
SEEN_AFTER = timedelta(seconds=20)
ROLLED_BACK_AGO = timedelta(minutes=1)
NOTIFIED_SINCE = timedelta(days=10)
READ_AFTER = timedelta(hours=30)
Recording = tuple[datetime, Callable[[], None]]
"""When something happened, and what records it."""


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    """Start the clock of the process at an earlier moment within the block."""
    correction = clock.correction()
    clock.correct_by(correction + (moment - clock.now()))
    try:
        yield
    finally:
        clock.correct_by(correction)


def read_first_page() -> None:
    """Read the first page of the page list with the audiences; the rest stays unknown."""
    for page in read_pages().items:
        read_audiences(page.page_id)


def save_seen_versions(seen_versions: Iterable[SeenVersion]) -> None:
    VersionRecord.objects.bulk_create(
        version_record(page_id, version, first_seen_at=first, last_seen_at=last)
        for page_id, version, first, last in seen_versions
    )


def backdate_records() -> None:
    """Derive the dates of audiences and pages from their versions."""
    of_audience = VersionRecord.objects.filter(
        page_id=OuterRef("page_id"), audience_id=OuterRef("audience_id")
    )
    AudienceRecord.objects.update(
        first_seen_at=_aggregate(of_audience, "audience_id", Min("first_seen_at"), "first_seen_at"),
        changed_at=_aggregate(of_audience, "audience_id", Max("first_seen_at"), "changed_at"),
    )
    of_page = AudienceRecord.objects.filter(page_id=OuterRef("page_id"))
    PageRecord.objects.update(
        first_seen_at=_aggregate(of_page, "page_id", Min("first_seen_at"), "first_seen_at"),
        changed_at=Least("updated_at", "changed_at"),
    )


def _aggregate(
    rows: QuerySet[AudienceRecord] | QuerySet[VersionRecord],
    key: str,
    value: Min | Max,
    otherwise: str,
) -> Coalesce:
    """Return the minimum or maximum of the group's rows; without rows, the record's own column."""
    return Coalesce(
        Subquery(rows.order_by().values(key).annotate(it=value).values("it")), otherwise
    )


def add_subscriptions(subscription_ids: list[str], *, added_by: User, now: datetime) -> None:
    """Add some subscriptions, as if over several weeks."""
    labels = TEXTS["subscriptions"]["labels"]
    for number, (label, subscription_id) in enumerate(zip(labels, subscription_ids, strict=False)):
        record = add_subscription(label, subscription_id, added_by=added_by)
        since = now - timedelta(days=41 - 7 * number)
        SubscriptionRecord.objects.filter(pk=record.pk).update(
            first_seen_at=since, changed_at=since
        )


def add_subscription(label: str, subscription_id: str, *, added_by: User) -> SubscriptionRecord:
    subscription = fetch_subscription(subscription_id)
    return record_subscription(subscription, label=label, added_by=added_by)


def add_publications() -> None:
    """Record when the known versions were live, the newest few as published outside Pressroom.

    Pressroom would have recorded the same if it had read the audiences before and after.
    """
    audiences = {
        (record.page_id, record.audience_id): record for record in AudienceRecord.objects.all()
    }
    page_of = page_names([page_id for page_id, _ in audiences])
    accepted = Operation.publishes.filter(outcome=Outcome.ACCEPTED)
    publishes = {publish.version_id: publish for publish in accepted}
    histories: dict[tuple[str, str], list[Publication]] = defaultdict(list)
    for record in VersionRecord.objects.all():
        audience = audiences.get((record.page_id, record.audience_id))
        if audience and read_date(record.version.published_at):
            publication = _publication(record, publishes.get(record.version_id))
            publication.page_name = page_of.get(record.page_id, "")
            publication.audience_name = audience.name
            histories[record.page_id, record.audience_id].append(publication)
    for key, history in histories.items():
        history.sort(key=lambda publication: publication.started_at)
        for publication, successor in pairwise(history):
            publication.ended_at = publication.last_seen_at = successor.started_at
        if history[-1].version_id != audiences[key].live_version_id:
            history[-1].ended_at = history[-1].last_seen_at
    ours = set(Operation.objects.values_list("version_id", flat=True))
    outside = [
        history[-1]
        for key, history in histories.items()
        if history[-1].is_live
        and history[-1].version_id not in ours
        and history[-1].started_at > audiences[key].first_seen_at
    ]
    outside.sort(key=lambda publication: publication.started_at, reverse=True)
    for publication in outside[:OUTSIDE_COUNT]:
        publication.reason = PublicationReason.OUTSIDE
    Publication.objects.all().delete()
    Publication.objects.bulk_create(
        publication for history in histories.values() for publication in history
    )


def _publication(record: VersionRecord, publish: Operation | None) -> Publication:
    started_at = read_date(record.version.published_at) or record.first_seen_at
    return Publication(
        page_id=record.page_id,
        audience_id=record.audience_id,
        version_id=record.version_id,
        version_number=record.version_number,
        published_at=started_at,
        started_at=started_at,
        seen_at=started_at + SEEN_AFTER,
        last_seen_at=max(record.last_seen_at, started_at),
        operation=publish,
        actor_name=publish.actor_name if publish else "",
        reason=PublicationReason.PUBLISH if publish else PublicationReason.FIRST_SEEN,
    )


def roll_back_one(user: User) -> None:
    """Roll back the latest publish from here, as a person would. The service executes it at once.

    The newest version of the audience is live, and no release contains the audience.
    """
    latest = AudienceRecord.objects.filter(live_version_id=F("latest_version_id"))
    published = Publication.objects.filter(
        ended_at=None,
        reason=PublicationReason.PUBLISH,
        audience_id__in=latest.values("audience_id"),
    ).exclude(audience_id__in=ReleaseItem.objects.values("audience_id"))
    keys = published.order_by("-started_at").values_list("page_id", "audience_id")
    targets = rollback_targets(keys)
    target = next(targets[key] for key in keys if key in targets)
    ids = PublishTarget(target.page_id, target.audience_id, target.version_id)
    review = review_publish(ids, with_conversation=False)
    # Requested a moment ago, so that it is live by now.
    with at(clock.now() - ROLLED_BACK_AGO):
        publish_reviewed(review, actor=user, note=TEXTS["rollback"]["note"])
    read_audiences(target.page_id)


def add_notifications(now: datetime, accounts: dict[str, User]) -> None:
    """Record the events of the last days, each at its time. Decisions already have theirs."""
    for moment, record in _recordings(now, list(accounts.values())):
        with at(moment):
            record()
    notify_pending("demo")
    old = Notification.objects.filter(created_at__lt=now - READ_AFTER)
    old.update(read_at=now - READ_AFTER)
    _add_deliveries(now, accounts["demo"])


def _recordings(now: datetime, users: list[User]) -> Iterator[Recording]:
    recent = Operation.objects.filter(actor__in=users, requested_at__gt=now - NOTIFIED_SINCE)
    failed = recent.filter(outcome__in=(Outcome.REJECTED, Outcome.NOT_SENT, Outcome.UNKNOWN))
    for operation in failed.filter(kind=OperationKind.PUBLISH_VERSION):
        moment = operation.settled_at or operation.requested_at
        yield moment, partial(receivers.on_operation_ended, operation)
    for release in Release.objects.filter(state=ReleaseState.FINISHED):
        yield release.finished_at or now, partial(receivers.on_release_finished, release)
    for publication in outside_publications(since=now - NOTIFIED_SINCE):
        yield publication.seen_at, partial(receivers.on_published_outside, [publication])


def _add_deliveries(now: datetime, added_by: User) -> None:
    """Save a team webhook that is turned off, with what was sent to it."""
    target = WebhookTarget.objects.create(
        **TEXTS["webhook"],
        format=WebhookFormat.SLACK,
        kinds=TEAM_KINDS,
        is_active=False,
        created_at=now - NOTIFIED_SINCE,
        created_by_name=actor_name(added_by),
    )
    events = list(Event.objects.all()[:4])[::-1]
    for event in events:
        is_last = event is events[-1]
        delivery = Delivery.objects.create(
            channel=Channel.WEBHOOK,
            target=target,
            message_id=f"msg_{event.pk:032x}",
            created_at=event.at,
            state=DeliveryState.GIVEN_UP if is_last else DeliveryState.SENT,
            attempts=1,
            retry_until=event.at + RETRIED_FOR,
            attempted_at=event.at,
            status_code=410 if is_last else 200,
            problem=target.off_reason if is_last else "",
            sent_at=None if is_last else event.at,
        )
        DeliveryAttempt.objects.create(
            delivery=delivery,
            at=event.at,
            status_code=delivery.status_code,
            problem=delivery.problem,
        )
        item = {"event": event, "channel": Channel.WEBHOOK, "target": target}
        DeliveryItem.objects.create(delivery=delivery, due_at=event.at, **item)
