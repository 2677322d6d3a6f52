"""The receiver: a URL that a webhook subscription can point to, and the log of its deliveries.

Deliveries are stored and shown. They are hints, and no more: a worker reads the page again that one
is about, if the ledger knows it. Nothing that a delivery says is recorded as a fact.
"""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.db import IntegrityError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import pluralize
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dashboard.accounts.permissions import UPDATE_SUBSCRIPTION, may, requires
from dashboard.accounts.sessions import absolute_url
from dashboard.contract.webhooks import EventName
from dashboard.ledger.hints import take_hint
from dashboard.ledger.models import Receiver
from dashboard.ledger.models.operations import actor_name
from dashboard.ledger.receiver import (
    get_delivery,
    get_receiver,
    is_stored,
    list_deliveries,
    receiver_at,
    record_delivery,
    record_rejection,
    replace_secret,
    set_signing_secret,
    switch_receiver,
)
from dashboard.rate_limits import seconds_to_wait
from dashboard.service.conformance import record_event_name
from dashboard.web.ui.highlighting import has_hidden_characters
from dashboard.web.ui.htmx import Request, render_partial, wants_partial
from dashboard.web.ui.query_params import int_param
from dashboard.web.ui.request_body import BodyTooLargeError, IncompleteBodyError, read_body
from dashboard.web.webhooks.deliveries import (
    MAX_BODY,
    MAX_PER_MINUTE,
    MAX_SIGNED_PER_MINUTE,
    Body,
    build_delivery,
    indented_json,
    read_claim,
    unpack,
)
from dashboard.web.webhooks.signatures import (
    SigningSecretForm,
    can_verify,
    event_digest,
    is_signed,
)

PAGE_SIZE = 50


# The service has no session and no CSRF token: the secret in the URL authorizes it.
@csrf_exempt
@login_not_required
@require_POST
def hook(request: HttpRequest, secret: str) -> HttpResponse:
    """Record a delivery to the receiver, whatever its content, if it is signed as required."""
    receiver = receiver_at(secret)
    if receiver is None:
        return _text_response("Receiver not found.", 404)
    # With a signing secret, unsigned requests are counted apart: they can't use up the limit.
    if not receiver.signing_secret and (refusal := _limit("receiver", MAX_PER_MINUTE)):
        return refusal
    try:
        body = read_body(request, at_most=MAX_BODY)
    except BodyTooLargeError:
        return _text_response(f"The body exceeds {MAX_BODY} bytes. Nothing was stored.", 413)
    except IncompleteBodyError:
        return _text_response("The body is incomplete. Nothing was stored.", 400)
    unpacked = unpack(request.headers, body)
    # Signed before it was compressed: what Standard Webhooks signs is text.
    content = unpacked.content
    if receiver.signing_secret and (refusal := _refuse_signed(request, receiver, content)):
        return refusal
    # Of an unsigned request the ID isn't looked at: anybody could use up those of real events.
    digest = event_digest(request.headers) if receiver.signing_secret else None
    is_new = _record(request, unpacked, digest)
    # 200 in both cases: a sender that got no response the first time stops trying then.
    return _text_response("Received." if is_new else "Already received. Nothing was stored.", 200)


def _limit(what: str, at_most: int) -> HttpResponse | None:
    """Count a request; return the response to one too many, or None."""
    wait = seconds_to_wait(what, at_most=at_most)
    limit = f"Limit of {at_most} requests a minute exceeded. Try again later."
    return _text_response(limit, 429, headers={"Retry-After": str(wait)}) if wait else None


def _refuse_signed(request: HttpRequest, receiver: Receiver, body: bytes) -> HttpResponse | None:
    """Return the response to a delivery that isn't signed, or is one too many; None otherwise."""
    if is_signed(receiver, request.headers, body):
        return _limit("receiver-signed", MAX_SIGNED_PER_MINUTE)
    if refusal := _limit("receiver-unsigned", MAX_PER_MINUTE):
        return refusal
    record_rejection(timezone.now())
    return _text_response("The signature is missing or not valid. Nothing was stored.", 401)


def _record(request: HttpRequest, body: Body, digest: str | None) -> bool:
    """Store a delivery, signed if it has a digest, and take it as a hint; False if it is stored."""
    if digest and is_stored(digest):
        return False
    claim = read_claim(body.content)
    delivery = build_delivery(request.headers, body, claim)
    delivery.is_signed, delivery.event_digest = digest is not None, digest
    if not claim.is_about_form:
        delivery.hint = take_hint(claim.page_id, claim.audience_id, delivery.received_at)
    try:
        record_delivery(delivery)
    except IntegrityError:
        return False  # The same event has arrived at the same time.
    record_event_name(claim.unknown_event)
    return True


