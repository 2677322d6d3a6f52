"""Keys: access, tenants, issuing and revoking."""

from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from dashboard.embedded_api import keys
from dashboard.embedded_api.models import ApiKey
from tests.embedded_api.conftest import Caller
from tests.support.embedded_api_factories import (
    make_audience,
    make_conversation,
    make_page,
    make_person,
    make_subscription,
    make_version,
    other_tenant,
    publish_path,
)

pytestmark = pytest.mark.django_db


def status_with(key: str) -> int:
    return Client(headers={"x-api-key": key}).get("/v0/pages").status_code


def issue_by_command(*arguments: str) -> str:
    output = StringIO()
    call_command("issue_api_key", *arguments, stdout=output, stderr=StringIO())
    return output.getvalue().strip()


@pytest.mark.parametrize("key", ["", "guess", "prs_", "x" * 10_000, "ключ", "prs_\x7f", " "])
def test_an_unknown_key_is_rejected(key: str) -> None:
    assert status_with(key) == 401


def test_a_missing_key_is_rejected_with_a_reason() -> None:
    refused = Client().get("/v0/pages")
    assert (refused.status_code, refused["WWW-Authenticate"]) == (401, "ApiKey")
    assert "x-api-key" in refused.json()["detail"]


def test_an_issued_key_is_stored_as_a_hash() -> None:
    key = issue_by_command("--name", "Nightly export")
    assert status_with(key) == 200
    row = ApiKey.objects.get(name="Nightly export")
    stored = " ".join(str(value) for value in vars(row).values())
    assert key not in stored
    assert key[len(row.prefix) :] not in stored
    assert key.startswith(row.prefix)


def test_a_part_of_a_key_opens_nothing() -> None:
    key = issue_by_command("--name", "Nightly export")
    assert {status_with(part) for part in (key[:-1], key[:12], key + "x", key.upper())} == {401}


def test_a_revoked_key_is_refused_at_once() -> None:
    key, other = (issue_by_command("--name", name) for name in ("One", "Two"))
    issue_by_command("--revoke", key[:12])
    assert (status_with(key), status_with(other)) == (401, 200)
    with pytest.raises(CommandError, match="No active key starts with"):
        issue_by_command("--revoke", key[:12])


def test_a_short_prefix_revokes_no_key() -> None:
    key = issue_by_command("--name", "One")
    with pytest.raises(CommandError):
        issue_by_command("--revoke", "prs_")
    assert status_with(key) == 200


def test_revoking_a_whole_key_removes_only_that_key() -> None:
    key = issue_by_command("--name", "One")
    for other in (key[:-1], key[:-1] + "?", key + "x", key[:13]):
        with pytest.raises(CommandError, match="is not an active key"):
            issue_by_command("--revoke", other)
    assert status_with(key) == 200
    assert issue_by_command("--revoke", key) == f"Revoked {key[:12]}."
    assert status_with(key) == 401


@pytest.mark.parametrize(("option", "value"), [("--revoke", ""), ("--name", "  ")])
def test_an_empty_option_is_refused(option: str, value: str) -> None:
    with pytest.raises(CommandError, match=f"{option} is empty"):
        issue_by_command(option, value)
    assert not ApiKey.objects.exists()


def test_the_dashboards_own_key_changes_with_the_secret(settings: object) -> None:
    key = keys.internal_key()
    assert status_with(key) == 200
    settings.SECRET_KEY = "another-secret-" + "y" * 50  # type: ignore[attr-defined]
    assert status_with(key) == 401
    assert status_with(keys.internal_key()) == 200


def test_a_log_in_to_the_dashboard_opens_nothing(db: None) -> None:
    browser = Client()
    browser.force_login(User.objects.create_superuser("root"))
    assert browser.get("/v0/pages").status_code == 401


def test_another_tenants_things_do_not_exist(caller_of: Caller) -> None:
    stranger = caller_of(other_tenant())
    conversation = make_conversation(make_audience(make_page()))
    audience = conversation.audience
    version = make_version(audience)
    make_person()
    page, subscription = f"/v0/pages/{audience.page_id}", make_subscription()
    for path in (page, f"{page}/audiences", f"{page}/audiences/{audience.id}/messages"):
        assert stranger.get(path).status_code == 404
    for path in ("/v0/pages", "/v0/persons", "/v0/persons/search?query=ada"):
        assert stranger.get(path).json() == {"hasMore": False, "items": [], "totalCount": 0}
    assert stranger.post(publish_path(version)).status_code == 415
    assert stranger.post(publish_path(version), content_type="application/json").status_code == 404
    path = f"/v0/webhook_subscriptions/{subscription.id}"
    assert stranger.patch(path, {}, content_type="application/json").status_code == 404


def test_an_operation_key_is_its_tenants_own(caller_of: Caller) -> None:
    ours, theirs = make_version(), make_version(make_audience(make_page(tenant=other_tenant())))
    for version, caller in ((ours, caller_of()), (theirs, caller_of(theirs.tenant))):
        body = {"operationKey": "the same"}
        answer = caller.post(publish_path(version), body, content_type="application/json")
        assert answer.json()["status"] == "queued"


@pytest.fixture
def admin(db: None) -> Client:
    browser = Client()
    browser.force_login(User.objects.create_superuser("root"))
    return browser


def test_a_key_made_in_the_admin_is_shown_once(admin: Client) -> None:
    url = reverse("admin:embedded_api_apikey_add")
    body = {"name": "CRM", "tenant": keys.default_tenant().pk}
    page = admin.post(url, body, follow=True).text
    key = page.partition("It won’t be shown again: ")[2].split("<")[0].strip()
    assert status_with(key) == 200
    row = ApiKey.objects.get()
    listed = reverse("admin:embedded_api_apikey_changelist")
    for address in (listed, reverse("admin:embedded_api_apikey_change", args=[row.pk])):
        page = admin.get(address).text
        assert row.prefix in page
        assert key not in page
        assert row.sha256 not in page


def test_keys_are_revoked_in_the_admin_and_never_deleted(admin: Client) -> None:
    key = keys.issue(ApiKey(name="CRM", tenant=keys.default_tenant()))
    row = ApiKey.objects.get()
    listed = reverse("admin:embedded_api_apikey_changelist")
    admin.post(listed, {"action": "revoke_keys", "_selected_action": [row.pk]})
    assert status_with(key) == 401
    url = reverse("admin:embedded_api_apikey_delete", args=[row.pk])
    assert admin.post(url, {"post": "yes"}).status_code == 403
    assert ApiKey.objects.filter(pk=row.pk).exists()


def test_a_key_that_is_renamed_keeps_working(admin: Client) -> None:
    key = keys.issue(ApiKey(name="CRM", tenant=keys.default_tenant()))
    row = ApiKey.objects.get()
    admin.post(reverse("admin:embedded_api_apikey_change", args=[row.pk]), {"name": "New CRM"})
    row.refresh_from_db()
    assert (row.name, status_with(key)) == ("New CRM", 200)


def test_the_dashboard_s_key_survives_a_renamed_module(settings: Any) -> None:
    settings.SECRET_KEY = "a-key-of-this-test"
    assert keys.internal_key() == "6da1e4ed4ef9a75ec0d3770be6a86e13639c39f69a2a7f2ffbae0a394047571a"
