"""Leave rejected versions out of "Unpublished changes" and "Not live"."""

from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.models.objects import REJECTED_AS, LiveStatus
from dashboard.ledger.queries.pages import update_flags_of
from dashboard.ledger.recording import lock_page


def set_rejected(page_id: str, audience_id: str, version_id: str, *, is_rejected: bool) -> None:
    """Mark an audience's latest version as rejected or not rejected. Call in a transaction.

    A read that finds another latest version ends the rejection.
    """
    lock_page(page_id)
    record = AudienceRecord.objects.filter(
        page_id=page_id, audience_id=audience_id, latest_version_id=version_id
    ).first()
    changes: dict[str, LiveStatus] = REJECTED_AS
    if not is_rejected:
        changes = {after: LiveStatus(before) for before, after in REJECTED_AS.items()}
    if record and (status := changes.get(record.live_status)):
        record.live_status = status
        record.save(update_fields=["live_status"])
        update_flags_of([page_id])
