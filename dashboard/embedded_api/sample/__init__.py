"""Sample data: believable, the same on every run, its times relative to now."""

from collections.abc import Iterator
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Protocol

from django.db import connection

from dashboard.embedded_api import keys
from dashboard.embedded_api.models import (
    DEFAULT_TENANT_ID,
    ApiKey,
    Audience,
    Conversation,
    Page,
    Subscription,
    Tenant,
    Version,
)
from dashboard.embedded_api.sample.looks import Sight, sights
from dashboard.embedded_api.sample.people import people
from dashboard.embedded_api.sample.world import World, make_world
from dashboard.embedded_api.search.upkeep import up_to_date
from dashboard.embedded_api.writing import write_many

TENANT_NAME = "Kestrel Freight Software"
KEY_NAME = "Shown by manage.py demo"
_BATCH = 5_000


class Progress(Protocol):
    """Told what is being made, in a few words, and where it is counted how much of it is."""

    def __call__(self, what: str, done: int = 0, total: int = 0) -> None:
        """Take note."""


class Sample:
    """The sample data of one moment, and what a dashboard would have seen of it before."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    @staticmethod
    def is_loaded() -> bool:
        """Whether the database holds the sample already."""
        if Tenant._meta.db_table not in connection.introspection.table_names():
            return False
        return Tenant.objects.filter(id=DEFAULT_TENANT_ID, name=TENANT_NAME).exists()

    def load(self, *, people_count: int, progress: Progress) -> None:
        """Write everything into the embedded API's tables. To be called in a transaction."""
        world = self._world
        Tenant.objects.update_or_create(id=DEFAULT_TENANT_ID, defaults={"name": TENANT_NAME})
        progress("pages and audiences")
        Page.objects.bulk_create(world.pages)
        Audience.objects.bulk_create([story.audience for story in world.stories])
        Version.objects.bulk_create([row for story in world.stories for row in story.versions])
        progress("conversations")
        Conversation.objects.bulk_create(world.conversations)
        Subscription.objects.bulk_create(world.subscriptions)
        self._load_people(people_count, progress)

    def versions_seen(self) -> Iterator[Sight]:
        """Return the versions that a dashboard in use for weeks would have seen."""
        return sights(self._world.stories, self._now)

    def subscription_ids(self) -> list[str]:
        """Return the ids of the subscriptions, which the service can't list."""
        return [subscription.id for subscription in self._world.subscriptions]

    @staticmethod
    def issue_key() -> str:
        """Return a fresh key of the service; the one shown before is revoked."""
        keys.revoke(ApiKey.objects.filter(name=KEY_NAME))
        return keys.issue(ApiKey(name=KEY_NAME, tenant=keys.default_tenant()))

    @cached_property
    def _world(self) -> World:
        return make_world(self._now)

    def _load_people(self, count: int, progress: Progress) -> None:
        rows = people(count, self._now)
        done = 0
        while batch := list(islice(rows, _BATCH)):
            write_many(batch)
            done += len(batch)
            progress("people", done, count)
        up_to_date(lambda done: progress("the index of people", done, count))
