"""Sign-in through the organisation's provider: off unless configured; access and groups."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django.contrib.auth.models import Group, User
from django.db import transaction
from django.test import Client

from dashboard.accounts.models import SignInEvent
from dashboard.accounts.second_factor.policy import reset_second_factor
from tests.accounts.organisation import CLIENT_ID, CLIENT_SECRET, Organisation, answering
from tests.conftest import logged_in
from tests.support.html import elements, page_html, page_text, response_text, text
from tests.support.interleaving import before_transaction, held_at
from tests.support.second_factors import (
    STEP,
    WRONG_CODES,
    code_of,
    confirm,
    is_signed_in,
    set_up_app,
    sign_in,
)
from tests.support.written_log import Log, written_log

LOGIN = "/accounts/login/"
GO, BACK = "/accounts/login/organisation/", "/accounts/login/organisation/back/"
SETTINGS = "/accounts/settings/"
CONNECT, DISCONNECT = f"{SETTINGS}organisation/", f"{SETTINGS}organisation/remove/"

pytestmark = pytest.mark.django_db


@pytest.fixture
def organisation(settings: Any) -> Iterator[Organisation]:
    with answering() as provider:
        settings.OIDC_ISSUER = provider.url
        settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
        settings.OIDC_NAME = "Kestrel ID"
        settings.OIDC_GROUPS = [("editors", "Publishers"), ("readers", "Viewers")]
        yield provider


def come_back(client: Client, organisation: Organisation, *, to: str = "") -> Any:
    answer = client.get(GO, {"next": to} if to else {})
    assert answer.status_code == 302, answer.content
    return client.get(organisation.authorise(answer.url))


class Visitor:
    """A browser that signs in through the provider. Its user may have an account here."""

    def __init__(self, provider: Organisation, client: Client, person: User | None = None) -> None:
        self.provider, self.client, self.person = provider, client, person

    @property
    def settings(self) -> str:
        """The text of the settings."""
        return page_text(self.client, SETTINGS)

    @property
    def is_signed_in(self) -> bool:
        return is_signed_in(self.client)

    def come_back(self, *, to: str = "") -> Any:
        """Sign in at the provider, and return the response to what it sent back."""
        return come_back(self.client, self.provider, to=to)

    def confirm(self) -> None:
        """Reauthenticate with the password."""
        assert self.person
        confirm(self.client, self.person)

    def begin(self) -> str:
        """Reauthenticate and press Connect; return the URL at the provider."""
        self.confirm()
        html = page_html(self.client, CONNECT)
        hrefs = [e.attributes.get("href", "") for e in elements(html, "a")]
        return next(href for href in hrefs if "/authorize?" in href)

    def connect(self) -> str:
        """Connect the account, and return the text of the settings afterwards."""
        back = self.provider.authorise(self.begin())
        assert self.client.get(back).url == SETTINGS
        return self.settings


@pytest.fixture
def visitor(client: Client, organisation: Organisation) -> Visitor:
    """A stranger's browser."""
    return Visitor(organisation, client)


@pytest.fixture
def veras(as_viewer: Client, vera: User, organisation: Organisation) -> Visitor:
    """Vera's browser. The provider lists her as an editor, with the name and email used here."""
    User.objects.filter(pk=vera.pk).update(email="vera@kestrel.example")
    organisation.info["preferred_username"] = "vera"
    return Visitor(organisation, as_viewer, vera)


def groups_of(name: str) -> set[str]:
    return set(User.objects.get(username=name).groups.values_list("name", flat=True))


def test_without_a_provider_there_is_no_button(client: Client) -> None:
    assert GO not in client.get(LOGIN).text
    for address in (GO, BACK):
        assert client.get(address).status_code == 404


def test_without_a_provider_there_is_nothing_to_connect(as_viewer: Client, vera: User) -> None:
    confirm(as_viewer, vera)
    assert CONNECT not in as_viewer.get(SETTINGS).text
    for address in (CONNECT, DISCONNECT):
        assert as_viewer.get(address).status_code == 404
    assert as_viewer.post(DISCONNECT).status_code == 404


