"""The second factor of local accounts: set-up, login, single use, loss and reset."""

import logging
import re
from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from axes.models import AccessAttempt
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from dashboard.accounts.models import SignInEvent, SignInEventKind
from dashboard.accounts.sign_in import record_sign_in_event
from tests.conftest import logged_in
from tests.support.html import elements, response_text, text
from tests.support.interleaving import (
    PATIENCE_S,
    before_statement,
    before_transaction,
    begun,
    held_at,
    is_anyone_waiting,
)
from tests.support.second_factors import (
    APP,
    CODES,
    HOST,
    PASSKEY,
    STEP,
    WRONG_CODES,
    Key,
    add_passkey,
    browser_at_a_name,
    code_of,
    confirm,
    is_signed_in,
    new_secret,
    recovery_codes,
    set_up_app,
    sign_in,
    sign_in_with_code,
)

SETTINGS = "/accounts/settings/"


@pytest.fixture
def secret(vera: User) -> str:
    """The secret of Vera's authenticator app."""
    return set_up_app(logged_in(vera), vera)


def kinds() -> list[str]:
    return list(SignInEvent.objects.order_by("pk").values_list("kind", flat=True))


def test_without_one_the_password_is_enough(client: Client, vera: User) -> None:
    assert sign_in(client, "vera").url == "/"
    assert is_signed_in(client)


def test_setting_up_requires_the_password_again(as_viewer: Client) -> None:
    answer = as_viewer.get(APP)
    assert answer.url.startswith("/accounts/again/?next=")
    wrong = as_viewer.post(answer.url, {"password": "wrong"})
    assert "Incorrect password." in response_text(wrong)
    assert as_viewer.post(answer.url, {"password": "vera"}).url == APP
    assert as_viewer.get(APP).status_code == 200


def test_wrong_passwords_before_a_change_count(as_viewer: Client, client: Client) -> None:
    for _ in range(10):
        answer = as_viewer.post("/accounts/again/", {"password": "wrong"})
    assert answer.status_code == 429
    assert sign_in(client, "vera").status_code == 429
    assert kinds() == ["wrong"] * 10


def test_an_app_is_set_up_by_picture_or_text(as_viewer: Client, vera: User) -> None:
    confirm(as_viewer, vera)
    answer = as_viewer.get(APP)
    assert "no-store" in answer["Cache-Control"]
    html = answer.text
    assert 'class="qr-code"' in html
    field = next(e for e in elements(html, "input") if e.attributes.get("name") == "code")
    assert field.attributes["autocomplete"] == "one-time-code"
    assert field.attributes["inputmode"] == "numeric"
    assert len(html.partition('id="secret">')[2].partition("<")[0]) == 32


def test_a_wrong_code_does_not_set_up_the_app(as_viewer: Client, vera: User) -> None:
    confirm(as_viewer, vera)
    before = new_secret(as_viewer)
    answer = as_viewer.post(APP, {"code": WRONG_CODES[0]})
    assert "Not set up: 1 problem" in response_text(answer)
    assert before in answer.text
    assert not Authenticator.objects.exists()


def test_sign_in_requires_the_code_and_continues(client: Client, secret: str) -> None:
    assert sign_in(client, "vera", next="/people/?q=a").url == STEP
    assert not is_signed_in(client)
    assert "Code from your app or a recovery code" in response_text(client.get(STEP))
    answer = client.post(STEP, {"code": code_of(secret)})
    assert answer.url == "/people/?q=a"
    assert is_signed_in(client)


def test_blanks_in_a_code_do_not_matter(client: Client, secret: str) -> None:
    sign_in(client, "vera")
    code = code_of(secret)
    assert client.post(STEP, {"code": f" {code[:3]} {code[3:]}"}).status_code == 302


def test_each_step_changes_the_session(client: Client, secret: str) -> None:
    client.get("/accounts/login/")
    keys = [client.session.session_key]
    sign_in(client, "vera")
    keys.append(client.session.session_key)
    client.post(STEP, {"code": code_of(secret)})
    keys.append(client.session.session_key)
    assert len(set(keys)) == 3


