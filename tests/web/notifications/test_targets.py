"""Webhooks of users and teams."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.notifications.models import WebhookFormat, WebhookTarget
from dashboard.notifications.sending import deliver_pending
from dashboard.notifications.targets import add_target, reveal_secret
from tests.support.clock import stopped
from tests.support.hook_receiver import HookReceiver
from tests.support.notification_settings import NotificationSettings
from tests.support.second_factors import confirm
from tests.support.seeding import seed_target
from tests.support.target_page import ENTERED, TargetPage

pytestmark = pytest.mark.django_db


@pytest.fixture
def target(vera: User) -> WebhookTarget:
    """A signed webhook of Vera's."""
    return add_target(vera, is_team=False, **ENTERED | {"format": WebhookFormat.STANDARD})


@pytest.fixture
def page(as_viewer: Client, target: WebhookTarget) -> TargetPage:
    """Its page in her browser."""
    return TargetPage(as_viewer, target)


@pytest.fixture
def form(as_viewer: Client) -> TargetPage:
    """The form that adds a webhook, in her browser."""
    return TargetPage(as_viewer)


def settings_text(client: Client) -> str:
    return NotificationSettings(client).open().text


def test_without_webhooks_the_settings_say_what_follows(as_viewer: Client) -> None:
    sentence = "No webhooks, so the column “Webhook” has no effect yet."
    assert sentence in settings_text(as_viewer)


def test_a_webhook_is_added_and_listed(form: TargetPage) -> None:
    form.add()
    assert "My channel added." in form.open().text
    assert "My channel Slack On" in settings_text(form.client)


def test_a_repeated_form_leads_to_its_webhook(form: TargetPage) -> None:
    key = form.open_form().value("form_key")
    first, second = (form.add(form_key=key).location for _ in range(2))
    assert first == second
    assert form.add(form_key=key, name="Another channel").location != first
    assert WebhookTarget.objects.count() == 2


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": ""}, "Name: Enter a name."),
        ({"name": "  "}, "Name: Enter a name."),
        ({"name": "x" * 101}, "Name: "),
        ({"url": ""}, "URL: Enter a URL."),
        ({"url": "ftp://hooks.example.com"}, "URL: "),
        ({"url": "http://hooks.example.com/1"}, "URL: "),
        ({"url": "https://127.0.0.1/"}, "URL: "),
        ({"url": "https://10.0.0.1/"}, "URL: "),
        ({"url": "https://xn--/"}, "URL: The host of the URL isn’t a valid name."),
        ({"format": "fax"}, "Format: "),
        ({"format": "standard", "secret": "short"}, "Signing secret: A secret is whsec_"),
        ({"format": "standard", "secret": "whsec_short"}, "Signing secret: A secret is whsec_"),
        (
            {"format": "standard", "secret": f"whsec_{'ö' * 40}"},
            "Signing secret: A secret is whsec_",
        ),
    ],
)
def test_invalid_input_is_explained_and_kept(
    form: TargetPage, changes: dict[str, str], problem: str
) -> None:
    assert form.add(**changes).status == 422
    assert problem in form.text
    for value in ({"name": ENTERED["name"], "url": ENTERED["url"]} | changes).values():
        assert value in form.html
    assert not WebhookTarget.objects.exists()


def test_a_webhook_is_renamed_and_turned_off(page: TargetPage) -> None:
    page.change(name="Quiet", url=ENTERED["url"])
    assert (page.target.name, page.target.is_active) == ("Quiet", False)


def test_a_wrong_change_keeps_what_was_typed(page: TargetPage) -> None:
    assert page.change(name="Quiet", url="mailto:x").status == 422
    assert page.value("name") == "Quiet"
    assert page.target.name == "My channel"


def test_a_disabled_receiver_says_why(page: TargetPage) -> None:
    WebhookTarget.objects.update(is_active=False, off_reason="The receiver responded 410.")
    assert "Pressroom turned it off. The receiver responded 410." in page.open().text


def test_a_webhook_is_deleted_after_a_confirmation(page: TargetPage) -> None:
    assert "Delete My channel?" in page.open("delete").text
    assert WebhookTarget.objects.exists()
    page.delete()
    assert not WebhookTarget.objects.exists()


@pytest.mark.parametrize(("status", "tone"), [(204, "ok"), (404, "bad")])
def test_a_test_shows_what_the_receiver_responded(
    page: TargetPage, receiver: HookReceiver, status: int, tone: str
) -> None:
    sentence = f"The receiver responded {status}."
    WebhookTarget.objects.update(url=receiver.url)
    receiver.responses = [(status, {})]
    assert "Sending a test, queued" in page.send_test()
    assert "No worker is running, so it waits for one." in page.text
    assert not receiver.received
    assert "Not sent: your last test has no result yet." in page.send_test()
    assert "data-moving" in page.poll().html
    deliver_pending("worker-1")
    assert sentence in page.poll().text
    assert f'data-tone="{tone}"' in page.html
    assert "data-moving" not in page.html
    assert sentence in page.open().text
    assert len(receiver.received) == 1


def test_tests_are_limited(page: TargetPage, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped(monkeypatch)  # Requests are counted per minute.
    assert "too many tests" in [page.send_test() for _ in range(21)][-1]


def test_the_secret_is_shown_after_the_password_only(page: TargetPage, vera: User) -> None:
    secret = reveal_secret(page.target)
    assert secret not in page.open().html
    assert page.open("secret").location.startswith("/accounts/again/")
    confirm(page.client, vera)
    assert secret in page.open("secret").html
    assert "no-store" in page.headers["Cache-Control"]


def test_a_webhook_for_slack_has_no_secret(as_administrator: Client) -> None:
    page = TargetPage(as_administrator, seed_target())
    assert "Show secret" not in page.open().text
    assert page.open("secret").status == 404


def test_a_personal_webhook_is_hidden_from_others(
    as_administrator: Client, target: WebhookTarget
) -> None:
    page = TargetPage(as_administrator, target)
    for step in ("", "delete", "secret"):
        assert page.open(step).status == 404
    page.send_test()
    assert page.status == 404


def test_administrators_add_a_team_webhook_with_its_events(as_administrator: Client) -> None:
    page = TargetPage(as_administrator).add(is_team=True, kinds=["release_held", "publish_failed"])
    assert (page.target.user_id, page.target.kinds) == (None, ["publish_failed", "release_held"])
    assert "Team webhook" in page.open().text


def test_an_unknown_event_of_a_team_webhook_is_refused(as_administrator: Client) -> None:
    page = TargetPage(as_administrator).add(is_team=True, kinds=["unheard_of"])
    assert page.status == 422
    assert not WebhookTarget.objects.exists()


def test_the_events_of_a_team_can_be_changed(as_administrator: Client) -> None:
    page = TargetPage(as_administrator, seed_target(kinds=["publish_failed"]))
    page.change(name="News", url=page.target.url, is_active="on", kinds=["release_held"])
    assert page.target.kinds == ["release_held"]


def test_team_webhooks_are_for_administrators_only(as_publisher: Client) -> None:
    page = TargetPage(as_publisher, seed_target())
    assert "Team webhooks" not in settings_text(as_publisher)
    assert page.open().status == 403
    assert page.add(is_team=True).status == 403
