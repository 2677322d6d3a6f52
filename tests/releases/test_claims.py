"""One worker at a time acts on a release; a person's decision takes it from any worker."""

from datetime import timedelta
from threading import Event

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.clock import CLAIM
from dashboard.releases.models import Release
from dashboard.work import claims
from dashboard.work.claims import Claim, ClaimLostError, claim_next
from tests.support.clock import Clock

pytestmark = pytest.mark.django_db


def due(seconds_ago: float = 0, name: str = "Prices") -> Release:
    """Create a release that has been due for so many seconds."""
    now = timezone.now()
    wake_at = now - timedelta(seconds=seconds_ago)
    return Release.objects.create(name=name, created_at=now, wake_at=wake_at)


def claim(worker_id: str) -> Claim[Release] | None:
    return claim_next(Release.objects.all(), worker_id, timezone.now())


def claimed(worker_id: str) -> Claim[Release]:
    claimed = claim(worker_id)
    assert claimed
    return claimed


def test_the_release_that_waited_longest_is_claimed_first(clock: Clock) -> None:
    for seconds, name in ((5, "second"), (9, "first"), (-1, "not due")):
        due(seconds, name)
    claims = [claim("one"), claim("two"), claim("three")]
    names = [claim.row.name if claim else None for claim in claims]
    assert names == ["first", "second", None]


def test_a_claim_ends_so_that_another_worker_continues(clock: Clock) -> None:
    release = due()
    claimed("killed")
    assert claim("next") is None
    clock.advance(CLAIM.total_seconds() + 1)
    assert claimed("next").row == release


def test_a_renewed_claim_does_not_end(clock: Clock) -> None:
    due()
    own = claimed("slow")
    for _ in range(10):
        clock.advance(12)
        own.renew()
    assert claim("next") is None


@pytest.mark.parametrize("is_taken", [True, False])
def test_a_worker_that_was_suspended_changes_nothing(clock: Clock, is_taken: bool) -> None:
    due()
    own = claimed("suspended")
    clock.advance(CLAIM.total_seconds() + 1)
    if is_taken:
        claimed("next")
    with pytest.raises(ClaimLostError):
        own.renew()
    with pytest.raises(ClaimLostError), own.locked():
        pass


def test_a_worker_cannot_release_another_s_claim(clock: Clock) -> None:
    due()
    own = claimed("suspended")
    clock.advance(CLAIM.total_seconds() + 1)
    other = claimed("next")
    assert not own.release(None)
    assert other.release(None)


def test_a_decision_takes_over_the_claim(clock: Clock, paula: User) -> None:
    release = due()
    own = claimed("busy")
    Release.objects.filter(pk=release.pk).update(wake_at=timezone.now())
    with pytest.raises(ClaimLostError), own.locked():
        pass
    assert not own.release(None)
    assert claimed("next").row == release


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_claim_is_renewed_while_a_call_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "RENEWED_AFTER", timedelta(seconds=0.05))
    due()
    own, tick = claimed("slow"), Event()
    until = own.until
    with own.renewed():
        while own.until == until:
            tick.wait(0.01)
    assert Release.objects.get().wake_at == own.until > until
    assert own.release(None)


def test_a_failed_change_keeps_its_claim_until_expiry(clock: Clock) -> None:
    due()
    own = claimed("busy")

    def change_and_fail() -> None:
        with own.locked() as release:
            release.name = "Changed"
            release.save()
            clock.advance(1)
            own.extend()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        change_and_fail()
    assert Release.objects.get().name == "Prices"
    assert not own.release(None)
