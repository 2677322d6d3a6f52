"""Each claim of config/README.md about the protection of sign-in, tested."""

import os
import subprocess
import sys
import time
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from django.urls import reverse

from config.environment import BASE_DIR
from dashboard.accounts.sessions import BEGAN, SEEN, UNKNOWN, client_address, is_expired
from tests.support import wire
from tests.support.failing_database import database_cannot_be_written
from tests.support.named_urls import URLS, address
from tests.support.second_factors import LOGIN, sign_in
from tests.support.seeding import seed_pages

MACHINES = {"hook", "hook-without-slash", "policy-report"}
"""URLs that no form posts to: a machine with a secret does, or the browser itself."""
HOUR = 60 * 60


@pytest.mark.same_on_any_database
def test_a_foreign_post_is_refused(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("root"))
    statuses = {
        pattern.name: client.post(address(pattern), {"operation_key": "x"}).status_code
        for pattern in URLS
        if pattern.name not in MACHINES
    }
    # A form with drafts redirects to its page; nothing is sent.
    assert statuses.pop("page-draft") == 302
    assert {name: status for name, status in statuses.items() if status != 403} == {}


@pytest.mark.same_on_any_database
def test_the_admin_refuses_it_too(db: None) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(User.objects.create_superuser("root"))
    for action in ("auth/user/add/", "embedded_api/apikey/add/", "logout/"):
        assert client.post(f"/admin/{action}").status_code == 403, action


def test_a_foreign_session_is_not_taken_over(client: Client, vera: User) -> None:
    client.get(LOGIN)
    session = client.session
    session["planted"] = True
    session.save()
    before = session.session_key
    client.cookies["pressroom_session"] = before or ""
    sign_in(client, "vera")
    assert client.session.session_key != before
    assert Client(headers={"cookie": f"pressroom_session={before}"}).get("/").status_code == 302


@pytest.mark.parametrize(
    ("age", "idle", "is_persistent", "over"),
    [
        (HOUR / 2, HOUR / 2, False, False),
        (2 * HOUR, HOUR + 1, False, True),
        (2 * HOUR, 2 * HOUR, True, False),
        (12 * HOUR + 1, 0, True, True),
        (12 * HOUR + 1, 0, False, True),
    ],
)
def test_a_session_ends(age: float, idle: float, is_persistent: bool, over: bool) -> None:
    now = 1e9
    assert is_expired(now - age, now - idle, now, is_persistent=is_persistent) is over


@pytest.mark.parametrize(("remember", "aged", "leads_to"), [("", SEEN, 302), ("on", BEGAN, 302)])
def test_an_expired_session_must_sign_in_again(
    client: Client, vera: User, remember: str, aged: str, leads_to: int
) -> None:
    sign_in(client, "vera", **({"remember": remember} if remember else {}))
    assert client.get("/people/").status_code == 200
    session = client.session
    session[aged] = int(time.time()) - 12 * HOUR - 1
    session.save()
    answer = client.get("/people/")
    assert (answer.status_code, answer.url) == (leads_to, f"{LOGIN}?next=/people/")
    assert client.session.session_key != session.session_key


def test_use_keeps_an_idle_session_alive(client: Client, vera: User) -> None:
    sign_in(client, "vera")
    session = client.session
    session[SEEN] = int(time.time()) - HOUR + 100
    session.save()
    client.get("/people/")
    assert client.session[SEEN] >= int(time.time()) - 60


def test_a_full_disk_hides_no_page_from_who_is_signed_in(client: Client, vera: User) -> None:
    sign_in(client, "vera")
    session = client.session
    session[SEEN] = int(time.time()) - HOUR + 100
    session.save()
    with database_cannot_be_written():
        assert "Activity" in client.get("/activity/").text


def test_failed_attempts_from_elsewhere_lock_no_one_out(vera: User, settings: Any) -> None:
    settings.BEHIND_PROXY = True
    attacker, owner = Client(), Client()
    for _ in range(11):
        refused = sign_in(attacker, "vera", "no", headers={"X-Forwarded-For": "203.0.113.9"})
    let_in = sign_in(owner, "vera", headers={"X-Forwarded-For": "198.51.100.7"})
    assert (refused.status_code, let_in.status_code) == (429, 302)


def test_an_attacker_can_t_take_on_another_address(vera: User, settings: Any) -> None:
    settings.BEHIND_PROXY = True
    attacker = Client()
    for number in range(11):
        message = {"X-Forwarded-For": f"198.51.100.{number}, 203.0.113.9"}
        refused = sign_in(attacker, "vera", "no", headers=message)
    assert refused.status_code == 429


