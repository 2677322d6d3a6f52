"""Realistic sample data. It is the same on every run, with times relative to now."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from django.db import connection
from django.utils.functional import cached_property

from dashboard.contract.pages import PageStatus
from dashboard.contract.webhooks import EventName
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
from dashboard.embedded_api.models.people import bulk_insert, gather_trigrams, write_trigrams
from dashboard.embedded_api.sample.audiences import (
    AudienceHistory,
    SeenVersion,
    audience_histories,
    seen_versions,
)
from dashboard.embedded_api.sample.conversations import conversations
from dashboard.embedded_api.sample.pages import pages
from dashboard.embedded_api.sample.people import people
from dashboard.embedded_api.sample.randomness import (
    TEXTS,
    mark,
    sample_id,
    seeded_random,
    shift_to_weekday,
)
from dashboard.embedded_api.signing import create_secrets, reveal, secret_of

TENANT_NAME = "Kestrel Freight Software"
KEY_NAME = "Shown by manage.py demo"
RECEIVER_ID = sample_id("whs", "receiver")
"""Id of the subscription for the dashboard's own receiver, which each demo start ensures."""
_BATCH_SIZE = 5_000

ReportProgress = Callable[..., None]
"""Function that is called with a text, and optionally the number done and the total."""


@dataclass
class SampleRows:
    """The rows of the sample without its people, who are too many for memory."""

    pages: list[Page]
    histories: list[AudienceHistory]
    conversations: list[Conversation]
    subscriptions: list[Subscription]


def make_sample_rows(now: datetime) -> SampleRows:
    all_pages, all_histories = [], []
    for number, (page, brief) in enumerate(pages(now)):
        histories = list(audience_histories(number, page, brief, now))
        if brief.status != PageStatus.DRAFT:
            live = (v.published_at for s in histories for v in s.versions if v.published_at)
            page.published_at = min(live, default=None)
        all_pages.append(page)
        all_histories.extend(histories)
    return SampleRows(
        all_pages, all_histories, list(conversations(all_histories, now)), list(_subscriptions(now))
    )


def _subscriptions(now: datetime) -> Iterator[Subscription]:
    for number, brief in enumerate(TEXTS["subscriptions"]):
        rng = seeded_random("subscription", number)
        created = shift_to_weekday(rng, now - timedelta(days=rng.uniform(60, 300)))
        yield Subscription(
            id=sample_id("whs", number),
            tenant_id=DEFAULT_TENANT_ID,
            url=brief["url"],
            events=brief.get("events"),
            active=brief["active"],
            created_at=mark(created, rng),
            updated_at=mark(created + (now - created) * rng.random(), rng),
        )


class Sample:
    """The sample data, and the versions that a dashboard in use would have recorded."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    @staticmethod
    def is_loaded() -> bool:
        if Tenant._meta.db_table not in connection.introspection.table_names():
            return False
        return Tenant.objects.filter(id=DEFAULT_TENANT_ID, name=TENANT_NAME).exists()

    def load(self, *, people_count: int, progress: ReportProgress) -> None:
        """Insert everything. Call this in a transaction."""
        rows = self._rows
        Tenant.objects.update_or_create(id=DEFAULT_TENANT_ID, defaults={"name": TENANT_NAME})
        progress("pages and audiences")
        Page.objects.bulk_create(rows.pages)
        Audience.objects.bulk_create([history.audience for history in rows.histories])
        Version.objects.bulk_create([row for history in rows.histories for row in history.versions])
        progress("conversations")
        Conversation.objects.bulk_create(rows.conversations)
        Subscription.objects.bulk_create(rows.subscriptions)
        create_secrets(rows.subscriptions)
        everybody, done = people(people_count, self._now), 0
        gather_trigrams()
        while batch := list(islice(everybody, _BATCH_SIZE)):
            bulk_insert(batch)
            done += len(batch)
            progress("people", done, people_count)
        write_trigrams()

    def versions_seen(self) -> Iterator[SeenVersion]:
        return seen_versions(self._rows.histories, self._now)

    def subscription_ids(self) -> list[str]:
        """Return the ids of the subscriptions, which the API can't list."""
        return [subscription.id for subscription in self._rows.subscriptions]

    @staticmethod
    def subscribe_receiver(url: str) -> tuple[str, str]:
        """Subscribe the dashboard's own receiver to every event.

        Return the subscription's id, and its secret if it is new, or else "". An existing
        subscription gets the URL of this start. Users' other changes to it stay.
        """
        row, is_new = Subscription.objects.get_or_create(
            id=RECEIVER_ID,
            defaults={
                "tenant": keys.default_tenant(),
                "url": url,
                "events": [event.value for event in EventName],
            },
        )
        if row.url != url and "/hooks/" in row.url:
            Subscription.objects.filter(pk=row.pk).update(url=url)
        return row.pk, reveal(secret_of(row)) if is_new else ""

    @staticmethod
    def issue_key() -> str:
        keys.revoke(ApiKey.objects.filter(name=KEY_NAME))
        return keys.issue(ApiKey(name=KEY_NAME, tenant=keys.default_tenant()))

    @cached_property
    def _rows(self) -> SampleRows:
        return make_sample_rows(self._now)
