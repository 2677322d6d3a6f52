"""Signing in and out, the pause after failed attempts, the password, the theme, the admin."""

import re
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from dashboard.accounts.models import SignInEvent
from tests.conftest import logged_in
from tests.support.html import elements, response_text
from tests.support.second_factors import LOGIN, sign_in

PASSWORD = "/accounts/password/"


def test_signing_in_leads_to_the_requested_page(client: Client, vera: User) -> None:
    assert client.get("/people/?q=a").url == "/accounts/login/?next=/people/%3Fq%3Da"
    answer = sign_in(client, "vera", next="/people/?q=a")
    assert answer.url == "/people/?q=a"


def test_signing_in_a_second_time_leads_on(vera: User) -> None:
    client = Client(enforce_csrf_checks=True)
    inputs = elements(client.get(LOGIN).text, "input")
    fields = {box.attributes["name"]: box.attributes.get("value", "") for box in inputs}
    for name, status in (("vera", 302), ("vera", 302), ("somebody", 403)):
        form = fields | {"username": name, "password": "vera", "next": "/people/?q=a"}
        response = client.post(LOGIN, form)
        assert response.status_code == status
    again = client.post(LOGIN, fields | {"username": "vera", "next": "/people/?q=a"})
    assert client.get(again["Location"])["Location"] == "/people/?q=a"


def test_a_session_ends_with_the_browser_unless_persistent(vera: User) -> None:
    short, long = Client(), Client()
    sign_in(short, "vera")
    sign_in(long, "vera", remember="on")
    assert short.session.get_expire_at_browser_close()
    assert long.session.get_expiry_age() == 12 * 60 * 60


@pytest.mark.parametrize("name", ["vera", "nobody", "gone"])
def test_a_failed_sign_in_hides_whether_the_name_exists(
    client: Client, vera: User, name: str
) -> None:
    User.objects.create_user("gone", password="gone", is_active=False)
    page_text = response_text(sign_in(client, name, "wrong"))
    assert "Incorrect username or password." in page_text
    assert "left before" not in page_text


def test_a_wrong_password_is_neither_shown_nor_stored(client: Client, vera: User) -> None:
    html = sign_in(client, "vera", "hunter-two").text
    assert "hunter-two" not in html
    assert "hunter-two" not in AccessAttempt.objects.get().post_data


def test_a_wrong_password_field_has_focus_and_error(client: Client, vera: User) -> None:
    html = sign_in(client, "vera", "wrong").text
    (focused,) = [e.attributes for e in elements(html, "input") if "autofocus" in e.attributes]
    assert focused["name"] == "password"
    assert focused["aria-describedby"].split() == ["login-error", "password-error"]
    assert html.count('id="login-error"') == html.count('id="password-error"') == 1


@pytest.mark.parametrize("form", [None, {"username": "", "password": "wrong"}])
def test_without_a_name_the_focus_is_in_the_name(db: None, client: Client, form: Any) -> None:
    answer = client.post(LOGIN, form) if form else client.get(LOGIN)
    inputs = elements(answer.text, "input")
    assert [e.attributes["name"] for e in inputs if "autofocus" in e.attributes] == ["username"]


def test_the_last_tries_are_counted_out(client: Client, vera: User) -> None:
    for _ in range(6):
        answer = sign_in(client, "vera", "wrong")
    assert "4 attempts left before sign-in is paused for 15 min." in response_text(answer)


def test_ten_wrong_attempts_cause_a_stated_pause(client: Client, vera: User) -> None:
    for _ in range(10):
        answer = sign_in(client, "vera", "wrong")
    assert answer.status_code == 429
    assert answer["Retry-After"] == "900"
    assert "Try again in 15 minutes." in response_text(answer)
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=12))

    answer = sign_in(client, "vera")

    assert answer.status_code == 429
    assert "Try again in 3 minutes." in response_text(answer)


def test_the_pause_ends_by_itself(client: Client, vera: User) -> None:
    for _ in range(10):
        sign_in(client, "vera", "wrong")
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert sign_in(client, "vera").url == "/"