def test_the_sign_in_page_offers_it_and_continues(visitor: Visitor) -> None:
    html = visitor.client.get(f"{LOGIN}?next=/people/%3Fq%3Da").text
    assert "Sign in with Kestrel ID" in text(html)
    links = [e.attributes["href"] for e in elements(html, "a") if GO in e.attributes["href"]]
    assert links == [f"{GO}?next=%2Fpeople%2F%3Fq%3Da"]
    assert "Username" in text(html)


def test_a_mapped_group_signs_in_with_ours(visitor: Visitor) -> None:
    assert visitor.come_back(to="/people/?q=a").url == "/people/?q=a"
    assert visitor.is_signed_in
    olga = User.objects.get()
    assert (olga.username, olga.get_full_name()) == ("olga", "Olga Rey")
    assert groups_of("olga") == {"Publishers"}
    assert (olga.is_staff, olga.is_superuser, olga.has_usable_password()) == (False,) * 3


def test_a_subject_is_one_person_under_any_name(organisation: Organisation) -> None:
    come_back(Client(), organisation)
    organisation.info |= {"preferred_username": "somebody-else", "email": "x@kestrel.example"}
    come_back(Client(), organisation)
    assert User.objects.count() == SocialAccount.objects.count() == 1


def test_a_session_ends_with_the_browser(visitor: Visitor) -> None:
    visitor.come_back()
    assert visitor.client.session.get_expire_at_browser_close()
    assert "began_at" in visitor.client.session


def test_signing_in_changes_the_session(visitor: Visitor) -> None:
    address = visitor.client.get(GO).url
    before = visitor.client.session.session_key
    visitor.client.get(visitor.provider.authorise(address))
    assert visitor.client.session.session_key != before


@pytest.mark.parametrize("groups", [None, [], ["strangers"], "strangers", 7, [["editors"]]])
def test_who_has_no_group_there_is_not_let_in(visitor: Visitor, groups: Any) -> None:
    visitor.provider.claims["groups"] = groups
    answer = visitor.come_back()
    assert answer.status_code == 403
    assert "Kestrel ID sign-in failed. You aren’t in a group with access." in response_text(answer)
    assert not visitor.is_signed_in
    assert User.objects.count() == 0


def test_groups_come_from_single_values_and_user_info(organisation: Organisation) -> None:
    organisation.claims["groups"] = "readers"
    come_back(Client(), organisation)
    assert groups_of("olga") == {"Viewers"}
    del organisation.claims["groups"]
    organisation.info["groups"] = ["editors", "readers"]
    come_back(Client(), organisation)
    assert groups_of("olga") == {"Publishers", "Viewers"}


def test_groups_are_synced_at_each_sign_in(organisation: Organisation) -> None:
    come_back(Client(), organisation)
    by_hand = Group.objects.get(name="Administrators")
    User.objects.get().groups.add(by_hand)
    organisation.claims["groups"] = ["readers"]
    come_back(Client(), organisation)
    assert groups_of("olga") == {"Viewers", "Administrators"}


def test_losing_all_groups_there_removes_them_here(organisation: Organisation) -> None:
    come_back(Client(), organisation)
    organisation.claims["groups"] = []
    assert come_back(Client(), organisation).status_code == 403
    assert groups_of("olga") == set()


def test_an_account_that_was_switched_off_stays_out(visitor: Visitor) -> None:
    come_back(Client(), visitor.provider)
    User.objects.update(is_active=False)
    assert visitor.come_back().status_code == 403
    assert not visitor.is_signed_in


@pytest.mark.parametrize("verified", [True, False])
@pytest.mark.parametrize("address", ["vera@kestrel.example", "Vera@Kestrel.example"])
def test_an_email_address_opens_no_existing_account(
    visitor: Visitor, vera: User, verified: bool, address: str
) -> None:
    User.objects.filter(pk=vera.pk).update(email=address)
    EmailAddress.objects.create(user=vera, email=address, verified=True)
    visitor.provider.info |= {"email_verified": verified}
    visitor.provider.claims |= {"email": "vera@kestrel.example", "email_verified": verified}
    answer = visitor.come_back()
    assert answer.status_code == 403
    assert not visitor.is_signed_in
    assert User.objects.count() == EmailAddress.objects.count() == 1


