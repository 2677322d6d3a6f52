"""The acts that read: find, read_audience, diff, activity."""

from django.db.models import QuerySet

from dashboard.contract.audiences import Audience, AudienceVersion, text_of
from dashboard.ledger.models import AudienceRecord, Operation
from dashboard.ledger.queries.audience_list import AudienceFilters, find_audiences
from dashboard.ledger.queries.audiences import audience_last_known, find_version
from dashboard.ledger.queries.operations import with_publications
from dashboard.ledger.queries.pages import page_names
from dashboard.ledger.states import operation_state
from dashboard.machine import shapes
from dashboard.machine.errors import not_found
from dashboard.machine.paging import AnyRow, cut, cut_text, page
from dashboard.machine.tokens import Caller
from dashboard.releases.models import ReleaseItem
from dashboard.service import reading as service
from dashboard.service.reading import AudienceLookup, ReadResult
from dashboard.text_diff import Paragraph, compare_texts
from dashboard.texts import redact_secret

MAX_NAME, MAX_PARAGRAPH = 200, 2_000
"""Maximum characters of a name, and of a paragraph in a difference."""


def find(caller: Caller, arguments: shapes.Find) -> shapes.ItemList[shapes.Row]:
    """List audiences by words, page or live status, as last known."""
    live = (arguments.live_status,) if arguments.live_status else ()
    matching = find_audiences(AudienceFilters(words=arguments.query, live=live)).defer("body")
    audiences = _visible(matching, caller, arguments.page_id)
    return page(audiences, arguments, "find", _rows)


def read_audience(caller: Caller, arguments: shapes.ReadAudience) -> shapes.AudienceReading:
    """Read an audience and the text of one version."""
    reading = _read(caller, arguments)
    version = _version(reading.value.audience, arguments, arguments.version)
    if version is None:
        raise not_found("Version")
    what = f"text:{version.version_id}"
    text, cursor = cut_text(text_of(version), arguments.cursor, what)
    record = audience_last_known(arguments.page_id, arguments.audience_id)
    if record is None:
        raise not_found("Audience")
    return shapes.AudienceReading(
        audience=_rows([record])[0],
        is_current=reading.is_live,
        as_of=reading.as_of,
        version=_version_shape(version, reading.value.audience),
        text=shapes.UntrustedText(value=text),
        next_cursor=cursor,
    )


def diff(caller: Caller, arguments: shapes.Diff) -> shapes.Difference:
    """Compare the texts of two versions: the live and the latest one."""
    reading = _read(caller, arguments)
    if reading.error:  # A last known state can't prove that nothing differs.
        raise reading.error
    audience = reading.value.audience
    old = _version(audience, arguments, arguments.from_version)
    new = _version(audience, arguments, arguments.to_version)
    if new is None or (old is None and arguments.from_version != "live"):
        raise not_found("Version")
    before = text_of(old)
    difference = compare_texts(before, text_of(new))
    changes = [_change(paragraph) for paragraph in difference.paragraphs if not paragraph.is_same]
    what = f"diff:{old.version_id if old else ''}:{new.version_id}"
    fitting, cursor = cut(changes, arguments.cursor, what)
    return shapes.Difference(
        from_version=_version_shape(old, audience) if old else None,
        to_version=_version_shape(new, audience),
        differs=old is None or not difference.is_same,
        words_added=difference.added,
        words_removed=difference.removed,
        changes=fitting,
        next_cursor=cursor,
    )


def activity(caller: Caller, arguments: shapes.ListOptions) -> shapes.ItemList[shapes.Line]:
    """List operations, newest first: who did what, by which token and program."""
    operations = with_publications(_visible(Operation.objects.all(), caller, arguments.page_id))
    return page(operations, arguments, "activity", _lines)


def _visible(rows: "QuerySet[AnyRow]", caller: Caller, page_id: str) -> "QuerySet[AnyRow]":
    if caller.token.page_ids is not None:
        rows = rows.filter(page_id__in=caller.token.page_ids)
    return rows.filter(page_id=page_id) if page_id else rows


def _read(caller: Caller, arguments: shapes.AudienceIds) -> ReadResult[AudienceLookup]:
    if not caller.token.may_see(arguments.page_id):
        raise not_found("Audience")
    return service.read_audience(arguments.page_id, arguments.audience_id)


def _version(
    audience: Audience, arguments: shapes.AudienceIds, name: str
) -> AudienceVersion | None:
    """Return the `latest` or `live` version, or the one with that ID."""
    if name in ("latest", "live"):
        return audience.latest_version if name == "latest" else audience.published_version
    return find_version(audience, arguments.page_id, arguments.audience_id, name)


def _version_shape(version: AudienceVersion, audience: Audience) -> shapes.VersionFacts:
    live, facts = audience.published_version, shapes.VersionFacts.model_validate(version)
    facts.is_live = live is not None and live.version_id == version.version_id
    return facts


def _rows(records: list[AudienceRecord]) -> list[shapes.Row]:
    names = page_names(list({record.page_id for record in records}))
    rows = [shapes.Row.model_validate(record) for record in records]
    for row in rows:
        row.page_name = names.get(row.page_id, "")[:MAX_NAME]
    return rows


def _change(paragraph: Paragraph) -> shapes.ChangedParagraph:
    old = "".join(segment.text for segment in paragraph.old)
    new = "".join(segment.text for segment in paragraph.new)
    is_cut = max(len(old), len(new)) > MAX_PARAGRAPH
    return shapes.ChangedParagraph(old=old[:MAX_PARAGRAPH], new=new[:MAX_PARAGRAPH], is_cut=is_cut)


def _lines(operations: list[Operation]) -> list[shapes.Line]:
    items = ReleaseItem.objects.filter(operation__in=operations)
    plans = dict(items.values_list("operation_id", "release_id"))
    lines = []
    for operation in operations:
        line = shapes.Line.model_validate(operation)
        line.outcome, line.plan = operation_state(operation).label, plans.get(operation.pk)
        line.target = redact_secret(line.target)
        lines.append(line)
    return lines
