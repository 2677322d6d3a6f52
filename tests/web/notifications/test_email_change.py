"""A user's e-mail address, and what it means for the approval rule."""

import re
from functools import partial
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
from tests.support.interleaving import before_transaction, held_at
from tests.support.notification_settings import ADDRESS, SETTINGS, NotificationSettings

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _email_on(settings: Any) -> None:
    settings.EMAIL_IS_ON = True
    settings.PUBLIC_URL = "https://desk.example"


@pytest.fixture
def vera(vera: User) -> User:
    vera.email = "vera@kestrel.example"
    vera.save()
    return vera


@pytest.fixture
def page(as_viewer: Client, vera: User) -> NotificationSettings:
    """Vera's settings in her browser."""
    return NotificationSettings(as_viewer)


def link_for(page: NotificationSettings, address: str) -> str:
    """Request a link to an address; return the path in the e-mail."""
    assert page.change_address(address).location == SETTINGS
    deliver_pending("worker-1")
    message = mail.outbox[-1]
    assert message.to == [address.lower()]
    match = re.search(r"https://desk\.example(/\S+)", message.body)
    assert match
    return match[1]


def current(user: User) -> str:
    return email_address_of(User.objects.get(pk=user.pk))


def test_an_address_counts_once_its_link_was_opened(
    page: NotificationSettings, vera: User, caplog: pytest.LogCaptureFixture
) -> None:
    link = link_for(page, "Vera@new.example")
    assert current(vera) == "vera@kestrel.example"
    assert "Send e-mail to vera@new.example?" in page.open(link).text
    assert current(vera) == "vera@kestrel.example"
    assert page.confirm(link).location == SETTINGS
    assert "Sent to vera@new.example" in page.open().text
    # A link works once, because it would undo a later change.
    assert page.reset_address().location == SETTINGS
    assert current(vera) == "vera@kestrel.example"
    assert "email/confirm/" in caplog.text
    assert link.split("/")[-2] not in caplog.text


def test_a_link_is_for_one_account_and_one_change(
    page: NotificationSettings, vera: User, paula: User
) -> None:
    first, second = link_for(page, "a@new.example"), link_for(page, "b@new.example")
    paulas = NotificationSettings(logged_in(paula))
    assert "belongs to another account" in paulas.confirm(first).text
    assert "isn’t valid" in page.open(first[:-3] + "xy/").text
    page.confirm(second)
    assert "was changed since" in page.confirm(first).text
    assert (current(vera), current(paula)) == ("b@new.example", "")


def test_no_two_accounts_have_one_address(
    page: NotificationSettings, vera: User, paula: User
) -> None:
    link = link_for(page, "shared@new.example")
    paula.email = "Shared@new.example"
    paula.save()
    paulas = NotificationSettings(logged_in(paula))
    for refuse in (
        lambda: page.confirm(link),
        lambda: page.change_address("shared@NEW.example"),
        lambda: paulas.change_address("vera@kestrel.example"),
    ):
        refused = refuse()
        assert refused.status == 422
        assert "Another account has this address." in refused.text
    assert current(vera) == "vera@kestrel.example"


def test_a_new_address_keeps_the_same_person(
    page: NotificationSettings, vera: User, paula: User
) -> None:
    """Two accounts of one person stay that, as the account's own address still counts."""
    paula.email = "vera@kestrel.example"
    paula.save()
    page.confirm(link_for(page, "vera@new.example"))
    assert current(vera) == "vera@new.example"
    assert is_same_person(User.objects.get(pk=vera.pk), paula)


@pytest.mark.parametrize("address", ["", "nonsense", "vera@kestrel.example", "a@b.c\nBcc: d@e.f"])
def test_no_link_is_sent_to_a_wrong_address(page: NotificationSettings, address: str) -> None:
    assert page.change_address(address).status == 422
    assert mail.outbox == []


def test_links_are_not_sent_in_masses(
    page: NotificationSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch)  # Requests are counted per minute.
    for number in range(3):
        page.change_address(f"{number}@new.example")
    assert "Too many links. Try again in" in page.text
    deliver_pending("worker-1")
    assert len(mail.outbox) == 2


def test_a_form_sent_again_counts_once(
    page: NotificationSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch)
    form = {"email": "vera@new.example", "form_key": page.open(ADDRESS).value("form_key")}
    answers = [page.client.post(ADDRESS, form).status_code for _ in range(3)]
    assert answers == [302, 302, 302]
    assert page.change_address("vera@newer.example").status == 302
    deliver_pending("worker-1")
    assert len(mail.outbox) == 2


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_form_sent_twice_at_once_sends_one_link(page: NotificationSettings) -> None:
    form = {"email": "vera@new.example", "form_key": page.open(ADDRESS).value("form_key")}
    press = partial(page.client.post, ADDRESS, form)
    with held_at(before_transaction(), press) as first:
        assert press().status_code == 302
    assert first.result().status_code == 302
    deliver_pending("worker-1")
    assert len(mail.outbox) == 1


def test_the_request_does_not_wait_for_the_mail_server(page: NotificationSettings) -> None:
    page.change_address("vera@new.example")
    assert mail.outbox == []
    assert "A link to vera@new.example is being sent." in page.open(ADDRESS).text
    deliver_pending("worker-1")
    assert "A link was sent to vera@new.example" in page.open(ADDRESS).text


def test_a_link_that_fails_is_sent_again(page: NotificationSettings, settings: Any) -> None:
    backend = settings.EMAIL_BACKEND
    settings.EMAIL_BACKEND = "dashboard.notifications.email.SMTPBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    page.change_address("vera@new.example")
    deliver_pending("worker-1")
    assert "is being sent. The mail server can’t be reached." in page.open(ADDRESS).text
    settings.EMAIL_BACKEND = backend
    Delivery.objects.update(wake_at=timezone.now())
    deliver_pending("worker-1")
    assert mail.outbox[0].to == ["vera@new.example"]
