"""Each failure arrives, and none too often, whatever happens to workers and the mail server."""

import re
from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from dashboard.notifications.models import Delivery, DeliveryState
from dashboard.notifications.recording import Subject, record_event
from dashboard.notifications.sending import deliver_pending
from tests.support.clock import stopped
from tests.support.flaky_mail import FlakyBackend, KilledError

STEP = st.one_of(
    st.tuples(st.just("fail"), st.sampled_from([1, 2, 24])),
    st.tuples(st.just("wait"), st.sampled_from([5, 20, 60, 130, 4000])),
    st.tuples(st.just("away"), st.sampled_from([True, True, False])),
    st.tuples(st.just("kill"), st.just(1)),
)
"""A number of publishes fail, some seconds pass, the mail server goes away or comes back, or a
worker is killed right after its next message."""
LONGEST_WAIT_S, WAITS = 900, 16
"""Four hours at the end, because retries are at most an hour apart."""


@override_settings(EMAIL_IS_ON=True, EMAIL_BACKEND="tests.support.flaky_mail.FlakyBackend")
class AnyHistory(TestCase):
    """Two workers take turns."""

    @given(st.lists(STEP, min_size=4, max_size=12))
    def test_failures_arrive_once_despite_a_killed_worker(
        self, steps: list[tuple[str, int]]
    ) -> None:
        FlakyBackend.reset()
        with pytest.MonkeyPatch.context() as patch:
            self.run_history(patch, steps)
        texts = {mail.extra_headers["Message-ID"]: str(mail.body) for mail in FlakyBackend.received}
        counts = Counter(link for text in texts.values() for link in links_in(text))
        listed = [number for number in range(self.failed) if counts[number]]
        more = sum(
            int(matches) for text in texts.values() for matches in re.findall(r"And (\d+) m", text)
        )
        # A message lists twenty failures and counts the others. No failure is in two messages.
        assert len(listed) + more == self.failed
        assert not [item for item, count in counts.items() if count > 1]
        repeated = len(FlakyBackend.received) - len(texts)
        assert repeated <= self.killed
        assert not Delivery.objects.exclude(state=DeliveryState.SENT).exists()

    def run_history(self, patch: pytest.MonkeyPatch, steps: list[tuple[str, int]]) -> None:
        """Take the steps, then let workers run for some hours."""
        clock, self.failed, self.killed = stopped(patch), 0, 0
        user = User.objects.create(username="paula", email="paula@kestrel.example")
        for number, (step, value) in enumerate(steps):
            match step:
                case "fail":
                    for _ in range(value):
                        fail(user, self.failed)
                        self.failed += 1
                case "wait":
                    clock.advance(value)
                case "away":
                    FlakyBackend.is_away = bool(value)
                case "kill":
                    FlakyBackend.kills = True
            self.work(number)
        FlakyBackend.is_away = FlakyBackend.kills = False
        for number in range(WAITS):
            clock.advance(LONGEST_WAIT_S)
            self.work(number)

    def work(self, number: int) -> None:
        """Let one of two workers deliver until it is killed."""
        try:
            deliver_pending(f"worker-{number % 2}")
        except KilledError:
            self.killed += 1


def fail(user: User, number: int) -> None:
    record_event(
        "publish_failed",
        f"operation:{number}:rejected",
        Subject(f"/activity/pr-{number}/"),
        {"doing": "Publishing"},
        owners=[user],
    )


def links_in(text: str) -> list[int]:
    """Return the numbers of the failures in a message."""
    return [int(matches) for matches in re.findall(r"/activity/pr-(\d+)/", text)]
