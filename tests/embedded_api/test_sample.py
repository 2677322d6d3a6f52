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
from dashboard.embedded_api.sample import Sample, SampleRows, make_sample_rows
from dashboard.embedded_api.sample.audiences import IN_USE, seen_versions
from dashboard.embedded_api.sample.people import people
from dashboard.embedded_api.serializers import conversation_json, page_json, version_json

NOW = datetime(2026, 3, 12, 14, 6, tzinfo=UTC)
LATER = NOW + timedelta(days=200)
HOUR = timedelta(hours=1)
LIFE = ("created_at", "became_draft_at", "queued_at", "processing_at", "published_at")


@pytest.fixture(scope="module")
def rows() -> SampleRows:
    return make_sample_rows(NOW)


@pytest.fixture(scope="module")
def later() -> SampleRows:
    """The sample as made half a year later."""
    return make_sample_rows(LATER)


@pytest.fixture(scope="module")
def everybody() -> list[Person]:
    return list(people(5_000, NOW))


def versions(rows: SampleRows) -> list[Version]:
    return [version for history in rows.histories for version in history.versions]


def statuses(rows: SampleRows) -> Counter[str]:
    return Counter(Dates.of(version).status(NOW).value for version in versions(rows))


def messages(rows: SampleRows) -> list[dict[str, Any]]:
    return list(chain.from_iterable(row.messages for row in rows.conversations))


def tool_calls(rows: SampleRows) -> list[dict[str, Any]]:
    return [call for message in messages(rows) for call in message.get("toolCalls", [])]


def test_there_are_sixty_pages_of_all_types_and_statuses(rows: SampleRows) -> None:
    on_wire = [page_json(page, NOW) for page in rows.pages]
    assert len(on_wire) == len({page["pageId"] for page in on_wire}) == 60
    assert {page["pageType"] for page in on_wire} == set(PageType)
    assert {page["status"] for page in on_wire} == set(PageStatus)


def test_the_sample_has_900_audiences(rows: SampleRows) -> None:
    of_page = Counter(history.audience.page_id for history in rows.histories)
    assert of_page.total() == len({history.audience.pk for history in rows.histories}) == 900
    assert max(of_page.values()) == 400
    assert len(of_page) == 59


def test_versions_are_in_all_seven_statuses(rows: SampleRows) -> None:
    counts = statuses(rows)
    assert set(counts) == set(VersionStatus)
    assert all(count >= 2 for count in counts.values())


def test_some_versions_stay_queued_and_processing_for_weeks(rows: SampleRows) -> None:
    later = NOW + timedelta(weeks=6)
    under_way = {Dates.of(version).status(later) for version in versions(rows)}
    assert {VersionStatus.QUEUED, VersionStatus.PROCESSING} <= under_way


def test_no_audience_has_two_live_versions(rows: SampleRows) -> None:
    for history in rows.histories:
        live = [v for v in history.versions if Dates.of(v).status(NOW) is VersionStatus.PUBLISHED]
        assert len(live) <= 1


def test_publications_run_forward_without_overlap(
    rows: SampleRows, later: SampleRows, pytestconfig: pytest.Config
) -> None:
    samples = {NOW: rows, LATER: later}
    if pytestconfig.getoption("exhaustive"):
        samples |= {now: make_sample_rows(now) for now in (NOW + 27 * HOUR, NOW + 60 * HOUR)}
    for now, created in samples.items():
        for history in created.histories:
            assert history.audience.created_at < history.versions[0].created_at
            for older, newer in pairwise(history.versions):
                assert older.created_at < newer.created_at
                assert (older.published_at or "") < newer.created_at
            for version in history.versions:
                dates = [date for name in LIFE if (date := getattr(version, name))]
                assert dates == sorted(dates)
                assert (read_date(version.created_at) or now) < now


def test_a_page_without_live_versions_is_a_draft(rows: SampleRows) -> None:
    published = {
        history.audience.page_id
        for history in rows.histories
        if any(Dates.of(v).at(NOW).published_at for v in history.versions)
    }
    for page in rows.pages:
        is_draft = page_json(page, NOW)["status"] == PageStatus.DRAFT
        assert is_draft == (page.pk not in published)


def test_sample_versions_differ_by_some_words(rows: SampleRows) -> None:
    pairs = [pair for history in rows.histories for pair in pairwise(history.versions)]
    texts = [(a.supplementary_context, b.supplementary_context) for a, b in pairs]
    pairs = [(old.split(), new.split()) for old, new in texts if old and new]
    assert len(pairs) > 1500
    assert all(old != new for old, new in pairs)
    assert all(len(set(old) & set(new)) > len(set(new)) / 3 for old, new in pairs)


