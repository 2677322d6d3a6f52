"""Sessions in the database, as Django's own; each request reads one by SQL that is written once."""

from typing import Any

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from dashboard.statements import Statement

_OF_KEY = Statement(
    lambda session_key: Session.objects.filter(session_key=session_key).values_list(
        "session_data", "expire_date", named=True
    )
)


class SessionStore(db.SessionStore):
    """Django's, but for how a session is looked up."""

    def _get_session_from_db(self) -> Any:
        row = _OF_KEY.first(self.session_key or "")
        if row and row.expire_date > timezone.now():
            return row
        self._session_key = None
        return None
