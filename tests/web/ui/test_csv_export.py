"""CSV exports are complete, and no spreadsheet runs their cells."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.web.ui.csv import BYTE_ORDER_MARK, Cell, csv_response

CELLS = (Cell("one", lambda row: row[0]), Cell("two", lambda row: row[1]))


def read_back(*rows: tuple[object, ...]) -> list[list[str]]:
    answer = csv_response("table.csv", CELLS, rows)
    text = b"".join(answer).decode()  # type: ignore[arg-type]
    assert text.startswith(BYTE_ORDER_MARK)
    return list(csv.reader(io.StringIO(text.removeprefix(BYTE_ORDER_MARK), newline="")))


def test_a_table_is_saved_under_its_name() -> None:
    answer = csv_response("table.csv", CELLS, [])
    assert answer["Content-Disposition"] == 'attachment; filename="table.csv"'
    assert answer["Content-Type"] == "text/csv; charset=utf-8"


def test_rows_are_generated_lazily() -> None:
    created: list[int] = []

    def rows() -> object:
        for number in range(3):
            created.append(number)
            yield (number,)

    lines = iter(csv_response("table.csv", CELLS[:1], rows()))  # type: ignore[arg-type]
    next(lines)
    assert created == []
    next(lines)
    assert created == [0]


@pytest.mark.parametrize("start", [*"=+-@", *"\uff1d\uff0b\uff0d\uff20", *"\t\r\n"])
def test_a_formula_is_exported_as_text(start: str) -> None:
    assert read_back((f"{start}1+1", ""))[1][0] == f"'{start}1+1"


def test_a_negative_number_stays_a_number() -> None:
    assert read_back((-5, None))[1] == ["-5", ""]


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(CELL, CELL)
def test_a_csv_reader_returns_what_was_written(first: str, second: str) -> None:
    result = read_back((first, second))[1]
    assert [cell.removeprefix("'") for cell in result] == [
        first.removeprefix("'"),
        second.removeprefix("'"),
    ]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) for cell in result)
