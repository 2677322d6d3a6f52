"""What the suite says of a figure."""

import io

import pytest
from rich.console import Console

from tests.benchmarks.__main__ import arguments
from tests.benchmarks.figures import Figure, Unmeasured, as_markdown, as_table


@pytest.mark.parametrize(
    ("figure", "is_met"),
    [
        (Figure("at the goal", 0.4, 0.4), True),
        (Figure("below it", 0.39, 0.4), True),
        (Figure("a little above it", 0.4001, 0.4), False),
        (Figure("none a row", 0, 0), True),
        (Figure("one a row", 1, 0), False),
        (Figure("a score at its best", 100, 100, more_is_better=True), True),
        (Figure("a score below it", 99, 100, more_is_better=True), False),
        (Figure("told for comparison", 866), None),
    ],
    ids=lambda given: getattr(given, "what", ""),
)
def test_a_goal_is_met_at_it_and_on_its_better_side(figure: Figure, is_met: bool | None) -> None:
    assert figure.is_met is is_met


def test_a_missed_goal_is_bold_in_the_readme() -> None:
    rows = [
        Figure("lists", 0.512, 0.4, "×", "ours 11 ms; theirs 22 ms"),
        Figure("requests", 9, 12),
        Unmeasured("Lighthouse", "there is no npx | at all"),
    ]
    assert as_markdown(rows).splitlines()[2:] == [
        "| lists | 0.512 × | ≤ 0.4 × | **missed** | ours 11 ms; theirs 22 ms |",
        "| requests | 9 | ≤ 12 | met |  |",
        "| Lighthouse | not measured |  |  | there is no npx \\| at all |",
    ]


def test_the_terminal_shows_what_the_readme_does() -> None:
    console = Console(file=io.StringIO(), width=160)
    console.print(as_table("Lists", [Figure("pages [1]", 1234.5, 1000, "ms", "[red]")]))
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(text in said for text in ("pages [1]", "1,234 ms", "≤ 1,000 ms", "missed", "[red]"))


@pytest.mark.parametrize(
    ("value", "shown"), [(0.4, "0.4 ×"), (0.40004, "0.40004 ×"), (0.512345, "0.512 ×"), (0, "0 ×")]
)
def test_a_figure_has_digits_enough_to_tell_a_miss_from_the_goal(value: float, shown: str) -> None:
    assert Figure("lists", value, 0.4, "×").cells[1] == shown


def test_a_part_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        arguments().parse_args(["--only", "lists,nothing"])
    assert "nothing is none of lists, rows" in capsys.readouterr().err
