"""The audiences and versions selected for a release, as fields of a form."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import unquote

from django.contrib.auth.models import User
from django.http import QueryDict

from dashboard.ledger.queries import find
from dashboard.ledger.queries.pages import page_names
from dashboard.ledger.queries.rows import AudienceKey
from dashboard.operations.checking import PublishTarget
from dashboard.releases.errors import AudienceProblem, ReleaseError
from dashboard.releases.models import MAX_ITEMS
from dashboard.web.audiences.listing import matching_audiences
from dashboard.web.audiences.markup import selection_value

AUDIENCE_FIELD = "audience"
VERSION_FIELD = "version"


@dataclass(frozen=True)
class SelectedAudience:
    value: str
    name: str
    page_name: str
    version: str
    """Number of the latest version, which would be published; "" if it is unknown."""
    problem: str = ""


def with_all_matching(fields: QueryDict, viewer: User, *, limit: int = MAX_ITEMS + 1) -> QueryDict:
    """Return the fields, with every matching audience added if all of them are selected.

    The field `query` is the query string of the list. The default `limit` is one more than a
    release may have, which is enough to reject the selection.
    """
    if not fields.get("all_matching"):
        return fields
    query = QueryDict(fields.get("query", "").removeprefix("?"))
    keys = matching_audiences(query, viewer, limit=limit)
    expanded = fields.copy()
    expanded.setlist(AUDIENCE_FIELD, [selection_value(*ids) for ids in keys])
    return expanded


def selected_audiences(fields: QueryDict) -> list[AudienceKey]:
    """Return the ids of the selected audiences. Raises ReleaseError if a value is invalid."""
    return [(page, audience) for page, audience in _parsed(fields, AUDIENCE_FIELD, 2)]


def selected_versions(fields: QueryDict) -> list[PublishTarget]:
    return [PublishTarget(*ids) for ids in _parsed(fields, VERSION_FIELD, 3)]


def _parsed(fields: QueryDict, name: str, length: int) -> list[list[str]]:
    keys = [[unquote(part) for part in value.split("/")] for value in fields.getlist(name)]
    if any(len(ids) != length or not all(ids) for ids in keys):
        raise ReleaseError("A selected audience can’t be read. Select it again.", field="audience")
    return keys


def describe_selection(
    fields: QueryDict, problems: Iterable[AudienceProblem] = ()
) -> list[SelectedAudience]:
    """Return the selected audiences as last known, in order, each with its problem if any."""
    keys = [key for value in fields.getlist(AUDIENCE_FIELD) if (key := _key(value))]
    records = find.audiences_by_id(list(dict.fromkeys(keys)))
    pages = page_names(list({page_id for page_id, _ in keys}))
    wrong = {(problem.page_id, problem.audience_id): problem.sentence for problem in problems}
    return [
        SelectedAudience(
            value=selection_value(*key),
            name=str(records[key]) if key in records else key[1],
            page_name=pages.get(key[0]) or key[0],
            version=str(records[key].latest_version_number or "") if key in records else "",
            problem=wrong.get(key, ""),
        )
        for key in keys
    ]


def _key(value: str) -> AudienceKey | None:
    page_id, _, audience_id = value.partition("/")
    if "/" in audience_id or not (page_id and audience_id) or "%00" in value or "\0" in value:
        return None
    return unquote(page_id), unquote(audience_id)
