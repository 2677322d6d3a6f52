"""A plain-text report of a failure, to copy for the service team."""

from datetime import UTC, datetime

from django.conf import settings
from django.http import HttpRequest
from django.utils.encoding import escape_uri_path

from config.environment import project_version
from dashboard.client import CallReport, InvalidResponseError, StatusError
from dashboard.observability.request_context import current_notes, current_request_id

MAX_BODY_CHARACTERS = 600


def support_report(request: HttpRequest) -> str:
    """Return the report of a failed request, with its last failed call.

    It contains no API key: the client redacts ours in every response, and paths have none.
    """
    notes = current_notes()
    lines = [
        f"Pressroom {project_version()}, {settings.ENVIRONMENT_NAME}",
        f"Time: {datetime.now(UTC).isoformat(timespec='seconds')}",
        f"Request: {current_request_id()}",
        f"Page: {request.method} {escape_uri_path(request.path)}",
    ]
    if notes and notes.failed:
        lines += _describe_call(notes.failed)
    return "\n".join(lines)


def _describe_call(failed: CallReport) -> list[str]:
    attempts = f"{failed.attempts} attempt{'s' if failed.attempts != 1 else ''}"
    lines = [
        f"Call: {failed.operation}, {failed.method} {failed.path}",
        f"Sent: {failed.started_at.isoformat(timespec='seconds')}, {attempts}, "
        f"{failed.duration_ms:.0f} ms",
        f"Status: {failed.status_code or 'none'}",
        f"Error: {failed.error}",
    ]
    body = failed.error.body if isinstance(failed.error, StatusError | InvalidResponseError) else ""
    return [*lines, f"Body (truncated): {body[:MAX_BODY_CHARACTERS]}"] if body else lines