def test_without_a_proxy_no_forwarded_header_is_trusted(settings: Any) -> None:
    settings.BEHIND_PROXY = False
    request = RequestFactory().get("/", headers={"X-Forwarded-For": "203.0.113.9"})
    assert client_address(request) == "127.0.0.1"


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("203.0.113.9:4711", "203.0.113.9"),
        ("203.0.113.9:", "203.0.113.9"),
        ("[2001:db8::7]", "2001:db8::7"),
        ("[2001:db8::7]:4711", "2001:db8::7"),
        ("2001:DB8::7", "2001:db8::7"),
        ("fe80::1%eth0", "fe80::1"),
        ("unknown", UNKNOWN),
        ("_hidden", UNKNOWN),
        ("[]", UNKNOWN),
        ("203.0.113.9, ", "127.0.0.1"),
    ],
)
def test_an_address_is_read_however_the_proxy_writes_it(
    vera: User, settings: Any, written: str, address: str
) -> None:
    settings.BEHIND_PROXY = True
    client, headers = Client(), {"X-Forwarded-For": written}
    assert sign_in(client, "vera", "no", headers=headers).status_code == 200
    assert AccessAttempt.objects.get().ip_address == address
    assert sign_in(client, "vera", headers=headers).status_code == 302


def test_clients_whose_address_is_unknown_share_one_limit(vera: User, settings: Any) -> None:
    settings.BEHIND_PROXY = True
    for number in range(11):
        headers = {"X-Forwarded-For": f"unknown-{number}"}
        refused = sign_in(Client(), "vera", "no", headers=headers)
    assert refused.status_code == 429


@pytest.mark.parametrize("bad", ["short 7", "123456789012", "password1234", "vera-vera-vera"])
def test_a_password_is_long_and_no_common_one(as_viewer: Client, bad: str) -> None:
    User.objects.filter(username="vera").update(first_name="vera-vera-vera")
    form = {"old_password": "vera", "new_password1": bad, "new_password2": bad}
    assert "Not changed: " in as_viewer.post("/accounts/password/", form).text


@pytest.mark.parametrize(
    "to",
    ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", "///x"],
)
def test_no_log_in_leads_to_another_site(client: Client, vera: User, to: str) -> None:
    assert sign_in(client, "vera", next=to).url == "/"


@pytest.mark.parametrize("to", ["//evil.example", "https://evil.example", "/\\evil.example"])
def test_no_choice_leads_to_another_site(as_viewer: Client, to: str) -> None:
    answer = as_viewer.post(reverse("theme"), {"theme": "dark", "next": to})
    assert "evil" not in answer.url


def test_every_response_forbids_framing_and_indexing(db: None, as_administrator: Client) -> None:
    for where in ("/", LOGIN, "/admin/", "/nowhere/", "/health/live", "/people/"):
        answer = as_administrator.get(where)
        assert answer["X-Frame-Options"] == "DENY", where
        assert answer["X-Robots-Tag"] == "noindex, nofollow", where
        assert answer["X-Content-Type-Options"] == "nosniff", where
        assert answer["Referrer-Policy"] == "same-origin", where
        policy = {part.strip() for part in answer["Content-Security-Policy"].split(";")}
        expected = {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"}
        assert expected <= policy, where
        assert "unsafe" not in answer["Content-Security-Policy"], where


def test_cookies_are_for_this_site_alone(client: Client, vera: User) -> None:
    client.get(LOGIN)
    sign_in(client, "vera")
    for name in ("pressroom_session", "pressroom_csrf"):
        assert client.cookies[name]["httponly"]
        assert client.cookies[name]["samesite"] == "Lax"


def test_production_speaks_https_alone() -> None:
    names = (
        "SESSION_COOKIE_SECURE",
        "CSRF_COOKIE_SECURE",
        "SECURE_SSL_REDIRECT",
        "SECURE_HSTS_SECONDS",
    )
    show = f"from config import settings as s; print([getattr(s, n) for n in {names}])"
    env = {
        "SECRET_KEY": "only-for-tests-" + "x" * 50,
        "ALLOWED_HOSTS": "a.example",
        "PATH": os.environ["PATH"],
    }
    done = subprocess.run(
        [sys.executable, "-c", show], cwd=BASE_DIR, env=env, capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == "[True, True, True, 31536000]"


def test_every_cookie_is_for_https_alone(client: Client, vera: User, settings: Any) -> None:
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    seed_pages(wire.page())
    client.get(LOGIN, secure=True)
    client.post(LOGIN, {"username": "vera", "password": "vera"}, secure=True)
    for where in ("/", "/pages/page_1/", "/pages/", "/activity/"):
        client.get(where, secure=True)
    client.post(reverse("theme"), {"theme": "dark"}, secure=True)
    client.post(reverse("email-reset"), secure=True)  # leaves a message
    names = set(client.cookies)
    assert {f"pressroom_{name}" for name in ("session", "csrf", "theme", "messages")} < names
    assert [name for name in names if not name.startswith("pressroom_")] == []
    assert [name for name, cookie in client.cookies.items() if not cookie["secure"]] == []
