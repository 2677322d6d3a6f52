"""A difference as it was seen. Loaded before the models are, with the log."""

from dataclasses import dataclass
from hashlib import sha256


@dataclass(frozen=True)
class Sighting:
    """One difference in one answer."""

    operation: str
    kind: str
    place: str
    said: str
    example: str

    @property
    def digest(self) -> str:
        """What is counted as one."""
        return sha256("\n".join((self.operation, self.kind, self.place)).encode()).hexdigest()
