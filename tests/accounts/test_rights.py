"""Access by role: every URL requires a login except those listed here."""

from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.core.cache import cache
from django.db import transaction
from django.templatetags.static import static
from django.test import Client
from django.urls import reverse

from dashboard.ledger.models import Operation
from dashboard.ledger.models.operations import OperationKind, Outcome
from tests.conftest import logged_in, person
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.matrix import sampled
from tests.support.named_urls import URLS, address
from tests.support.second_factors import with_a_second_factor
from tests.support.seeding import (
    seed_approval,
    seed_audiences,
    seed_delivery,
    seed_pages,
    seed_release,
    seed_subscription,
    seed_thread,
    seed_view,
)

OPEN = {"login", "account_login", "health-live", "health-ready", "favicon"}
"""URLs that need no login: signing in, probes, and what a browser requests first."""
BY_SECRET = {"hook", "hook-without-slash", "metrics"}
"""URLs for machines, which have no login. Without the secret in the URL or the header, the
response is 404."""
UNDER_WAY = {"mfa_authenticate"}
"""Pages of a login in progress; others are redirected to its start."""
WITH_A_PROVIDER = {"single-sign-on", "single-sign-on-callback"}
"""URLs that are 404 unless the environment names a provider."""


def test_a_stranger_is_sent_to_the_log_in(client: Client) -> None:
    answers = {
        (pattern.name, method): getattr(client, method)(address(pattern))
        for pattern in URLS
        for method in ("get", "post")
        if pattern.name not in OPEN | BY_SECRET | UNDER_WAY | WITH_A_PROVIDER
    }
    assert {
        name: (answer.status_code, answer.get("Location"))
        for name, answer in answers.items()
        if answer.status_code != 302 or not answer.url.startswith("/accounts/login/?next=/")
    } == {}


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted(OPEN))
def test_a_stranger_may_sign_in_and_ask_for_health(client: Client, name: str) -> None:
    response = client.get(reverse(name))
    assert response.status_code == 200 or response["Location"] == static("mark.svg")


@pytest.mark.django_db
def test_a_wrong_secret_finds_nothing(client: Client) -> None:
    statuses = {
        (pattern.name, method): getattr(client, method)(address(pattern)).status_code
        for pattern in URLS
        for method in ("get", "post")
        if pattern.name in BY_SECRET | WITH_A_PROVIDER
    }
    assert {name: status for name, status in statuses.items() if status not in (404, 405)} == {}


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_stranger_enters_no_log_in_half_way(client: Client, method: str) -> None:
    answer = getattr(client, method)(reverse("mfa_authenticate"))
    assert (answer.status_code, answer.url) == (302, "/accounts/login/")


