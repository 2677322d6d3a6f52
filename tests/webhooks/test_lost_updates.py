"""If two users change different fields of a row at the same moment, both changes are saved."""

import pytest
from django.db import connection

from dashboard.webhooks.receiver import get_receiver, replace_secret, switch_receiver
from tests.support.interleaving import PATIENCE_S, before_statement, begun, held_at

RECEIVER = '"webhooks_receiver"'


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_url_that_leaked_stays_replaced() -> None:
    leaked = switch_receiver(is_on=False, by="ada").secret

    def switch() -> None:
        switch_receiver(is_on=True, by="alan")

    with held_at(before_statement("UPDATE", RECEIVER), switch):
        other = begun(before_statement(RECEIVER), lambda: replace_secret(by="ada"))
    new = other.result(PATIENCE_S).secret
    assert new != leaked
    assert (get_receiver().is_on, get_receiver().secret) == (True, new)
