"""Change where a user's e-mail goes. The new address counts once its link is confirmed.

This doesn't use django-allauth's addresses. They replace the account's own address, which the
approval rule compares.
"""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core import signing
from django.core.mail import EmailMessage
from django.db import IntegrityError, transaction
from django.urls import reverse

from dashboard import clock
from dashboard.accounts.preferences import email_address_of, is_email_taken, save_preferences
from dashboard.ledger import feed
from dashboard.ledger.models import FeedEntry, FeedKind
from dashboard.notifications.messages import link_to
from dashboard.notifications.models import Channel, Delivery, NotificationError
from dashboard.notifications.outbox import new_delivery

LINK_RETRIED_FOR = timedelta(hours=1)
"""How long sending the link is retried. The user is waiting for it. Source: our choice."""
LINK_LIFETIME_S = 24 * 60 * 60
SALT = "dashboard.notifications.email_change"
TAKEN = "Another account has this address."


def request_confirmation(user: User, address: str, form_key: str | None) -> None:
    """Have a worker send a confirmation link to an address, once for a form.

    Raises NotificationError if the user has this address already, or another account has it.
    """
    address = address.lower()
    if address == email_address_of(user).lower():
        raise NotificationError("E-mail goes to this address already.", field="email")
    if is_email_taken(address, user):
        raise NotificationError(TAKEN, field="email")
    now = clock.now()
    delivery = new_delivery(Channel.EMAIL, user_id=user.pk, now=now)
    delivery.new_address, delivery.retry_until = address, now + LINK_RETRIED_FOR
    delivery.message_id = form_key or delivery.message_id
    Delivery.objects.bulk_create([delivery], ignore_conflicts=True)


def is_requested(form_key: str | None) -> bool:
    """Return whether a form has already requested its link."""
    return form_key is not None and Delivery.objects.filter(message_id=form_key).exists()


def last_confirmation(user: User) -> Delivery | None:
    return Delivery.objects.filter(user=user).exclude(new_address="").first()


def confirmation_of(user: User, address: str) -> EmailMessage:
    # The current address makes the link valid for one change only.
    token = signing.dumps([user.pk, address, email_address_of(user)], salt=SALT)
    link = link_to(reverse("email-confirm", args=[token]))
    text = (
        f"{user.get_username()} wants e-mail from Pressroom, {settings.ENVIRONMENT_NAME}, "
        f"at this address. To confirm it, open this link within a day:\n\n{link}\n\n"
        "If that wasn’t you, ignore this message.\n"
    )
    headers = {"Auto-Submitted": "auto-generated"}
    return EmailMessage("Confirm your address", text, to=[address], headers=headers)


def read_link(user: User, token: str) -> str:
    """Return the address that a link confirms. Raises NotificationError if the link isn't valid."""
    try:
        user_id, address, before = signing.loads(token, salt=SALT, max_age=LINK_LIFETIME_S)
    except (signing.BadSignature, ValueError):
        raise NotificationError("This link isn’t valid, or is older than a day.") from None
    if user_id != user.pk:
        raise NotificationError("This link belongs to another account. Sign in with that one.")
    if before != email_address_of(user):
        raise NotificationError("Your address was changed since this link was sent.")
    if is_email_taken(address, user):
        raise NotificationError(TAKEN)
    return str(address)


def confirm_link(user: User, token: str) -> str:
    """Make the address of a link the user's e-mail address and return it. Raises as `read_link`."""
    address = read_link(user, token)
    try:
        with transaction.atomic():
            set_address(user, "" if address == user.email.lower() else address)
    except IntegrityError:
        # Another account confirmed the address at the same moment.
        raise NotificationError(TAKEN) from None
    return address


@transaction.atomic
def set_address(user: User, address: str) -> None:
    """Make an address the user's e-mail address; an empty one is the account's own."""
    save_preferences(user, email=address)
    feed.add(FeedEntry(kind=FeedKind.TARGET, user_id=user.pk))
