"""The ledger's tables. Answers are kept as they came; columns beside them serve finding."""

from dashboard.ledger.models.audiences import AudienceRecord, VersionRecord
from dashboard.ledger.models.differences import Difference
from dashboard.ledger.models.drafts import PageDraft
from dashboard.ledger.models.installation import Installation
from dashboard.ledger.models.operations import Attempt, Operation
from dashboard.ledger.models.pages import ListTotal, PageRecord
from dashboard.ledger.models.preferences import Preferences
from dashboard.ledger.models.receiver import Delivery, Receiver
from dashboard.ledger.models.sign_in import SignInAct, SignInRules
from dashboard.ledger.models.subscriptions import SubscriptionRecord

__all__ = [
    "Attempt",
    "AudienceRecord",
    "Delivery",
    "Difference",
    "Installation",
    "ListTotal",
    "Operation",
    "PageDraft",
    "PageRecord",
    "Preferences",
    "Receiver",
    "SignInAct",
    "SignInRules",
    "SubscriptionRecord",
    "VersionRecord",
]
