"""The versions of an audience, with their supplementary contexts and dates.

A text is built from facts. A new version changes a few facts, so versions differ by realistic
edits.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any, TypeAlias

from dashboard.embedded_api.models import DEFAULT_TENANT_ID, Audience, Version
from dashboard.embedded_api.sample.people import Company
from dashboard.embedded_api.sample.randomness import (
    TEXTS,
    fill,
    mark,
    random_moment,
    random_sample,
    sample_id,
    weighted_choice,
)

FACTS = TEXTS["facts"]
_TEXTS = TEXTS["versions"]
_MIN_INTERVAL = timedelta(minutes=11)
FIRST_OUTCOMES: list[list[str]] = _TEXTS["first_outcomes"]
"""Outcomes of the first audiences on the first page, which together show every status."""
Facts: TypeAlias = dict[str, Any]
"""Facts about a company at one time."""


def first_facts(rng: Random, company: Company, contact: str) -> Facts:
    return {
        "name": company.name,
        "towns": company.towns,
        "contact": contact,
        "role": rng.choice(FACTS["roles"]),
        "second_role": "",
        "fleet": company.fleet,
        "vehicles": rng.choice(FACTS["vehicles"]),
        "depots": rng.randint(1, 3),
        "worries": _listed(random_sample(rng, FACTS["worries"], 2)),
        "lead": rng.choice(FACTS["leads"]),
        "proof": rng.choice(FACTS["proofs"]),
        "limit": rng.choice(FACTS["limits"]),
        "plan": FACTS["plans"][0],
        "discount": FACTS["discounts"][0],
        "note": "",
    }


_EDITS: tuple[Callable[[Random, Facts], Facts], ...] = (
    lambda rng, facts: {"fleet": facts["fleet"] + rng.randint(2, 12)},
    lambda _, facts: {"depots": min(facts["depots"] + 1, len(facts["towns"]))},
    lambda rng, _: {"second_role": rng.choice(FACTS["roles"])},
    lambda rng, _: {"worries": _listed(random_sample(rng, FACTS["worries"], 3))},
    lambda rng, _: {"lead": rng.choice(FACTS["leads"])},
    lambda rng, _: {"proof": rng.choice(FACTS["proofs"])},
    lambda rng, _: {"limit": rng.choice(FACTS["limits"])},
    lambda rng, _: {
        "plan": rng.choice(FACTS["plans"]), "discount": rng.choice(FACTS["discounts"])
    },
    lambda rng, _: {"note": rng.choice(FACTS["notes"])},
)  # fmt: skip


def next_facts(rng: Random, facts: Facts) -> Facts:
    after = facts
    while context(after) == context(facts):
        for edit in random_sample(rng, _EDITS, 3):
            after = after | edit(rng, after)
    return after


def context(facts: Facts) -> str:
    """Return the supplementary context, four or five paragraphs of plain text."""
    depots = facts["depots"]
    people = f"Their {facts['role']}, {facts['contact']},"
    if facts["second_role"] not in ("", facts["role"]):
        people += f" and their {facts['second_role']}"
    values = facts | {
        "depot_count": f"{FACTS['numbers'][depots]} {'depot' if depots == 1 else 'depots'}",
        "depot_names": _listed(facts["towns"][:depots]),
        "people": people,
    }
    return "\n\n".join(filter(None, fill(FACTS["paragraphs"], values)))


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def random_outcomes(rng: Random, *, ever_published: bool) -> list[str]:
    """Return the outcomes of an audience's versions, oldest first.

    If the page was never published, no version is live.
    """
    ending: list[str] = weighted_choice(rng, _TEXTS["endings"]).split()
    if not ever_published:
        ending = [outcome for outcome in ending if outcome != "live"] or ["draft"]
    if "live" in ending:
        earlier, length = _TEXTS["earlier"], int(weighted_choice(rng, _TEXTS["lengths"]))
    else:
        earlier, length = {"dropped": 1.0}, rng.randint(1, 3)
    before: list[str] = [weighted_choice(rng, earlier) for _ in range(max(0, length - len(ending)))]
    return before + ending


def make_versions(
    rng: Random,
    audience: Audience,
    outcomes: list[str],
    facts: Facts,
    *,
    start: datetime,
    end: datetime,
    now: datetime,
) -> list[Version]:
    # Keep versions at least some minutes apart.
    count = len(outcomes)
    start += (count + 1) * _MIN_INTERVAL
    times = sorted(random_moment(rng, start, max(start, end)) for _ in range(count))
    starts = [time - (count - index) * _MIN_INTERVAL for index, time in enumerate(times)]
    versions = []
    for index, (outcome, created) in enumerate(zip(outcomes, starts, strict=True)):
        facts = next_facts(rng, facts) if index else facts
        is_empty = index == 1 and rng.random() < 0.05
        version = Version(
            id=sample_id("ver", audience.pk, index),
            tenant_id=DEFAULT_TENANT_ID,
            audience=audience,
            version_number=index + 1,
            is_new_page_agent=audience.is_new_page_agent,
            supplementary_context=None if is_empty else context(facts),
            created_at=mark(created, rng),
        )
        room = (starts[index + 1] if index + 1 < len(starts) else now) - created
        _set_dates(rng, version, outcome, start=created, room=room, now=now)
        versions.append(version)
    published = [version for version in versions if version.published_at]
    for old, new in pairwise(published):
        old.obsolete_at = old.archived_at = new.published_at
    return versions


def _set_dates(
    rng: Random, version: Version, outcome: str, *, start: datetime, room: timedelta, now: datetime
) -> None:
    """Set the dates of a version. All lie before the creation of the next version."""
    if outcome == "pending":
        return
    draft = start + min(timedelta(seconds=rng.uniform(15, 400)), room * 0.2)
    version.became_draft_at = mark(draft, rng)
    if outcome in _TEXTS["in_flight_s"]:
        _set_dates_in_flight(rng, version, outcome, now)
    elif outcome == "dropped":
        version.archived_at = mark(
            draft + min(timedelta(hours=rng.uniform(2, 40)), room * 0.5), rng
        )
    elif outcome in {"live", "past", "cancelled"}:
        queued = draft + min(timedelta(minutes=rng.lognormvariate(3, 1.6)), room * 0.4)
        version.queued_at = mark(queued, rng)
        left = queued + min(timedelta(seconds=rng.lognormvariate(3.7, 0.5)), room * 0.1)
        if outcome == "cancelled":
            version.cancelled_at = mark(left, rng)
        else:
            version.processing_at = mark(left, rng)
            live = left + min(timedelta(seconds=rng.uniform(4, 30)), room * 0.1)
            version.published_at = mark(live, rng)


def _set_dates_in_flight(rng: Random, version: Version, outcome: str, now: datetime) -> None:
    """Leave a version queued or processing for some minutes, or permanently.

    The embedded API publishes within seconds, so only a stuck version stays visible.
    """
    seconds = [timedelta(seconds=seconds) for seconds in _TEXTS["in_flight_s"][outcome]]
    names = ("queued_at", "processing_at", "published_at")
    for name, after in zip(names, seconds, strict=True):
        setattr(version, name, mark(now + after, rng))
