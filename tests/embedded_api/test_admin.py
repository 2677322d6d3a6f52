"""The service's objects in Django's admin: the API's rules, life cycle and dates."""

import json
import os
import subprocess
import sys
from functools import partial
from typing import Any

import pytest
from django.contrib.admin.utils import quote
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.urls import reverse

from config.environment import BASE_DIR
from dashboard.contract.wire import read_date
from dashboard.embedded_api import keys
from dashboard.embedded_api.keys import default_tenant
from dashboard.embedded_api.models import (
    ApiKey,
    Audience,
    Page,
    Person,
    Subscription,
    Tenant,
    Version,
)
from dashboard.embedded_api.publishing import publish_version
from tests.embedded_api.conftest import Caller
from tests.support.embedded_api_factories import (
    ago,
    make_audience,
    make_conversation,
    make_live_version,
    make_page,
    make_person,
    make_subscription,
    make_version,
    other_tenant,
)
from tests.support.html import elements
from tests.support.interleaving import (
    PATIENCE_S,
    before_commit,
    before_statement,
    before_transaction,
    begun,
    held_at,
)

MODELS = (
    *("apikey", "audience", "conversation", "page", "person", "subscription", "tenant"),
    "version",
)
NO_ROWS = {
    f"{prefix}-{name}": "0"
    for prefix in ("versions", "conversation")
    for name in ("TOTAL_FORMS", "INITIAL_FORMS")
}
"""Form data of the empty tables below an audience."""


@pytest.fixture
def admin(db: None) -> Client:
    """The browser of an administrator with a staff account."""
    return staff_browser("Administrators")


def staff_browser(role: str) -> Client:
    user = User.objects.create_user("ada", is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    browser = Client()
    browser.force_login(user)
    return browser


def url(model: str, view: str = "changelist", *arguments: Any) -> str:
    return reverse(f"admin:embedded_api_{model}_{view}", args=arguments)


def form_of(admin: Client, path: str) -> dict[str, Any]:
    """Return what a browser would send from the unchanged form at a path."""
    form = admin.get(path).context["adminform"].form
    values = {bound.html_name: bound.value() for bound in form}
    values |= {bound.html_initial_name: bound.value() for bound in form}
    sent = {
        name: value.replace("\n", "\r\n") if isinstance(value, str) else value
        for name, value in values.items()
        if value is not None and value is not False
    }
    return sent | NO_ROWS


def save(admin: Client, row: Any, **changes: Any) -> Any:
    """Change a row through its form, as a browser would; return the response."""
    path = url(row._meta.model_name, "change", row.pk)
    return admin.post(path, form_of(admin, path) | changes)


def act(admin: Client, action: str, row: Any, **more: Any) -> str:
    """Run an action of the list on one row; return the next page."""
    body = {"action": action, "_selected_action": [row.pk], **more}
    return admin.post(url(row._meta.model_name), body, follow=True).text


def errors_of(response: Any) -> dict[str, list[str]]:
    return dict(response.context["adminform"].form.errors)


def test_an_administrator_finds_each_kind_and_can_search_it(admin: Client) -> None:
    make_conversation(make_live_version().audience)
    make_person()
    make_subscription()
    for model in MODELS:
        for path in (url(model), f"{url(model)}?q=acme"):
            assert admin.get(path).status_code == 200


@pytest.mark.parametrize("role", ["Viewers", "Publishers"])
def test_other_roles_cannot_see_the_staff_admin(db: None, role: str) -> None:
    browser = staff_browser(role)
    assert {browser.get(url(model)).status_code for model in MODELS} == {403}
    assert {browser.get(url(model, "add")).status_code for model in MODELS} == {403}


def test_a_page_is_created_as_by_the_api(admin: Client, service: Client) -> None:
    body = form_of(admin, url("page", "add")) | {
        "name": "Acme for banks",
        "page_context": "One.\r\nTwo.",
        "metadata": '{"title": "Acme"}',
        "actions": json.dumps(
            [{"purpose": "", "buttonTitle": "Go", "actionType": "", "url": "", "actionId": ""}]
        ),
    }
    assert admin.post(url("page", "add"), body).status_code == 302
    page = service.get("/v0/pages").json()["items"][0]
    assert (page["title"], page["status"], page["pageContext"]) == ("Acme", "draft", "One.\nTwo.")
    assert page["brandId"] == default_tenant().brand_id
    assert page["actions"][0]["actionIndex"] == 0
    assert page["actions"][0]["actionId"].startswith("act_")


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("name", "", "This field is required."),
        ("metadata", '{"titel": "x"}', "titel: is not a field of this request"),
        ("metadata", '{"keywords": "x"}', "keywords: Input should be a valid list"),
        ("metadata", '{"title": "a", "title": "b"}', "title: is given more than once"),
        ("actions", '[{"purpose": ""}]', "0.buttonTitle: is required"),
        ("scripts", "[", "This is not JSON"),
        ("footer_links", "7", "Input should be a valid list."),
    ],
)
def test_input_the_api_would_reject_is_a_field_error(
    admin: Client, field: str, value: str, error: str
) -> None:
    body = {
        "tenant": default_tenant().pk,
        "name": "Acme",
        "page_context": "x",
        "page_type": "inbound",
    }
    response = admin.post(url("page", "add"), body | {field: value})
    assert error in errors_of(response)[field][0]
    assert value in response.text.replace("&quot;", '"')
    assert not Page.objects.exists()


