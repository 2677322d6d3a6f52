"""Some of the versions in the ledger that went live with no operation on record."""

from django.db.models import Exists, F, OuterRef

from dashboard.ledger.models import AudienceRecord, Operation, OutsidePublish
from dashboard.ledger.queries.pages import page_names

COUNT = 4


def add_outside_publishes() -> None:
    """Record the newest live versions without an operation as published outside Pressroom.

    As Pressroom would have, had it read their audience before and after they went live.
    """
    operations = Operation.objects.filter(
        page_id=OuterRef("page_id"),
        audience_id=OuterRef("audience_id"),
        version_id=OuterRef("live_version_id"),
    )
    seen_before = AudienceRecord.objects.filter(live_since__gt=F("first_seen_at"))
    newest = seen_before.exclude(Exists(operations)).order_by("-live_since", "pk")[:COUNT]
    names = page_names([record.page_id for record in newest])
    OutsidePublish.objects.bulk_create(
        OutsidePublish(
            page_id=record.page_id,
            audience_id=record.audience_id,
            version_id=live.version_id,
            version_number=live.version_number,
            audience_name=record.name,
            page_name=names.get(record.page_id, ""),
            published_at=record.live_since,
            noticed_at=record.live_since or record.last_seen_at,
        )
        for record in reversed(newest)
        if (live := record.audience.published_version)
    )
