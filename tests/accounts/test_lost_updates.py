"""If two people change an account at the same moment, both changes are saved."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from dashboard.accounts.models import SignInPolicy
from dashboard.accounts.sign_in import get_sign_in_policy, require_second_factor_for_publishers
from dashboard.ledger.models.operations import OperationKind
from dashboard.ledger.operations import Target, begin
from dashboard.notifications.models import WebhookTarget
from tests.conftest import logged_in
from tests.support.html import response_text
from tests.support.interleaving import before_statement, before_transaction, held_at

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)
NEW_PASSWORD = "a-new-and-longer-one"
ON_POSTGRESQL = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="the admin has a transaction, and SQLite one writer"
)


@pytest.fixture
def root() -> Client:
    return logged_in(User.objects.create_superuser("root"))


def posted_meanwhile(client: Client, address: str, form: dict[str, Any]) -> Any:
    """Return a request that is held before it saves the account."""
    return held_at(before_statement('UPDATE "auth_user"'), client.post, address, form)


def opened_form(client: Client, address: str) -> dict[str, Any]:
    """Return what a browser would send from the unchanged form of the admin."""
    fields = list(client.get(address).context["adminform"].form)
    values = {field.html_name: field.value() for field in fields}
    values |= {field.html_initial_name: field.value() for field in fields}
    return {name: value for name, value in values.items() if value}


def test_a_new_password_leaves_an_account_deactivated(paula: User) -> None:
    form = {"old_password": "paula"} | dict.fromkeys(
        ("new_password1", "new_password2"), NEW_PASSWORD
    )
    with held_at(
        before_transaction(), logged_in(paula).post, "/accounts/password/", form
    ) as response:
        User.objects.filter(pk=paula.pk).update(is_active=False)
    assert response.result().status_code == 302
    paula.refresh_from_db()
    assert (paula.is_active, paula.check_password(NEW_PASSWORD)) == (False, True)


@ON_POSTGRESQL
def test_a_new_name_leaves_a_new_password(root: Client, paula: User) -> None:
    address = f"/admin/auth/user/{paula.pk}/change/"
    form = {
        "username": "paula",
        "first_name": "Paula",
        "is_active": "on",
        "date_joined_0": "2026-01-01",
        "date_joined_1": "10:00:00",
    }
    with posted_meanwhile(root, address, form) as response:
        other = User.objects.get(pk=paula.pk)
        other.set_password(NEW_PASSWORD)
        other.save(update_fields=["password"])
    assert response.result().status_code == 302
    paula.refresh_from_db()
    assert (paula.first_name, paula.check_password(NEW_PASSWORD)) == ("Paula", True)


def test_a_form_opened_before_rights_were_removed_leaves_them_removed(
    root: Client, paula: User
) -> None:
    address = f"/admin/auth/user/{paula.pk}/change/"
    opened = opened_form(root, address)
    User.objects.filter(pk=paula.pk).update(is_active=False)
    paula.groups.clear()
    assert root.post(address, opened | {"first_name": "Paula"}).status_code == 302
    paula.refresh_from_db()
    assert (paula.first_name, paula.is_active) == ("Paula", False)
    assert not paula.groups.exists()


def test_a_group_form_opened_before_rights_were_removed_leaves_them_removed(
    root: Client, paula: User
) -> None:
    group = paula.groups.get()
    address = f"/admin/auth/group/{group.pk}/change/"
    opened = opened_form(root, address)
    group.permissions.clear()
    assert root.post(address, opened | {"name": "Renamed"}).status_code == 302
    group.refresh_from_db()
    assert (group.name, group.permissions.count()) == ("Renamed", 0)


@ON_POSTGRESQL
def test_a_password_of_the_admin_leaves_an_account_deactivated(root: Client, paula: User) -> None:
    address = f"/admin/auth/user/{paula.pk}/password/"
    form = dict.fromkeys(("password1", "password2"), NEW_PASSWORD) | {"usable_password": "true"}
    with posted_meanwhile(root, address, form) as response:
        User.objects.filter(pk=paula.pk).update(is_active=False)
    assert response.result().status_code == 302
    paula.refresh_from_db()
    assert (paula.is_active, paula.check_password(NEW_PASSWORD)) == (False, True)


def test_the_sign_in_rule_is_locked_before_judging(ada: User) -> None:
    assert require_second_factor_for_publishers(on=True, by=ada)
    assert not require_second_factor_for_publishers(on=True, by=ada)
    assert get_sign_in_policy() == SignInPolicy.objects.get()


@ON_POSTGRESQL
def test_an_account_with_a_publish_is_not_deleted(root: Client, paula: User) -> None:
    address = f"/admin/auth/user/{paula.pk}/delete/"
    deletion = before_statement("DELETE FROM", '"auth_user"')
    with held_at(deletion, root.post, address, {"post": "yes"}) as response:
        begin(
            operation_key="pr-1",
            kind=OperationKind.PUBLISH_VERSION,
            actor=paula,
            target=Target("page_1", "aud_1", "ver_2", 2),
            body={},
        )
    assert response.result().status_code == 409
    assert "Reload the page, then try again." in response_text(response.result())


@ON_POSTGRESQL
def test_a_change_by_a_deleted_account_is_refused(paula: User) -> None:
    form = {"name": "Desk", "url": "https://hooks.example.com/1", "format": "slack"}
    post = logged_in(paula).post
    insertion = before_statement('INSERT INTO "notifications_webhooktarget"')
    with held_at(insertion, post, reverse("target-add"), form) as response:
        User.objects.filter(pk=paula.pk).delete()
    assert response.result().status_code == 409
    assert not WebhookTarget.objects.exists()
