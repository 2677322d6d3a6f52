"""A key calls so often and no more; another's calls, and the dashboard's own, are not held back."""

from typing import Any

import pytest
from django.test import Client

from dashboard.embedded_api import keys
from tests.embedded_api.conftest import Caller


@pytest.fixture(autouse=True)
def _twice_a_minute(settings: Any) -> None:
    settings.EMBEDDED_API_CALLS_PER_MINUTE = 2


def many(client: Client, count: int) -> Any:
    for _ in range(count):
        answer = client.get("/v0/pages")
    return answer


def test_a_key_that_calls_too_often_is_told_how_long_to_wait(service: Client) -> None:
    # Five calls: where the minute ends among them, three are still of one.
    answers = [service.get("/v0/pages") for _ in range(5)]
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert answers[0].status_code == 200
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert refused["Content-Type"] == "application/problem+json"
    assert f"wait {refused['Retry-After']} s" in refused.json()["detail"]


def test_another_key_is_not_held_back(caller_of: Caller) -> None:
    many(caller_of(), 5)
    assert many(caller_of(), 1).status_code == 200


def test_guessing_keys_is_held_back_too(db: None) -> None:
    guesser = Client(headers={"x-api-key": "prs_guessed"})
    assert {many(guesser, 1).status_code for _ in range(5)} == {401, 429}


def test_the_dashboards_own_calls_are_not_counted(db: None) -> None:
    dashboard = Client(headers={"x-api-key": keys.internal_key()})
    assert many(dashboard, 10).status_code == 200