def test_failures_of_many_names_pause_their_address(vera: User, settings: Any) -> None:
    """Behind a proxy, the address that the proxy appended counts."""
    settings.BEHIND_PROXY = True
    forged = (f"203.0.113.{number}, 198.51.100.7" for number in range(100))
    guesser = Client(REMOTE_ADDR="10.0.0.1", headers={"X-Forwarded-Proto": "https"})

    def guess(name: str, password: str) -> Any:
        headers = {"X-Forwarded-For": next(forged)}
        form = {"username": name, "password": password}
        return guesser.post(LOGIN, form, secure=True, headers=headers)

    for number in range(15):
        assert guess(f"name{number}", "Summer2026").status_code == 200
    assert guess("vera", "vera").status_code == 302  # A success neither counts nor resets.
    guesser.logout()
    for number in range(14):
        assert guess(f"other{number}", "Summer2026").status_code == 200
    assert guess("last", "Summer2026").status_code == 429
    paused = guess("vera", "vera")
    assert (paused.status_code, paused["Retry-After"]) == (429, "900")
    assert "Too many failed attempts from your network address." in response_text(paused)
    elsewhere = Client(headers={"X-Forwarded-For": "198.51.100.8"})
    assert sign_in(elsewhere, "vera").url == "/"


def test_signing_out_takes_a_post(as_viewer: Client) -> None:
    assert as_viewer.get("/accounts/logout/").status_code == 405
    assert as_viewer.post("/accounts/logout/").url == LOGIN
    assert as_viewer.get("/people/").url.startswith(LOGIN)


def test_a_form_sent_after_sign_out_returns_to_its_page(client: Client) -> None:
    answer = client.post("/accounts/theme/", headers={"Referer": "http://testserver/people/?q=a"})
    assert answer.url == "/accounts/login/?next=/people/%3Fq%3Da"


def test_a_partial_after_sign_out_redirects_the_page(client: Client) -> None:
    answer = client.get(
        "/people/?q=ab",
        headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/people/?q=a"},
    )
    assert answer["HX-Redirect"] == "/accounts/login/?next=/people/%3Fq%3Da"


def test_a_changed_password_signs_out_other_browsers(vera: User) -> None:
    here, elsewhere = logged_in(vera), logged_in(vera)
    new = "a longer sentence 7"
    form = {"old_password": "vera", "new_password1": new, "new_password2": new}
    assert here.post(PASSWORD, form).url == "/"
    assert here.get(PASSWORD).status_code == 200
    assert elsewhere.get(PASSWORD).status_code == 302


def test_ten_wrong_current_passwords_cause_a_pause(as_viewer: Client) -> None:
    new = "a longer sentence 7"
    form = {"old_password": "wrong", "new_password1": new, "new_password2": new}
    statuses = [as_viewer.post(PASSWORD, form).status_code for _ in range(10)]
    assert statuses == [422] * 9 + [429]
    assert as_viewer.post(PASSWORD, form | {"old_password": "vera"}).status_code == 429
    assert as_viewer.post("/accounts/again/", {"password": "vera"}).status_code == 429
    assert Client().post(LOGIN, {"username": "vera", "password": "vera"}).status_code == 429
    assert set(SignInEvent.objects.values_list("kind", "username")) == {("wrong", "vera")}


def test_many_wrong_current_passwords_cause_a_pause(vera: User) -> None:
    form = {"old_password": "wrong", "new_password1": "a", "new_password2": "a"}
    for number in range(30):
        client = Client(REMOTE_ADDR=f"203.0.113.{number}")
        client.force_login(vera)
        assert client.post(PASSWORD, form).status_code == 422
    elsewhere = Client(REMOTE_ADDR="198.51.100.7")
    elsewhere.force_login(vera)
    assert elsewhere.post(PASSWORD, form).status_code == 429


def test_new_passwords_that_differ_count_as_no_wrong_try(as_viewer: Client) -> None:
    form = {"old_password": "vera", "new_password1": "a", "new_password2": "b"}
    statuses = {as_viewer.post(PASSWORD, form).status_code for _ in range(12)}
    assert statuses == {422}
    assert not SignInEvent.objects.exists()


@pytest.mark.parametrize("method", ["get", "post"])
def test_the_admin_links_to_the_password_page(admin_client: Client, method: str) -> None:
    form = {"old_password": "password", "new_password1": "a", "new_password2": "b"}
    response = getattr(admin_client, method)("/admin/password_change/", form)
    assert response.url == PASSWORD