EVERYONE = {"viewer", "publisher", "administrator"}
PUBLISHER, ADMINISTRATOR = {"publisher"}, {"administrator"}
TEAM = PUBLISHER | ADMINISTRATOR
"""Roles that manage the team's views."""
LOOKING = {
    *(
        "overview",
        "find",
        "live",
        "page-list",
        "audience-list",
        "audience-export",
        "page-detail",
        "audience-detail",
        "version-list",
    ),
    *("version-compare", "conversation", "conversation-newer", "conversation-export"),
    *("tool-call", "tool-result", "people-list", "people-export", "page-export"),
    *("operation-list", "operation-export", "operation-detail"),
    *("outside-list", "outside-export"),
    *("release-list", "release-detail", "release-export", "release-operations"),
    *("approval-list", "approval-detail"),
    "notification-list",
    "saved-view-list",
    *("audience-comments", "discussion", "thread-detail", "comment-people", "comment-export"),
    *("review-item", "review-summary", "review-export"),
}
"""Pages that everyone may read and that accept no form."""
OWN = {"login", "logout", "password", "settings", "theme", "utc", "keys", "pin"}
OWN |= {"account_login", "mfa_index", "account_reauthenticate", "mfa_reauthenticate"}
OWN |= {"mfa_reauthenticate_webauthn", "mfa_activate_totp", "mfa_deactivate_totp"}
OWN |= {"mfa_add_webauthn", "mfa_remove_webauthn"}
OWN |= {"mfa_view_recovery_codes", "mfa_generate_recovery_codes"}
OWN |= {"organisation-connect", "organisation-disconnect"}
OWN |= {"notification-settings", "notification-read", "notifications-read"}
OWN |= {"follow", "target-add", "email-change", "email-confirm", "email-reset"}
OWN |= {"token-list", "token-new", "token-revoke", "connect"}
OWN |= {"service-check", "page-opened", "overview-visited"}
"""URLs of a user's own account, appearance and notifications."""
RELEASE_DECISIONS = {
    *("release-item", "release-check", "release-publish", "release-continue", "release-stop"),
    *("release-cancel", "release-retry", "release-request-approval"),
    *("release-discard", "release-unschedule", "release-schedule-request"),
    *("approval-approve", "approval-decline", "approval-withdraw", "approval-send"),
    *("approval-ask", "approval-publish"),
}
REVIEW_DECISIONS = {
    *("review-release", "review-needs-work", "review-reject", "review-later", "review-skip"),
    *("review-take-over", "review-undo", "change-verdict"),
}
NOTIFYING_TEAMS = {"target-detail", "target-delete"}
DECISIONS: dict[str, tuple[set[str], set[str]]] = {
    **dict.fromkeys(LOOKING | OWN | OPEN | BY_SECRET, (EVERYONE, EVERYONE)),
    **dict.fromkeys(UNDER_WAY | WITH_A_PROVIDER, (EVERYONE, EVERYONE)),
    "sign-in-policy": (ADMINISTRATOR, ADMINISTRATOR),
    "site-pattern": (ADMINISTRATOR, ADMINISTRATOR),
    "second-factor-reset": (ADMINISTRATOR, ADMINISTRATOR),
    "service-watch": (ADMINISTRATOR, ADMINISTRATOR),
    "policy-report": (EVERYONE, EVERYONE),
    "page-create": (PUBLISHER, PUBLISHER),
    **dict.fromkeys(
        ("page-check", "page-rows", "page-field", "page-discard"), (PUBLISHER, PUBLISHER)
    ),
    "page-draft": (EVERYONE, EVERYONE),
    # What a user may view and report depends on the place.
    "here": (EVERYONE, EVERYONE),
    "audience-load": (EVERYONE, EVERYONE),
    "version-publish": (PUBLISHER, PUBLISHER),
    "version-rollback": (PUBLISHER, PUBLISHER),
    "schedule-moment": (PUBLISHER, PUBLISHER),
    **dict.fromkeys(("publish-progress", "rollback-progress"), (EVERYONE, EVERYONE)),
    "version-scheduled": (EVERYONE, EVERYONE),
    # A GET redirects to the form.
    **dict.fromkeys(
        ("version-schedule", "version-request", "rollback-request"), (EVERYONE, PUBLISHER)
    ),
    "subscription-list": (EVERYONE, EVERYONE),
    "subscription-add": (ADMINISTRATOR, ADMINISTRATOR),
    "subscription-detail": (EVERYONE, ADMINISTRATOR),
    "subscription-active": (EVERYONE, ADMINISTRATOR),
    "subscription-forget": (ADMINISTRATOR, ADMINISTRATOR),
    # Only administrators see the secret URL and the content of deliveries.
    "receiver": (EVERYONE, ADMINISTRATOR),
    "delivery-detail": (EVERYONE, EVERYONE),
    # Only publishers create releases and decide on them.
    **dict.fromkeys(
        ("release-new", "release-edit", "release-schedule", "release-roll-back"),
        (PUBLISHER, PUBLISHER),
    ),
    **dict.fromkeys(RELEASE_DECISIONS, (EVERYONE, PUBLISHER)),
    # Everyone may step through a list; only publishers decide.
    **dict.fromkeys(("review-list", "review-next", "review-narrow"), (EVERYONE, EVERYONE)),
    **dict.fromkeys(REVIEW_DECISIONS, (EVERYONE, PUBLISHER)),
    # Everyone may load the pictures of a preview.
    **dict.fromkeys(("page-preview", "audience-preview"), (EVERYONE, EVERYONE)),
    "approval-rule": (EVERYONE, ADMINISTRATOR),
    # Team webhooks and the delivery log. A user's own webhooks are visible to that user only.
    **dict.fromkeys(NOTIFYING_TEAMS, (ADMINISTRATOR, ADMINISTRATOR)),
    # A method that they don't have is a 405 before permissions are checked.
    "delivery-send": (EVERYONE, ADMINISTRATOR),
    "delivery-log": (ADMINISTRATOR, EVERYONE),
    "delivery-entry": (ADMINISTRATOR, EVERYONE),
    "target-secret": (ADMINISTRATOR, EVERYONE),
    "target-test": (EVERYONE, ADMINISTRATOR),
    # The view in this table belongs to the team; everyone may save their own views.
    **dict.fromkeys(("saved-view-new", "saved-view-default"), (EVERYONE, EVERYONE)),
    **dict.fromkeys(("saved-view-edit", "saved-view-delete"), (TEAM, TEAM)),
    **dict.fromkeys(("saved-view-save", "saved-view-move"), (EVERYONE, TEAM)),
    # Everyone may comment; only administrators remove what others wrote.
    **dict.fromkeys(("thread-new", "thread-reply", "comment-edit"), (EVERYONE, EVERYONE)),
    **dict.fromkeys(("thread-resolve", "thread-reopen"), (EVERYONE, EVERYONE)),
    "assign-audiences": (PUBLISHER, PUBLISHER),
    "comment-delete": (ADMINISTRATOR, ADMINISTRATOR),
    "token-owner": (EVERYONE, ADMINISTRATOR),
    "operation-check": (EVERYONE, PUBLISHER),
    "operation-send-again": (EVERYONE, PUBLISHER),
}
"""The roles that may view a URL and submit its form: all others get a 403.

The operation in this table is a publish. A method that a URL doesn't have is a 405 for everyone.
"""
GROUPS = {"viewer": "Viewers", "publisher": "Publishers", "administrator": "Administrators"}


