"""A user's own settings, on the settings page and in the user menu, and pins."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.accounts import preferences
from dashboard.accounts.authentication import get_preferences
from dashboard.accounts.models import Preferences
from dashboard.accounts.overview import factors_of
from dashboard.web.search.hits import visit_hits
from dashboard.web.ui.formats import UTC, zone_choices
from dashboard.web.ui.htmx import Request, render_partial, safe_return_url

THEME_MAX_AGE_SECONDS = 365 * 24 * 60 * 60
CHOICES = ("theme", "density", "time_zone", "date_order", "hours")
"""Form fields that have the same name and value in Preferences."""


class PreferencesForm(forms.Form):
    """Edits a user's Preferences. Fields have the same names, except `keys`."""

    theme = forms.ChoiceField(
        choices=Preferences.Theme.choices, widget=forms.RadioSelect, required=False
    )
    density = forms.ChoiceField(
        choices=Preferences.Density.choices, widget=forms.RadioSelect, required=False
    )
    time_zone = forms.ChoiceField(
        label="Time zone",
        choices=zone_choices,
        required=False,
        widget=forms.Select(attrs={"class": "input"}),
    )
    date_order = forms.ChoiceField(
        label="Dates",
        choices=Preferences.DateOrder.choices,
        widget=forms.RadioSelect,
        required=False,
    )
    hours = forms.ChoiceField(
        label="Times", choices=Preferences.Hours.choices, widget=forms.RadioSelect, required=False
    )
    keys = forms.BooleanField(label="Single-key shortcuts", required=False)

    @staticmethod
    def initial_from(preferences: Preferences) -> dict[str, Any]:
        chosen = {name: getattr(preferences, name) for name in CHOICES}
        return chosen | {"keys": not preferences.keys_off}

    def to_preferences(self) -> dict[str, Any]:
        chosen = {name: self.cleaned_data[name] for name in CHOICES}
        return chosen | {"keys_off": not self.cleaned_data["keys"]}


@require_http_methods(["GET", "HEAD", "POST"])
def own_settings(request: Request) -> HttpResponse:
    saved = get_preferences(request.user)
    initial = PreferencesForm.initial_from(saved)
    form = PreferencesForm(request.POST or None, initial=initial, label_suffix="")
    if form.is_valid():
        saved = preferences.save_preferences(request.user, **form.to_preferences())
        messages.success(request, "Settings saved.")
        return _with_theme(redirect("settings"), request, saved)
    pins = [(pin, next(iter(visit_hits([pin])), None)) for pin in saved.pins]
    status = 422 if form.is_bound else 200
    context = {"form": form, "pins": pins, "factors": factors_of(request.user)}
    return render(request, "settings/settings.html", context, status=status)


@require_POST
def theme(request: Request) -> HttpResponse:
    chosen = request.POST.get("theme", "")
    value = chosen if chosen in Preferences.Theme.values else ""
    saved = preferences.save_preferences(request.user, theme=value)
    return _with_theme(_redirect_back(request), request, saved)


@require_POST
def utc(request: Request) -> HttpResponse:
    """Show times in UTC, or in the browser's zone again."""
    preferences.save_preferences(request.user, time_zone=UTC if request.POST.get("utc") else "")
    return _redirect_back(request)


@require_POST
def keys(request: Request) -> HttpResponse:
    """Save whether single-letter keys are off."""
    preferences.save_preferences(request.user, keys_off=not request.POST.get("keys"))
    return _redirect_back(request)


@require_POST
def pin(request: Request) -> HttpResponse:
    target = (request.POST.get("page_id", ""), request.POST.get("audience_id", ""))
    if not target[0] or "\0" in "".join(target):
        return HttpResponseBadRequest("A pin needs a page ID.", content_type="text/plain")
    saved = preferences.pin(request.user, target, is_pinned=bool(request.POST.get("pinned")))
    if request.htmx.target != "pin":
        return _redirect_back(request)
    context = {"preferences": saved, "pinned": visit_hits(saved.pins), "target": target}
    return render_partial(request, "settings/pin.html", context, parts=("pin",))


def _redirect_back(request: HttpRequest) -> HttpResponse:
    return redirect(safe_return_url(request, "next", resolve_url("overview")))


def _with_theme(response: HttpResponse, request: Request, saved: Preferences) -> HttpResponse:
    """Also store the theme in a cookie, for the login page."""
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
