"""Releases that the demo doesn't have: a draft that was checked, and one that was canceled."""

import sqlite3
from contextlib import closing
from pathlib import Path

SCHEDULED = "SELECT id FROM releases_release WHERE state = 'scheduled'"
DRAFT, CANCELED = "Winter wording, a draft", "Winter wording, canceled"
RELEASES = {
    DRAFT: {"state": "draft", "decided_at": None, "due_at": None, "due_as_typed": ""},
    CANCELED: {"state": "canceled"},
}
ITEM_STATES = {DRAFT: "waiting", CANCELED: "canceled"}


def add_releases(path: Path) -> None:
    """Add both to a demo's database, with the items of the release that is scheduled."""
    with closing(sqlite3.connect(path)) as database, database:
        [original] = database.execute(SCHEDULED).fetchone()
        for name, columns in RELEASES.items():
            changes = columns | {"name": name, "wake_at": None}
            [release] = _copy(database, "releases_release", ("id", original), changes)
            items = {"release_id": release, "state": ITEM_STATES[name]}
            _copy(database, "releases_releaseitem", ("release_id", original), items)


def _copy(
    database: sqlite3.Connection, table: str, which: tuple[str, object], changes: dict[str, object]
) -> list[int]:
    """Insert the rows of a table once more, with other values in some columns; return their ids."""
    name, value = which
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[1] != "id"]
    taken = [f":{column}" if column in changes else column for column in columns]
    rows = database.execute(
        f"INSERT INTO {table} ({', '.join(columns)})"
        f" SELECT {', '.join(taken)} FROM {table} WHERE {name} = :which RETURNING id",
        changes | {"which": value},
    )
    return [row[0] for row in rows]
