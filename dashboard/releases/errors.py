"""Why a release can't be made, changed or decided on."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AudienceProblem:
    page_id: str
    audience_id: str
    name: str
    sentence: str


class ReleaseError(Exception):
    """Invalid input, or a decision that is no longer possible: nothing was changed.

    `str(error)` is a sentence for the user, `field` the name of the input it belongs to, or "".
    `problems` has the audiences that cause it, if it is about some of several.
    """

    def __init__(
        self, sentence: str, *, field: str = "", problems: tuple[AudienceProblem, ...] = ()
    ) -> None:
        super().__init__(sentence)
        self.field = field
        self.problems = problems