def test_an_unchanged_password_has_a_reason(as_viewer: Client) -> None:
    form = {"old_password": "wrong", "new_password1": "12345", "new_password2": "12345"}
    html = as_viewer.post(PASSWORD, form).text
    assert "Not changed: " in html
    assert "Incorrect current password." in html
    invalid = [
        e.attributes["name"] for e in elements(html, "input") if "aria-invalid" in e.attributes
    ]
    assert invalid == ["old_password", "new_password2"]


@pytest.mark.parametrize(
    ("back_to", "leads_to"), [("/people/?q=a", "/people/?q=a"), ("https://evil.example/", "/")]
)
def test_a_theme_is_saved_and_leads_back(as_viewer: Client, back_to: str, leads_to: str) -> None:
    answer = as_viewer.post("/accounts/theme/", {"theme": "dark", "next": back_to})
    assert answer.url == leads_to
    html = as_viewer.get(PASSWORD).text
    assert elements(html, "html")[0].attributes["data-theme"] == "dark"


@pytest.mark.parametrize("theme", ["", "<script>"])
def test_any_other_theme_is_the_computers(as_viewer: Client, theme: str) -> None:
    as_viewer.post("/accounts/theme/", {"theme": "dark"})
    as_viewer.post("/accounts/theme/", {"theme": theme})
    html = as_viewer.get(PASSWORD).text
    assert "data-theme" not in elements(html, "html")[0].attributes


@pytest.fixture
def staff(ada: User) -> User:
    ada.is_staff = True
    ada.save()
    return ada


def test_the_admin_has_no_log_in_of_its_own(client: Client, as_viewer: Client) -> None:
    assert client.get("/admin/").url == "/accounts/login/?next=/admin/"
    assert client.get("/admin/login/").url.startswith(LOGIN)
    refused = as_viewer.get("/admin/", follow=True)
    assert refused.status_code == 403
    assert "Only staff accounts can manage users, groups and keys." in refused.text


def test_staff_find_users_groups_and_keys(staff: User) -> None:
    html = logged_in(staff).get("/admin/").text
    assert "Users, groups and keys" in html
    hrefs = {element.attributes.get("href") for element in elements(html, "a")}
    assert {"/admin/auth/user/", "/admin/auth/group/", "/admin/embedded_api/apikey/"} <= hrefs


def test_the_admin_has_our_theme_and_a_way_back(staff: User) -> None:
    client = logged_in(staff)
    client.post("/accounts/theme/", {"theme": "dark"})
    html = client.get("/admin/auth/user/").text
    assert re.search(r'<body class="theme-dark [^>]*>', html)
    assert "css/admin" in html
    assert re.search(r'href="/">\s*Back to the dashboard', html)
    assert "dark_mode.css" not in html


def test_no_one_makes_themselves_a_superuser(staff: User) -> None:
    form = {"username": "ada", "is_staff": "on", "is_active": "on", "is_superuser": "on"}
    form |= {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    answer = logged_in(staff).post(f"/admin/auth/user/{staff.pk}/change/", form)
    assert answer.status_code == 302
    staff.refresh_from_db()
    assert not staff.is_superuser


def test_a_superuser_is_changed_by_superusers_alone(staff: User) -> None:
    root = User.objects.create_superuser("root", password="root")
    address = f"/admin/auth/user/{root.pk}/password/"
    assert logged_in(staff).get(address).status_code == 403
    assert logged_in(root).get(address).status_code == 200


def test_no_page_here_holds_inline_script_or_style(client: Client, staff: User) -> None:
    for browser, address in [(client, LOGIN), (logged_in(staff), "/admin/auth/user/")]:
        html = browser.get(address).text
        matching = [
            e
            for e in elements(html)
            if "style" in e.attributes or any(name.startswith("on") for name in e.attributes)
        ]
        scripts = [e for e in elements(html, "script") if "src" not in e.attributes]
        assert matching == []
        assert [e for e in scripts if e.attributes.get("type") != "application/json"] == []


def test_a_new_secret_key_keeps_sessions_with_a_fallback(as_viewer: Client, settings: Any) -> None:
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another-key-of-the-tests-" + "y" * 40
    settings.SECRET_KEY_FALLBACKS = [old]
    assert as_viewer.get("/find/").status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    settings.SECRET_KEY = "a-third-key-of-the-tests-" + "z" * 40
    assert as_viewer.get("/find/").status_code == 302
