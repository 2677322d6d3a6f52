"""The live version is attributed to the publish that queued it, and to no other."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from dashboard.contract.audiences import AudienceVersion
from dashboard.ledger.attribution import has_published
from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import Outcome
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import page_text, text
from tests.support.one_audience import get
from tests.support.publish_dialog import EARLIER, PublishDialog
from tests.support.publishing_service import PublishingService

REQUESTED_AT = datetime(2026, 3, 12, 14, 6, 12, tzinfo=UTC)
BEFORE, THEN, LATER = (
    (REQUESTED_AT + timedelta(minutes=minutes)).isoformat() for minutes in (-60, 1, 60)
)


def publish_operation(**differs: Any) -> Operation:
    values: dict[str, Any] = {
        "version_id": "ver_2",
        "outcome": Outcome.ACCEPTED,
        "requested_at": REQUESTED_AT,
        "settled_at": REQUESTED_AT + timedelta(seconds=1),
    }
    return Operation(**values | differs)


def live_version(queued_at: str | None, published_at: str | None) -> AudienceVersion:
    sent = wire.version(status="published", queuedAt=queued_at, publishedAt=published_at)
    return AudienceVersion.model_validate(sent)


@pytest.mark.parametrize(
    ("version", "publish", "is_it"),
    [
        (live_version(THEN, THEN), publish_operation(), True),
        (live_version(THEN, LATER), publish_operation(), True),
        (live_version("soon", LATER), publish_operation(), True),
        (
            live_version(LATER, LATER),
            publish_operation(settled_at=REQUESTED_AT + timedelta(hours=1)),
            True,
        ),
        (live_version(LATER, LATER), publish_operation(), False),
        (live_version(BEFORE, THEN), publish_operation(), False),
        (live_version(None, BEFORE), publish_operation(), False),
        (live_version(None, None), publish_operation(), True),
        (live_version(THEN, THEN), publish_operation(before={"queuedAt": THEN}), False),
        (live_version(None, THEN), publish_operation(before={"publishedAt": THEN}), False),
        (
            live_version(LATER, LATER),
            publish_operation(outcome=Outcome.UNKNOWN, settled_at=None),
            True,
        ),
    ],
)
def test_a_version_belongs_to_the_publish_that_queued_it(
    version: AudienceVersion, publish: Operation, *, is_it: bool
) -> None:
    read_at = REQUESTED_AT + timedelta(hours=1)
    assert has_published(publish, version, read_at) is is_it


def test_of_two_publishes_the_one_that_queued_it_counts() -> None:
    second = publish_operation(
        requested_at=REQUESTED_AT + timedelta(seconds=90), before={"queuedAt": THEN}
    )
    read_at = REQUESTED_AT + timedelta(hours=1)
    assert has_published(publish_operation(), live_version(THEN, THEN), read_at)
    assert not has_published(second, live_version(THEN, THEN), read_at)


@pytest.mark.django_db
@pytest.mark.parametrize("is_again_elsewhere", [False, True])
def test_a_version_published_again_elsewhere_has_no_publisher_here(
    is_again_elsewhere: bool, as_publisher: Client, fake_service: FakeService
) -> None:
    fake_service.answer = service = PublishingService()
    PublishDialog(as_publisher, service).publish()
    service.moves_on("published")
    if is_again_elsewhere:
        later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        service.moves_on("published", queuedAt=later)
    attributed = [
        "Published by paula" in text(get(as_publisher, "audience-detail")),
        "Published by paula." in text(get(as_publisher, "version-list")),
        "published by paula" in page_text(as_publisher, EARLIER.replace("publish", "rollback")),
    ]
    assert attributed == [not is_again_elsewhere] * 3
