"""A user's e-mail address, and what it means for the approval rule."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.utils import timezone

from dashboard.accounts.preferences import email_address_of
from dashboard.approvals.rule import is_same_person
from dashboard.notifications.models import Delivery
from dashboard.notifications.sending import deliver_pending
from tests.conftest import logged_in
from tests.support.clock import stopped
from tests.support.html import response_text

pytestmark = pytest.mark.django_db
CHANGE = "/accounts/settings/notifications/email/"
SETTINGS = "/accounts/settings/notifications/"


@pytest.fixture(autouse=True)
def _email_on(settings: Any) -> None:
    settings.EMAIL_IS_ON = True
    settings.PUBLIC_URL = "https://desk.example"


@pytest.fixture
def vera(vera: User) -> User:
    vera.email = "vera@kestrel.example"
    vera.save()
    return vera


def say(response: Any) -> str:
    return response_text(response)


def link_for(client: Client, address: str) -> str:
    """Request a link to an address; return the path in the e-mail."""
    assert client.post(CHANGE, {"email": address}).url == SETTINGS
    deliver_pending("worker-1")
    message = mail.outbox[-1]
    assert message.to == [address.lower()]
    match = re.search(r"https://desk\.example(/\S+)", message.body)
    assert match
    return match[1]


def current(user: User) -> str:
    return email_address_of(User.objects.get(pk=user.pk))


def test_an_address_counts_once_its_link_was_opened(
    as_viewer: Client, vera: User, caplog: pytest.LogCaptureFixture
) -> None:
    link = link_for(as_viewer, "Vera@new.example")
    assert current(vera) == "vera@kestrel.example"
    assert "Send e-mail to vera@new.example?" in say(as_viewer.get(link))
    assert current(vera) == "vera@kestrel.example"
    assert as_viewer.post(link).url == SETTINGS
    assert "Sent to vera@new.example" in say(as_viewer.get(SETTINGS))
    # A link works once, because it would undo a later change.
    assert as_viewer.post(CHANGE + "reset/").url == SETTINGS
    assert current(vera) == "vera@kestrel.example"
    assert "email/confirm/" in caplog.text
    assert link.split("/")[-2] not in caplog.text


def test_a_link_is_for_one_account_and_one_change(
    as_viewer: Client, vera: User, paula: User
) -> None:
    first, second = link_for(as_viewer, "a@new.example"), link_for(as_viewer, "b@new.example")
    assert "belongs to another account" in say(logged_in(paula).post(first))
    assert "isn’t valid" in say(as_viewer.get(first[:-3] + "xy/"))
    as_viewer.post(second)
    assert "was changed since" in say(as_viewer.post(first))
    assert (current(vera), current(paula)) == ("b@new.example", "")


def test_no_two_accounts_have_one_address(as_viewer: Client, vera: User, paula: User) -> None:
    link = link_for(as_viewer, "shared@new.example")
    paula.email = "Shared@new.example"
    paula.save()
    for response in (
        as_viewer.post(link),
        as_viewer.post(CHANGE, {"email": "shared@NEW.example"}),
        logged_in(paula).post(CHANGE, {"email": "vera@kestrel.example"}),
    ):
        assert response.status_code == 422
        assert "Another account has this address." in say(response)
    assert current(vera) == "vera@kestrel.example"


def test_a_new_address_keeps_the_same_person(as_viewer: Client, vera: User, paula: User) -> None:
    """Two accounts of one person stay that, as the account's own address still counts."""
    paula.email = "vera@kestrel.example"
    paula.save()
    as_viewer.post(link_for(as_viewer, "vera@new.example"))
    assert current(vera) == "vera@new.example"
    assert is_same_person(User.objects.get(pk=vera.pk), paula)


@pytest.mark.parametrize("address", ["", "nonsense", "vera@kestrel.example", "a@b.c\nBcc: d@e.f"])
def test_no_link_is_sent_to_a_wrong_address(as_viewer: Client, vera: User, address: str) -> None:
    assert as_viewer.post(CHANGE, {"email": address}).status_code == 422
    assert mail.outbox == []


def test_links_are_not_sent_in_masses(
    as_viewer: Client, vera: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch)  # Requests are counted per minute.
    responses = [as_viewer.post(CHANGE, {"email": f"{n}@new.example"}) for n in range(3)]
    assert "Too many links. Try again in" in say(responses[-1])
    deliver_pending("worker-1")
    assert len(mail.outbox) == 2


def test_the_request_does_not_wait_for_the_mail_server(as_viewer: Client, vera: User) -> None:
    as_viewer.post(CHANGE, {"email": "vera@new.example"})
    assert mail.outbox == []
    assert "A link to vera@new.example is being sent." in say(as_viewer.get(CHANGE))
    deliver_pending("worker-1")
    assert "A link was sent to vera@new.example" in say(as_viewer.get(CHANGE))


def test_a_link_that_fails_is_sent_again(as_viewer: Client, vera: User, settings: Any) -> None:
    backend = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "dashboard.notifications.email.SMTPBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    as_viewer.post(CHANGE, {"email": "vera@new.example"})
    deliver_pending("worker-1")
    assert "is being sent. The mail server can’t be reached." in say(as_viewer.get(CHANGE))
    settings.EMAIL_BACKEND = backend
    Delivery.objects.update(wake_at=timezone.now())
    deliver_pending("worker-1")
    assert mail.outbox[0].to == ["vera@new.example"]
