"""Releases that the demo lacks: checked drafts, and a canceled one."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from secrets import token_hex

SCHEDULED = "SELECT id FROM releases_release WHERE state = 'scheduled'"
DRAFT, CANCELED = "Winter wording, a draft", "Winter wording, canceled"
RELEASES: dict[str, dict[str, str | None]] = {
    DRAFT: {"state": "draft", "decided_at": None, "due_at": None, "due_as_typed": ""},
    CANCELED: {"state": "canceled"},
}
ITEM_STATES = {DRAFT: "waiting", CANCELED: "canceled"}


def add_releases(path: Path) -> None:
    """Add both to a demo's database, with copies of the scheduled release's items."""
    with closing(sqlite3.connect(path)) as database, database:
        for name, columns in RELEASES.items():
            _add_release(database, name, columns, ITEM_STATES[name])


def add_draft(path: Path, name: str, count: int) -> int:
    """Add a draft of `count` unreviewed versions to a running demo; return its id."""
    with closing(sqlite3.connect(path, timeout=30)) as database, database:
        release = _add_release(database, name, RELEASES[DRAFT], ITEM_STATES[DRAFT])
        beyond = "DELETE FROM releases_releaseitem WHERE release_id = ? AND position > ?"
        database.execute(beyond, (release, count))
        unreviewed = "SET reviewed_at = NULL, reviewed_by_name = '' WHERE release_id = ?"
        database.execute(f"UPDATE releases_releaseitem {unreviewed}", (release,))
        return release


def _add_release(
    database: sqlite3.Connection, name: str, columns: dict[str, str | None], item_state: str
) -> int:
    [original] = database.execute(SCHEDULED).fetchone()
    changes = columns | {"name": name, "form_key": token_hex(), "wake_at": None}
    [release] = _copy(database, "releases_release", ("id", original), changes)
    items = {"release_id": release, "state": item_state}
    _copy(database, "releases_releaseitem", ("release_id", original), items)
    return release


def _copy(
    database: sqlite3.Connection,
    table: str,
    which: tuple[str, object],
    changes: Mapping[str, object],
) -> list[int]:
    """Copy rows of a table with changed columns; return the new ids."""
    name, value = which
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[1] != "id"]
    taken = [f":{column}" if column in changes else column for column in columns]
    rows = database.execute(
        f"INSERT INTO {table} ({', '.join(columns)})"
        f" SELECT {', '.join(taken)} FROM {table} WHERE {name} = :which RETURNING id",
        {**changes, "which": value},
    )
    return [row[0] for row in rows]