@pytest.mark.parametrize("remember", [True, False])
def test_the_session_length_chosen_with_the_password_holds(
    client: Client, secret: str, remember: bool
) -> None:
    sign_in(client, "vera", **({"remember": "on"} if remember else {}))
    client.post(STEP, {"code": code_of(secret)})
    assert client.session.get_expire_at_browser_close() is not remember


def test_a_code_is_good_once(secret: str) -> None:
    first, second = Client(), Client()
    for client in (first, second):
        sign_in(client, "vera")
    code = code_of(secret)
    assert first.post(STEP, {"code": code}).status_code == 302
    answer = second.post(STEP, {"code": code})
    assert answer.status_code == 422
    assert "Code already used." in response_text(answer)
    assert second.post(STEP, {"code": code_of(secret, steps=1)}).status_code == 302


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_factor_removed_at_that_moment_is_not_accepted(client: Client, secret: str) -> None:
    sign_in(client, "vera")
    with held_at(before_transaction(), client.post, STEP, {"code": code_of(secret)}) as answer:
        Authenticator.objects.all().delete()
    assert answer.result().status_code == 422
    assert "Incorrect code." in response_text(answer.result())


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_codes_guessed_at_once_are_all_counted(secret: str, vera: User) -> None:
    for _ in range(29):
        record_sign_in_event(SignInEventKind.WRONG, by="vera", user=vera)
    first, second = Client(), Client()
    for client in (first, second):
        sign_in(client, "vera")
    form = {"code": WRONG_CODES[0]}
    with held_at(before_statement("INSERT INTO", "signinevent"), first.post, STEP, form) as answer:
        other = begun(before_transaction(), second.post, STEP, {"code": code_of(secret)})
        while not other.done() and not is_anyone_waiting():
            pass
    assert answer.result().status_code == 422
    assert other.result(PATIENCE_S).status_code == 429


def test_a_setup_code_cannot_be_used_again(as_viewer: Client, vera: User) -> None:
    confirm(as_viewer, vera)
    code = code_of(new_secret(as_viewer))
    assert as_viewer.post(APP, {"code": code}).url == CODES
    client = Client()
    answer = sign_in_with_code(client, code)
    assert answer.status_code == 422
    assert "Code already used." in response_text(answer)


@pytest.mark.parametrize("steps", [-3, 3])
def test_a_code_of_another_time_is_refused(client: Client, secret: str, steps: int) -> None:
    answer = sign_in_with_code(client, code_of(secret, steps=steps))
    assert answer.status_code == 422
    assert not is_signed_in(client)


def test_ten_wrong_codes_cause_a_pause(client: Client, secret: str) -> None:
    sign_in(client, "vera")
    for code in WRONG_CODES[:10]:
        answer = client.post(STEP, {"code": code})
    assert (answer.status_code, answer["Retry-After"]) == (429, "900")
    assert client.post(STEP, {"code": code_of(secret)}).status_code == 429
    assert sign_in(Client(), "vera").status_code == 429
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert client.post(STEP, {"code": code_of(secret)}).status_code == 302


def test_the_right_password_in_between_wins_no_more_tries(client: Client, secret: str) -> None:
    for code in WRONG_CODES[:10]:
        answer = sign_in_with_code(client, code)
    assert answer.status_code == 429


def test_many_wrong_codes_cause_a_day_s_pause(secret: str) -> None:
    for number in range(30):
        client = Client(REMOTE_ADDR=f"203.0.113.{number}")
        assert sign_in_with_code(client, WRONG_CODES[0]).status_code == 422
    elsewhere = Client(REMOTE_ADDR="198.51.100.7")
    answer = sign_in_with_code(elsewhere, code_of(secret))
    assert answer.status_code == 429
    assert "Try again in 1440 minutes." in response_text(answer)
    SignInEvent.objects.update(at=timezone.now() - timedelta(hours=25))
    assert elsewhere.post(STEP, {"code": code_of(secret)}).status_code == 302


