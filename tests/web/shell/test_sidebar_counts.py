"""The counts beside the sections of the navigation."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import OperationalError, connection
from django.test import Client

from dashboard.ledger.models.operations import Outcome
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import page_html, page_text, response_text, text
from tests.support.page_list import numbered, publish, record
from tests.support.seeding import seed_audiences, seed_pages

pytestmark = pytest.mark.django_db


def side_of(client: Client, address: str = "/activity/") -> str:
    """Return the text of the navigation's sections with fresh counts."""
    cache.clear()
    html = page_html(client, address)
    return text(html[html.index('<div class="nav">') : html.index('<div class="nav" id="pins"')])


def test_pages_are_counted_as_the_service_counts_them(
    as_viewer: Client, fake_service: FakeService
) -> None:
    assert (
        side_of(as_viewer)
        == "Overview Pages Audiences Review Releases People Webhooks Approvals Activity"
    )
    record(numbered(1), total=1204)
    assert (
        side_of(as_viewer)
        == "Overview Pages 1,204 Audiences Review Releases People Webhooks Approvals Activity"
    )


def test_audiences_are_counted_as_their_list_has_them(
    as_viewer: Client, fake_service: FakeService
) -> None:
    record(numbered(1, audiencesCount=900))
    seed_audiences(wire.audience(), wire.audience(audienceId="aud_2"))
    assert (
        side_of(as_viewer)
        == "Overview Pages 1 Audiences 2 Review Releases People Webhooks Approvals Activity"
    )


def test_operations_need_attention_until_settled(
    as_viewer: Client, vera: User, fake_service: FakeService
) -> None:
    publish(vera, "ver_1", Outcome.UNKNOWN)
    assert side_of(as_viewer).endswith("Activity 1 failed or unknown")
    publish(vera, "ver_2", Outcome.UNKNOWN)
    assert side_of(as_viewer).endswith("Activity 2 failed or unknown")
    publish(vera, "ver_3", Outcome.ACCEPTED)
    assert side_of(as_viewer).endswith("Activity 2 failed or unknown")


def test_the_counts_are_cached_across_pages(
    as_viewer: Client, fake_service: FakeService, django_assert_max_num_queries: Any
) -> None:
    record(numbered(1), total=1204)
    fake_service.answers(200, json=wire.envelope())
    assert "1,204" in side_of(as_viewer, "/people/")
    # The session, the user, two queries for permissions, the feed, the bell's count, and the views.
    with django_assert_max_num_queries(7):
        assert "1,204" in page_html(as_viewer, "/people/")


def test_anonymous_visitors_see_no_counts(client: Client, fake_service: FakeService) -> None:
    record(numbered(1), total=1204)
    for address in ("/accounts/login/", "/no/such/page/"):
        assert "1,204" not in client.get(address, follow=True).text


def test_a_count_is_a_minimum_until_audiences_are_loaded(
    as_viewer: Client, fake_service: FakeService
) -> None:
    record(numbered(2, audiencesCount=2))
    seed_audiences(wire.audience(), wire.audience(audienceId="aud_2"), page_id="page_0")
    assert " Audiences 2+ " in side_of(as_viewer)
    for address in ("/", "/audiences/"):
        page = page_text(as_viewer, address)
        assert page.count("2+") >= 2, address


def test_the_counts_follow_a_press_at_once(
    as_administrator: Client, ada: User, fake_service: FakeService
) -> None:
    seed_pages(wire.page())
    page_html(as_administrator, "/activity/")
    publish(ada, "ver_1", Outcome.UNKNOWN)
    assert "1 failed or unknown" not in page_text(as_administrator, "/activity/")
    what = {"page_id": "page_1", "audience_id": "", "followed": "1"}
    headers = {"HX-Request": "true", "HX-Target": "follow"}
    response = as_administrator.post("/notifications/follow/", what, headers=headers)
    assert 'id="count-activity" hx-swap-oob="true"' in response.text
    assert response_text(response).endswith("1 failed or unknown")


def test_other_processes_recount_after_a_change(
    as_viewer: Client, vera: User, fake_service: FakeService
) -> None:
    as_viewer.post("/accounts/theme/", {"theme": "dark"})
    page_html(as_viewer, "/activity/")
    publish(vera, "ver_1", Outcome.UNKNOWN)
    assert "1 failed or unknown" in page_text(as_viewer, "/activity/")


def test_a_press_succeeds_though_counting_fails(
    as_administrator: Client, fake_service: FakeService
) -> None:
    seed_pages(wire.page())

    def fail(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if 'FROM "ledger_subscriptionrecord"' in sql:
            raise OperationalError("server closed the connection unexpectedly")
        return execute(sql, params, many, context)

    what = {"page_id": "page_1", "audience_id": "", "followed": "1"}
    headers = {"HX-Request": "true", "HX-Target": "follow"}
    with connection.execute_wrapper(fail):
        response = as_administrator.post("/notifications/follow/", what, headers=headers)
    assert response.status_code == 200
    assert "count-activity" not in response.text
