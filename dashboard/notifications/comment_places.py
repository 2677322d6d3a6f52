"""Places of comments: their names, URLs and owners."""

from dataclasses import dataclass
from urllib.parse import unquote

from django.urls import reverse

from dashboard.approvals.models import ApprovalRequest
from dashboard.ledger.models import AudienceRecord, Operation
from dashboard.live.presence import place_of
from dashboard.releases.models import Release

MAX_DIGITS = 12


@dataclass(frozen=True)
class CommentPlace:
    place: str
    kind: str
    name: str
    """Name as used in a sentence: "Brightwater Foods", "the release Thursday prices"."""
    path: str
    page_id: str = ""
    audience_id: str = ""
    owner_id: int | None = None
    """The release's owner, the requester, the operation's actor or the audience's assignee."""


def find_place(place: str) -> CommentPlace | None:
    """Return a place by its key; None if it doesn't exist. One query."""
    kind, *ids = place.split(":")
    ids = [unquote(text) for text in ids]
    if place != place_of(kind, *ids) or any("\0" in text for text in ids):
        return None
    match kind, ids:
        case "audience", [page_id, audience_id]:
            return _audience(place, page_id, audience_id)
        case _, [key]:
            return _detail(place, kind, key)
    return None


def _audience(place: str, page_id: str, audience_id: str) -> CommentPlace | None:
    records = AudienceRecord.objects.filter(page_id=page_id, audience_id=audience_id)
    record = records.defer("body").first()
    if record is None:
        return None
    path = reverse("audience-comments", args=[page_id, audience_id])
    name, owner_id = str(record), record.assignee_id
    return CommentPlace(place, "audience", name, path, page_id, audience_id, owner_id)


def _detail(place: str, kind: str, key: str) -> CommentPlace | None:
    row: Release | ApprovalRequest | Operation | None = None
    if kind == "operation":
        row = Operation.objects.filter(operation_key=key).first()
    elif kind in ("release", "request") and key.isdecimal() and len(key) <= MAX_DIGITS:
        model = Release if kind == "release" else ApprovalRequest
        row = model.objects.filter(pk=key).first()
    match row:
        case Release():
            view, name, owner_id = "release-detail", f"the release {row.name}", row.owner_id
        case ApprovalRequest():
            view, name, owner_id = (
                "approval-detail",
                f"the request {row.title}",
                row.requested_by_id,
            )
        case Operation():
            name = f"{row.title}, {row.target_name}".rstrip(", ")
            view, owner_id = "operation-detail", row.actor_id
        case _:
            return None
    return CommentPlace(place, kind, name, reverse(view, args=[key]), owner_id=owner_id)
