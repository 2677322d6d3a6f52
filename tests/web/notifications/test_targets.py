"""Webhooks of users and teams."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.notifications.models import WebhookFormat, WebhookTarget
from dashboard.notifications.sending import deliver_pending
from dashboard.notifications.targets import add_target, reveal_secret
from tests.support.clock import stopped
from tests.support.hook_receiver import HookReceiver
from tests.support.html import response_text, text
from tests.support.second_factors import confirm
from tests.support.seeding import seed_target
from tests.web.releases.conftest import hidden

pytestmark = pytest.mark.django_db
SETTINGS = "/accounts/settings/notifications/"
NEW = f"{SETTINGS}webhooks/new/"
FORM = {"name": "My channel", "url": "https://hooks.example.com/1", "format": "slack"}


@pytest.fixture
def target(vera: User) -> WebhookTarget:
    """A signed webhook of Vera's."""
    fields = FORM | {"format": WebhookFormat.STANDARD}
    return add_target(vera, is_team=False, **fields)


def url(target: WebhookTarget, step: str = "") -> str:
    return f"{SETTINGS}webhooks/{target.pk}/{step}"


def test_without_webhooks_the_settings_say_what_follows(as_viewer: Client) -> None:
    assert "No webhooks, so the column “Webhook” has no effect yet." in response_text(
        as_viewer.get(SETTINGS)
    )


def test_one_is_added_and_listed(as_viewer: Client) -> None:
    assert "My channel added." in response_text(as_viewer.post(NEW, FORM, follow=True))
    assert "My channel Slack On" in response_text(as_viewer.get(SETTINGS))


def test_a_repeated_form_leads_to_its_webhook(as_viewer: Client) -> None:
    form = FORM | {"form_key": hidden(as_viewer.get(NEW).text, "form_key")}
    first, second = (as_viewer.post(NEW, form).url for _ in range(2))
    assert first == second
    other = as_viewer.post(NEW, form | {"name": "Another channel"}).url
    assert other != first
    assert WebhookTarget.objects.count() == 2


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": ""}, "Name: Enter a name."),
        ({"url": "ftp://hooks.example.com"}, "URL: "),
        ({"url": "https://127.0.0.1/"}, "URL: "),
        ({"url": "https://xn--/"}, "URL: The host of the URL isn’t a valid name."),
        ({"format": "fax"}, "Format: "),
        ({"format": "standard", "secret": "short"}, "Signing secret: A secret is whsec_"),
    ],
)
def test_invalid_input_is_explained_and_kept(
    as_viewer: Client, changes: dict[str, str], problem: str
) -> None:
    response = as_viewer.post(NEW, FORM | changes)
    assert response.status_code == 422
    assert problem in response_text(response)
    for value in ({"name": FORM["name"], "url": FORM["url"]} | changes).values():
        assert value in response.text
    assert not WebhookTarget.objects.exists()


def test_one_is_renamed_and_turned_off(as_viewer: Client, target: WebhookTarget) -> None:
    as_viewer.post(url(target), {"name": "Quiet", "url": FORM["url"]})
    target.refresh_from_db()
    assert (target.name, target.is_active) == ("Quiet", False)


def test_a_wrong_change_keeps_what_was_typed(as_viewer: Client, target: WebhookTarget) -> None:
    response = as_viewer.post(url(target), {"name": "Quiet", "url": "mailto:x"})
    assert response.status_code == 422
    assert 'value="Quiet"' in response.text
    target.refresh_from_db()
    assert target.name == "My channel"


def test_a_disabled_receiver_says_why(as_viewer: Client, target: WebhookTarget) -> None:
    WebhookTarget.objects.update(is_active=False, off_reason="The receiver responded 410.")
    assert "Pressroom turned it off. The receiver responded 410." in response_text(
        as_viewer.get(url(target))
    )


