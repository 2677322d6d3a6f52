"""Drafts: kept as they are typed, offered on return, gone when they are used.

Every function names the person: nobody reads or drops the draft of another.
"""

import json
from collections.abc import Mapping
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from dashboard.ledger.models import Operation, PageDraft
from dashboard.ledger.models.operations import Outcome

KEPT_DRAFTS = 10
"""Drafts of one person; the oldest makes room. Source: our choice."""
KEPT_FOR = timedelta(days=90)
LONGEST_DRAFT = 1_000_000
"""Characters of JSON. Source: our choice."""
_NAME_SHOWN = 200


def keep_draft(
    person_id: int, key: str, typed: Mapping[str, str], *, name: str, operation_key: str
) -> PageDraft | None:
    """Keep what was typed into a form, in place of what it held before.

    Returns None, and keeps nothing, where a page was made of this form already: a save may come
    later than the form it belongs to. Raises ValueError for more than LONGEST_DRAFT.
    """
    words = json.dumps(typed)
    if len(words) > LONGEST_DRAFT:
        raise ValueError("too long for a draft")
    if Operation.objects.filter(operation_key=operation_key, outcome=Outcome.ACCEPTED).exists():
        return None
    draft = PageDraft(
        person_id=person_id,
        key=key,
        operation_key=operation_key,
        name=name.replace("\0", "")[:_NAME_SHOWN],
        typed=words,
        saved_at=timezone.now(),
    )
    with transaction.atomic():
        PageDraft.objects.bulk_create(
            [draft],
            update_conflicts=True,
            unique_fields=["person", "key"],
            update_fields=["operation_key", "name", "typed", "saved_at"],
        )
        _make_room(person_id)
    return draft


def drafts_of(person_id: int) -> QuerySet[PageDraft]:
    """Return a person's drafts that can be gone on with, newest first, without what they hold."""
    accepted = Operation.objects.filter(outcome=Outcome.ACCEPTED).values("operation_key")
    mine = PageDraft.objects.filter(person_id=person_id, saved_at__gt=timezone.now() - KEPT_FOR)
    return mine.exclude(operation_key__in=accepted).defer("typed")


def draft_of(person_id: int, key: str) -> PageDraft | None:
    """Return one draft of a person, with what it holds, or None."""
    if "\0" in key:  # PostgreSQL takes none even to look for.
        return None
    return drafts_of(person_id).defer(None).filter(key=key).first()


def typed_in(draft: PageDraft) -> dict[str, str]:
    """Return the fields of the form by name."""
    fields: dict[str, str] = json.loads(draft.typed)
    return fields


def drop_draft(person_id: int, key: str) -> bool:
    """Forget one draft of a person; tell whether there was one."""
    dropped, _ = PageDraft.objects.filter(person_id=person_id, key=key).delete()
    return bool(dropped)


def _make_room(person_id: int) -> None:
    mine = PageDraft.objects.filter(person_id=person_id)
    newest = mine.values_list("pk", flat=True)[:KEPT_DRAFTS]
    mine.exclude(pk__in=list(newest)).delete()
    mine.filter(saved_at__lt=timezone.now() - KEPT_FOR).delete()