@require_http_methods(["GET", "HEAD", "POST"])
@requires(UPDATE_SUBSCRIPTION, methods=("POST",))
def receiver_page(request: Request) -> HttpResponse:
    """Show the receiver and its deliveries by `?event= before=`; change its state or URL.

    While it is on, the page polls its partial "deliveries"; `?after=` is the newest one shown.
    """
    if wants_partial(request, ("deliveries",)):
        return _poll_deliveries(request)
    is_secret = request.POST.get("do") == "sign"
    form = SigningSecretForm(request.POST if is_secret else None, label_suffix="")
    if request.method == "POST" and (form.is_valid() or not form.is_bound):
        return _change(request, form)
    context = _deliveries_context(request)
    state = context["receiver"]
    path = reverse("hook", kwargs={"secret": state.secret})
    context |= {
        "here": "webhooks",
        "receiver_url": absolute_url(request, path) if may(request, UPDATE_SUBSCRIPTION) else "",
        "events": list(EventName),
        "max_per_minute": MAX_SIGNED_PER_MINUTE if state.signing_secret else MAX_PER_MINUTE,
        "form": form,
        "can_verify": can_verify(state),
    }
    status = 422 if form.is_bound else 200
    return render_partial(request, "webhooks/receiver/detail.html", context, status=status)


def _deliveries_context(request: Request) -> dict[str, Any]:
    """Return the context of the partial "deliveries"."""
    event = request.GET.get("event", "")
    chosen = event if event in set(EventName) else ""
    before = int_param(request.GET.get("before", "")) or None
    found = list(list_deliveries(event=chosen, before=before)[: PAGE_SIZE + 1])
    newest = found[0].pk if found else 0
    return {
        "receiver": get_receiver(),
        "event": chosen,
        "deliveries": found[:PAGE_SIZE],
        "next": found[PAGE_SIZE - 1].pk if len(found) > PAGE_SIZE else None,
        "poll_query": "" if before else urlencode({"event": chosen, "after": str(newest)}),
        "announcement": "",
    }


def _poll_deliveries(request: Request) -> HttpResponse:
    """Return the deliveries, or 204 if none has arrived since `?after=`."""
    context, after = _deliveries_context(request), int_param(request.GET.get("after", ""))
    arrived = sum(delivery.pk > after for delivery in context["deliveries"])
    if not arrived:
        return HttpResponse(status=204)
    context["announcement"] = f"{arrived} new deliver{pluralize(arrived, 'y,ies')}"
    return render_partial(request, "webhooks/receiver/detail.html", context, parts=("deliveries",))


@require_GET
def delivery_detail(request: Request, number: int) -> HttpResponse:
    """Show one delivery. Headers and body may hold personal data, for administrators only."""
    delivery = get_delivery(number)
    if delivery is None:
        raise Http404
    may_read = may(request, UPDATE_SUBSCRIPTION)
    body = indented_json(delivery.body) if may_read and not delivery.is_cut else None
    changes = [*delivery.changes]
    if body and has_hidden_characters(body):
        changes.append("hidden characters are shown as their codes")
    context = {
        "here": "webhooks",
        "delivery": delivery,
        "may_read": may_read,
        "json": body,
        "changes": changes,
    }
    return render(request, "webhooks/receiver/delivery.html", context)


def _change(request: Request, form: SigningSecretForm) -> HttpResponse:
    name = actor_name(request.user)
    match request.POST.get("do"):
        case "on":
            switch_receiver(is_on=True, by=name)
            messages.success(request, "Receiver turned on. Copy its URL into a subscription.")
        case "off":
            switch_receiver(is_on=False, by=name)
            messages.success(request, "Receiver turned off. Requests return 404.")
        case "replace":
            replace_secret(by=name)
            messages.success(request, "URL replaced. The old one returns 404.")
        case "sign":
            set_signing_secret(form.encrypted, by=name)
            messages.success(request, "Secret saved. Unsigned requests return 401.")
        case "unsign":
            set_signing_secret("", by=name)
            messages.success(request, "Secret removed. Signatures are no longer verified.")
    return redirect("receiver")


def _text_response(text: str, status: int, **options: Any) -> HttpResponse:
    return HttpResponse(f"{text}\n", status=status, content_type="text/plain", **options)