@pytest.mark.parametrize(
    ("model", "make"),
    [
        ("page", lambda: make_page(page_context="One.\nTwo. ", metadata={"title": "Größe"})),
        ("person", lambda: make_person(email="ada@acme.example")),
        ("subscription", make_subscription),
        ("subscription", lambda: make_subscription(events=None)),
        ("subscription", lambda: make_subscription(events=[])),
    ],
)
def test_saving_an_unchanged_form_changes_nothing(admin: Client, model: str, make: Any) -> None:
    row = make()
    assert save(admin, row).status_code == 302
    assert type(row).objects.values().get() == {
        column.attname: getattr(row, column.attname) for column in row._meta.concrete_fields
    }


@pytest.mark.parametrize(
    ("model", "make", "change"),
    [
        ("page", lambda: make_page(updated_at=ago(days=1)), {"title": "New"}),
        ("person", lambda: make_person(updated_at=ago(days=1)), {"email": "a@b.example"}),
        ("subscription", lambda: make_subscription(updated_at=ago(days=1)), {"active": ""}),
        (
            "subscription",
            lambda: make_subscription(updated_at=ago(days=1)),
            {"kind": "null", "events": []},
        ),
    ],
)
def test_a_change_is_an_update(admin: Client, model: str, make: Any, change: Any) -> None:
    row = make()
    assert save(admin, row, **change).status_code == 302
    before, created = row.updated_at, row.created_at
    row.refresh_from_db()
    assert row.updated_at > before
    assert row.created_at == created


def test_a_form_opened_before_a_change_leaves_it(admin: Client) -> None:
    subscription = make_subscription()
    path = url("subscription", "change", subscription.pk)
    opened = form_of(admin, path)
    save(admin, subscription, url="https://hooks.example/replaced", events=["form.enriched"])
    assert admin.post(path, opened | {"active": ""}).status_code == 302
    subscription.refresh_from_db()
    assert subscription.url == "https://hooks.example/replaced"
    assert subscription.events == ["form.enriched"]
    assert not subscription.active


def test_a_page_with_images_can_be_changed(admin: Client) -> None:
    page = make_page(metadata={"ogImageUrl": "https://acme.example/a.png"})
    assert save(admin, page, name="Renamed").status_code == 302
    page.refresh_from_db()
    assert (page.name, page.metadata) == ("Renamed", {"ogImageUrl": "https://acme.example/a.png"})


def test_dates_are_shown_as_moments(admin: Client) -> None:
    page = make_page(created_at=ago(days=400))
    html = admin.get(url("page", "change", page.pk)).text
    moment = read_date(page.created_at)
    assert moment
    assert f"{moment:%Y}" in html
    assert "accountlog_" not in html


def test_a_changed_person_is_found_by_the_new_name(admin: Client, service: Client) -> None:
    person = make_person()
    save(admin, person, name="Zoë Müller")
    assert service.get("/v0/persons/search?query=zoe+muller").json()["totalCount"] == 1
    listed = admin.get(f"{url('person')}?q=muller").text
    assert "Zoë Müller" in listed


@pytest.mark.parametrize(
    ("field", "value"),
    [("email", "nobody"), ("linkedin_profile_url", "linkedin"), ("domain", "https://a.example/")],
)
def test_an_invalid_person_is_an_error_beside_the_field(
    admin: Client, field: str, value: str
) -> None:
    body = {"tenant": default_tenant().pk, "name": "Ada", field: value}
    response = admin.post(url("person", "add"), body)
    assert errors_of(response)[field][0].startswith("This must be")
    assert not Person.objects.exists()


