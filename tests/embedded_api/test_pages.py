"""Operations 1, 2 and 3 over HTTP."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from dashboard.contract.pages import Page
from dashboard.contract.resource import ListEnvelope
from dashboard.contract.wire import read_date
from dashboard.embedded_api.models import Tenant
from tests.support.embedded_api_factories import PAGE_BODY, ago, make_audience, make_page
from tests.support.queries import queries_of, sqlite_plan

ACTION = {
    "purpose": "book",
    "buttonTitle": "Book",
    "actionType": "link",
    "url": "/b",
    "actionId": "",
}


def create(service: Client, **fields: Any) -> dict[str, Any]:
    answer = service.post("/v0/pages", {**PAGE_BODY, **fields}, content_type="application/json")
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


def nested(levels: int) -> list[Any]:
    return json.loads("[" * levels + "]" * levels)  # type: ignore[no-any-return]


def test_a_created_page_is_a_draft_with_spec_defaults(service: Client) -> None:
    page = Page.model_validate(create(service))
    assert (page.status, page.page_type, page.title) == ("draft", "inbound", PAGE_BODY["name"])
    assert (page.audiences_count, page.archived_at, page.deleted_at) == (0, None, None)
    assert page.created_at == page.updated_at


def test_dates_are_absolute_and_stable(service: Client) -> None:
    before = ago(seconds=0)[:21]
    page = create(service)
    assert before <= page["createdAt"] <= ago(seconds=-1)
    assert read_date(page["createdAt"]) is not None
    assert service.get(f"/v0/pages/{page['pageId']}").json() == page


def test_the_title_is_the_metadatas_where_it_has_one(service: Client) -> None:
    assert create(service, metadata={"title": "Trucks"})["title"] == "Trucks"
    assert create(service, metadata={"title": ""})["title"] == PAGE_BODY["name"]
    assert create(service, metadata={"author": "A"})["title"] == PAGE_BODY["name"]


def test_actions_are_numbered_and_empty_ids_filled(service: Client) -> None:
    actions = create(service, actions=[ACTION, {**ACTION, "actionId": "mine"}])["actions"]
    assert [action["actionIndex"] for action in actions] == [0, 1]
    assert actions[0]["actionId"].startswith("act_")
    assert actions[1]["actionId"] == "mine"


def test_footer_groups_and_links_get_ids(service: Client) -> None:
    links = [{"text": "Home", "url": "/"}, {"text": "Shop", "url": "/s", "id": "shop"}]
    (group,) = create(service, footerLinks=[{"title": "More", "links": links}])["footerLinks"]
    assert group["id"].startswith("footer_")
    assert group["links"][0]["id"].startswith("link_")
    assert group["links"][1]["id"] == "shop"


def test_an_empty_brand_becomes_the_tenants(service: Client) -> None:
    assert create(service, brandId="")["brandId"].startswith("brand_")


def test_every_sent_field_is_returned(service: Client) -> None:
    sent = {
        "actionCardWidgets": [
            {"type": "card", "title": "T", "logos": [{"image": {"altText": "a", "url": "u"}}]}
        ],
        "scripts": [{"name": "n", "content": "<script>1</script>", "enabled": False}],
        "headerActionId": "act_9",
        "metadata": {"title": "T", "keywords": ["a", "b"], "robots": ["noindex", 1, {"x": None}]},
        "pageType": "sales_deck",
        "pageContext": "Ünïcode 🎈\n" * 50,
    }
    page = create(service, **sent)
    assert {name: page[name] for name in sent} == sent


def test_the_largest_numbers_and_deepest_nests_are_readable(service: Client) -> None:
    robots = [2**70, -(10**308 - 1), 1e-300, nested(17)]
    create(service, metadata={"robots": robots})
    pages = ListEnvelope[Page].model_validate(service.get("/v0/pages").json())
    assert [page.metadata and page.metadata.robots for page in pages.items] == [robots]


def test_optional_fields_that_were_not_sent_are_absent(service: Client) -> None:
    assert not {"headerActionId", "metadata"} & create(service).keys()


def test_null_equals_an_absent_optional_field(service: Client) -> None:
    link = {"text": "Home", "url": None, "id": "home"}
    page = create(
        service,
        actionCardWidgets=[{"type": None, "logos": [{"image": {"url": None}}, {"image": None}]}],
        footerLinks=[{"title": None, "id": "more", "links": [link]}],
        headerActionId=None,
        metadata={"title": None, "keywords": None, "robots": None},
        scripts=[{"name": "n", "enabled": None}],
    )
    assert page["actionCardWidgets"] == [{"logos": [{"image": {}}, {}]}]
    assert page["footerLinks"] == [{"id": "more", "links": [{"text": "Home", "id": "home"}]}]
    assert (page["metadata"], page["scripts"]) == ({}, [{"name": "n"}])
    assert service.get(f"/v0/pages/{page['pageId']}").json() == page


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"name": 5}, "name"),
        ({"pageContext": ""}, "pageContext"),
        ({"pageType": "poster"}, "pageType"),
        ({"surprise": 1}, "surprise"),
        ({"page_type": "custom"}, "page_type"),
        ({"actions": {}}, "actions"),
        ({"actions": [{**ACTION, "actionIndex": 0}]}, "actions.0.actionIndex"),
        ({"actions": [ACTION, {**ACTION, "url": None}]}, "actions.1.url"),
        ({"scripts": [{"enabled": "yes"}]}, "scripts.0.enabled"),
        ({"metadata": {"ogImageUrl": "x"}}, "metadata.ogImageUrl"),
        ({"footerLinks": [{"links": [{"href": "x"}]}]}, "footerLinks.0.links.0.href"),
        ({"actionCardWidgets": [{"logos": [{"w": 1}]}]}, "actionCardWidgets.0.logos.0.w"),
        ({"name": "a\0b"}, "name"),
        ({"metadata": {"robots": [["a\0"]]}}, "metadata.robots.0.0"),
        ({"metadata": {"robots": [int("9" * 400)]}}, "metadata.robots.0"),
        ({"metadata": {"robots": [10**308]}}, "metadata.robots.0"),
        ({"metadata": {"robots": [-(10**308)]}}, "metadata.robots.0"),
        ({"metadata": {"robots": [1.7e308]}}, "metadata.robots.0"),
        ({"metadata": {"robots": nested(19)}}, "metadata.robots" + ".0" * 18),
        ({"metadata": {"robots": nested(120)}}, "metadata.robots" + ".0" * 18),
    ],
)  # fmt: skip
def test_a_field_that_is_not_accepted_is_named(
    service: Client, fields: dict[str, Any], path: str
) -> None:
    body = {**PAGE_BODY, **fields}
    refused = service.post("/v0/pages", body, content_type="application/json")
    assert refused.status_code == 422
    assert [error["path"] for error in refused.json()["errors"]] == [path]


def test_the_list_is_newest_first_with_whole_pages(service: Client) -> None:
    old = make_page(name="Old", created_at=ago(days=2))
    new = make_page(name="New", created_at=ago(days=1))
    make_audience(old)
    make_audience(old)
    pages = ListEnvelope[Page].model_validate(service.get("/v0/pages").json())
    assert [page.page_id for page in pages.items] == [new.id, old.id]
    assert [page.audiences_count for page in pages.items] == [0, 2]
    assert (pages.total_count, pages.has_more, pages.unreadable) == (2, False, ())


def test_a_list_of_fifty_pages_takes_three_queries(
    service: Client, django_assert_num_queries: Any
) -> None:
    for _ in range(60):
        make_audience()
    with django_assert_num_queries(3):  # the key, the count, the pages
        assert len(service.get("/v0/pages").json()["items"]) == 50


def test_a_page_has_its_status_by_its_dates(service: Client) -> None:
    archived = make_page(published_at=ago(days=2), archived_at=ago(days=1))
    published = make_page(published_at=ago(days=2), updated_at=ago(days=3))
    to_come = make_page(published_at=ago(hours=-1))
    status = {item["pageId"]: item["status"] for item in service.get("/v0/pages").json()["items"]}
    assert status == {archived.id: "archived", published.id: "published", to_come.id: "draft"}


def test_publication_is_a_change_of_the_page(service: Client) -> None:
    page = make_page(published_at=ago(days=2), updated_at=ago(days=3))
    assert service.get(f"/v0/pages/{page.id}").json()["updatedAt"] == page.published_at


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL knows how long an index is")
def test_pages_are_counted_from_the_shortest_index(service: Client) -> None:
    queries = queries_of(lambda: service.get("/v0/pages"))
    (count,) = [sql for sql in queries if "COUNT(*)" in sql]
    assert "USING COVERING INDEX page_of_tenant" in " ".join(sqlite_plan(count))


@pytest.mark.parametrize("others", [[], ["0 before"], ["~ after"], ["0 before", "~ after"]])
def test_the_pages_of_this_tenant_alone_are_counted(service: Client, others: list[str]) -> None:
    for other in others:
        make_page(tenant=Tenant.objects.create(id=other))
    assert service.get("/v0/pages").json()["totalCount"] == 0
    for _ in range(3):
        make_page()
    assert service.get("/v0/pages").json()["totalCount"] == 3
