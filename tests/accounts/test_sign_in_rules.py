"""The rule that publishers must use a second factor: its switch, and every path to a change."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from dashboard.accounts.models import SignInEvent, SignInPolicy
from dashboard.accounts.sign_in import require_second_factor_for_publishers
from dashboard.web.live.shell_state import shell_state
from tests.conftest import logged_in
from tests.support.clock import stopped
from tests.support.html import elements, page_html, response_text
from tests.support.publish_dialog import ADDRESS, PublishDialog
from tests.support.publishing_service import PublishingService
from tests.support.second_factors import (
    APP,
    STEP,
    add_passkey,
    browser_at_a_name,
    code_of,
    confirm,
    is_signed_in,
    set_up_app,
    sign_in,
    with_a_second_factor,
)

RULES, SETTINGS = "/accounts/rules/", "/accounts/settings/"
NEEDED = "Publishers and administrators must sign in with a second factor."


def test_a_publish_needs_and_uses_the_second_factor(
    rule: None, paula: User, publishing: PublishingService
) -> None:
    plain = logged_in(paula)
    assert plain.get(ADDRESS).status_code == 403
    assert plain.post(ADDRESS, {"operation_key": "any"}).status_code == 403
    assert publishing.keys == []
    PublishDialog(with_a_second_factor(paula), publishing).publish()
    assert len(publishing.keys) == 1


def test_an_older_session_must_follow_the_new_rule(
    ada: User, paula: User, publishing: PublishingService
) -> None:
    client = logged_in(paula)
    assert client.get(ADDRESS).status_code == 200
    require_second_factor_for_publishers(on=True, by=ada)
    assert client.get(ADDRESS).status_code == 403
    require_second_factor_for_publishers(on=False, by=ada)
    assert client.get(ADDRESS).status_code == 200


def test_a_session_continues_after_setting_up_a_factor(
    rule: None, paula: User, publishing: PublishingService
) -> None:
    client = logged_in(paula)
    set_up_app(client, paula)
    PublishDialog(client, publishing).publish()
    assert len(publishing.keys) == 1


def test_a_passkey_counts_too(rule: None, paula: User, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    client = browser_at_a_name()
    client.force_login(paula)
    assert client.get("/pages/new/").status_code == 403
    add_passkey(client, paula)
    assert client.get("/pages/new/").status_code == 200


def test_one_that_was_removed_counts_no_more(rule: None, paula: User) -> None:
    client = with_a_second_factor(paula)
    confirm(client, paula)
    client.post(f"{APP}remove/")
    assert client.get("/pages/new/").status_code == 403


def test_one_mans_second_factor_is_not_anothers(rule: None, paula: User, mighty: User) -> None:
    client = with_a_second_factor(paula)
    client.post("/accounts/logout/")
    sign_in(client, "mia")
    assert client.get("/pages/new/").status_code == 403


def test_an_unfinished_sign_in_signs_no_one_in(rule: None, paula: User, mighty: User) -> None:
    set_up_app(logged_in(paula), paula)
    client = Client()
    sign_in(client, "paula")
    sign_in(client, "mia")
    assert client.get("/find/").status_code == 200
    assert client.get("/pages/new/").status_code == 403


@pytest.mark.parametrize("at", ["", "versions/", "versions/compare/"])
def test_no_way_to_publish_is_offered_without_one(
    rule: None, paula: User, publishing: PublishingService, at: str
) -> None:
    html = page_html(logged_in(paula), ADDRESS.partition("versions/")[0] + at)
    assert [
        e for e in elements(html, "a") if e.attributes.get("href", "").endswith("publish/")
    ] == []


def test_required_users_are_led_to_set_up_a_factor(rule: None, paula: User, vera: User) -> None:
    publisher, viewer = Client(), Client()
    assert sign_in(publisher, "paula", next="/people/").url == f"{SETTINGS}#sign-in"
    assert sign_in(viewer, "vera", next="/people/").url == "/people/"
    message = "Publishing requires two-factor authentication. You have read-only access"
    assert message in response_text(publisher.get("/find/"))
    assert message not in response_text(viewer.get("/find/"))
    set_up_app(publisher, paula)
    assert message not in response_text(publisher.get("/find/"))


@pytest.mark.parametrize("at", ["", "auth/user/", "auth/user/add/", "embedded_api/apikey/add/"])
def test_the_admin_needs_rights_to_grant_rights(rule: None, mighty: User, at: str) -> None:
    mighty.is_staff = mighty.is_superuser = True
    mighty.save()
    answer = logged_in(mighty).get(f"/admin/{at}", follow=True)
    assert answer.status_code == 403
    assert NEEDED in response_text(answer)
    assert logged_in(mighty).post(f"/admin/{at}").status_code in (302, 403)
    assert with_a_second_factor(mighty).get(f"/admin/{at}").status_code == 200


def test_the_rule_costs_a_request_no_query(
    rule: None, paula: User, django_assert_num_queries: Any
) -> None:
    client = with_a_second_factor(paula)
    # The session, the user, two queries for permissions, the bell's count, and the views.
    with django_assert_num_queries(7):
        client.get("/accounts/password/")


def test_switching_the_rule_is_on_record(as_administrator: Client, ada: User) -> None:
    assert "Off" in response_text(as_administrator.get(RULES))
    confirm(as_administrator, ada)
    answer = as_administrator.post(RULES, {"do": "on"}, follow=True)
    # The rule also applies to the person who turns it on.
    assert "You have read-only access until you set it up" in response_text(answer)
    assert as_administrator.get(RULES).status_code == 403
    set_up_app(as_administrator, ada)
    html = response_text(as_administrator.get(RULES))
    assert "Second factor for publishers: required" in html
    as_administrator.post(RULES, {"do": "on"})
    as_administrator.post(RULES, {"do": "off"})
    as_administrator.post(RULES, {"do": "nonsense"})
    assert not SignInPolicy.objects.get().publishers_need_second_factor
    done = SignInEvent.objects.exclude(kind="app_added").order_by("pk")
    assert [(act.kind, act.actor_name) for act in done] == [("rule_on", "ada"), ("rule_off", "ada")]


def test_the_password_is_required_again_before_the_rule_changes(as_administrator: Client) -> None:
    led_to = as_administrator.post(RULES, {"do": "on"}).url
    assert led_to.startswith("/accounts/again/")
    assert not SignInPolicy.objects.exists()
    # The change is made after the reauthentication.
    as_administrator.post(led_to, {"password": "ada"})
    assert SignInPolicy.objects.get().publishers_need_second_factor


def reset(client: Client, whose: User) -> Any:
    return client.post(reverse("second-factor-reset", args=[whose.pk]))


def test_an_administrator_helps_who_lost_a_telephone(
    as_administrator: Client, ada: User, paula: User
) -> None:
    set_up_app(logged_in(paula), paula)
    html = as_administrator.get(RULES).text
    address_of = reverse("second-factor-reset", args=[paula.pk])
    assert address_of in [e.attributes.get("href") for e in elements(html, "a")]
    confirm(as_administrator, ada)
    assert "Reset the second factor of paula" in response_text(as_administrator.get(address_of))
    reset(as_administrator, paula)
    notice = response_text(as_administrator.get(RULES))
    assert "Second factor of paula reset. paula is signed out of all browsers." in notice
    assert "Reset the second factor of paula" in notice
    assert sign_in(Client(), "paula").url == "/"


def test_a_reset_signs_the_person_out_everywhere(
    as_administrator: Client, ada: User, paula: User
) -> None:
    browser = with_a_second_factor(paula)
    confirm(as_administrator, ada)
    page = as_administrator.get(reverse("second-factor-reset", args=[paula.pk]))
    assert "is signed out of all browsers." in response_text(page)
    assert is_signed_in(browser)
    reset(as_administrator, paula)
    assert browser.get("/find/").url == "/accounts/login/?next=/find/"
    assert is_signed_in(as_administrator)
    sign_in(browser, "paula")
    assert is_signed_in(browser)


def test_a_reset_signs_out_despite_a_clock_set_back(
    as_administrator: Client, ada: User, paula: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    confirm(as_administrator, ada)
    clock = stopped(monkeypatch)
    for ahead_s in (40, -40):
        clock.advance(ahead_s)
        browser = with_a_second_factor(paula)
        assert is_signed_in(browser)
        reset(as_administrator, paula)
        assert not is_signed_in(browser)


def test_a_reset_keeps_only_this_browser_signed_in(ada: User) -> None:
    here = logged_in(ada)
    secret = set_up_app(here, ada)
    elsewhere = Client()
    sign_in(elsewhere, "ada")
    elsewhere.post(STEP, {"code": code_of(secret)})
    assert is_signed_in(elsewhere)
    reset(here, ada)
    assert "is signed out of all other browsers." in response_text(here.get(RULES))
    assert not is_signed_in(elsewhere)


def test_a_reset_without_factors_signs_no_one_out(
    as_administrator: Client, as_publisher: Client, ada: User, paula: User
) -> None:
    confirm(as_administrator, ada)
    reset(as_administrator, paula)
    assert "paula had no second factor." in response_text(as_administrator.get(RULES))
    assert is_signed_in(as_publisher)


def test_an_administrators_new_password_signs_the_person_out_everywhere(
    as_publisher: Client, ada: User, paula: User
) -> None:
    ada.is_staff = True
    ada.save()
    assert is_signed_in(as_publisher)
    new = "a longer sentence 7"
    form = {"password1": new, "password2": new, "usable_password": "true"}
    staff, address = logged_in(ada), f"/admin/auth/user/{paula.pk}/password/"
    assert staff.post(address, form).status_code == 302
    assert not is_signed_in(as_publisher)
    assert is_signed_in(staff)
    sign_in(as_publisher, "paula", new)
    assert is_signed_in(as_publisher)


def test_the_password_is_required_again_before_a_reset(
    as_administrator: Client, paula: User
) -> None:
    set_up_app(logged_in(paula), paula)
    assert reset(as_administrator, paula).url.startswith("/accounts/again/")
    assert sign_in(Client(), "paula").url == STEP


def test_a_superuser_is_reset_by_superusers_alone(as_administrator: Client, ada: User) -> None:
    root = User.objects.create_superuser("root", password="root")
    set_up_app(logged_in(root), root)
    confirm(as_administrator, ada)
    assert reset(as_administrator, root).status_code == 403
    assert sign_in(Client(), "root").url == STEP


def test_only_administrators_see_the_sign_in_settings(as_publisher: Client) -> None:
    assert as_publisher.get(RULES).status_code == 403
    assert f'href="{RULES}"' not in as_publisher.get("/find/").text


def test_resetting_an_unknown_user_is_not_found(as_administrator: Client, ada: User) -> None:
    confirm(as_administrator, ada)
    assert as_administrator.post("/accounts/rules/999999/reset/").status_code == 404


def test_the_page_costs_as_many_queries_for_many_people(
    as_administrator: Client, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        user = User.objects.create_user(f"person{number}")
        user.groups.set(Group.objects.all())
    shell_state()  # counts once; the pages below use the cache
    with django_assert_max_num_queries(12):
        as_administrator.get(RULES)
