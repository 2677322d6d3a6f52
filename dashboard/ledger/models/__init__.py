"""The ledger's tables. Objects are stored as received; further columns serve queries."""

from dashboard.ledger.models.feed import FeedEntry, FeedKind
from dashboard.ledger.models.objects import (
    AudienceRecord,
    ListTotal,
    PageRecord,
    SubscriptionRecord,
    VersionRecord,
)
from dashboard.ledger.models.operations import Attempt, Installation, Operation
from dashboard.ledger.models.publications import Publication
from dashboard.ledger.models.reading import Crawl, CrawlState, DeviationRecord, ServiceState

__all__ = [
    "Attempt",
    "AudienceRecord",
    "Crawl",
    "CrawlState",
    "DeviationRecord",
    "FeedEntry",
    "FeedKind",
    "Installation",
    "ListTotal",
    "Operation",
    "PageRecord",
    "Publication",
    "ServiceState",
    "SubscriptionRecord",
    "VersionRecord",
]
