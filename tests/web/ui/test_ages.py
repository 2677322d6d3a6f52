"""Ages, as the server renders them."""

from datetime import timedelta

import pytest

from dashboard.web.ui.markup import running
from tests.support.durations import AGES
from tests.support.html import text


@pytest.mark.parametrize(("seconds", "expected"), AGES.items())
def test_an_age_is_rounded_to_minutes_after_the_first(seconds: int, expected: str) -> None:
    rendered = running(timedelta(seconds=seconds + 0.9))
    assert text(rendered) == expected
    assert f'data-age="{seconds}"' in rendered


def test_an_age_is_never_negative() -> None:
    assert text(running(timedelta(seconds=-5))) == "0 s"
