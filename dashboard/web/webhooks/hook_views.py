"""The receiver's URL, where the service sends its events.

Deliveries are stored and shown, but they are only hints. If the ledger has the page of a delivery,
a worker reads that page again. Nothing that a delivery claims is recorded as a fact.
"""

from hashlib import sha256
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from standardwebhooks import Webhook, WebhookVerificationError

from dashboard import clock
from dashboard.encryption import DecryptionError, decrypt
from dashboard.limits import seconds_to_wait
from dashboard.service.conformance import record_event_name
from dashboard.web.ui.request_body import BodyTooLargeError, IncompleteBodyError, read_body
from dashboard.web.webhooks.deliveries import (
    MAX_BODY,
    MAX_PER_MINUTE,
    MAX_SIGNED_PER_MINUTE,
    Body,
    build_delivery,
    read_claim,
    unpack,
)
from dashboard.webhooks.hints import take_hint
from dashboard.webhooks.models import Receiver
from dashboard.webhooks.receiver import is_stored, receiver_at, record_delivery, record_rejection


# The service has no session and no CSRF token. The secret in the URL authorizes it.
@csrf_exempt
@login_not_required
@require_POST
def hook(request: HttpRequest, secret: str) -> HttpResponse:
    """Record a delivery to the receiver if it is signed as required. Any content is accepted."""
    receiver = receiver_at(secret)
    if receiver is None:
        return _text_response("Receiver not found.", 404)
    # With a signing secret, unsigned requests have a limit of their own.
    if not receiver.signing_secret and (refusal := _limit("receiver", MAX_PER_MINUTE)):
        return refusal
    try:
        body = read_body(request, at_most=MAX_BODY)
    except BodyTooLargeError:
        return _text_response(f"The body exceeds {MAX_BODY} bytes. Nothing was stored.", 413)
    except IncompleteBodyError:
        return _text_response("The body is incomplete. Nothing was stored.", 400)
    unpacked = unpack(request.headers, body)
    # The signature is for the uncompressed content, as Standard Webhooks signs text.
    content = unpacked.content
    if receiver.signing_secret and (refusal := _refuse_signed(request, receiver, content)):
        return refusal
    # Ignore the ID of an unsigned request. Anyone could use up the IDs of real events.
    digest = None
    if receiver.signing_secret:
        # The ID is the same each time the delivery is sent.
        digest = sha256(request.headers["webhook-id"].encode()).hexdigest()
    is_new = _record(request, unpacked, digest)
    # Return 200 for duplicates, too, so that a sender that missed our response stops retrying.
    return _text_response("Received." if is_new else "Already received. Nothing was stored.", 200)


def _limit(what: str, at_most: int) -> HttpResponse | None:
    """Count a request; return a 429 response if it exceeds the limit, or None."""
    wait = seconds_to_wait(what, at_most=at_most)
    limit = f"Limit of {at_most} requests a minute exceeded. Try again later."
    return _text_response(limit, 429, headers={"Retry-After": str(wait)}) if wait else None


def _refuse_signed(request: HttpRequest, receiver: Receiver, body: bytes) -> HttpResponse | None:
    """Return the response to a delivery that isn't signed or exceeds the limit, or None.

    A signature is valid for 5 minutes.
    """
    try:
        webhook = Webhook(decrypt(receiver.signing_secret))
        webhook.verify(body, dict(request.headers), json_parse=False)
    except (DecryptionError, WebhookVerificationError, ValueError):
        # ValueError: the signature or the body is malformed.
        if refusal := _limit("receiver-unsigned", MAX_PER_MINUTE):
            return refusal
        record_rejection(clock.now())
        return _text_response("The signature is missing or not valid. Nothing was stored.", 401)
    return _limit("receiver-signed", MAX_SIGNED_PER_MINUTE)


def _record(request: HttpRequest, body: Body, digest: str | None) -> bool:
    """Store a delivery and take it as a hint; return False if it was stored before.

    A delivery with a digest is signed.
    """
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
        return False  # The same event arrived at the same time.
    record_event_name(claim.unknown_event)
    return True


def _text_response(text: str, status: int, **options: Any) -> HttpResponse:
    return HttpResponse(f"{text}\n", status=status, content_type="text/plain", **options)
