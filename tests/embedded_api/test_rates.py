"""The rate limit of a key. It affects neither other keys nor the dashboard's own calls."""

from typing import Any

import pytest
from django.test import Client

from dashboard.embedded_api import keys
from tests.embedded_api.conftest import Caller
from tests.support.redis import cache_at


@pytest.fixture(autouse=True)
def _twice_a_minute(settings: Any) -> None:
    settings.EMBEDDED_API_CALLS_PER_MINUTE = 2


def call(client: Client, count: int) -> Any:
    for _ in range(count):
        answer = client.get("/v0/pages")
    return answer


def test_a_key_over_its_limit_is_told_to_wait(service: Client) -> None:
    # Of five calls, three are in the same minute, even if a minute ends in between.
    answers = [service.get("/v0/pages") for _ in range(5)]
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert answers[0].status_code == 200
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert refused["Content-Type"] == "application/problem+json"
    assert f"wait {refused['Retry-After']} s" in refused.json()["detail"]


def test_another_key_is_not_held_back(caller_of: Caller) -> None:
    call(caller_of(), 5)
    assert call(caller_of(), 1).status_code == 200


def test_guessing_keys_is_held_back_too(db: None) -> None:
    guesser = Client(headers={"x-api-key": "prs_guessed"})
    assert {call(guesser, 1).status_code for _ in range(5)} == {401, 429}


def test_the_limit_holds_while_redis_is_away(service: Client, settings: Any) -> None:
    settings.CACHES = cache_at("redis://127.0.0.1:9")
    assert 429 in {call(service, 1).status_code for _ in range(5)}


def test_the_dashboards_own_calls_are_not_counted(db: None) -> None:
    dashboard = Client(headers={"x-api-key": keys.internal_key()})
    assert call(dashboard, 10).status_code == 200
