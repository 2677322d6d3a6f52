"""Read the target of a new thread from a form, and anchor it in the recorded text."""

import re
from urllib.parse import unquote

from django.http import Http404, QueryDict

from dashboard.client import APIError
from dashboard.comments.anchors import Anchor, anchor_in, quote_of, text_digest
from dashboard.comments.models import OF_AUDIENCE, TargetKind, Thread
from dashboard.comments.threads import CommentError, new_thread
from dashboard.contract.audiences import text_of
from dashboard.ledger.queries.audiences import audience_last_known, version_last_known
from dashboard.service.reading import read_conversation
from dashboard.web.comments.discussion import place_or_404
from dashboard.web.comments.subjects import conversation_digests, metadata_fields
from dashboard.web.ui.query_params import int_param
from dashboard.web.ui.urls import is_identifier

_DIGEST = re.compile(r"[0-9a-f]{32}")


class TextChangedError(CommentError):
    """The text has changed since the form was shown."""


def read_new_thread(fields: QueryDict) -> Thread:
    """Return the thread that a form begins, without its comment.

    The field `place` is required. `kind` defaults to the place itself. Depending on the kind,
    `object_id`, `version`, `start`, `end` and `digest` are read, too. Raises Http404, or
    CommentError with a sentence for the user.
    """
    place = place_or_404(fields.get("place", ""))
    # What the user selected in the form: "field metaTitle", or "" for the place itself.
    about, _, name = fields.get("about", "").partition(" ")
    if about:
        fields = fields.copy()
        fields.update({"kind": about, "object_id": name})
    kind = fields.get("kind") or place.kind
    if kind not in TargetKind or (kind in OF_AUDIENCE) != (place.kind == "audience"):
        raise Http404
    ids = (place.page_id, place.audience_id)
    match kind:
        case TargetKind.PASSAGE:
            return _passage(ids, fields)
        case TargetKind.FIELD:
            return _field(ids, fields)
        case TargetKind.MESSAGE | TargetKind.CHANGE:
            return _message(TargetKind(kind), ids, fields)
        case TargetKind.AUDIENCE:
            return new_thread(TargetKind.AUDIENCE, *ids)
    [object_id] = [unquote(text) for text in place.place.split(":")[1:]]
    return new_thread(TargetKind(kind), object_id=object_id)


def _passage(ids: tuple[str, str], fields: QueryDict) -> Thread:
    record = version_last_known(*ids, fields.get("version", ""))
    if record is None:
        raise Http404
    text = text_of(record.version)
    _check_digest(text, fields)
    start, end = int_param(fields.get("start", "")), int_param(fields.get("end", ""))
    anchor = anchor_in(text, start, end)
    if anchor is None:
        raise CommentError("Select some words of the text first.")
    thread = new_thread(TargetKind.PASSAGE, *ids, **vars(anchor))
    thread.version_id, thread.version_number = record.version_id, record.version_number
    return thread


def _field(ids: tuple[str, str], fields: QueryDict) -> Thread:
    name = fields.get("object_id", "")
    record = audience_last_known(*ids)
    text = metadata_fields(record.audience).get(name) if record else None
    if text is None:
        raise CommentError("The service no longer returns this field. Reload the page.")
    if fields.get("digest"):
        _check_digest(text, fields)
    anchor = Anchor(0, len(text), quote_of(text), text_digest(text))
    return new_thread(TargetKind.FIELD, *ids, object_id=name, **vars(anchor))


def _message(kind: TargetKind, ids: tuple[str, str], fields: QueryDict) -> Thread:
    """Return a thread on a message or change. Without a digest, read the conversation for it."""
    object_id, digest = fields.get("object_id", ""), fields.get("digest", "")
    if not object_id or not is_identifier(object_id):
        raise Http404
    if not _DIGEST.fullmatch(digest):
        try:
            conversation = read_conversation(*ids)
        except APIError as error:
            raise CommentError(f"The conversation can’t be read. {error}") from error
        digest = conversation_digests(conversation).get((kind, object_id), "")
        if not digest:
            raise CommentError(f"This {kind} is no longer returned.")
    return new_thread(kind, *ids, object_id=object_id, text_digest=digest)


def _check_digest(text: str, fields: QueryDict) -> None:
    if fields.get("digest", "") != text_digest(text):
        raise TextChangedError(
            "The text has changed since the page was loaded. Reload it and select the words again."
        )
