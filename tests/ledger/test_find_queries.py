"""Audiences are found by name in one order, however many hold the words."""

import pytest

from dashboard.ledger.queries.find import audiences_named
from tests import wire
from tests.web.remembering import know_audiences

pytestmark = pytest.mark.django_db


def know(*names: str) -> None:
    know_audiences(
        *(wire.audience(audienceId=f"aud_{n}", effectiveName=name) for n, name in enumerate(names))
    )


def found(words: str) -> list[str]:
    return [record.name for record in audiences_named(words, 3)]


def test_a_name_that_begins_with_the_words_is_found_before_all_others() -> None:
    know("A fleet", "B fleet", "C fleet", "D fleet", "Fleet one")
    assert found("fleet") == ["Fleet one", "A fleet", "B fleet"]


def test_so_it_is_where_few_hold_the_words() -> None:
    know("A fleet", "Fleet one", "Something else")
    assert found("fleet") == ["Fleet one", "A fleet"]


def test_no_more_are_found_than_are_asked_for() -> None:
    know("Fleet 1", "Fleet 2", "Fleet 3", "Fleet 4", "A fleet")
    assert found("fleet") == ["Fleet 1", "Fleet 2", "Fleet 3"]
