"""Accept or reject one pending change of a conversation."""

from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from dashboard.accounts.permissions import PUBLISH, requires
from dashboard.review.models import MAX_REASON, VerdictKind
from dashboard.review.verdicts import change_key, give_verdict, text_digest, withdraw_verdict
from dashboard.service.reading import read_conversation
from dashboard.web.ui.htmx import Request, posted_from, safe_return_url


@posted_from("conversation")
@requires(PUBLISH, refusal="You need the Publisher role to accept or reject changes.")
def change_verdict(request: Request, page_id: str, audience_id: str) -> HttpResponse:
    """Record a verdict on a pending change, or withdraw it if there is no `verdict`.

    The field `shown` is the digest of the displayed text. A verdict on another text is ignored.
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
    if change is None:
        raise Http404("This change is no longer pending.")
    if "verdict" not in fields:
        withdraw_verdict(page_id, audience_id, change, user=request.user)
    elif fields["verdict"] not in VerdictKind.values:
        raise Http404("No such verdict.")
    elif text_digest(change) == fields.get("shown", ""):
        note = fields.get("note", "").replace("\0", "").strip()[:MAX_REASON]
        kind = VerdictKind(fields["verdict"])
        give_verdict(page_id, audience_id, change, kind, note=note, user=request.user)
    return redirect(back)
