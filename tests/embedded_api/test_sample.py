"""The sample data has the expected content, is consistent and never changes."""

import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import chain, pairwise
from typing import Any

import pytest
from django.test import Client

from dashboard.contract.audiences import VersionStatus
from dashboard.contract.pages import PageStatus, PageType
from dashboard.contract.webhooks import EventName
from dashboard.contract.wire import read_date
from dashboard.embedded_api.lifecycle import Dates
from dashboard.embedded_api.models import Audience, Person, Version, WebhookEvent
from dashboard.embedded_api.sample import Sample, World, make_world
from dashboard.embedded_api.sample.audiences import IN_USE, seen_versions
from dashboard.embedded_api.sample.people import people
from dashboard.embedded_api.serializers import conversation_json, page_json, version_json

NOW = datetime(2026, 3, 12, 14, 6, tzinfo=UTC)
LATER = NOW + timedelta(days=200)
HOUR = timedelta(hours=1)
LIFE = ("created_at", "became_draft_at", "queued_at", "processing_at", "published_at")


@pytest.fixture(scope="module")
def world() -> World:
    return make_world(NOW)


@pytest.fixture(scope="module")
def later() -> World:
    """The sample as made half a year later."""
    return make_world(LATER)


@pytest.fixture(scope="module")
def everybody() -> list[Person]:
    return list(people(5_000, NOW))


def versions(world: World) -> list[Version]:
    return [version for story in world.stories for version in story.versions]


def statuses(world: World) -> Counter[str]:
    return Counter(Dates.of(version).status(NOW).value for version in versions(world))


def messages(world: World) -> list[dict[str, Any]]:
    return list(chain.from_iterable(row.messages for row in world.conversations))


def tool_calls(world: World) -> list[dict[str, Any]]:
    return [call for message in messages(world) for call in message.get("toolCalls", [])]


def test_there_are_sixty_pages_of_all_types_and_statuses(world: World) -> None:
    on_wire = [page_json(page, NOW) for page in world.pages]
    assert len(on_wire) == len({page["pageId"] for page in on_wire}) == 60
    assert {page["pageType"] for page in on_wire} == set(PageType)
    assert {page["status"] for page in on_wire} == set(PageStatus)


def test_the_sample_has_900_audiences(world: World) -> None:
    of_page = Counter(story.audience.page_id for story in world.stories)
    assert of_page.total() == len({story.audience.pk for story in world.stories}) == 900
    assert max(of_page.values()) == 400
    assert len(of_page) == 59


def test_versions_are_in_all_seven_statuses(world: World) -> None:
    counts = statuses(world)
    assert set(counts) == set(VersionStatus)
    assert all(count >= 2 for count in counts.values())


def test_some_versions_stay_queued_and_processing_for_weeks(world: World) -> None:
    later = NOW + timedelta(weeks=6)
    under_way = {Dates.of(version).status(later) for version in versions(world)}
    assert {VersionStatus.QUEUED, VersionStatus.PROCESSING} <= under_way


def test_no_audience_has_two_live_versions(world: World) -> None:
    for story in world.stories:
        live = [v for v in story.versions if Dates.of(v).status(NOW) is VersionStatus.PUBLISHED]
        assert len(live) <= 1


def test_publications_run_forward_without_overlap(
    world: World, later: World, pytestconfig: pytest.Config
) -> None:
    worlds = {NOW: world, LATER: later}
    if pytestconfig.getoption("exhaustive"):
        worlds |= {now: make_world(now) for now in (NOW + 27 * HOUR, NOW + 60 * HOUR)}
    for now, created in worlds.items():
        for story in created.stories:
            assert story.audience.created_at < story.versions[0].created_at
            for older, newer in pairwise(story.versions):
                assert older.created_at < newer.created_at
                assert (older.published_at or "") < newer.created_at
            for version in story.versions:
                dates = [date for name in LIFE if (date := getattr(version, name))]
                assert dates == sorted(dates)
                assert (read_date(version.created_at) or now) < now


