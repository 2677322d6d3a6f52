"""Why a release can't be made, changed or decided on."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AudienceProblem:
    page_id: str
    audience_id: str
    name: str
    sentence: str


class ReleaseError(Exception):
    """Invalid input, or a decision that the state doesn't allow. Nothing was changed.

    `str(error)` is a sentence for the user. `field` is the name of the invalid input, or "".
    `problems` lists the audiences that caused the error, if there are any.
    """

    def __init__(
        self, sentence: str, *, field: str = "", problems: tuple[AudienceProblem, ...] = ()
    ) -> None:
        super().__init__(sentence)
        self.field = field
        self.problems = problems
