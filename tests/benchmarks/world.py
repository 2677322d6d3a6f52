"""What is measured on: 10,000 pages, audiences and people in SQLite, all of it seen before.

They are the sample's, repeated, so that a row is as long as in use.
"""

import logging
import os
from collections.abc import Iterable
from itertools import cycle, islice
from typing import Any, TypeVar

from django.db.models import Model

T = TypeVar("T", bound=Model)

ROWS = 10_000
LISTED = "page_with_fifty_audiences"
"""A page with a list of them as long as the other lists are."""
LONG_TALK = "audience_with_a_long_talk"
MESSAGES, RESULTS_MB = 200, 5
WITH_AUDIENCES = 200
"""Pages among which the audiences are spread."""


def make_world(env: dict[str, str], rows: int) -> None:
    """Fill a database that is migrated. To be called in a process that has no settings yet."""
    import django

    os.environ |= env | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    django.setup()
    logging.disable(logging.WARNING)
    from django.db import transaction

    with transaction.atomic():
        _fill_service(rows)
    _look_at_everything()


def long_talk() -> list[dict[str, Any]]:
    """Return 200 messages, each with a tool call, whose results are 5 MB together."""
    size = RESULTS_MB * 1_000_000 // MESSAGES
    result = {"rows": [f"row {number} of a long table" for number in range(size // 28)]}
    return [
        {
            "messageId": f"message_{number}",
            "content": f"I looked at part {number} of the fleet and **compared**:\n\n- one\n- two",
            "timestamp": 1_770_000_000 + number * 60,
            "toolCalls": [
                {"id": f"call_{number}", "name": "look", "arguments": {"part": number}}
                | {"result": result}
            ],
        }
        for number in range(MESSAGES)
    ]


def _fill_service(rows: int) -> None:
    from django.utils import timezone

    from dashboard.embedded_api.models import Audience, Conversation, Page, Version
    from dashboard.embedded_api.sample import Sample

    Sample(timezone.now()).load(people_count=rows, progress=lambda *_: None)
    pages, audiences = list(Page.objects.all()), list(Audience.objects.all())
    versions: dict[str, list[Version]] = {audience.pk: [] for audience in audiences}
    for version in Version.objects.all():
        versions[version.audience_id].append(version)

    listed = _copy(pages[0], LISTED)
    count = rows - len(pages) - 1
    more = [_copy(page, f"page_{n}") for n, page in enumerate(islice(cycle(pages), count))]
    Page.objects.bulk_create([listed, *more], batch_size=1_000)
    fifty = [(LONG_TALK, listed), *((f"aud_listed_{n}", listed) for n in range(49))]
    count = rows - len(audiences) - len(fifty)
    others = islice(cycle(more[:WITH_AUDIENCES]), count)
    homes = [*fifty, *((f"aud_{n}", page) for n, page in enumerate(others))]
    made, made_versions = [], []
    for (key, page), source in zip(homes, cycle(audiences), strict=False):
        made_versions += [
            _copy(version, f"ver_{key}_{number}", audience_id=key)
            for number, version in enumerate(versions[source.pk])
        ]
        made.append(_copy(source, key, page_id=page.pk))
    Audience.objects.bulk_create(made, batch_size=1_000)
    Version.objects.bulk_create(made_versions, batch_size=1_000)
    Conversation.objects.create(audience_id=LONG_TALK, messages=long_talk())


def _copy(row: T, key: str, **differs: str) -> T:
    values = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
    return type(row)(**values | {"id": key} | differs)


def _look_at_everything() -> None:
    from dashboard.embedded_api.models import Audience
    from dashboard.service.reading import read_audiences, read_pages

    cursor = None
    while True:
        part = read_pages(cursor=cursor, limit=200)
        if not (cursor := part.next_cursor):
            break
    pages: Iterable[str] = Audience.objects.values_list("page_id", flat=True).distinct()
    for page_id in list(pages):
        read_audiences(page_id)
