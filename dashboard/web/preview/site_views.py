"""The setting for the site's URL pattern. It shows examples before it is saved."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from dashboard import clock
from dashboard.accounts.permissions import MANAGE_SITE, requires
from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.models.operations import actor_name
from dashboard.previews.models import (
    MAX_PATTERN,
    PLACEHOLDERS,
    SitePattern,
    current_pattern,
    site_link,
    validate_pattern,
)
from dashboard.web.ui.forms import SingleLineField
from dashboard.web.ui.htmx import Request
from dashboard.web.ui.markup import untranslated

EXAMPLES = 3
_MEANINGS = ", ".join(f"{{{name}}} for {field}" for name, field in PLACEHOLDERS.items())


class SiteForm(forms.Form):
    pattern = SingleLineField(
        label="URL of an audience",
        mono=True,
        max_length=MAX_PATTERN,
        validators=[validate_pattern],
        help_text=untranslated(
            f"Such as https://example.com/{{route_key}}. Placeholders: {_MEANINGS}. The API "
            "doesn’t document which of them the site uses, so check the examples.",
            [*PLACEHOLDERS, *PLACEHOLDERS.values()],
        ),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@requires(MANAGE_SITE)
def site_pattern(request: Request) -> HttpResponse:
    """Set the pattern. A new one is shown with examples first; sending it again saves it."""
    form = SiteForm(request.POST or None, initial={"pattern": current_pattern()})
    pattern = form.cleaned_data["pattern"] if form.is_valid() else current_pattern()
    records = AudienceRecord.objects.exclude(live_version_id="").order_by("-pk")[:EXAMPLES]
    links = [(record, site_link(pattern, record.page_id, record.audience)) for record in records]
    if form.is_valid() and pattern and not any(link.url for _, link in links):
        form.add_error(
            "pattern", "No known live audience has these fields, so there is no example."
        )
    if form.is_valid() and pattern in ("", request.POST.get("checked")):
        SitePattern.objects.create(
            pattern=pattern, changed_at=clock.now(), changed_by_name=actor_name(request.user)
        )
        messages.success(request, "Address of the site saved.")
        return redirect("site-pattern")
    context = {"form": form, "pattern": pattern, "links": links}
    return render(request, "preview/site.html", context, status=422 if form.errors else 200)
