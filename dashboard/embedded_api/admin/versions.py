"""Versions in the Django admin. Drafts are written here, and published as through the API."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import Max, QuerySet
from django.http import HttpRequest

from dashboard import clock
from dashboard.contract.audiences import VersionStatus
from dashboard.embedded_api.admin.base import PublishedStaysAdmin, StatusFilter, moment_of
from dashboard.embedded_api.admin.forms import ServiceForm
from dashboard.embedded_api.lifecycle import STAGES, Dates
from dashboard.embedded_api.models import Audience, Version
from dashboard.embedded_api.publishing import publish_version
from dashboard.json_api.problems import ProblemError

_EDITABLE = (VersionStatus.DRAFT.value, VersionStatus.PENDING.value)


def shown_status(version: Version) -> str:
    return Dates.of(version).status(clock.now()).value


class VersionForm(ServiceForm):
    class Meta:
        model = Version
        fields = ("audience", "supplementary_context", "is_new_page_agent")


class VersionStatusFilter(StatusFilter):
    statuses = VersionStatus
    dates = STAGES
    otherwise = VersionStatus.PENDING


class VersionAdmin(PublishedStaysAdmin):
    """Only drafts and pending versions can be edited. Others were reviewed or are live."""

    form = VersionForm
    list_display = ("__str__", "audience", "status", "created", "queued", "published")
    list_filter = (VersionStatusFilter, "is_new_page_agent", "tenant")
    list_select_related = ("audience",)
    search_fields = ("id", "audience__custom_name", "audience__computed_name", "audience__id")
    ordering = ("-created_at", "-id")
    actions = ("publish",)
    autocomplete_fields = ("audience",)
    fixed_fields = ("audience",)
    shown_fields = (
        *("id", "version_number", "status", "created", "queued", "published", "archived"),
        "canceled",
    )
    path_from_version = "pk"

    queued = moment_of("queued_at", "Queued")
    published = moment_of("published_at", "Published")
    canceled = moment_of("cancelled_at", "Canceled")

    @admin.display(description="Status")
    def status(self, row: Version) -> str:
        return shown_status(row)

    def has_change_permission(self, request: HttpRequest, obj: Version | None = None) -> bool:
        is_editable = obj is None or shown_status(obj) in _EDITABLE
        return is_editable and super().has_change_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: Version, form: Any, change: Any) -> None:
        """Save the version. A new version is a draft with the next number."""
        if not change:
            # Lock the audience, so that no number is used twice.
            audience = Audience.objects.select_for_update().get(pk=obj.audience_id)
            last = audience.versions.aggregate(last=Max("version_number"))["last"] or 0
            obj.tenant_id, obj.version_number = audience.tenant_id, last + 1
            obj.became_draft_at = obj.created_at
        super().save_model(request, obj, form, change)

    @admin.action(
        description="Publish the selected versions, without Pressroom’s approvals",
        permissions=["change"],
    )
    def publish(self, request: HttpRequest, queryset: "QuerySet[Version]") -> None:
        published = 0
        for version in queryset.select_related("audience").order_by("version_number"):
            try:
                publish_version(
                    tenant_id=version.tenant_id,
                    page_id=version.audience.page_id,
                    audience_id=version.audience_id,
                    version_id=version.id,
                    operation_key=None,
                )
            except ProblemError as problem:
                messages.error(request, f"{version} of {version.audience}: {problem.detail}")
            else:
                published += 1
                self.log_change(request, version, "Published.")
        if published:
            messages.success(
                request,
                f"Publishing: {published}. Pressroom’s approvals don’t apply here: Activity lists "
                "this as published outside Pressroom.",
            )
