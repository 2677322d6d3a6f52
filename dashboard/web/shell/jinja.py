"""The Jinja2 environment: shared globals and filters, and those of the features."""

from datetime import timedelta
from typing import Any

import jinja2
from django.conf import settings

from dashboard.comments.assignees import assignee_of
from dashboard.comments.queries import open_by_object
from dashboard.comments.threads import can_delete, can_edit
from dashboard.ledger.crawls import get_crawl
from dashboard.ledger.models.operations import actor_name
from dashboard.service.health import clock_ahead
from dashboard.text_diff import compare_texts
from dashboard.web.audiences import markup as audiences
from dashboard.web.comments import markup as comments
from dashboard.web.comments.discussion import discussion_at, open_comments
from dashboard.web.conversations.search import result_around
from dashboard.web.conversations.tool_calls import readable_pairs
from dashboard.web.lists import saved_views
from dashboard.web.lists.columns import no_cell
from dashboard.web.live.acts import recent_acts
from dashboard.web.live.here import here_at_page, here_in_rows
from dashboard.web.live.shell_state import assigned_count, live_url
from dashboard.web.live.topics import topic
from dashboard.web.pages.detail import footer_link_count, language_of
from dashboard.web.people.listing import person_field
from dashboard.web.releases import markup as releases
from dashboard.web.ui.jinja import make_environment
from dashboard.web.ui.markup import duration
from dashboard.web.ui.match_highlighting import marked
from dashboard.web.versions.history import last_attempt


def clock_note() -> str:
    """Return a sentence about the service's clock; empty if it agrees with ours."""
    ahead = clock_ahead()
    if not ahead:
        return ""
    direction = "ahead" if ahead > timedelta() else "behind"
    return f"The service’s clock is {duration(abs(ahead))} {direction}."


GLOBALS = (
    actor_name,
    assigned_count,
    assignee_of,
    can_delete,
    can_edit,
    audiences.selection_value,
    comments.comment_body,
    comments.initials,
    compare_texts,
    clock_note,
    get_crawl,
    here_at_page,
    here_in_rows,
    recent_acts,
    live_url,
    no_cell,
    open_by_object,
    open_comments,
    person_field,
    readable_pairs,
    result_around,
    releases.clock_time,
    releases.local_clock_time,
    releases.local_text,
    releases.place_of,
    releases.planned_moment,
    releases.release_title,
    releases.repeated_time_problem,
    releases.skipped_time_note,
    releases.time_until,
    releases.unknown_zone_note,
    releases.utc_text,
    discussion_at,
    topic,
)
FILTERS = (
    audiences.live_status_badge,
    audiences.version_status_label,
    language_of,
    last_attempt,
    marked,
    footer_link_count,
    saved_views.list_label,
    saved_views.state_summary,
    saved_views.view_url,
)


def environment(**options: Any) -> jinja2.Environment:
    jinja = make_environment(GLOBALS, FILTERS, **options)
    jinja.globals["time_zone_cookie"] = settings.TIME_ZONE_COOKIE
    return jinja
