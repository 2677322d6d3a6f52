"""Accept or reject one pending change of a conversation."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from dashboard.accounts.permissions import PUBLISH, requires
from dashboard.review.models import MAX_REASON, VerdictKind
from dashboard.review.verdicts import change_key, give_verdict, text_digest, withdraw_verdict
from dashboard.service.reading import read_conversation
from dashboard.web.ui.forms import forget_unsent_form
from dashboard.web.ui.htmx import Request, posted_from, safe_return_url


@posted_from("conversation")
@requires(PUBLISH, refusal="You need the Publisher role to accept or reject changes.")
def change_verdict(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Record a verdict on a pending change, or withdraw it if there is no `verdict`.

    The field `shown` is the digest of the displayed text. A verdict on another text is refused.
    The conversation is read again, because its text isn't stored.
    """
    fields = request.POST
    changes = {
        change_key(change): change
        for change in read_conversation(page_id, audience_id).pending_changes
    }
    change = changes.get(fields.get("change", ""))
    url = f"{reverse('conversation', args=[page_id, audience_id])}#pending"
    back = safe_return_url(request, "next", url)
    note = fields.get("note", "").replace("\0", "").strip()[:MAX_REASON]
    if change is None:
        _refuse(request, "This change is no longer pending.", note)
    elif "verdict" not in fields:
        withdraw_verdict(page_id, audience_id, change, user=request.user)
    elif fields["verdict"] not in VerdictKind.values:
        raise Http404("No such verdict.")
    elif text_digest(change) == fields.get("shown", ""):
        kind = VerdictKind(fields["verdict"])
        give_verdict(page_id, audience_id, change, kind, note=note, user=request.user)
    else:
        _refuse(request, "The text of this change was edited after the page was loaded.", note)
    forget_unsent_form(request)
    return redirect(back)


def _refuse(request: Request, problem: str, note: str) -> None:
    typed = f" Your note: “{note}”" if note else ""
    messages.error(request, f"{problem} Nothing was recorded.{typed}")