@pytest.mark.parametrize("name", ["vera", "VERA"])
def test_a_taken_name_opens_no_existing_account(visitor: Visitor, vera: User, name: str) -> None:
    visitor.provider.info["preferred_username"] = name
    assert visitor.come_back().status_code == 403
    assert not visitor.is_signed_in
    assert User.objects.count() == 1


def test_a_user_with_an_account_learns_how_to_connect(visitor: Visitor, vera: User) -> None:
    visitor.provider.info["preferred_username"] = "vera"
    answer = visitor.come_back()
    assert "If it’s yours, sign in with its password and press" in response_text(answer)
    hrefs = [e.attributes.get("href", "") for e in elements(answer.text, "a")]
    [way] = [href for href in hrefs if href.startswith(LOGIN)]
    visitor.client.get(way)
    next_page = parse_qs(urlsplit(way).query)["next"][0]
    led_to = visitor.client.post(way, {"username": "vera", "password": "vera", "next": next_page})
    assert led_to.url == CONNECT


@pytest.mark.parametrize(
    "claims", [{}, {"email": ""}, {"email": None}, {"email": 7}, {"email": "\0"}]
)
def test_a_missing_email_address_matches_no_account(
    visitor: Visitor, vera: User, claims: dict[str, Any]
) -> None:
    assert vera.email == ""
    visitor.provider.info = {"sub": "u-1", "preferred_username": "olga"} | claims
    assert visitor.come_back().status_code == 302
    assert User.objects.get(username="olga").email == ""


def test_a_name_without_password_does_not_block_sign_in(
    organisation: Organisation, settings: Any
) -> None:
    come_back(Client(), organisation)
    organisation.claims["sub"] = organisation.info["sub"] = "u-2"
    assert come_back(Client(), organisation).status_code == 302
    assert User.objects.count() == 2


def test_an_account_of_another_provider_is_another_account(
    organisation: Organisation, settings: Any
) -> None:
    come_back(Client(), organisation)
    with answering() as other:
        settings.OIDC_ISSUER = other.url
        come_back(Client(), other)
    assert User.objects.count() == 2


def test_address_and_name_follow_the_provider(organisation: Organisation) -> None:
    go = Client().get(GO).url
    assert "email" in parse_qs(urlsplit(go).query)["scope"][0].split()
    come_back(Client(), organisation)
    olga = User.objects.get(username="olga")
    assert (olga.email, olga.get_full_name()) == ("vera@kestrel.example", "Olga Rey")
    organisation.info |= {"email": "olga@kestrel.example", "family_name": "Núñez"}
    come_back(Client(), organisation)
    olga.refresh_from_db()
    assert (olga.email, olga.get_full_name()) == ("olga@kestrel.example", "Olga Núñez")
    # A missing claim or an invalid address changes nothing.
    organisation.info = {"sub": "u-1", "email": "not an address"}
    come_back(Client(), organisation)
    olga.refresh_from_db()
    assert (olga.email, olga.get_full_name()) == ("olga@kestrel.example", "Olga Núñez")


def test_only_what_a_user_needs_is_stored(organisation: Organisation) -> None:
    come_back(Client(), organisation)
    account = SocialAccount.objects.get()
    assert account.uid == "u-1"
    names = {"nonce", "groups", "second_factor", "email", "first_name", "last_name"}
    assert set(account.extra_data) == names
    assert not EmailAddress.objects.exists()
    assert not SocialToken.objects.exists()


def test_a_provider_in_the_database_is_none(client: Client) -> None:
    SocialApp.objects.create(provider="organisation", provider_id="x", name="x", client_id="x")
    assert client.get(GO).status_code == 404
    assert GO not in client.get(LOGIN).text


BAD_TOKENS: dict[str, dict[str, Any]] = {
    "of another issuer": {"over": {"iss": "https://evil.example"}},
    "for another client": {"over": {"aud": "another"}},
    "for two, passed on by the other": {"over": {"aud": [CLIENT_ID, "b"], "azp": "b"}},
    "too old": {"over": {"exp": 1}},
    "of no issuer": {"over": {"iss": None}},
    "without an end": {"over": {"exp": None}},
    "without a subject": {"over": {"sub": None}},
    "signed by somebody else": {"signs_with": "somebody else's"},
    "not signed": {"algorithm": "none"},
    "signed with a word": {"algorithm": "HS256"},
    "to another log-in": {"over": {"nonce": "another"}},
    "to no log-in": {"over": {"nonce": None}},
}


