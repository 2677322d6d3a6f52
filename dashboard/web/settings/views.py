"""A user's own settings, on their page and in the user menu, and pins."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.accounts.overview import factors_of
from dashboard.ledger import preferences as ledger
from dashboard.ledger.models import Preferences
from dashboard.web.search.hits import visit_hits
from dashboard.web.settings.forms import PreferencesForm
from dashboard.web.ui.htmx import Request, render_partial, safe_return_url
from dashboard.web.ui.time_zones import UTC

THEME_MAX_AGE_SECONDS = 365 * 24 * 60 * 60


@require_http_methods(["GET", "HEAD", "POST"])
def own_settings(request: Request) -> HttpResponse:
    """Show and save the user's settings."""
    saved = ledger.get_preferences(request.user)
    initial = PreferencesForm.initial_from(saved)
    form = PreferencesForm(request.POST or None, initial=initial, label_suffix="")
    if form.is_valid():
        saved = ledger.save_preferences(request.user, **form.to_preferences())
        messages.success(request, "Settings saved.")
        return _with_theme(redirect("settings"), request, saved)
    pins = [(one, next(iter(visit_hits([one])), None)) for one in saved.pins]
    status = 422 if form.is_bound else 200
    context = {"form": form, "pins": pins, "factors": factors_of(request.user)}
    return render(request, "settings/settings.html", context, status=status)


@require_POST
def theme(request: Request) -> HttpResponse:
    """Save the theme, and go back."""
    chosen = request.POST.get("theme", "")
    known = chosen if chosen in Preferences.Theme.values else ""
    saved = ledger.save_preferences(request.user, theme=known)
    return _with_theme(_redirect_back(request), request, saved)


@require_POST
def utc(request: Request) -> HttpResponse:
    """Show times in UTC, or again in the browser's zone."""
    ledger.save_preferences(request.user, time_zone=UTC if request.POST.get("utc") else "")
    return _redirect_back(request)


@require_POST
def keys(request: Request) -> HttpResponse:
    """Save whether single-letter keys are off."""
    ledger.save_preferences(request.user, keys_off=not request.POST.get("keys"))
    return _redirect_back(request)


@require_POST
def pin(request: Request) -> HttpResponse:
    """Pin or unpin a page or an audience."""
    target = (request.POST.get("page_id", ""), request.POST.get("audience_id", ""))
    if not target[0] or "\0" in "".join(target):
        return HttpResponseBadRequest("A pin needs a page ID.", content_type="text/plain")
    saved = ledger.pin(request.user, target, is_pinned=bool(request.POST.get("pinned")))
    if request.htmx.target != "pin":
        return _redirect_back(request)
    context = {"preferences": saved, "pinned": visit_hits(saved.pins), "target": target}
    return render_partial(request, "settings/pin.html", context, parts=("pin",))


def _redirect_back(request: HttpRequest) -> HttpResponse:
    return redirect(safe_return_url(request, "next", resolve_url("overview")))


def _with_theme(response: HttpResponse, request: Request, saved: Preferences) -> HttpResponse:
    """Store the theme in a cookie too, for the login page."""
    if not saved.theme:
        response.delete_cookie(settings.THEME_COOKIE, samesite="Lax")
        return response
    response.set_cookie(
        settings.THEME_COOKIE,
        saved.theme,
        max_age=THEME_MAX_AGE_SECONDS,
        samesite="Lax",
        secure=request.is_secure(),
        httponly=True,
    )
    return response
