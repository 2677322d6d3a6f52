"""Time limits are consistent for any SERVICE_TIMEOUT_S and service."""

import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import product
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from config.environment import BASE_DIR, Environment
from dashboard.clock import (
    CLAIM,
    MARGIN,
    MAX_DELAY,
    RENEWED_AFTER,
    interrupted_after,
    recorded_after,
    request_limit,
)
from dashboard.contract.pages import PageRequest
from dashboard.ledger.models import ServiceState
from dashboard.ledger.models.operations import OperationKind, Outcome
from dashboard.ledger.operations import Target, begin, begin_retry, mark_interrupted_unknown
from dashboard.notifications.watches import WATCH_S
from dashboard.operations.execution import send
from dashboard.releases.worker import HEARTBEAT_S, IDLE_CHECK_S, MISSING_AFTER
from dashboard.service.outages import begin_or_continue
from tests.support import wire
from tests.support.clock import stopped
from tests.support.fake_service import FakeService

TIMEOUTS_S = (0.001, 1, 5, 30, 90, 300)
"""Values of SERVICE_TIMEOUT_S: its limits, its default and some between."""
BODY = PageRequest(
    actions=[], action_card_widgets=[], brand_id="b", name="N", page_context="c", scripts=[]
).to_wire()


def test_the_setting_has_the_limits_that_are_walked() -> None:
    field = Environment.model_fields["service_timeout_s"]
    assert field.default in TIMEOUTS_S
    assert max(TIMEOUTS_S) == next(rule.le for rule in field.metadata if hasattr(rule, "le"))


def moments() -> Iterator[tuple[float, float, float]]:
    """Yield each limit with the delay and the duration of a call, as shares of their limits."""
    yield from product(TIMEOUTS_S, (0, 0.5, 1), (0, 0.5, 1))


@pytest.mark.django_db
@pytest.mark.parametrize("moment", moments())
def test_no_call_counts_as_interrupted_before_its_end(
    moment: tuple[float, float, float],
    fake_service: FakeService,
    paula: User,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    settings.SERVICE_TIMEOUT_S, delay, duration = moment
    clock = stopped(monkeypatch)
    operation, attempt = begin(
        operation_key="key",
        kind=OperationKind.CREATE_PAGE,
        actor=paula,
        target=Target(target_name="N"),
        body=BODY,
    )
    assert attempt

    def respond(request: httpx.Request) -> httpx.Response:
        clock.advance(settings.SERVICE_TIMEOUT_S * duration)
        assert mark_interrupted_unknown() == 0
        assert begin_retry(operation, actor=paula) is None
        return httpx.Response(201, json=wire.page(name="N"))

    fake_service.answer = respond
    clock.advance(MAX_DELAY.total_seconds() * delay)
    assert send(operation, attempt).operation.outcome == Outcome.ACCEPTED
    assert len(fake_service.sent) == 1


@pytest.mark.parametrize("timeout_s", TIMEOUTS_S)
def test_each_limit_is_above_what_it_waits_for(timeout_s: float, settings: Any) -> None:
    settings.SERVICE_TIMEOUT_S = timeout_s
    call = timedelta(seconds=timeout_s)
    assert MARGIN.total_seconds() >= settings.DATABASE_TIMEOUT_S
    assert interrupted_after() >= MAX_DELAY + call + MARGIN
    assert recorded_after() >= call + MARGIN
    # A request reads, then sends, and the server lets it finish.
    assert request_limit() >= call + interrupted_after()
    # A call that a worker may still begin has a claim, which is renewed in time.
    assert CLAIM > MAX_DELAY
    assert CLAIM > 2 * RENEWED_AFTER
    assert timedelta(seconds=2 * HEARTBEAT_S + IDLE_CHECK_S) < MISSING_AFTER
    # Two checks of a silent service belong to one outage.
    now = timezone.now()
    later = now + call + timedelta(seconds=WATCH_S)
    state = ServiceState(began_at=now, failed_at=now)
    assert begin_or_continue(state, later)
    assert state.began_at == now


def test_what_stops_the_server_waits_for_the_longest_request() -> None:
    folder, longest_s = BASE_DIR / "config" / "deploy", request_limit().total_seconds()
    files = {
        "systemd/pressroom.service": r"TimeoutStopSec=(\d+)$",
        "systemd/pressroom-worker.service": r"TimeoutStopSec=(\d+)$",
        "compose.yaml": r"stop_grace_period: (\d+)s$",
        "nginx.conf": r"proxy_read_timeout (\d+)s;$",
        "../README.md": r"--stop-timeout (\d+) ",
    }
    for name, pattern in files.items():
        stops_after = re.findall(pattern, (folder / name).read_text(), re.MULTILINE)
        assert stops_after, name
        assert all(int(seconds) > longest_s for seconds in stops_after), name
    assert f"which is {longest_s:.0f}" in (folder.parent / "README.md").read_text()