def test_every_address_has_a_decision() -> None:
    assert {pattern.name for pattern in URLS} == set(DECISIONS)


@pytest.fixture
def something(db: None, fake_service: Any) -> None:
    """A page, an audience, a version, a subscription and an operation, each called some/id.

    These have the id 1: the release, its item, another approval request, a team's webhook, a
    delivery to it, a team view, and a comment whose author's account was deleted.
    """
    seed_approval()
    seed_release()
    seed_delivery()
    seed_view(None)
    seed_thread()
    fake_service.answers(404)
    seed_pages(wire.page(pageId="some/id"))
    latest = wire.version(versionId="some/id", audienceId="some/id")
    seed_audiences(
        wire.audience(audienceId="some/id", pageId="some/id", latestVersion=latest),
        page_id="some/id",
    )
    seed_subscription(subscriptionId="some/id")
    ids = dict.fromkeys(("operation_key", "page_id", "audience_id", "version_id"), "some/id")
    Operation.objects.create(
        **ids,
        kind=OperationKind.PUBLISH_VERSION,
        outcome=Outcome.UNKNOWN,
        requested_at="2026-03-01T09:00:00Z",
        actor_name="paula",
    )


@pytest.mark.same_on_any_database
@pytest.mark.parametrize("role", GROUPS)
@pytest.mark.parametrize("method", ["get", "post"])
def test_each_role_may_do_what_was_decided(
    something: None,
    method: str,
    role: str,
    pytestconfig: pytest.Config,
    record_property: Callable[[str, object], None],
) -> None:
    who = {name: roles[method == "post"] for name, roles in DECISIONS.items()}
    # URLs that are open to every role are tried by one role, or by all with --exhaustive.
    of_all = [name for name, roles in who.items() if roles == EVERYONE]
    turn = list(GROUPS).index(role)
    tried = {
        *(name for name, roles in who.items() if roles != EVERYONE),
        *sampled(of_all, pytestconfig, turn=turn, of=len(GROUPS)),
    }
    record_property("Rights matrix", len(tried))
    browser = logged_in(person(role, GROUPS[role]))
    statuses = {p.name: status(browser, method, address(p)) for p in URLS if p.name in tried}
    refused = {name for name, status in statuses.items() if status == 403}
    assert refused == {name for name in tried if role not in who[name]}
    assert {name: status for name, status in statuses.items() if status >= 500} == {}


