"""Exports as a spreadsheet reads them."""

import csv
import io

from django.test import Client

from dashboard.web.ui.csv import BYTE_ORDER_MARK


def csv_lines(client: Client, url: str) -> list[list[str]]:
    """Return the lines of an export, with the column names first."""
    response = client.get(url)
    assert response.status_code == 200
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response.streaming
    text = response.getvalue().decode()
    assert text.startswith(BYTE_ORDER_MARK)
    return list(csv.reader(io.StringIO(text.removeprefix(BYTE_ORDER_MARK), newline="")))


def csv_rows(client: Client, url: str) -> list[dict[str, str]]:
    """Return the rows of an export, by column name."""
    header, *lines = csv_lines(client, url)
    return [dict(zip(header, line, strict=False)) for line in lines]