def test_a_page_without_live_versions_is_a_draft(world: World) -> None:
    published = {
        story.audience.page_id
        for story in world.stories
        if any(Dates.of(v).at(NOW).published_at for v in story.versions)
    }
    for page in world.pages:
        is_draft = page_json(page, NOW)["status"] == PageStatus.DRAFT
        assert is_draft == (page.pk not in published)


def test_sample_versions_differ_by_some_words(world: World) -> None:
    pairs = [pair for story in world.stories for pair in pairwise(story.versions)]
    texts = [(a.supplementary_context, b.supplementary_context) for a, b in pairs]
    pairs = [(old.split(), new.split()) for old, new in texts if old and new]
    assert len(pairs) > 1500
    assert all(old != new for old, new in pairs)
    assert all(len(set(old) & set(new)) > len(set(new)) / 3 for old, new in pairs)


def test_there_are_300_conversations_of_5_to_200_messages(world: World) -> None:
    lengths = [len(row.messages) for row in world.conversations]
    assert len(lengths) == 300
    assert (min(lengths), max(lengths)) == (5, 200)


def test_messages_are_in_order_with_unique_ids(world: World) -> None:
    for row in world.conversations:
        times = [message["timestamp"] for message in row.messages]
        assert times == sorted(times)
        assert times[-1] / 1000 < NOW.timestamp()
    assert len({message["messageId"] for message in messages(world)}) == len(messages(world))


def test_conversations_hold_what_makes_reading_them_hard(world: World) -> None:
    every = messages(world)
    contents = "\n".join(message.get("content") or "" for message in every)
    assert "\n|---|" in contents
    assert "```" in contents
    assert "\n- " in contents
    assert "<script>" in contents
    assert "javascript:" in contents
    assert any("reasoning" in message for message in every)
    assert any(message.get("isInterrupted") for message in every)
    assert any(message.get("content") == "" for message in every)
    assert any("content" not in message for message in every)
    kinds = {part["type"] for message in every for part in message.get("contentParts", [])}
    assert len(kinds) > 1


def test_sample_tool_calls_have_errors_and_large_results(world: World) -> None:
    calls = tool_calls(world)
    sizes = [len(json.dumps(call.get("result"))) for call in calls]
    assert any("error" in call for call in calls)
    assert any("result" in call and call["result"] is None for call in calls)
    assert 3 <= sum(size > 200_000 for size in sizes) <= 12


def test_pending_changes_are_ready_applied_or_outdated(world: World) -> None:
    counts = Counter()
    for row in world.conversations:
        context = conversation_json(row, live=None)["context"]
        for change in row.pending_changes:
            fits = change["previousValue"] in context.values()
            is_so = change["newValue"] in context.values()
            counts["ready" if fits else "applied" if is_so else "moved"] += 1
    assert all(counts[kind] > 20 for kind in ("ready", "applied", "moved"))


def test_a_publish_divides_a_conversation(world: World) -> None:
    live = {
        version.audience_id: version
        for version in versions(world)
        if Dates.of(version).status(NOW) is VersionStatus.PUBLISHED
    }
    middles = 0
    for row in world.conversations:
        conversation = conversation_json(row, live=live.get(row.audience_id))["conversation"]
        ids = [message["messageId"] for message in row.messages]
        middles += conversation.get("publishedMessageId") in ids[:-1]
    assert middles > 50


def test_eight_subscriptions_have_all_events_none_null_and_some(world: World) -> None:
    events = [row.events for row in world.subscriptions]
    assert len(events) == 8
    assert None in events
    assert [] in events
    assert any(row is not None and set(row) == set(EventName) for row in events)
    assert {row.active for row in world.subscriptions} == {True, False}


