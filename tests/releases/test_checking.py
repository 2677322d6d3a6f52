"""A check reads the service and reports what differs from the reviewed state."""

import time
from collections.abc import Callable
from datetime import timedelta
from threading import Barrier
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.client import APIError
from dashboard.ledger.models import AudienceRecord, Operation, Publication
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.releases import checking, drafting
from dashboard.releases.checking import MAX_PARALLEL_CALLS, check_release, read_items
from dashboard.releases.drafting import create_release
from dashboard.releases.errors import ReleaseError
from dashboard.releases.models import ItemState, Release, ReleaseItem, ReleaseState
from dashboard.releases.reviewing import blocked, can_roll_back, changes_since, risks
from dashboard.service.client import close_publishing_client
from tests.releases.conftest import Draft
from tests.support.many_audiences import Key, ManyAudiences

KEY = ("page_1", "aud_1")
PATH = "/v0/pages/page_1/audiences/aud_1"


def change_of(release: Release) -> str:
    """Read the only item again; return how it differs from the reviewed state."""
    item = release.items.get()
    return changes_since(item, read_items([item])[item.pk])


def headlines(item: ReleaseItem) -> list[tuple[str, str]]:
    return [(finding["severity"], finding["headline"]) for finding in item.findings]


def publish_from_here(key: Key, version_id: str, user: User, outcome: Outcome) -> None:
    Operation.objects.create(
        operation_key=f"key of {version_id}",
        kind=OperationKind.PUBLISH_VERSION,
        outcome=outcome,
        actor=user,
        actor_name=user.username,
        page_id=key[0],
        audience_id=key[1],
        version_id=version_id,
        version_number=int(version_id[-1]),
        requested_at=timezone.now() - timedelta(minutes=1),
        settled_at=timezone.now(),
    )


def test_a_check_records_what_is_reviewed(draft: Draft, service: ManyAudiences) -> None:
    (key,) = service.add(1)
    service.pending[key] = ["change_b", "change_a"]
    release = draft(keys=[key])
    item = release.items.get()
    assert not release.needs_check
    assert item.checked_at
    assert (item.words_added, item.words_removed) == (1, 1)
    assert item.page_status == "published"
    assert item.pending_change_ids == ["change_a", "change_b"]
    assert headlines(item) == [("note", "2 pending changes are not in version 2.")]
    assert can_roll_back(item)
    assert not blocked(item)


def test_what_did_not_change_stays_reviewed(draft: Draft, paula: User) -> None:
    release = draft(1)
    item = release.items.get()
    drafting.mark_reviewed(item, paula, reviewed=True, displayed_digest=item.digest)
    assert change_of(release) == ""
    check_release(release)
    assert release.items.get().reviewed_by_name == "paula"


def test_words_are_counted_again_when_a_text_has_changed(
    draft: Draft, service: ManyAudiences
) -> None:
    release = draft(1)
    latest(service, supplementaryContext="Runs 20 trucks and three vans.")
    check_release(release)
    item = release.items.get()
    assert (item.words_added, item.words_removed) == (4, 1)


def latest(service: ManyAudiences, number: int = 2, **differs: Any) -> None:
    """Make this the latest version of the audience."""
    service.change(KEY, latestVersion=service.version(KEY, number, **differs))


EDITS: dict[str, Callable[[ManyAudiences], object]] = {
    "Version 3 was created after you reviewed version 2.": lambda it: latest(it, 3),
    "Version 2 has changed since the review.": lambda it: latest(it, supplementaryContext="Other."),
    "Version 2 is now queued.": lambda it: latest(it, status="queued"),
    "Version 7 went live after the review, published outside Pressroom.": lambda it: it.change(
        KEY, publishedVersion=it.live(KEY, 7)
    ),
    "Version 1 is no longer live.": lambda it: it.change(KEY, publishedVersion=None),
    "This audience was archived.": lambda it: it.change(KEY, archivedAt="2026-03-01T09:00:00Z"),
    "The page’s status is now archived.": lambda it: it.pages["page_1"].update(status="archived"),
    "The page’s status is now draft.": lambda it: it.pages["page_1"].update(status="draft"),
    "The pending changes in the conversation differ from those at the review.": (
        lambda it: it.pending.update({KEY: ["change_1"]})
    ),
    "The pending changes can’t be read, so they couldn’t be compared.": (
        lambda it: it.responses.update({f"{PATH}/messages": httpx.Response(500)})
    ),
    "The service’s data for this audience can’t be read. "
    "The live version shown is the last known one.": (
        lambda it: it.change(KEY, latestVersion={"versionNumber": "two"})
    ),
}
"""What may change after a review, by the sentence that reports it."""
STOPS: dict[str, Callable[[ManyAudiences], object]] = {
    "Version 2 was canceled. It can’t be published.": lambda it: latest(it, status="cancelled"),
    "This page no longer exists. The service returned 404.": lambda it: it.pages.clear(),
    "This audience no longer exists. The service doesn’t list it.": (
        lambda it: it.audiences.clear()
    ),
}
"""Changes that stop the version."""


