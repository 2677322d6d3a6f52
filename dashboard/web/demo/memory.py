"""A ledger as after weeks of use: what was seen then, what is seen now, and what was done."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Max, Min, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Least

from dashboard.contract.audiences import AudienceVersion
from dashboard.contract.webhooks import SubscriptionPatch
from dashboard.ledger import recording
from dashboard.ledger.models import AudienceRecord, PageRecord, SubscriptionRecord, VersionRecord
from dashboard.web.readings import read_audiences, read_pages
from dashboard.web.service import publishing_client

Sight = tuple[str, AudienceVersion, datetime, datetime]
LABELS = ("Version events", "CRM forms", "Warehouse", "Audit trail", "Sales chat")
"""Names given to the subscriptions that colleagues have added; the others nobody has."""


def look_at_everything_listed() -> list[str]:
    """Read the first part of the list of pages and their audiences; return the pages' ids.

    The list's second part is left for the operator to find missing.
    """
    page_ids = [page.page_id for page in read_pages().items]
    for page_id in page_ids:
        read_audiences(page_id)
    return page_ids


def remember_earlier_looks(sights: Iterable[Sight]) -> None:
    """Write down the versions seen at earlier looks, as they were then."""
    VersionRecord.objects.bulk_create(
        VersionRecord(
            page_id=page_id,
            audience_id=version.audience_id,
            version_id=version.version_id,
            version_number=version.version_number,
            status=version.status,
            body=version.model_dump_json(by_alias=True, exclude_unset=True),
            first_seen_at=first,
            last_seen_at=last,
        )
        for page_id, version, first, last in sights
    )


def age_what_was_seen() -> None:
    """Let audiences and pages be known for as long as the first of their versions is."""
    of_audience = VersionRecord.objects.filter(
        page_id=OuterRef("page_id"), audience_id=OuterRef("audience_id")
    )
    AudienceRecord.objects.update(
        first_seen_at=_one(of_audience, "audience_id", Min("first_seen_at"), "first_seen_at"),
        changed_at=_one(of_audience, "audience_id", Max("first_seen_at"), "changed_at"),
    )
    of_page = AudienceRecord.objects.filter(page_id=OuterRef("page_id"))
    PageRecord.objects.update(
        first_seen_at=_one(of_page, "page_id", Min("first_seen_at"), "first_seen_at"),
        changed_at=Least("updated_at", "changed_at"),
    )


def know_subscriptions(subscription_ids: list[str], *, added_by: User, now: datetime) -> None:
    """Read some of the subscriptions, as if they had been added over the weeks."""
    for number, (label, subscription_id) in enumerate(zip(LABELS, subscription_ids, strict=False)):
        read = publishing_client().webhook_subscriptions.update(
            subscription_id, SubscriptionPatch()
        )
        record = recording.remember_subscription(read, label=label, added_by=added_by)
        since = now - timedelta(days=41 - 7 * number)
        SubscriptionRecord.objects.filter(pk=record.pk).update(
            first_seen_at=since, changed_at=since
        )


def _one(
    rows: QuerySet[AudienceRecord] | QuerySet[VersionRecord],
    key: str,
    value: Min | Max,
    otherwise: str,
) -> Coalesce:
    """Return the least or greatest of the rows of one thing, or its own column without any."""
    return Coalesce(
        Subquery(rows.order_by().values(key).annotate(it=value).values("it")), otherwise
    )
