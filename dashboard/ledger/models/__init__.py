"""The ledger's tables. Objects are stored as received; further columns serve queries."""

from dashboard.ledger.models.approvals import ApprovalRequest, ApprovalRule
from dashboard.ledger.models.audiences import AudienceRecord, VersionRecord
from dashboard.ledger.models.crawls import Crawl, CrawlState
from dashboard.ledger.models.deviations import DeviationRecord
from dashboard.ledger.models.operations import Attempt, Installation, Operation
from dashboard.ledger.models.outside import OutsidePublish
from dashboard.ledger.models.pages import ListTotal, PageDraft, PageRecord
from dashboard.ledger.models.preferences import Preferences
from dashboard.ledger.models.receiver import Delivery, HintResult, PageHint, Receiver
from dashboard.ledger.models.saved_views import DefaultView, SavedView
from dashboard.ledger.models.sign_in import SignInEvent, SignInPolicy
from dashboard.ledger.models.subscriptions import SubscriptionRecord

__all__ = [
    "ApprovalRequest",
    "ApprovalRule",
    "Attempt",
    "AudienceRecord",
    "Crawl",
    "CrawlState",
    "DefaultView",
    "Delivery",
    "DeviationRecord",
    "HintResult",
    "Installation",
    "ListTotal",
    "Operation",
    "OutsidePublish",
    "PageDraft",
    "PageHint",
    "PageRecord",
    "Preferences",
    "Receiver",
    "SavedView",
    "SignInEvent",
    "SignInPolicy",
    "SubscriptionRecord",
    "VersionRecord",
]
