"""Keeping the texts people are found by: after every change, whoever made it.

Triggers note who was changed. The next search follows those changes first, so that what it
finds is what the rows say, whether they were written by the ORM, an admin page or a statement.
"""

import secrets
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from django.db import transaction

from dashboard.embedded_api.models import Person, PersonChange, PersonText, SearchState
from dashboard.embedded_api.search.choice import index_in_use
from dashboard.embedded_api.search.found import Index
from dashboard.embedded_api.search.labels import GAP, label_for
from dashboard.embedded_api.search.rows import rows
from dashboard.embedded_api.search.words import SEARCHED, searchable_text
from dashboard.embedded_api.writing import empty, write_many

Progress = Callable[[int], None]
"""Told how many texts are written."""
_BATCH = 5_000
_IN_ONE_QUESTION = 500
_ONE_IN = 10
"""When more than one in so many texts changed or is late, all are written anew: that is faster."""
_ORDER = ("tenant_id", "name", "id")
_UNCHANGED = (
    "SELECT mark FROM embedded_api_searchstate"
    " WHERE NOT EXISTS (SELECT 1 FROM embedded_api_personchange)"
)


def up_to_date(progress: Progress = lambda done: None) -> str:
    """Follow what was changed; return the mark of the state, the same until the next change."""
    if state := rows(_UNCHANGED):
        return str(state[0][0])
    with transaction.atomic():
        return _follow(index_in_use(), progress)


def write_anew(progress: Progress = lambda done: None) -> None:
    """Write all texts and their index anew."""
    SearchState.objects.all().delete()
    up_to_date(progress)


def _follow(index: Index, progress: Progress) -> str:
    # Two processes may come at once: the second waits here, and then finds nothing to do.
    state, is_new = SearchState.objects.select_for_update().get_or_create(pk=1)
    if is_new or _are_many(PersonChange.objects.count() + index.late()):
        _write_all(index, progress)
    else:
        _write_changed(index)
    state.mark = secrets.token_hex(16)
    state.save()
    return state.mark


def _are_many(changes: int) -> bool:
    return not PersonText.objects.all()[changes * _ONE_IN :][:1].exists()


def _write_all(index: Index, progress: Progress) -> None:
    # Noted changes go before the people are read: one that comes in between stays noted.
    empty(PersonChange)
    index.clear()
    empty(PersonText)
    people = Person.objects.order_by(*_ORDER).values_list(*_ORDER, *SEARCHED, named=True)
    rows = people.iterator(chunk_size=_BATCH)
    texts = (_text_of(person, number * GAP, number) for number, person in enumerate(rows))
    done = 0
    while batch := list(islice(texts, _BATCH)):
        write_many(batch)
        index.add(batch)
        done += len(batch)
        progress(done)
    index.settle()


def _write_changed(index: Index) -> None:
    changes = dict(PersonChange.objects.values_list("pk", "person_id"))
    for part in _parts(changes):
        ids = {changes[number] for number in part}
        PersonChange.objects.filter(pk__in=part).delete()
        old = PersonText.objects.filter(person_id__in=ids)
        index.remove(list(old))
        old.delete()
        for person in Person.objects.filter(pk__in=ids).order_by(*_ORDER):
            label = label_for(index, person.tenant_id, person.name, person.pk)
            text = _text_of(person, label)
            text.save(force_insert=True)
            index.add([text])


def _parts(changes: dict[int, str]) -> Iterator[list[int]]:
    numbers = iter(changes)
    while part := list(islice(numbers, _IN_ONE_QUESTION)):
        yield part


def _text_of(person: Any, label: int, place: int | None = None) -> PersonText:
    return PersonText(
        label=label,
        place=place,
        person_id=person.id,
        tenant_id=person.tenant_id,
        name=person.name,
        text=searchable_text(person),
    )
