"""Verdicts on single pending changes. They are recorded here because the API has none.

A verdict applies to one text. If the change has another text later, the verdict is outdated.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from dashboard import clock
from dashboard.contract.conversations import Change
from dashboard.ledger import feed
from dashboard.ledger.models.operations import actor_name
from dashboard.ledger.queries.audiences import of_audiences
from dashboard.ledger.queries.rows import AudienceKey
from dashboard.review.models import ChangeVerdict, VerdictKind


@dataclass(frozen=True)
class JudgedChange:
    key: str
    verdict: ChangeVerdict | None
    text_digest: str

    @property
    def is_old(self) -> bool:
        """Whether the text has changed since the verdict."""
        return self.verdict is not None and self.verdict.text_digest != self.text_digest

    @property
    def is_rejected(self) -> bool:
        is_rejected = self.verdict is not None and self.verdict.verdict == VerdictKind.REJECTED
        return is_rejected and not self.is_old


def change_key(change: Change) -> str:
    """Return the id of a change; without one, a hash of its texts, which are never stored."""
    return change.change_id or _hash(repr((change.previous_value, change.new_value)))


def text_digest(change: Change) -> str:
    return _hash(repr((change.previous_value or "", change.new_value or "")))


def verdicts_on(page_id: str, audience_id: str) -> dict[str, ChangeVerdict]:
    """Return the verdicts on changes of an audience, by the changes' keys; one query."""
    key = (page_id, audience_id)
    return {verdict.change_key: verdict for verdict in verdicts_of([key]).get(key, ())}


def verdicts_of(keys: Iterable[AudienceKey]) -> dict[AudienceKey, list[ChangeVerdict]]:
    """Return the verdicts on changes of these audiences, by page and audience id; one query."""
    verdicts: dict[AudienceKey, list[ChangeVerdict]] = {}
    for verdict in ChangeVerdict.objects.filter(of_audiences(keys)):
        verdicts.setdefault((verdict.page_id, verdict.audience_id), []).append(verdict)
    return verdicts


def judged(changes: Iterable[Change], verdicts: Mapping[str, ChangeVerdict]) -> list[JudgedChange]:
    """Return each change with its verdict. Pure."""
    return [
        JudgedChange(change_key(change), verdicts.get(change_key(change)), text_digest(change))
        for change in changes
    ]


@transaction.atomic
def give_verdict(
    page_id: str, audience_id: str, change: Change, verdict: VerdictKind, *, note: str, user: User
) -> ChangeVerdict:
    """Record a verdict, replacing an earlier one on the same change."""
    words = (change.new_value or "").split()
    row, _ = ChangeVerdict.objects.update_or_create(
        page_id=page_id,
        audience_id=audience_id,
        change_key=change_key(change),
        defaults={
            "text_digest": text_digest(change),
            "new_digest": next(_digests_of_runs(words, len(words)), ""),
            "new_words": len(words),
            "verdict": verdict,
            "note": note,
            "user": user,
            "user_name": actor_name(user),
            "at": clock.now(),
        },
    )
    feed.add_audiences((page_id, audience_id), actor_id=user.pk)
    return row


@transaction.atomic
def withdraw_verdict(page_id: str, audience_id: str, change: Change, *, user: User) -> None:
    verdicts = ChangeVerdict.objects.filter(page_id=page_id, audience_id=audience_id)
    verdicts.filter(change_key=change_key(change)).delete()
    feed.add_audiences((page_id, audience_id), actor_id=user.pk)


def appears_in(verdict: ChangeVerdict, words: Sequence[str]) -> bool:
    """Return whether these words contain the whole new text of a change. Pure."""
    count = verdict.new_words
    return count > 0 and verdict.new_digest in _digests_of_runs(words, count)


def _digests_of_runs(words: Sequence[str], count: int) -> Iterator[str]:
    """Yield a digest of each run of `count` words. The time doesn't grow with `count`."""
    numbers = [int(_hash(word)[:16], 16) for word in words]
    total, factor = 0, pow(_BASE, count, _PRIME)
    for end, number in enumerate(numbers, start=1):
        total = total * _BASE + number
        if end > count:
            total -= factor * numbers[end - count - 1]
        total %= _PRIME
        if end >= count:
            yield f"{total:x}"


_BASE, _PRIME = 0x9E3779B97F4A7C15, 2**127 - 1


def rejected_within(verdicts: Iterable[ChangeVerdict], text: str) -> list[ChangeVerdict]:
    """Return the rejected changes whose new text is in this text. Pure."""
    words = text.split()
    rejected = (verdict for verdict in verdicts if verdict.verdict == VerdictKind.REJECTED)
    return [verdict for verdict in rejected if appears_in(verdict, words)]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()