def test_sample_people_have_varied_names_and_missing_fields(everybody: list[Person]) -> None:
    assert len({row.person_id for row in everybody}) == 5_000
    assert all(re.fullmatch(r"prospect_[a-z0-9]{26}", row.person_id) for row in everybody)
    assert sum(not row.name.isascii() for row in everybody) > 1_000
    assert len({row.name for row in everybody}) > 3_000
    for name in ("email", "slug", "phone_number", "linkedin_profile_url"):
        assert 20 < sum(not getattr(row, name) for row in everybody) < 2_500


def test_few_people_lack_a_name(everybody: list[Person]) -> None:
    assert 1 < sum(not row.name for row in everybody) < 15


def test_an_audiences_prospect_is_a_person_of_its_company(
    world: World, everybody: list[Person]
) -> None:
    expected = {row.person_id: row for row in everybody}
    named = [story for story in world.stories if story.audience.prospect_id]
    assert len(named) > 600
    for story in named:
        assert expected[story.audience.prospect_id].domain == story.company.domain


def test_every_address_is_made_up(world: World) -> None:
    bodies = [json.dumps(row.messages) for row in world.conversations]
    bodies += [json.dumps([row.actions, row.footer_links, row.metadata]) for row in world.pages]
    bodies += [row.url for row in world.subscriptions]
    bodies += [f"https://{row.domain} {row.linkedin_profile_url}" for row in people(600, NOW)]
    hosts = set(re.findall(r"https?://([a-z0-9.-]+)", "\n".join(bodies)))
    assert len(hosts) > 100
    assert {host for host in hosts if not host.endswith(".example")} == {"10.20.0.14"}


def test_the_sample_is_the_same_on_every_run(world: World) -> None:
    again = make_world(NOW)
    for ours, theirs in zip(versions(world), versions(again), strict=True):
        assert version_json(ours, NOW) == version_json(theirs, NOW)
    assert [row.messages for row in world.conversations] == [
        row.messages for row in again.conversations
    ]


def test_the_sample_is_the_same_every_day(world: World, later: World) -> None:
    assert [page.pk for page in later.pages] == [page.pk for page in world.pages]
    assert [(v.pk, v.supplementary_context) for v in versions(later)] == [
        (v.pk, v.supplementary_context) for v in versions(world)
    ]


def test_the_demo_dashboard_has_seen_and_missed_publishes(world: World) -> None:
    seen = list(seen_versions(world.stories, NOW))
    began = NOW - IN_USE
    born_in_use = [v for v in versions(world) if (read_date(v.created_at) or NOW) > began]
    seen_ids = {version.version_id for _, version, _, _ in seen}
    missed = [v for v in born_in_use if v.pk not in seen_ids]
    assert len(missed) > 100
    assert len(seen) > 1_000
    assert all(began <= first <= last <= NOW for _, _, first, last in seen)


def test_an_old_version_is_shown_as_last_seen(world: World) -> None:
    for _, version, _, last in seen_versions(world.stories, NOW):
        dates = (version.queued_at, version.published_at, version.archived_at, version.obsolete_at)
        assert all((read_date(date) or last) <= last for date in (version.created_at, *dates))


@pytest.mark.django_db
def test_loading_the_sample_is_cheap_and_complete(
    service: Client, django_assert_max_num_queries: Any
) -> None:
    sample = Sample(datetime.now(UTC))
    assert not sample.is_loaded()
    with django_assert_max_num_queries(180):
        sample.load(people_count=500, progress=lambda *_: None)
    assert sample.is_loaded()
    assert (Audience.objects.count(), Person.objects.count()) == (900, 500)
    assert not WebhookEvent.objects.exists()
    listed = service.get("/v0/pages?limit=100").json()
    assert (listed["totalCount"], len(listed["items"])) == (60, 60)
    largest = max(listed["items"], key=lambda page: page["audiencesCount"])
    audiences = service.get(f"/v0/pages/{largest['pageId']}/audiences").json()
    assert audiences["totalCount"] == len(audiences["items"]) == 400
