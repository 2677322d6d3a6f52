"""Rows added, removed and moved within what was typed: what the buttons of a form ask for."""

import re

from pydantic.alias_generators import to_camel

from dashboard.web.forms.parts import MAX_ROWS, PartForm, Typed


def edit_rows(form: type[PartForm], typed: Typed, command: str) -> str:
    """Carry out `add PATH`, or `remove`, `up` or `down` of the row at a path, in place.

    Returns what is to have the focus then, as a command or the path of a row. A command that
    names no row does nothing and returns an empty text.
    """
    verb, _, path = command.partition(" ")
    if verb == "add":
        return _add(form, typed, path)
    list_path, _, number = path.rpartition(".")
    rows = _rows_at(form, typed, list_path)
    place = int(number) if re.fullmatch(r"\d{1,4}", number) else -1
    if rows is None or not 0 <= place < len(rows):
        return ""
    if verb == "remove":
        del rows[place]
        return f"add {list_path}"
    there = place + {"up": -1, "down": 1}.get(verb, 0)
    if there == place or not 0 <= there < len(rows):
        return ""
    rows[place], rows[there] = rows[there], rows[place]
    return f"{verb} {list_path}.{there}"


def _add(form: type[PartForm], typed: Typed, path: str) -> str:
    rows = _rows_at(form, typed, path)
    if rows is None or len(rows) >= MAX_ROWS:
        return ""
    rows.append(Typed())
    return f"{path}.{len(rows) - 1}"


def _rows_at(form: type[PartForm], typed: Typed, path: str) -> list[Typed] | None:
    """Return the list of rows at a path such as `footerLinks.0.links`, or None."""
    wanted, _, rest = path.partition(".")
    name = next((name for name in form.lists if to_camel(name) == wanted), None)
    if name is None:
        return None
    rows = typed.rows.setdefault(name, [])
    if not rest:
        return rows
    number, _, rest = rest.partition(".")
    if not re.fullmatch(r"\d{1,4}", number) or int(number) >= len(rows):
        return None
    return _rows_at(form.lists[name], rows[int(number)], rest)