def test_wrong_passwords_are_stored_nowhere(client: Client, secret: str) -> None:
    sign_in_with_code(client, WRONG_CODES[-1])
    stored = AccessAttempt.objects.get()
    assert WRONG_CODES[-1] not in stored.post_data + stored.get_data


def test_recovery_codes_are_shown_once(as_viewer: Client, vera: User) -> None:
    set_up_app(as_viewer, vera)
    answer = as_viewer.get(CODES)
    html = answer.text
    codes = html.partition('<pre class="code">')[2].partition("</pre>")[0].split()
    assert len(codes) == 10
    assert "no-store" in answer["Cache-Control"]
    files = [e.attributes["href"] for e in elements(html, "a") if "download" in e.attributes]
    assert codes[9] in files[0]
    again = as_viewer.get(CODES).text
    assert [code for code in codes if code in again] == []
    assert "Codes can’t be shown again." in text(again)


def test_a_recovery_code_replaces_the_app_once(vera: User) -> None:
    here = logged_in(vera)
    set_up_app(here, vera)
    code = recovery_codes(here)[3]
    first, second = Client(), Client()
    for client in (first, second):
        sign_in(client, "vera")
    answer = first.post(STEP, {"code": code}, follow=True)
    assert "Recovery code used. 9 left." in response_text(answer)
    assert second.post(STEP, {"code": code}).status_code == 422
    assert kinds() == ["app_added", "code_used", "wrong"]


def test_new_recovery_codes_replace_the_old(vera: User) -> None:
    here = logged_in(vera)
    set_up_app(here, vera)
    old = recovery_codes(here)
    assert here.post("/accounts/settings/codes/new/").url == CODES
    new = recovery_codes(here)
    assert len(new) == 10
    assert not set(old) & set(new)
    client = Client()
    assert sign_in_with_code(client, old[0]).status_code == 422
    assert client.post(STEP, {"code": new[0]}).status_code == 302


def test_setting_one_up_signs_out_the_other_browsers(vera: User) -> None:
    here, elsewhere = logged_in(vera), logged_in(vera)
    set_up_app(here, vera)
    assert is_signed_in(here)
    assert elsewhere.get("/find/").url == "/accounts/login/?next=/find/"


def test_without_the_app_the_password_is_enough_again(vera: User) -> None:
    here = logged_in(vera)
    set_up_app(here, vera)
    assert here.post("/accounts/settings/app/remove/").url == SETTINGS
    assert not Authenticator.objects.exists()
    client = Client()
    assert sign_in(client, "vera").url == "/"
    assert is_signed_in(here)


@pytest.mark.parametrize(
    "address", [APP, f"{APP}remove/", PASSKEY, f"{PASSKEY}1/remove/", f"{CODES}new/"]
)
def test_no_form_bypasses_reauthentication(
    as_viewer: Client, vera: User, secret: str, address: str
) -> None:
    client = Client()
    sign_in_with_code(client, code_of(secret))
    before = list(Authenticator.objects.order_by("pk").values("pk", "data"))
    for method in (client.get, client.post):
        assert method(address)["Location"].startswith("/accounts/again/")
    assert list(Authenticator.objects.order_by("pk").values("pk", "data")) == before


def test_the_admins_own_log_in_is_no_way_around(client: Client, secret: str, vera: User) -> None:
    vera.is_staff = vera.is_superuser = True
    vera.save()
    form = {"username": "vera", "password": "vera", "next": "/admin/"}
    assert client.post("/admin/login/", form).url.startswith("/accounts/login/")
    sign_in(client, "vera")
    assert client.get("/admin/").url == "/accounts/login/?next=/admin/"
    client.post(STEP, {"code": code_of(secret)})
    assert client.get("/admin/").status_code == 200