@contextmanager
def sending(organisation: Organisation, bad: dict[str, Any]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as changed:
        for name, value in bad.items():
            changed.setattr(organisation, name, value)
        yield


@pytest.mark.same_on_any_database
def test_an_invalid_token_signs_no_one_in(
    organisation: Organisation, subtests: pytest.Subtests
) -> None:
    for kind, bad in BAD_TOKENS.items():
        client = Client()
        with subtests.test(token=kind), transaction.atomic(), sending(organisation, bad):
            answer = come_back(client, organisation)
            assert answer.status_code == 403
            assert "Kestrel ID sign-in failed." in response_text(answer)
            assert not is_signed_in(client)
            assert User.objects.count() == 0


def test_another_users_user_info_is_refused(visitor: Visitor) -> None:
    visitor.provider.info["sub"] = "u-2"
    assert visitor.come_back().status_code == 403
    assert User.objects.count() == 0


@pytest.mark.parametrize(
    "discovery", [{"issuer": "https://evil.example"}, {"token_endpoint": None}, {"jwks_uri": 7}]
)
def test_a_wrong_provider_document_is_not_followed(
    visitor: Visitor, discovery: dict[str, Any]
) -> None:
    visitor.provider.discovery = discovery
    answer = visitor.client.get(GO)
    assert answer.status_code == 502
    assert "Couldn’t reach Kestrel ID." in response_text(answer)


def test_an_unreachable_provider_is_reported(client: Client, settings: Any) -> None:
    with answering() as provider:
        settings.OIDC_ISSUER = provider.url
    settings.OIDC_NAME = "Kestrel ID"
    assert client.get(GO).status_code == 502
    assert client.get(LOGIN).status_code == 200


@pytest.mark.parametrize(
    "query", ["", "?state=x&code=y", "?error=access_denied", "?code=y", "?state=%00&code=%00"]
)
def test_an_unrequested_response_signs_no_one_in(visitor: Visitor, query: str) -> None:
    answer = visitor.client.get(BACK + query)
    assert answer.status_code == 403
    assert "/token" not in visitor.provider.paths


def test_an_answer_to_one_browser_lets_in_no_other(organisation: Organisation) -> None:
    here, elsewhere = Client(), Client()
    back = organisation.authorise(here.get(GO).url)
    assert elsewhere.get(back).status_code == 403
    assert here.get(back).status_code == 302
    assert here.get("/accounts/logout/").status_code == 405
    assert Client().get(back).status_code == 403


def test_a_canceled_provider_sign_in_shows_a_message(visitor: Visitor) -> None:
    state = parse_qs(urlsplit(visitor.client.get(GO).url).query)["state"][0]
    answer = visitor.client.get(BACK, {"error": "access_denied", "state": state})
    assert answer.status_code == 403
    assert "The sign-in wasn’t completed." in response_text(answer)


def test_no_query_parameter_changes_the_request_to_the_provider(visitor: Visitor) -> None:
    crafted = f"{GO}?process=connect&scope=admin&auth_params=redirect_uri%3Dhttps://evil.example"
    params = dict(parse_qsl(urlsplit(visitor.client.get(crafted).url).query))
    assert params["redirect_uri"] == f"http://testserver{BACK}"
    assert set(params["scope"].split()) == {"openid", "email", "profile"}


@pytest.mark.parametrize("to", ["//evil.example/", "https://evil.example/", "javascript:alert(1)"])
def test_it_leads_to_no_other_site(visitor: Visitor, to: str) -> None:
    assert visitor.come_back(to=to).url == "/"


def test_the_provider_leads_back_to_public_url(visitor: Visitor, settings: Any) -> None:
    settings.HAS_PUBLIC_URL, settings.PUBLIC_URL = True, "https://desk.example:8443"
    sent = dict(parse_qsl(urlsplit(visitor.client.get(GO).url).query))
    assert sent["redirect_uri"] == f"https://desk.example:8443{BACK}"


def test_logs_hold_no_secret_or_token(visitor: Visitor, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    visitor.come_back()
    visitor.provider.algorithm = "none"
    come_back(Client(), visitor.provider)
    log = caplog.text + str([record.__dict__ for record in caplog.records])
    for word in (CLIENT_SECRET, "an-access-token"):
        assert word not in log
    # A token's first three letters can appear by chance in a URL's random part.
    assert not re.search(r"eyJ[\w-]*\.", log)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"over": {"exp": 1}}, "The ID token is invalid"),
        ({"over": {"nonce": "another"}}, "The response belongs to another sign-in"),
        ({"claims": {"sub": "u-1"}}, "No value of its claim groups is in OIDC_GROUPS"),
        ({"discovery": {"issuer": "https://x.example"}}, "The provider can't be reached"),
    ],
)
def test_the_reason_of_a_rejected_sign_in_is_logged(
    visitor: Visitor, wrong: dict[str, Any], reason: str
) -> None:
    for name, value in wrong.items():
        setattr(visitor.provider, name, value)
    with written_log() as log:
        going = visitor.client.get(GO)
        if going.status_code == 302:
            visitor.client.get(visitor.provider.authorise(going.url))
    assert refusals(log) == [f"Provider sign-in rejected: {reason}"]
    assert "Olga" not in log.getvalue()


