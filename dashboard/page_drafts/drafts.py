"""Drafts of pages: saved while the user types, offered later, deleted when the page is created.

Every function takes the user's id: no user reads or deletes another's draft.
"""

import json
from collections.abc import Mapping
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from dashboard import clock
from dashboard.ledger.models.operations import Operation, Outcome
from dashboard.page_drafts.models import MAX_NAME, PageDraft
from dashboard.work.tasks import WorkerTask

MAX_DRAFTS = 10
"""Drafts per user; the oldest are deleted. Source: our choice."""
DRAFT_LIFETIME = timedelta(days=90)
MAX_DRAFT_CHARACTERS = 1_000_000
"""Characters of JSON. Source: our choice."""


def save_draft(
    user_id: int, key: str, fields: Mapping[str, str], *, name: str, operation_key: str
) -> PageDraft | None:
    """Save the fields of a form, replacing its earlier draft.

    Returns None, and saves nothing, if a page was already created from this form: a save may
    arrive after the form was sent. Raises ValueError above MAX_DRAFT_CHARACTERS.
    """
    fields_json = json.dumps(fields)
    if len(fields_json) > MAX_DRAFT_CHARACTERS:
        raise ValueError("too long for a draft")
    if Operation.objects.filter(operation_key=operation_key, outcome=Outcome.ACCEPTED).exists():
        return None
    draft = PageDraft(
        user_id=user_id,
        key=key,
        operation_key=operation_key,
        name=name.replace("\0", "")[:MAX_NAME],
        fields_json=fields_json,
        saved_at=clock.now(),
    )
    with transaction.atomic():
        PageDraft.objects.bulk_create(
            [draft],
            update_conflicts=True,
            unique_fields=["user", "key"],
            update_fields=["operation_key", "name", "fields_json", "saved_at"],
        )
        mine = PageDraft.objects.filter(user_id=user_id)
        newest = mine.values_list("pk", flat=True)[:MAX_DRAFTS]
        mine.exclude(pk__in=list(newest)).delete()
    return draft


def list_drafts(user_id: int) -> QuerySet[PageDraft]:
    mine = PageDraft.objects.filter(user_id=user_id, saved_at__gt=clock.now() - DRAFT_LIFETIME)
    return mine.exclude(operation_key__in=_accepted_keys()).defer("fields_json")


def get_draft(user_id: int, key: str) -> PageDraft | None:
    if "\0" in key:  # PostgreSQL rejects NUL even in a filter.
        return None
    return list_drafts(user_id).defer(None).filter(key=key).first()


def draft_fields(draft: PageDraft) -> dict[str, str]:
    fields: dict[str, str] = json.loads(draft.fields_json)
    return fields


def delete_draft(user_id: int, key: str) -> bool:
    deleted, _ = PageDraft.objects.filter(user_id=user_id, key=key).delete()
    return bool(deleted)


def delete_old_drafts() -> None:
    """Delete drafts that are too old, and those whose page was created.

    `prune` calls this before it deletes operations. Without its operation, a draft that was sent
    would be offered again.
    """
    is_old = Q(saved_at__lt=clock.now() - DRAFT_LIFETIME)
    PageDraft.objects.filter(is_old | Q(operation_key__in=_accepted_keys())).delete()


def _accepted_keys() -> QuerySet[Operation, str]:
    accepted = Operation.objects.filter(outcome=Outcome.ACCEPTED)
    return accepted.values_list("operation_key", flat=True)


DELETE_OLD_DRAFTS = WorkerTask(lambda *_: delete_old_drafts(), every_s=3_600.0)