def test_there_are_300_conversations_of_5_to_200_messages(rows: SampleRows) -> None:
    lengths = [len(row.messages) for row in rows.conversations]
    assert len(lengths) == 300
    assert (min(lengths), max(lengths)) == (5, 200)


def test_messages_are_in_order_with_unique_ids(rows: SampleRows) -> None:
    for row in rows.conversations:
        times = [message["timestamp"] for message in row.messages]
        assert times == sorted(times)
        assert times[-1] / 1000 < NOW.timestamp()
    assert len({message["messageId"] for message in messages(rows)}) == len(messages(rows))


def test_conversations_hold_what_makes_reading_them_hard(rows: SampleRows) -> None:
    every = messages(rows)
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


def test_sample_tool_calls_have_errors_and_large_results(rows: SampleRows) -> None:
    calls = tool_calls(rows)
    sizes = [len(json.dumps(call.get("result"))) for call in calls]
    assert any("error" in call for call in calls)
    assert any("result" in call and call["result"] is None for call in calls)
    assert 3 <= sum(size > 200_000 for size in sizes) <= 12


def test_pending_changes_are_ready_applied_or_outdated(rows: SampleRows) -> None:
    counts = Counter()
    for row in rows.conversations:
        context = conversation_json(row, live=None)["context"]
        for change in row.pending_changes:
            fits = change["previousValue"] in context.values()
            is_so = change["newValue"] in context.values()
            counts["ready" if fits else "applied" if is_so else "moved"] += 1
    assert all(counts[kind] > 20 for kind in ("ready", "applied", "moved"))


def test_a_publish_divides_a_conversation(rows: SampleRows) -> None:
    live = {
        version.audience_id: version
        for version in versions(rows)
        if Dates.of(version).status(NOW) is VersionStatus.PUBLISHED
    }
    middles = 0
    for row in rows.conversations:
        conversation = conversation_json(row, live=live.get(row.audience_id))["conversation"]
        ids = [message["messageId"] for message in row.messages]
        middles += conversation.get("publishedMessageId") in ids[:-1]
    assert middles > 50


def test_eight_subscriptions_have_all_events_none_null_and_some(rows: SampleRows) -> None:
    events = [row.events for row in rows.subscriptions]
    assert len(events) == 8
    assert None in events
    assert [] in events
    assert any(row is not None and set(row) == set(EventName) for row in events)
    assert {row.active for row in rows.subscriptions} == {True, False}


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
    rows: SampleRows, everybody: list[Person]
) -> None:
    expected = {row.person_id: row for row in everybody}
    named = [history for history in rows.histories if history.audience.prospect_id]
    assert len(named) > 600
    for history in named:
        assert expected[history.audience.prospect_id].domain == history.company.domain


def test_every_address_is_made_up(rows: SampleRows) -> None:
    bodies = [json.dumps(row.messages) for row in rows.conversations]
    bodies += [json.dumps([row.actions, row.footer_links, row.metadata]) for row in rows.pages]
    bodies += [row.url for row in rows.subscriptions]
    bodies += [f"https://{row.domain} {row.linkedin_profile_url}" for row in people(600, NOW)]
    hosts = set(re.findall(r"https?://([a-z0-9.-]+)", "\n".join(bodies)))
    assert len(hosts) > 100
    assert {host for host in hosts if not host.endswith(".example")} == {"10.20.0.14"}


def test_the_sample_is_the_same_on_every_run(rows: SampleRows) -> None:
    again = make_sample_rows(NOW)
    for ours, theirs in zip(versions(rows), versions(again), strict=True):
        assert version_json(ours, NOW) == version_json(theirs, NOW)
    assert [row.messages for row in rows.conversations] == [
        row.messages for row in again.conversations
    ]


def test_the_sample_is_the_same_every_day(rows: SampleRows, later: SampleRows) -> None:
    assert [page.pk for page in later.pages] == [page.pk for page in rows.pages]
    assert [(v.pk, v.supplementary_context) for v in versions(later)] == [
        (v.pk, v.supplementary_context) for v in versions(rows)
    ]


def test_the_demo_dashboard_has_seen_and_missed_publishes(rows: SampleRows) -> None:
    seen = list(seen_versions(rows.histories, NOW))
    began = NOW - IN_USE
    born_in_use = [v for v in versions(rows) if (read_date(v.created_at) or NOW) > began]
    seen_ids = {version.version_id for _, version, _, _ in seen}
    missed = [v for v in born_in_use if v.pk not in seen_ids]
    assert len(missed) > 100
    assert len(seen) > 1_000
    assert all(began <= first <= last <= NOW for _, _, first, last in seen)


def test_an_old_version_is_shown_as_last_seen(rows: SampleRows) -> None:
    for _, version, _, last in seen_versions(rows.histories, NOW):
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
