"""The sample data, as the dashboard sees it: nothing here imports the service it belongs to."""

from collections.abc import Iterator
from datetime import datetime
from typing import Protocol, cast

from django.utils.module_loading import import_string

from dashboard.contract.audiences import AudienceVersion

SAMPLE = "dashboard.embedded_api.sample.Sample"


class Progress(Protocol):
    """Told what is being made, in a few words, and where it is counted how much of it is."""

    def __call__(self, what: str, done: int = 0, total: int = 0) -> None:
        """Take note."""


class SampleService(Protocol):
    """Fills the embedded API, and tells what a dashboard would have seen of it before."""

    def is_loaded(self) -> bool:
        """Whether it is filled already."""

    def load(self, *, people_count: int, progress: Progress) -> None:
        """Fill it."""

    def versions_seen(self) -> Iterator[tuple[str, AudienceVersion, datetime, datetime]]:
        """Return page id, version as last seen, and when it was first and last seen."""

    def subscription_ids(self) -> list[str]:
        """Return the ids of the webhook subscriptions."""

    def issue_key(self) -> str:
        """Return a fresh API key for outside callers."""


def sample_service(now: datetime) -> SampleService:
    """Return the sample data of that moment."""
    return cast("SampleService", import_string(SAMPLE)(now))
