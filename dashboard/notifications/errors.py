"""The error of this room."""


class NotificationError(Exception):
    """Invalid input: nothing was changed.

    `str(error)` is a sentence for the user, `field` the name of the input it belongs to, or "".
    """

    def __init__(self, sentence: str, *, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field
