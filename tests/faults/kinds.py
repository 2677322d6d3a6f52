"""What a fault means for the reader, and for the outcome of a change."""

from dataclasses import dataclass
from enum import Enum

from dashboard.ledger.models.operations import Outcome


@dataclass(frozen=True)
class Meaning:
    """Status and headline of a page without stored data, and the outcome of a change."""

    status: int
    title: str
    outcome: Outcome


class Kind(Enum):
    """Kinds of faults that need different sentences."""

    NOT_REACHED = Meaning(504, "Service unreachable", Outcome.NOT_SENT)
    LOST = Meaning(504, "Service unreachable", Outcome.UNKNOWN)
    UNREADABLE = Meaning(502, "Unreadable response", Outcome.UNKNOWN)
    KEY_REFUSED = Meaning(502, "API key rejected", Outcome.REJECTED)
    NOT_THERE = Meaning(404, "Not found", Outcome.REJECTED)
    GONE = Meaning(410, "Not found", Outcome.REJECTED)
    REFUSED = Meaning(502, "Service error", Outcome.REJECTED)
    WAIT = Meaning(503, "Rate limit reached", Outcome.REJECTED)
    FAULT = Meaning(502, "Service error", Outcome.UNKNOWN)
    NONE = Meaning(200, "", Outcome.ACCEPTED)
    """Odd, but not a fault: the page works as usual."""