def test_an_unsendable_url_is_an_error_beside_its_field(admin: Client) -> None:
    body = {"tenant": default_tenant().pk, "url": "https://xn--/", "kind": "list", "active": "on"}
    errors = errors_of(admin.post(url("subscription", "add"), body))
    assert errors == {"url": ["The host of the URL isn’t a valid name."]}


def test_a_longer_people_list_makes_no_more_queries(
    admin: Client, django_assert_max_num_queries: Any
) -> None:
    for number in range(60):
        make_person(f"Person {number:02}")
    with django_assert_max_num_queries(14):
        page = admin.get(url("person"))
    assert len(page.context["cl"].result_list) == 50
    assert (
        "<option value"
        not in admin.get(url("audience", "add"))
        .text.partition('name="page"')[2]
        .partition("</select>")[0]
    )


def test_an_audience_is_created_and_published_in_the_admin(admin: Client, service: Client) -> None:
    page = make_page(tenant=default_tenant())
    body = {"page": page.pk, "custom_name": "Banks", "metadata_override": '{"title": "For banks"}'}
    assert admin.post(url("audience", "add"), body).status_code == 302
    audience = Audience.objects.get()
    for context in ("First", "Second"):
        body = {"audience": audience.pk, "supplementary_context": context}
        assert admin.post(url("version", "add"), body).status_code == 302
    listed = service.get(f"/v0/pages/{page.pk}/audiences").json()["items"][0]
    assert listed["effectiveMetadata"] == {"title": "For banks"}
    latest = listed["latestVersion"]
    assert (latest["versionNumber"], latest["status"]) == (2, "draft")
    html = act(admin, "publish", Version.objects.get(pk=latest["versionId"]))
    assert "Publishing: 1. Pressroom’s approvals don’t apply here" in html
    listed = service.get(f"/v0/pages/{page.pk}/audiences").json()["items"][0]
    assert listed["latestVersion"]["status"] == "queued"


def test_a_canceled_version_is_not_published(admin: Client) -> None:
    version = make_version(queued_at=ago(hours=2), cancelled_at=ago(hours=1))
    assert "This version was canceled" in act(admin, "publish", version)


@pytest.mark.parametrize("model", ["page", "person", "subscription", "apikey"])
def test_a_repeated_form_leads_to_its_row(admin: Client, model: str) -> None:
    form = {
        "page": {"name": "Spring", "page_context": "For visitors", "page_type": "inbound"},
        "person": {"name": "Anna"},
        "subscription": {"url": "https://hooks.example/1", "kind": "list"},
        "apikey": {"name": "CRM"},
    }[model] | {"tenant": default_tenant().pk, "new_id": new_id(admin, model)}
    assert admin.post(url(model, "add"), form).url == url(model)
    again = admin.post(url(model, "add"), form, follow=True)
    assert "This form was already sent. Nothing was added again." in again.text
    form["new_id"] = "anything"
    assert admin.post(url(model, "add"), form).url == url(model)
    rows = {"page": Page, "person": Person, "subscription": Subscription, "apikey": ApiKey}[model]
    assert rows.objects.count() == 2
    assert not rows.objects.filter(pk="anything" if model != "person" else 0).exists()


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_concurrent_equal_forms_add_one_row(admin: Client) -> None:
    form = {"tenant": default_tenant().pk, "name": "CRM", "new_id": new_id(admin, "apikey")}
    add = partial(admin.post, url("apikey", "add"), form)
    with held_at(before_transaction(), add) as first:
        second = add()
    assert {first.result().status_code, second.status_code} == {302}
    assert ApiKey.objects.count() == 1


def new_id(admin: Client, model: str) -> str:
    inputs = elements(admin.get(url(model, "add")).text, "input")
    return next(
        field.attributes["value"] for field in inputs if field.attributes.get("name") == "new_id"
    )


