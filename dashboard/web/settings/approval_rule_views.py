"""The approval rule, which says what changes need the approval of another person."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from dashboard.accounts.permissions import MANAGE_APPROVALS, requires
from dashboard.approvals.models import DEFAULT_DAYS, MAX_DAYS, MIN_DAYS, ApprovalRule
from dashboard.approvals.rule import current_rule
from dashboard.releases.approval_requests import change_rule, held_by
from dashboard.web.ui.htmx import Request

SWITCHES = {
    "covers_publishing": ("Publishing", "One version, and releases."),
    "covers_rollbacks": ("Rolling back", "Publishing a version that was live before the live one."),
    "covers_webhooks": ("Webhook changes", "URL, events, and turning on and off."),
    "covers_pages": ("New pages", ""),
}
MAX_CHANGES = 50


class ApprovalRuleForm(forms.Form):
    is_on = forms.TypedChoiceField(choices=[("on", "On"), ("off", "Off")])
    covers_publishing = forms.BooleanField(required=False)
    covers_rollbacks = forms.BooleanField(required=False)
    covers_webhooks = forms.BooleanField(required=False)
    covers_pages = forms.BooleanField(required=False)
    days = forms.IntegerField(
        initial=DEFAULT_DAYS,
        min_value=MIN_DAYS,
        max_value=MAX_DAYS,
        error_messages={"required": "Enter a number of days."},
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("is_on") == "on" and not any(cleaned.get(name) for name in SWITCHES):
            self.add_error("is_on", "Choose what needs approval, or turn the rule off.")
        return cleaned

    def rule(self) -> ApprovalRule:
        data = self.cleaned_data
        covered = {name: data["is_on"] == "on" and data[name] for name in SWITCHES}
        return ApprovalRule(days=data["days"], **covered)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(MANAGE_APPROVALS, methods=("POST",))
def approval_rule(request: Request) -> HttpResponse:
    """Show the rule and its history to everyone, and let administrators change it.

    If a new rule would hold scheduled releases, they are shown first and have to be confirmed.
    """
    rule = current_rule()
    if request.method != "POST":
        covered = {name: getattr(rule, name) for name in SWITCHES}
        # While the rule is off, suggest publishing.
        covered["covers_publishing"] |= not rule.is_on
        fields = {"is_on": "on" if rule.is_on else "off", "days": rule.days, **covered}
        return _show(request, rule, fields)
    form = ApprovalRuleForm(request.POST)
    if not form.is_valid():
        return _show(request, rule, request.POST, errors=form.errors, status=422)
    with transaction.atomic():
        would_hold = held_by(form.rule())
    if would_hold and "confirmed" not in request.POST:
        return _show(request, rule, request.POST, would_hold=would_hold)
    held = change_rule(request.user, form.rule())
    names = ", ".join(release.name for release in held)
    sentence = f" Held, as they were scheduled without an approval: {names}." if held else ""
    messages.success(request, f"Approval rule saved.{sentence}")
    return redirect("approval-rule")


def _show(
    request: Request,
    rule: ApprovalRule,
    fields: Mapping[str, Any],
    *,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    changes = list(ApprovalRule.objects.all()[:MAX_CHANGES])
    context = {
        "rule": rule,
        "fields": fields,
        "switches": SWITCHES,
        "changes": changes,
        "errors": {},
        "would_hold": [],
        "days_limits": (MIN_DAYS, MAX_DAYS),
    } | more
    return render(request, "settings/approval_rule.html", context, status=status)
