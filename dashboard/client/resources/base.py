"""What the resources share: the session."""

from dashboard.client.session import Session


class Resource:
    """Some of the nine operations, over one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
