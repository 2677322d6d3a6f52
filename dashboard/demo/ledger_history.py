"""Records in the ledger as after weeks of use."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Max, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Least

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger import recording
from dashboard.ledger.models import AudienceRecord, PageRecord, SubscriptionRecord, VersionRecord
from dashboard.service.reading import read_audiences, read_pages
from dashboard.service.subscriptions import fetch_subscription

SeenVersion = tuple[str, AudienceVersion, datetime, datetime]
LABELS = ("Version events", "CRM forms", "Warehouse", "Audit trail", "Sales chat")
"""Labels of the subscriptions that were added; the others are not."""


def read_first_page() -> None:
    """Read the first page of the page list with the audiences; the rest stays unknown."""
    for page in read_pages().items:
        read_audiences(page.page_id)


def save_seen_versions(seen_versions: Iterable[SeenVersion]) -> None:
    """Save versions as they were last seen."""
    VersionRecord.objects.bulk_create(
        recording.version_record(page_id, version, first_seen_at=first, last_seen_at=last)
        for page_id, version, first, last in seen_versions
    )


def backdate_records() -> None:
    """Set the dates of audiences and pages by those of their versions."""
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


def add_subscriptions(subscription_ids: list[str], *, added_by: User, now: datetime) -> None:
    """Add some subscriptions, as if over several weeks."""
    for number, (label, subscription_id) in enumerate(zip(LABELS, subscription_ids, strict=False)):
        record = add_subscription(label, subscription_id, added_by=added_by)
        since = now - timedelta(days=41 - 7 * number)
        SubscriptionRecord.objects.filter(pk=record.pk).update(
            first_seen_at=since, changed_at=since
        )


def add_subscription(label: str, subscription_id: str, *, added_by: User) -> SubscriptionRecord:
    """Add a subscription to the list, as a user does."""
    subscription = fetch_subscription(subscription_id)
    return recording.record_subscription(subscription, label=label, added_by=added_by)


def _aggregate(
    rows: QuerySet[AudienceRecord] | QuerySet[VersionRecord],
    key: str,
    value: Min | Max,
    otherwise: str,
) -> Coalesce:
    """Return the minimum or maximum of the group's rows, or its own column without any."""
    return Coalesce(
        Subquery(rows.order_by().values(key).annotate(it=value).values("it")), otherwise
    )
