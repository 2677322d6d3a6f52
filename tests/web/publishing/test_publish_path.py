"""A publish runs through few of our modules and reads nothing twice."""

import sys
from collections import Counter
from pathlib import Path
from types import FrameType

import pytest
from django.db import connection
from django.test import Client

import dashboard
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.publish_dialog import ADDRESS, form_in
from tests.support.publishing_service import PublishingService

CODE = Path(dashboard.__file__).parent
MAX_MODULES = 57
"""Limit for a warm POST that counts the sidebar again. Raise it only in a commit that says why."""
CALLS = {
    # Once just before sending (`refusal`), regardless of earlier reads; once to show the result.
    "audience_last_known": 2,
    "version_last_known": 2,
    # Once for the review, once just before sending.
    "publish_kind": 2,
    "current_rule": 2,
    # Just before sending, to record the response, and to show the result.
    "AudienceRecord.audience": 3,
}
"""Number of calls of expensive functions."""


@pytest.mark.django_db
def test_a_publish_passes_few_modules_and_reads_nothing_twice(
    as_publisher: Client, fake_service: FakeService
) -> None:
    calls: Counter[tuple[str, str]] = Counter()
    code = f"{CODE}/"

    def note(frame: FrameType, event: str, argument: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(code):
            calls[path.removeprefix(code), frame.f_code.co_qualname] += 1

    service = fake_service.answer = PublishingService()
    for version_id, number in (("ver_2", 2), ("ver_3", 3)):
        address = ADDRESS.replace("ver_2", version_id)
        service.latest = wire.version(versionId=version_id, versionNumber=number)
        form = form_in(as_publisher.get(address).text)
        calls.clear()
        sys.setprofile(note)
        try:
            headers = {"HX-Request": "true", "HX-Target": "publish"}
            page = as_publisher.post(address, form, headers=headers).text
        finally:
            sys.setprofile(None)
        assert f"Publishing version {number}" in page
        service.moves_on("published")
    modules = sorted({path for path, _ in calls})
    # On PostgreSQL, one more module limits the time of statements.
    limit = MAX_MODULES + (connection.vendor == "postgresql")
    assert len(modules) <= limit, "\n".join(modules)
    assert {name: count for (_, name), count in calls.items() if name in CALLS} == CALLS
