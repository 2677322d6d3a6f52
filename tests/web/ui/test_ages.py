"""How long something has been so, as the server first says it."""

from datetime import timedelta

import pytest

from dashboard.web.ui.markup import running
from tests.ages import AGES
from tests.web.html import text


@pytest.mark.parametrize(("seconds", "said"), AGES.items())
def test_an_age_is_told_to_the_minute_after_the_first_one(seconds: int, said: str) -> None:
    drawn = running(timedelta(seconds=seconds + 0.9))
    assert text(drawn) == said
    assert f'data-age="{seconds}"' in drawn


def test_what_has_not_begun_yet_is_of_no_age() -> None:
    assert text(running(timedelta(seconds=-5))) == "0 s"