def test_the_admin_shows_no_factor_and_no_provider(ada: User) -> None:
    ada.is_staff = ada.is_superuser = True
    ada.save()
    html = logged_in(ada).get("/admin/").text
    hrefs = {element.attributes.get("href", "") for element in elements(html, "a")}
    apps = ("/admin/mfa/", "/admin/account/", "/admin/socialaccount/")
    assert [href for href in hrefs if href.startswith(apps)] == []


def test_secrets_are_stored_encrypted(as_viewer: Client, vera: User) -> None:
    confirm(as_viewer, vera)
    html = as_viewer.get(APP).text
    waiting = html.partition('id="secret">')[2][:32]
    assert waiting not in str(dict(as_viewer.session.items()))
    secret = set_up_app(as_viewer, vera)
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in stored
    assert secret not in str(dict(as_viewer.session.items()))
    assert "gAAAA" in stored


def test_no_log_line_holds_a_secret_or_a_code(
    client: Client, vera: User, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    here = logged_in(vera)
    secret = set_up_app(here, vera)
    codes = recovery_codes(here)
    sign_in_with_code(client, WRONG_CODES[-1])
    client.post(STEP, {"code": codes[0]})
    log = caplog.text + str([record.__dict__ for record in caplog.records])
    assert "/accounts/settings/app/" in log
    for word in (secret, WRONG_CODES[-1], *codes):
        # Six digits can appear by chance in a timestamp's fraction or a thread's number.
        assert not re.search(rf"(?<![\w.]){word}(?![\w.])", log), word


OLD, NEW = "only-for-tests-" + "x" * 50, "another-key-of-the-tests-" + "y" * 40


def test_a_new_secret_key_takes_no_app_away(client: Client, secret: str, settings: Any) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [settings.SECRET_KEY]
    assert sign_in_with_code(client, code_of(secret)).status_code == 302
    call_command("reencrypt_secrets", verbosity=0)
    settings.SECRET_KEY_FALLBACKS = []
    other = Client()
    assert sign_in_with_code(other, code_of(secret, steps=1)).status_code == 302


def test_a_lost_secret_key_only_loses_the_app(client: Client, secret: str, settings: Any) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, []
    with pytest.raises(CommandError, match="vera"):
        call_command("reencrypt_secrets", verbosity=0)
    assert sign_in_with_code(client, code_of(secret)).status_code == 422
    call_command("reset_second_factor", "vera", verbosity=0)
    other = Client()
    assert sign_in(other, "vera").url == "/"
    assert other.get(SETTINGS).status_code == 200


def test_a_lost_secret_key_is_reported_to_all(
    client: Client, secret: str, ada: User, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    warning = "Neither SECRET_KEY nor SECRET_KEY_FALLBACKS can decrypt the second factor of vera."
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, []
    answer = sign_in_with_code(client, code_of(secret))
    assert "This server can’t read your second factor. Contact your" in response_text(answer)
    assert warning in caplog.text
    warning = "SECRET_KEY has changed: the second factor of vera can’t be read."
    assert warning in response_text(logged_in(ada).get("/accounts/rules/"))
    settings.SECRET_KEY_FALLBACKS = [OLD]
    assert warning not in response_text(logged_in(ada).get("/accounts/rules/"))


def test_recovery_codes_of_a_lost_key_are_replaced(secret: str, vera: User, settings: Any) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, []
    here = logged_in(vera)
    session = here.session
    session["second_factor"] = [vera.pk, "here"]
    session.save()
    confirm(here, vera)
    answer = here.get(CODES, follow=True)
    assert "The old codes are unreadable on this server." in response_text(answer)
    assert here.post("/accounts/settings/codes/new/").url == CODES
    assert len(recovery_codes(here)) == 10


def test_the_recovery_command_is_on_record(secret: str, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("reset_second_factor", "vera")
    assert capsys.readouterr().out == "Second factor of vera reset.\n"
    assert not Authenticator.objects.exists()
    last = SignInEvent.objects.first()
    assert last is not None
    assert (last.kind, last.actor_name, last.username) == ("reset", "manage.py", "vera")
    with pytest.raises(CommandError, match="No user is named nobody"):
        call_command("reset_second_factor", "nobody")


# Passkeys.


@pytest.fixture
def there(vera: User, settings: Any) -> Client:
    """Vera's browser, which opens the dashboard by a host name."""
    settings.ALLOWED_HOSTS = [HOST]
    client = browser_at_a_name()
    client.force_login(vera)
    return client


def step(client: Client) -> str:
    return client.get(STEP).text


def test_a_passkey_signs_in_after_the_password(there: Client, vera: User) -> None:
    key = add_passkey(there, vera)
    assert "Blue key" in response_text(there.get(SETTINGS))
    client = browser_at_a_name()
    assert sign_in(client, "vera", next="/people/").url == STEP
    answer = client.post(STEP, {"credential": key.assertion(step(client))})
    assert answer.url == "/people/"
    assert "last used" in response_text(client.get(SETTINGS))


def test_an_answer_of_a_passkey_is_good_once(there: Client, vera: User) -> None:
    key = add_passkey(there, vera)
    first, second = browser_at_a_name(), browser_at_a_name()
    for client in (first, second):
        sign_in(client, "vera")
    message = key.assertion(step(first))
    step(second)
    assert second.post(STEP, {"credential": message}).status_code == 422
    assert first.post(STEP, {"credential": message}).status_code == 302


def test_a_passkey_that_was_removed_is_refused(there: Client, vera: User) -> None:
    set_up_app(there, vera)
    key, other = add_passkey(there, vera), add_passkey(there, vera, "Other")
    client = browser_at_a_name()
    sign_in(client, "vera")
    page = step(client)
    pk = Authenticator.objects.filter(type="webauthn").order_by("pk")[0].pk
    confirmation = there.get(f"{PASSKEY}{pk}/remove/")
    assert "Remove the passkey “Blue key”" in response_text(confirmation)
    assert there.post(f"{PASSKEY}{pk}/remove/").url == SETTINGS
    assert client.post(STEP, {"credential": key.assertion(page)}).status_code == 422
    assert client.post(STEP, {"credential": other.assertion(step(client))}).status_code == 302


def test_another_persons_passkey_opens_nothing(there: Client, vera: User, paula: User) -> None:
    add_passkey(there, vera)
    browser = browser_at_a_name()
    browser.force_login(paula)
    hers = add_passkey(browser, paula)
    client = browser_at_a_name()
    sign_in(client, "vera")
    assert client.post(STEP, {"credential": hers.assertion(step(client))}).status_code == 422


def test_no_one_removes_another_users_passkey(there: Client, vera: User, paula: User) -> None:
    add_passkey(there, vera)
    browser = browser_at_a_name()
    browser.force_login(paula)
    confirm(browser, paula)
    pk = Authenticator.objects.get(type="webauthn").pk
    assert browser.post(f"{PASSKEY}{pk}/remove/").status_code == 404
    assert Authenticator.objects.filter(type="webauthn").count() == 1


def test_nonsense_in_place_of_a_passkey_is_refused(there: Client, vera: User) -> None:
    add_passkey(there, vera)
    client = browser_at_a_name()
    sign_in(client, "vera")
    for message in ("", "{}", "[]", "nonsense", "null", '{"id": 1}', '"\\u0000"'):
        assert there.post(PASSKEY, {"name": "x", "credential": message}).status_code in (200, 422)
        step(client)
        assert client.post(STEP, {"credential": message}).status_code == 422, repr(message)
        assert Authenticator.objects.filter(type="webauthn").count() == 1, repr(message)


def test_wrong_passkeys_count_as_wrong_codes_do(there: Client, vera: User) -> None:
    add_passkey(there, vera)
    client = browser_at_a_name()
    sign_in(client, "vera")
    for _ in range(10):
        answer = client.post(STEP, {"credential": Key().assertion(step(client))})
    assert answer.status_code == 429
