"""A user's settings: which events by which channel, quiet hours, the daily summary."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.accounts.permissions import MANAGE_DELIVERIES, may
from dashboard.ledger.models import SavedView
from dashboard.ledger.models.saved_views import ListName
from dashboard.ledger.preferences import email_address_of
from dashboard.notifications.email import is_email_on
from dashboard.notifications.errors import NotificationError
from dashboard.notifications.following import list_follows
from dashboard.notifications.models import Channel, Followed
from dashboard.notifications.preferences import (
    MatrixRow,
    get_settings,
    read_matrix,
    save_matrix,
    save_settings,
)
from dashboard.notifications.targets import list_targets
from dashboard.web.notifications.forms import CELL_SEPARATOR, SettingsForm, group_kinds
from dashboard.web.search.hits import Hit, hits_by_visit
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.saved_views import list_url
from dashboard.web.ui.time_zones import UTC, request_time_zone


@require_http_methods(["GET", "HEAD", "POST"])
def notification_settings(request: Request) -> HttpResponse:
    """Show and save the user's matrix, quiet hours and daily summary."""
    matrix = read_matrix(request.user)
    zone = request_time_zone(request)
    initial = SettingsForm.initial_from(
        get_settings(request.user), zone.key if zone and zone.key else UTC
    )
    initial["cells"] = [_cell(row, channel) for row in matrix for channel in _on(row)]
    cells = [_cell(row, channel) for row in matrix for channel in Channel]
    form = SettingsForm(cells, data=request.POST or None, initial=initial)
    if form.is_valid() and _save(request, form):
        messages.success(request, "Notification settings saved.")
        return redirect("notification-settings")
    return _show(request, form, matrix)


def _on(row: MatrixRow) -> list[Channel]:
    return [channel for channel, is_on in row.channels.items() if is_on]


def _cell(row: MatrixRow, channel: Channel) -> str:
    """Return the value of a check box of the matrix."""
    return f"{row.kind.name}{CELL_SEPARATOR}{channel.value}"


def _save(request: Request, form: SettingsForm) -> bool:
    """Save all of it, or nothing and an error in the form; return which."""
    data = dict(form.cleaned_data)
    checked = {(kind, channel) for kind, _, channel in map(_split, data.pop("cells"))}
    try:
        with transaction.atomic():
            save_matrix(request.user, checked)
            save_settings(request.user, **data)
    except NotificationError as error:
        form.add_error(error.field or None, str(error))
    return not form.errors


def _split(cell: str) -> tuple[str, str, str]:
    return cell.partition(CELL_SEPARATOR)


def _show(request: Request, form: SettingsForm, matrix: list[MatrixRow]) -> HttpResponse:
    context = {
        "form": form,
        "groups": group_kinds(row.kind for row in matrix),
        "channels": list(Channel),
        "is_email_on": is_email_on(),
        "email": email_address_of(request.user),
        "targets": list(list_targets(request.user)),
        "team_targets": list(list_targets(None)) if may(request, MANAGE_DELIVERIES) else None,
        "follows": _follows(request),
    }
    status = 422 if form.is_bound else 200
    return render(request, "notifications/settings.html", context, status=status)


def _follows(request: Request) -> list[tuple[Followed, Hit | None]]:
    """Return what the user follows; without a hit if it is no longer on record."""
    followed = [each.followed for each in list_follows(request.user)]
    hits = hits_by_visit([(each.page_id, each.audience_id) for each in followed if not each.view])
    return [
        (each, _view_hit(each.view) if each.view else hits.get((each.page_id, each.audience_id)))
        for each in followed
    ]


def _view_hit(view: SavedView) -> Hit:
    url = list_url(view.list_name, f"{view.query}&view={view.pk}")
    return Hit("view", view.name, url, note=ListName(view.list_name).label)