def status(client: Client, method: str, path: str) -> int:
    """Return the status of a request whose effects are undone."""
    return int(request(client, method, path).status_code)


def request(client: Client, method: str, path: str) -> Any:
    """Send a request and undo its effects: some end the session."""
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    with transaction.atomic():
        answer = getattr(client, method)(path)
        transaction.set_rollback(True)
    if method == "post" and answer.status_code != 403:
        # After an error nothing has changed, so the sidebar counts stay cached.
        cache.clear()
    client.cookies.clear()
    client.cookies[settings.SESSION_COOKIE_NAME] = session
    return answer


@pytest.mark.parametrize("role", GROUPS)
def test_the_admin_refuses_each_role_without_a_staff_account(db: None, role: str) -> None:
    client = logged_in(person(role, GROUPS[role]))
    for name in ("index", "auth_user_changelist", "auth_user_add", "embedded_api_apikey_add"):
        assert client.get(reverse(f"admin:{name}"), follow=True).status_code == 403


@pytest.mark.parametrize("name", ["auth_user_changelist", "auth_group_changelist"])
def test_staff_without_the_group_find_nothing_in_the_admin(db: None, name: str) -> None:
    user = User.objects.create_user("staff", is_staff=True)
    assert logged_in(user).get(reverse(f"admin:{name}")).status_code == 403


GUARDED = {
    (pattern.name, method): pattern
    for pattern in URLS
    for method, who in zip(("get", "post"), DECISIONS[pattern.name], strict=True)
    if who != EVERYONE
}
"""Every URL and method that isn't open to everyone."""
NEEDED = "Publishers and administrators must sign in with a second factor."


@pytest.mark.same_on_any_database
@pytest.mark.usefixtures("something", "rule")
@pytest.mark.parametrize("is_superuser", [False, True])
def test_no_change_is_possible_without_a_second_factor(
    mighty: User, fake_service: FakeService, is_superuser: bool
) -> None:
    mighty.is_superuser = mighty.is_staff = is_superuser
    mighty.save()
    browser = logged_in(mighty)
    wrong: dict[tuple[str, str], list[str]] = {}
    for (name, method), pattern in GUARDED.items():
        answer = request(browser, method, address(pattern))
        wrong[name, method] = reasons_against(answer)
        wrong[name, method] += [f"sent {r.method}" for r in fake_service.sent if r.method != "GET"]
        fake_service.sent.clear()
    assert {named: reasons for named, reasons in wrong.items() if reasons} == {}


def reasons_against(answer: Any) -> list[str]:
    """Return what is wrong with a response that refuses a user without a second factor."""
    if answer.status_code == 405:
        return []  # Nothing can happen where the method doesn't exist.
    html = answer.text
    hrefs = [link.attributes.get("href") for link in elements(html, "a")]
    return [
        *([f"status {answer.status_code}"] if answer.status_code != 403 else []),
        *([f"not on the page: {NEEDED}"] if NEEDED not in text(html) else []),
        *(["no link to the settings"] if "/accounts/settings/#sign-in" not in hrefs else []),
    ]


@pytest.mark.same_on_any_database
@pytest.mark.usefixtures("something", "rule")
def test_a_second_factor_opens_every_guarded_url(mighty: User) -> None:
    browser = with_a_second_factor(mighty)
    statuses = {
        named: status(browser, named[1], address(pattern)) for named, pattern in GUARDED.items()
    }
    assert {
        name: status for name, status in statuses.items() if status == 403 or status >= 500
    } == {}


def test_a_revoked_right_is_gone_at_the_next_request(paula: User) -> None:
    browser = logged_in(paula)
    assert browser.get("/pages/new/").status_code == 200
    paula.groups.clear()
    assert browser.get("/pages/new/").status_code == 403


def test_a_user_permission_counts_like_a_group_s(vera: User) -> None:
    browser = logged_in(vera)
    assert browser.get("/pages/new/").status_code == 403
    vera.user_permissions.set(Permission.objects.filter(codename="create_page"))
    assert browser.get("/pages/new/").status_code == 200