def test_one_is_deleted_after_a_confirmation(as_viewer: Client, target: WebhookTarget) -> None:
    assert "Delete My channel?" in response_text(as_viewer.get(url(target, "delete/")))
    assert WebhookTarget.objects.exists()
    as_viewer.post(url(target, "delete/"))
    assert not WebhookTarget.objects.exists()


@pytest.mark.parametrize(("status", "tone"), [(204, "ok"), (404, "bad")])
def test_a_test_shows_what_the_receiver_responded(
    as_viewer: Client, target: WebhookTarget, receiver: HookReceiver, status: int, tone: str
) -> None:
    sentence = f"The receiver responded {status}."
    WebhookTarget.objects.update(url=receiver.url)
    receiver.responses = [(status, {})]
    page = as_viewer.post(url(target, "test/"), follow=True)
    assert "Sending a test, queued" in response_text(page)
    assert "No worker is running, so it waits for one." in response_text(page)
    assert not receiver.received
    second = as_viewer.post(url(target, "test/"), follow=True)
    assert "Not sent: your last test has no result yet." in response_text(second)
    poll = {"HX-Request": "true", "HX-Target": "test-poll"}
    assert "data-moving" in as_viewer.get(url(target), headers=poll).text
    deliver_pending("worker-1")
    result = as_viewer.get(url(target), headers=poll).text
    assert f'data-tone="{tone}"' in result
    assert sentence in text(result)
    assert "data-moving" not in result
    assert sentence in response_text(as_viewer.get(url(target)))
    assert len(receiver.received) == 1


def test_tests_are_limited(
    as_viewer: Client, target: WebhookTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch)  # Requests are counted per minute.
    last = [as_viewer.post(url(target, "test/"), follow=True) for _ in range(21)][-1]
    assert "too many tests" in response_text(last)


def test_the_secret_is_shown_after_the_password_only(
    as_viewer: Client, vera: User, target: WebhookTarget
) -> None:
    secret = reveal_secret(target)
    assert secret not in as_viewer.get(url(target)).text
    assert as_viewer.get(url(target, "secret/"))["Location"].startswith("/accounts/again/")
    confirm(as_viewer, vera)
    response = as_viewer.get(url(target, "secret/"))
    assert secret in response.text
    assert "no-store" in response["Cache-Control"]


def test_a_webhook_for_slack_has_no_secret(as_administrator: Client) -> None:
    target = seed_target()
    assert "Show secret" not in response_text(as_administrator.get(url(target)))
    assert as_administrator.get(url(target, "secret/")).status_code == 404


@pytest.mark.parametrize("step", ["", "delete/", "secret/", "test/"])
def test_a_personal_webhook_is_hidden_from_others(
    as_administrator: Client, target: WebhookTarget, step: str
) -> None:
    address = url(target, step)
    ask = as_administrator.post if step == "test/" else as_administrator.get
    assert ask(address).status_code == 404


def test_administrators_add_one_of_a_team_with_its_events(as_administrator: Client) -> None:
    fields = FORM | {"kinds": ["release_held", "publish_failed"]}
    as_administrator.post(f"{NEW}?team=1", fields)
    target = WebhookTarget.objects.get()
    assert (target.user_id, target.kinds) == (None, ["publish_failed", "release_held"])
    assert "Team webhook" in response_text(as_administrator.get(url(target)))


def test_the_events_of_a_team_can_be_changed(as_administrator: Client) -> None:
    target = seed_target(kinds=["publish_failed"])
    fields = {"name": "News", "url": target.url, "is_active": "on", "kinds": ["release_held"]}
    as_administrator.post(url(target), fields)
    target.refresh_from_db()
    assert target.kinds == ["release_held"]


def test_those_of_teams_are_for_administrators(as_publisher: Client) -> None:
    target = seed_target()
    assert "Team webhooks" not in response_text(as_publisher.get(SETTINGS))
    assert as_publisher.get(url(target)).status_code == 403
    assert as_publisher.post(f"{NEW}?team=1", FORM).status_code == 403