@pytest.mark.parametrize("sentence", EDITS | STOPS)
def test_each_change_since_the_review_has_its_sentence(
    draft: Draft, service: ManyAudiences, paula: User, sentence: str
) -> None:
    release = draft(1)
    item = release.items.get()
    drafting.mark_reviewed(item, paula, reviewed=True, displayed_digest=item.digest)
    (EDITS | STOPS)[sentence](service)
    assert change_of(release) == sentence
    check_release(release)
    item = release.items.get()
    assert item.reviewed_at is None
    assert blocked(item) is (sentence in STOPS)
    assert change_of(release) == (sentence if sentence in STOPS else "")


def test_another_live_version_is_attributed_to_who_published_it(
    draft: Draft, service: ManyAudiences, ada: User
) -> None:
    release = draft(1)
    publish_from_here(KEY, "ver_aud_1_7", ada, Outcome.ACCEPTED)
    now = timezone.now().isoformat()
    live = service.live(KEY, 7, queuedAt=now, publishedAt=now)
    service.change(KEY, publishedVersion=live)
    assert change_of(release) == "Version 7 went live after the review, published by ada."


def test_another_publish_in_progress_is_a_risk_not_seen(draft: Draft, ada: User) -> None:
    release = draft(1)
    publish_from_here(KEY, "ver_aud_1_1", ada, Outcome.UNKNOWN)
    assert change_of(release).startswith("Publishing version 1 hasn’t finished.")
    check_release(release)
    assert change_of(release) == ""
    assert len(risks(release.items.get())) == 1


def test_a_version_in_progress_elsewhere_is_a_risk(draft: Draft, ada: User) -> None:
    release = draft(1)
    publish_from_here(KEY, "ver_aud_1_2", ada, Outcome.SENDING)
    assert change_of(release) == (
        "Publishing version 2 hasn’t finished. It was requested outside this release."
    )


def test_an_audience_beyond_the_list_is_a_risk(draft: Draft, service: ManyAudiences) -> None:
    keys = service.add(2)
    service.has_more = True
    del service.audiences[keys[1]]
    release = draft(keys=keys)
    item = release.items.get(audience_id="aud_2")
    assert not blocked(item)
    assert headlines(item) == [("risk", "This audience isn’t in the service’s list.")]


@pytest.mark.parametrize(
    "silence",
    [httpx.ConnectError("refused"), httpx.ReadTimeout("late"), httpx.Response(503)],
    ids=["unreachable", "timeout", "503"],
)
@pytest.mark.parametrize("path", ["/v0/pages/page_2", "/v0/pages/page_2/audiences"])
def test_a_silent_service_judges_nothing(
    draft: Draft, service: ManyAudiences, silence: Any, path: str
) -> None:
    service.add(1)
    service.add(1, page_id="page_2")
    release = draft(keys=list(service.audiences))
    before = list(release.items.values())
    service.responses[path] = silence
    drafting.request_check(release)
    with pytest.raises(APIError):
        check_release(release)
    assert list(release.items.values()) == before
    assert Release.objects.get().needs_check


def test_a_page_without_audience_list_blocks_only_its_items(
    draft: Draft, service: ManyAudiences
) -> None:
    service.add(1)
    service.add(1, page_id="page_2")
    service.responses["/v0/pages/page_2/audiences"] = httpx.Response(200, json={"items": 1})
    release = draft(keys=list(service.audiences))
    assert [blocked(item) for item in release.items.all()] == [False, True]


def test_held_items_wait_again_after_a_check(draft: Draft, service: ManyAudiences) -> None:
    release = draft(1)
    latest(service, 3)
    reason = change_of(release)
    release.items.update(state=ItemState.HELD, reason=reason, settled_at=timezone.now())
    Release.objects.update(state=ReleaseState.HELD)
    release.refresh_from_db()
    check_release(release)
    item = release.items.get()
    assert (item.state, item.reason, item.settled_at) == (ItemState.WAITING, reason, None)
    assert headlines(item) == [("risk", "Version 3 is newer.")]
    assert Release.objects.get().state == ReleaseState.HELD