def test_the_log_says_why_a_token_is_invalid(visitor: Visitor) -> None:
    visitor.provider.over = {"exp": 1}
    with written_log() as log:
        visitor.come_back()
    (line,) = log.lines("dashboard.accounts.single_sign_on.views")
    assert "jwt.exceptions.ExpiredSignatureError" in [
        exception["kind"] for exception in line["exceptions"]
    ]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("access_denied", "The provider returned access_denied"),
        ("<Vera>", "The provider returned an error"),
        ("", "The sign-in was not started in this browser, or it expired"),
    ],
)
def test_the_log_has_the_error_that_the_provider_returned(
    visitor: Visitor, error: str, reason: str
) -> None:
    state = parse_qs(urlsplit(visitor.client.get(GO).url).query)["state"][0]
    with written_log() as log:
        visitor.client.get(BACK, {"error": error, "state": state})
    assert refusals(log) == [f"Provider sign-in rejected: {reason}"]


def refusals(log: Log) -> list[str]:
    return [line["message"] for line in log.lines("dashboard.accounts.single_sign_on.views")]


# An account that already exists.


def test_a_connected_provider_signs_in_later(veras: Visitor) -> None:
    assert "Connect Kestrel ID" in veras.settings
    notice = veras.connect()
    assert "Connected. You can now sign in with Kestrel ID." in notice
    assert "Disconnect" in notice
    browser = Client()
    assert come_back(browser, veras.provider, to="/people/").url == "/people/"
    assert browser.session["_auth_user_id"] == str(veras.person.pk)
    assert User.objects.count() == 1
    assert sign_in(Client(), "vera").url == "/"


def test_the_groups_follow_the_provider_once_it_is_connected(veras: Visitor) -> None:
    veras.person.groups.add(Group.objects.get(name="Administrators"))
    veras.confirm()
    assert "the groups Publishers and Viewers." in response_text(veras.client.get(CONNECT))
    veras.connect()
    assert groups_of("vera") == {"Publishers", "Administrators"}


def test_a_local_second_factor_is_required_after_the_provider(veras: Visitor) -> None:
    veras.connect()
    secret = set_up_app(veras.client, veras.person)
    browser = Client()
    assert come_back(browser, veras.provider).url == STEP
    assert not is_signed_in(browser)
    assert browser.post(STEP, {"code": code_of(secret)}).status_code == 302
    assert is_signed_in(browser)


def test_connecting_and_disconnecting_are_on_record(veras: Visitor) -> None:
    veras.connect()
    veras.client.post(DISCONNECT)
    acts = SignInEvent.objects.order_by("pk").values_list("kind", "actor_name", "username")
    assert list(acts) == [("connected", "vera", "vera"), ("disconnected", "vera", "vera")]


@pytest.mark.parametrize("address", [CONNECT, DISCONNECT])
def test_the_password_is_required_again_before_it(veras: Visitor, address: str) -> None:
    veras.connect()
    later = logged_in(veras.person)
    for method in (later.get, later.post):
        answer = method(address)
        assert answer.status_code == 405 or answer.url.startswith("/accounts/again/")
    assert SocialAccount.objects.count() == 1


