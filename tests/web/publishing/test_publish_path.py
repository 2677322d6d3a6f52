"""What a publish passes on its way: few of our modules, and nothing read twice."""

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
MAX_MODULES = 54
"""In a warm POST that counts the sidebar anew. Raise it only in a commit that says why."""
CALLS = {
    # Once at the door (`refusal`), whatever was read before, and once to show the result.
    "audience_last_known": 2,
    "version_last_known": 2,
    # Once for the review, once at the door.
    "publish_kind": 2,
    "current_rule": 2,
    # At the door, to record the response, and to show the result.
    "AudienceRecord.audience": 3,
}
"""How often what is dear is called."""


@pytest.mark.django_db
def test_a_publish_passes_few_modules_and_reads_nothing_twice(
    as_publisher: Client, fake_service: FakeService
) -> None:
    calls: Counter[tuple[str, str]] = Counter()

    def note(frame: FrameType, event: str, argument: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(CODE):
            calls[str(path.relative_to(CODE)), frame.f_code.co_qualname] += 1

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
    # PostgreSQL's statements have limits.
    limit = MAX_MODULES + (connection.vendor == "postgresql")
    assert len(modules) <= limit, "\n".join(modules)
    assert {name: count for (_, name), count in calls.items() if name in CALLS} == CALLS