def test_what_was_sent_is_not_checked_again(draft: Draft, service: ManyAudiences) -> None:
    release = draft(2)
    release.items.filter(audience_id="aud_1").update(state=ItemState.LIVE)
    Release.objects.update(state=ReleaseState.HELD)
    service.paths.clear()
    before = release.items.filter(audience_id="aud_1").values().get()
    check_release(release)
    assert release.items.filter(audience_id="aud_1").values().get() == before
    assert not any("aud_1/messages" in path for path in service.paths)


def test_a_check_after_the_decision_changes_nothing(draft: Draft, service: ManyAudiences) -> None:
    release = draft(1)
    before = list(release.items.values())
    service.change(KEY, publishedVersion=service.live(KEY, 7))
    service.before = lambda: Release.objects.update(state=ReleaseState.RUNNING)
    check_release(release)
    assert list(release.items.values()) == before


def test_an_earlier_check_does_not_replace_a_later_one(
    draft: Draft, service: ManyAudiences
) -> None:
    release = draft(1)

    def another_check() -> None:
        if service.paths[-1].endswith("/messages"):
            service.before = lambda: None
            service.change(KEY, publishedVersion=service.live(KEY, 7))
            check_release(Release.objects.get(pk=release.pk))

    service.before = another_check
    check_release(release)
    assert release.items.get().live_version_number == 7


def test_a_check_is_recorded_in_the_ledger(draft: Draft, service: ManyAudiences) -> None:
    release = draft(1)
    latest(service, 3)
    check_release(release)
    assert AudienceRecord.objects.get().latest_version_number == 3


def test_a_page_is_read_once_for_all_its_items(draft: Draft, service: ManyAudiences) -> None:
    service.add(3)
    service.add(2, page_id="page_2")
    release = draft(keys=list(service.audiences))
    service.paths.clear()
    check_release(release)
    assert sorted(path for path in service.paths if not path.endswith("/messages")) == [
        "/v0/pages/page_1",
        "/v0/pages/page_1/audiences",
        "/v0/pages/page_2",
        "/v0/pages/page_2/audiences",
    ]
    assert len(service.paths) == 4 + 5


def test_progress_is_reported_while_a_call_takes_long(
    draft: Draft, service: ManyAudiences, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = draft(3)
    monkeypatch.setattr(checking, "PROGRESS_INTERVAL_S", 0.01)
    service.before = lambda: time.sleep(0.02)
    reports: list[float] = []
    read_items(release.items.all(), lambda: reports.append(time.monotonic()))
    assert len(reports) >= 4


def test_a_check_ends_if_progress_can_not_be_reported(
    draft: Draft, service: ManyAudiences, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker has lost its claim to another one."""
    release = draft(2)
    monkeypatch.setattr(checking, "PROGRESS_INTERVAL_S", 0.0)

    def lost() -> None:
        raise ReleaseError("Lost.")

    with pytest.raises(ReleaseError, match="Lost"):
        read_items(release.items.all(), lost)


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_400_items_need_one_list_and_parallel_calls(
    service: ManyAudiences, paula: User, settings: Any
) -> None:
    keys, together = service.add(400), Barrier(MAX_PARALLEL_CALLS)
    # Each read of a conversation waits for the others that may run beside it.
    service.before = lambda: service.paths[-1].endswith("/messages") and together.wait(timeout=30)
    release = create_release(name="", note="", audiences=keys, user=paula)
    with service.served() as load:
        settings.SERVICE_TRANSPORT, settings.SERVICE_URL = None, load.url
        settings.SERVICE_API_KEY = "a-key-of-this-test"
        check_release(release)
        close_publishing_client()
    assert load.most == MAX_PARALLEL_CALLS
    assert service.paths.count("/v0/pages/page_1/audiences") == 1
    assert len(service.paths) == 402
    assert release.items.exclude(digest="").count() == 400


def test_republishing_after_a_rollback_is_a_named_risk(
    draft: Draft, service: ManyAudiences
) -> None:
    [key] = service.add(1)
    for number in (1, 2, 1):
        service.change(key, publishedVersion=service.live(key, number))
        service.record()
    Publication.objects.filter(ended_at=None).update(actor_name="demo", note="Not signed off")
    item = draft(keys=[key]).items.get()
    assert headlines(item) == [("risk", "demo rolled back version 2")]
    assert risks(item)[0]["detail"] == "Not signed off"
    assert change_of(item.release) == ""