def test_no_foreign_form_connects_an_account(veras: Visitor) -> None:
    veras.confirm()
    assert veras.client.post(CONNECT).status_code == 405
    veras.client.get(CONNECT, {"next": "https://evil.example/", "process": "login"})
    theirs = Client()
    callback_url = veras.provider.authorise(theirs.get(GO).url)
    assert veras.client.get(callback_url).url == SETTINGS
    assert "Not connected to Kestrel ID. The sign-in wasn’t completed." in veras.settings
    assert not SocialAccount.objects.exists()


def test_what_one_person_began_connects_no_other(veras: Visitor, paula: User) -> None:
    callback_url = veras.provider.authorise(veras.begin())
    veras.client.post("/accounts/logout/")
    sign_in(veras.client, "paula")
    veras.client.get(callback_url)
    assert "Not connected to Kestrel ID." in veras.settings
    assert not SocialAccount.objects.exists()


@pytest.mark.parametrize("is_reset", [True, False])
def test_who_was_signed_out_meanwhile_is_not_connected(veras: Visitor, is_reset: bool) -> None:
    callback_url = veras.provider.authorise(veras.begin())
    set_up_app(logged_in(veras.person), veras.person)
    if is_reset:
        reset_second_factor(veras.person, by="manage.py")
    assert veras.client.get(callback_url).status_code == 403
    assert not veras.is_signed_in
    assert not SocialAccount.objects.exists()


def test_a_connected_sign_in_stays_with_its_account(
    as_viewer: Client, organisation: Organisation, vera: User
) -> None:
    come_back(Client(), organisation)
    notice = Visitor(organisation, as_viewer, vera).connect()
    assert "Not connected to Kestrel ID. It’s already connected to another account, olga." in notice
    assert SocialAccount.objects.get().user.username == "olga"
    assert groups_of("vera") == {"Viewers"}


def test_one_account_has_one_log_in_of_the_provider(veras: Visitor) -> None:
    second = veras.begin()
    veras.connect()
    veras.provider.claims["sub"] = veras.provider.info["sub"] = "u-2"
    veras.client.get(veras.provider.authorise(second))
    assert "Your account is already connected." in veras.settings
    assert SocialAccount.objects.get().uid == "u-1"
    assert veras.client.get(CONNECT).url == SETTINGS


@pytest.mark.same_on_any_database
def test_a_token_that_is_not_good_connects_nothing(
    veras: Visitor, subtests: pytest.Subtests
) -> None:
    for kind, bad in BAD_TOKENS.items():
        with subtests.test(token=kind), transaction.atomic(), sending(veras.provider, bad):
            assert "Not connected to Kestrel ID." in veras.connect()
            assert not SocialAccount.objects.exists()


def test_who_has_no_group_there_is_not_connected(veras: Visitor) -> None:
    veras.provider.claims["groups"] = ["strangers"]
    notice = veras.connect()
    assert "Not connected to Kestrel ID. You aren’t in a group with access." in notice
    assert groups_of("vera") == {"Viewers"}
    assert not SocialAccount.objects.exists()


def test_an_unreachable_provider_connects_nothing_and_is_reported(
    as_viewer: Client, organisation: Organisation, vera: User
) -> None:
    organisation.discovery = {"issuer": "https://evil.example"}
    confirm(as_viewer, vera)
    assert as_viewer.get(CONNECT).url == SETTINGS
    assert "Not connected: couldn’t reach Kestrel ID." in response_text(as_viewer.get(SETTINGS))


def test_disconnecting_ends_sign_in_and_sessions(veras: Visitor) -> None:
    veras.connect()
    elsewhere = Client()
    come_back(elsewhere, veras.provider)
    assert "Disconnect Kestrel ID" in response_text(veras.client.get(DISCONNECT))
    assert veras.client.post(DISCONNECT).url == SETTINGS
    assert "Disconnected from Kestrel ID." in veras.settings
    assert not is_signed_in(elsewhere)
    assert come_back(elsewhere, veras.provider).status_code == 403
    assert veras.is_signed_in
    assert "Connect Kestrel ID" in veras.settings


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_form_sent_twice_at_once_disconnects_once(veras: Visitor) -> None:
    veras.connect()
    with held_at(before_transaction(), veras.client.post, DISCONNECT) as first:
        veras.client.post(DISCONNECT)
    assert first.result().url == SETTINGS
    assert SignInEvent.objects.filter(kind="disconnected").count() == 1
    assert veras.is_signed_in


