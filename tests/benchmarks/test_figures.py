"""The text of a figure, and the parts that can be run."""

import random

import pytest

from tests.benchmarks.__main__ import arguments
from tests.benchmarks.figures import Figure
from tests.benchmarks.live import MAX_POLLS_A_SECOND, most_polls_after_restart


@pytest.mark.parametrize(
    ("figure", "is_met"),
    [
        (Figure("at the goal", 0.4, 0.4), True),
        (Figure("below it", 0.39, 0.4), True),
        (Figure("a little above it", 0.4001, 0.4), False),
        (Figure("none lost", 0, 0), True),
        (Figure("as many as wanted", 20, 20, more_is_better=True), True),
        (Figure("fewer", 19, 20, more_is_better=True), False),
        (Figure("told for comparison", 866), None),
        (Figure("not measured", None, 12), None),
    ],
    ids=lambda source: getattr(source, "what", ""),
)
def test_a_goal_is_met_at_its_value_or_better(figure: Figure, is_met: bool | None) -> None:
    assert figure.is_met is is_met


@pytest.mark.parametrize(
    ("figure", "row"),
    [
        (Figure("a", 0.512, 0.4, "×", "b"), "| a | 0.512 × | ≤ 0.4 × | **missed** | b |"),
        (Figure("b", 60.04, 60, "KB"), "| b | 60.04 KB | ≤ 60 KB | **missed** |  |"),
        (Figure("c", 67.26, 10, "×", "", True), "| c | 67.3 × | ≥ 10 × | met |  |"),
        (Figure("d", 1234.5, None, "ms"), "| d | 1,234.5 ms |  |  |  |"),
        (Figure("e", None, 60, "", "no | here"), "| e | not measured | ≤ 60 |  | no \\| here |"),
    ],
)
def test_a_missed_goal_is_bold_beside_its_figure(figure: Figure, row: str) -> None:
    assert str(figure) == row


def test_a_part_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert arguments().parse_args(["--only", "lists", "weight"]).only == ["lists", "weight"]
    with pytest.raises(SystemExit):
        arguments().parse_args(["--only", "lists", "nothing"])
    assert "invalid choice: 'nothing'" in capsys.readouterr().err


def test_a_restart_brings_no_second_with_many_polls() -> None:
    busiest = max(most_polls_after_restart(random.Random(seed)) for seed in range(20))
    assert busiest <= MAX_POLLS_A_SECOND