def test_only_a_draft_can_be_edited(admin: Client) -> None:
    draft, live = make_version(), make_live_version()
    change = {"supplementary_context": "New"}
    assert admin.post(url("version", "change", draft.pk), change).status_code == 302
    assert admin.post(url("version", "change", live.pk), change).status_code == 403
    assert admin.get(url("version", "change", live.pk)).status_code == 200
    texts = Version.objects.values_list("pk", "supplementary_context")
    assert dict(texts) == {draft.pk: "New", live.pk: None}


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.parametrize("act", ["change", "delete", "delete_selected"])
def test_a_draft_published_at_that_moment_stays_published(admin: Client, act: str) -> None:
    version = make_version()
    path = url("version") if act == "delete_selected" else url("version", act, version.pk)
    body = {
        "change": {"supplementary_context": "New"},
        "delete": {"post": "yes"},
        "delete_selected": {"action": act, "_selected_action": [version.pk], "post": "yes"},
    }[act]
    publish = partial(
        publish_version,
        tenant_id=version.tenant_id,
        page_id=version.audience.page_id,
        audience_id=version.audience_id,
        version_id=version.pk,
        operation_key=None,
    )
    with held_at(before_commit(), publish):
        response = begun(before_statement("FOR UPDATE"), admin.post, path, body)
    assert response.result(PATIENCE_S).status_code in (200, 403)
    version.refresh_from_db()
    assert (version.supplementary_context, version.queued_at is None) == (None, False)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_person_changed_twice_at_once_is_found_by_both_changes(
    admin: Client, service: Client
) -> None:
    person = make_person()
    form = form_of(admin, url("person", "change", person.pk))
    change = partial(admin.post, url("person", "change", person.pk))
    with held_at(before_commit(), change, form | {"email": "zoe@acme.example"}):
        other = begun(before_statement("FOR NO KEY UPDATE"), change, form | {"name": "Zoë Müller"})
    assert other.result(PATIENCE_S).status_code == 302
    assert service.get("/v0/persons/search?query=muller+zoe@acme").json()["totalCount"] == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_key_revoked_at_the_same_moment_stays_revoked(admin: Client) -> None:
    key = ApiKey(tenant=default_tenant(), name="Old")
    keys.issue(key)
    rename = partial(admin.post, url("apikey", "change", key.pk), {"name": "New"})
    with held_at(before_statement('UPDATE "embedded_api_apikey"'), rename):
        keys.revoke(ApiKey.objects.all())
    key.refresh_from_db()
    assert (key.name, key.revoked_at is None) == ("New", False)


@pytest.mark.parametrize("model", ["page", "audience", "version"])
def test_a_published_version_cannot_be_deleted(admin: Client, model: str) -> None:
    for make, remaining in ((make_live_version, 1), (make_version, 0)):
        version = make()
        make_conversation(version.audience)
        row = {"page": version.audience.page, "audience": version.audience, "version": version}
        path = url(model, "delete", row[model].pk)
        html = admin.post(path, {"post": "yes"}, follow=True).text
        assert Version.objects.filter(pk=version.pk).count() == remaining
        assert ("was published or queued, so it can’t be deleted." in html) == bool(remaining)


def test_selected_pages_with_a_published_version_stay(admin: Client) -> None:
    page = make_live_version().audience.page
    assert "was published or queued" in act(admin, "delete_selected", page, post="yes")
    assert Page.objects.exists()


def test_people_and_subscriptions_can_be_deleted(admin: Client) -> None:
    for model, row in (("person", make_person()), ("subscription", make_subscription())):
        assert admin.post(url(model, "delete", row.pk), {"post": "yes"}).status_code == 302
        assert not type(row).objects.exists()


def test_tenants_and_conversations_can_not_be_deleted(admin: Client) -> None:
    conversation = make_conversation()
    tenant = Tenant.objects.get()
    for model, row in (("tenant", tenant), ("conversation", conversation)):
        assert admin.post(url(model, "delete", row.pk), {"post": "yes"}).status_code == 403


def test_pages_are_archived_and_restored(admin: Client, service: Client) -> None:
    page = make_page(updated_at=ago(days=1))
    for action, status in (("archive", "archived"), ("restore", "draft")):
        act(admin, action, page)
        on_wire = service.get(f"/v0/pages/{page.pk}").json()
        assert on_wire["status"] == status
        assert on_wire["updatedAt"] > page.updated_at
        page.refresh_from_db()


@pytest.mark.parametrize(
    ("model", "status", "count"),
    [
        *(("page", status, 1) for status in ("draft", "published", "archived")),
        *(("version", status, 1) for status in ("draft", "published", "cancelled", "queued")),
        ("version", "processing", 0),
    ],
)
def test_lists_are_filtered_by_the_status_of_this_moment(
    admin: Client, model: str, status: str, count: int
) -> None:
    make_live_version(make_audience(make_page(published_at=ago(days=1))))
    audience = make_audience(make_page(archived_at=ago(days=1)))
    make_version(audience, 1, queued_at=ago(hours=2), cancelled_at=ago(hours=1))
    make_version(audience, 2, queued_at=ago(hours=1), processing_at=ago(days=-1))
    make_version(make_audience(make_page()))
    assert admin.get(f"{url(model)}?status={status}").context["cl"].result_count == count


