"""One's own settings: on a page of their own, in the menu under the name, and the pins."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.ledger import preferences as ledger
from dashboard.ledger.models import Preferences
from dashboard.web.context_processors import THEME_COOKIE
from dashboard.web.finding import hits_of
from dashboard.web.forms.preferences import PreferencesForm
from dashboard.web.http import Request, address_back, render_part
from dashboard.web.people_sign_in import factors_of
from dashboard.web.time_zones import UTC

THEME_KEPT_SECONDS = 365 * 24 * 60 * 60


@require_http_methods(["GET", "HEAD", "POST"])
def own_settings(request: Request) -> HttpResponse:
    """Show one's settings, and keep them."""
    kept = ledger.preferences_of(request.user)
    form = PreferencesForm(request.POST or None, initial=PreferencesForm.as_kept(kept))
    if form.is_valid():
        kept = ledger.keep_preferences(request.user, **form.to_keep())
        messages.success(request, "Settings saved.")
        return _with_theme(redirect("settings"), request, kept)
    pins = [(one, next(iter(hits_of([one])), None)) for one in kept.pins]
    status = 422 if form.is_bound else 200
    context = {"form": form, "pins": pins, "factors": factors_of(request.user)}
    return render(request, "accounts/settings.html", context, status=status)


@require_POST
def theme(request: Request) -> HttpResponse:
    """Keep the chosen theme, and go back to where it was chosen."""
    chosen = request.POST.get("theme", "")
    known = chosen if chosen in Preferences.Theme.values else ""
    kept = ledger.keep_preferences(request.user, theme=known)
    return _with_theme(_back(request), request, kept)


@require_POST
def utc(request: Request) -> HttpResponse:
    """Show times in UTC, or again in the browser's zone."""
    ledger.keep_preferences(request.user, time_zone=UTC if request.POST.get("utc") else "")
    return _back(request)


@require_POST
def keys(request: Request) -> HttpResponse:
    """Keep whether single keys are off."""
    ledger.keep_preferences(request.user, keys_off=not request.POST.get("keys"))
    return _back(request)


@require_POST
def pin(request: Request) -> HttpResponse:
    """Pin a page or an audience, or take its pin away."""
    what = (request.POST.get("page_id", ""), request.POST.get("audience_id", ""))
    if not what[0] or "\0" in "".join(what):
        return HttpResponseBadRequest("A pin needs the id of a page.", content_type="text/plain")
    change = ledger.pin if request.POST.get("pinned") else ledger.unpin
    kept = change(request.user, what)
    if request.htmx.target != "pin":
        return _back(request)
    context = {"preferences": kept, "pinned": hits_of(kept.pins), "what": what}
    return render_part(request, "accounts/pin.html", context, parts=("pin",))


def _back(request: HttpRequest) -> HttpResponse:
    """Go back to where a choice was made."""
    return redirect(address_back(request, "next", resolve_url("overview")))


def _with_theme(response: HttpResponse, request: Request, kept: Preferences) -> HttpResponse:
    """Keep the theme in a cookie too: the log-in page can't know who comes."""
    if not kept.theme:
        response.delete_cookie(THEME_COOKIE, samesite="Lax")
        return response
    response.set_cookie(
        THEME_COOKIE,
        kept.theme,
        max_age=THEME_KEPT_SECONDS,
        samesite="Lax",
        secure=request.is_secure(),
        httponly=True,
    )
    return response