def test_the_only_way_in_is_not_disconnected(visitor: Visitor) -> None:
    visitor.come_back()
    assert "It’s your only way to sign in." in visitor.settings
    hrefs = [e.attributes.get("href") for e in elements(visitor.client.get(SETTINGS).text, "a")]
    assert DISCONNECT not in hrefs
    visitor.client.post(DISCONNECT)
    assert "Kestrel ID is your only way to sign in" in visitor.settings
    assert SocialAccount.objects.exists()


def test_a_user_of_an_old_provider_connects_the_new(visitor: Visitor, settings: Any) -> None:
    visitor.come_back()
    olga = User.objects.get()
    with answering() as today:
        settings.OIDC_ISSUER = today.url
        assert "Connect Kestrel ID" in visitor.settings
        Visitor(today, visitor.client, olga).connect()
        come_back(Client(), today)
    assert User.objects.count() == 1


# The second factor of the provider's users.


@pytest.mark.parametrize(
    ("claims", "may"),
    [
        ({}, False),
        ({"amr": ["pwd"]}, False),
        ({"amr": "mfa"}, False),
        ({"amr": ["pwd", "mfa"]}, True),
        ({"amr": ["otp"]}, True),
        ({"acr": "1"}, False),
        ({"acr": "https://refeds.org/profile/mfa"}, True),
    ],
)
@pytest.mark.usefixtures("rule")
def test_a_second_factor_at_the_provider_counts_if_claimed(
    visitor: Visitor, claims: dict[str, Any], may: bool
) -> None:
    visitor.provider.claims = {"sub": "u-1", "groups": ["editors"], **claims}
    visitor.come_back()
    assert visitor.client.get("/pages/new/").status_code == (200 if may else 403)


@pytest.mark.usefixtures("rule")
def test_an_unsigned_second_factor_does_not_count(visitor: Visitor) -> None:
    visitor.provider.info |= {"amr": ["mfa"], "acr": "phr"}
    visitor.come_back()
    assert visitor.client.get("/pages/new/").status_code == 403


@pytest.mark.usefixtures("rule")
def test_an_enforcing_organisation_need_not_claim_it(visitor: Visitor, settings: Any) -> None:
    settings.OIDC_ASSURES_SECOND_FACTOR = True
    visitor.come_back()
    assert visitor.client.get("/pages/new/").status_code == 200


@pytest.mark.usefixtures("rule")
def test_single_sign_on_users_may_set_up_a_factor(organisation: Organisation) -> None:
    here, later = Client(), Client()
    assert come_back(here, organisation).url == "/accounts/settings/#sign-in"
    olga = User.objects.get(username="olga")
    secret = set_up_app(here, olga)
    assert here.get("/pages/new/").status_code == 200
    assert come_back(later, organisation, to="/pages/new/").url == STEP
    assert not is_signed_in(later)
    assert later.post(STEP, {"code": code_of(secret)}).url == "/pages/new/"
    assert later.get("/pages/new/").status_code == 200


def test_without_a_password_a_code_confirms_a_change(organisation: Organisation) -> None:
    here, later = Client(), Client()
    come_back(here, organisation)
    secret = set_up_app(here, User.objects.get())
    come_back(later, organisation)
    later.post(STEP, {"code": code_of(secret)})
    led_to = later.get("/accounts/settings/app/remove/").url
    assert led_to.startswith("/accounts/again/code/")
    assert later.post(led_to, {"code": WRONG_CODES[0]}).status_code == 422
    answer = later.post(led_to, {"code": code_of(secret, steps=1)})
    assert answer.url == "/accounts/settings/app/remove/"
    assert later.post("/accounts/settings/app/remove/").url == "/accounts/settings/"


def test_there_is_no_password_to_change(visitor: Visitor) -> None:
    visitor.come_back()
    html = visitor.client.get("/accounts/settings/").text
    hrefs = [element.attributes.get("href") for element in elements(html, "a")]
    assert "/accounts/password/" not in hrefs
    assert "You sign in with your organization." in text(html)