@pytest.mark.parametrize("path", ["ftp://acme.example", "acme", "https://", "https://a b.example"])
def test_a_subscriptions_url_follows_the_rules_of_the_api(admin: Client, path: str) -> None:
    body = {"tenant": default_tenant().pk, "url": path, "kind": "list", "active": "on"}
    response = admin.post(url("subscription", "add"), body)
    assert errors_of(response)["url"] == ["This must be an absolute http or https URL with a host."]


@pytest.mark.parametrize(
    ("kind", "events", "stored"),
    [
        ("null", [], None),
        ("list", [], []),
        ("list", ["form.submitted", "form.enriched"], ["form.submitted", "form.enriched"]),
    ],
)
@pytest.mark.parametrize("before", [None, [], ["form.submitted"]])
def test_a_subscriptions_events_are_null_empty_or_some(
    admin: Client, kind: str, events: list[str], stored: Any, before: Any
) -> None:
    row = make_subscription(events=before)
    assert save(admin, row, kind=kind, events=events).status_code == 302
    assert Subscription.objects.get().events == stored


def test_null_and_selected_events_are_a_contradiction(admin: Client) -> None:
    response = save(admin, make_subscription(), kind="null")
    assert "Select no events here" in errors_of(response)["events"][0]


def test_a_conversation_is_shown_escaped_and_read_only(admin: Client) -> None:
    message = {
        "messageId": "msg_1",
        "content": "<script>alert(1)</script>",
        "timestamp": 1_700_000_000_000,
        "toolCalls": [{"id": "1", "name": "search", "arguments": {"q": "<b>"}}],
        "changes": [{"changeId": "chg_1", "previousValue": "old", "newValue": "new"}],
    }
    row = make_conversation(messages=[message], pending_changes=message["changes"])
    html = admin.get(url("conversation", "change", row.pk)).text
    assert "&lt;script&gt;alert(1)" in html
    assert "Tool call: search" in html
    assert html.count("<ins>new</ins>") == 2
    assert admin.post(url("conversation", "change", row.pk), {}).status_code == 403
    assert admin.get(url("conversation", "add")).status_code == 403


def test_an_audience_belongs_to_the_tenant_of_its_page(admin: Client, caller_of: Caller) -> None:
    page = make_page(tenant=other_tenant())
    admin.post(url("audience", "add"), {"page": page.pk, "custom_name": "Theirs"})
    assert Audience.objects.get().tenant_id == page.tenant_id
    listed = caller_of(page.tenant).get(f"/v0/pages/{page.pk}/audiences").json()
    assert listed["totalCount"] == 1


def test_an_audience_shows_versions_and_its_conversation(admin: Client) -> None:
    version = make_live_version()
    conversation = make_conversation(version.audience)
    page = admin.get(url("audience", "change", version.audience_id))
    links = [link.attributes.get("href", "") for link in elements(page.text, "a")]
    for model, row in (("version", version), ("conversation", conversation)):
        assert any(url(model, "change", quote(row.pk)) in link for link in links)


def test_a_prospect_must_exist_in_the_pages_tenant(admin: Client) -> None:
    page, person = make_page(), make_person(tenant=other_tenant())
    body = {"page": page.pk, "custom_name": "Banks", "prospect_id": person.person_id}
    response = admin.post(url("audience", "add"), body)
    assert errors_of(response)["prospect_id"] == ["No person of this tenant has this ID."]


@pytest.mark.same_on_any_database
def test_with_a_hosted_service_the_admin_lacks_its_models() -> None:
    code = (
        "from django.contrib import admin; import django; django.setup();"
        "print([m._meta.label for m in admin.site._registry if 'embedded' in m._meta.label])"
    )
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "SERVICE_URL": "https://api.example.com",
        "SERVICE_API_KEY": "a-key",
    }
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=BASE_DIR, env=environment, capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


def test_an_administrators_group_has_each_right_of_the_admin(admin: Client) -> None:
    for model in MODELS:
        expected = 403 if model == "conversation" else 200
        assert admin.get(url(model, "add")).status_code == expected


def test_a_text_keeps_its_line_breaks_and_blanks(admin: Client) -> None:
    page = make_page(page_context="  One.\nTwo.\n")
    save(admin, page, page_context="  One.\r\nThree.\r\n")
    page.refresh_from_db()
    assert page.page_context == "  One.\nThree.\n"
