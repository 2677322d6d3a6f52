"""Without its Redis, Pressroom is slower, but everything works."""

import json
import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from redis import Redis

from dashboard.server.redis_cache import RETRY_AFTER_S
from tests.conftest import logged_in
from tests.support import wire
from tests.support.clock import Clock
from tests.support.fake_service import FakeService
from tests.support.html import response_text
from tests.support.one_audience import address, serve
from tests.support.redis import Gate, cache_at, own_cache, own_gate
from tests.support.second_factors import STEP, code_of, set_up_app, sign_in
from tests.support.seeding import seed_view

NOWHERE = "redis://127.0.0.1:9"


@pytest.fixture
def _redis_is_away(settings: Any) -> None:
    settings.CACHES = cache_at(NOWHERE)


@pytest.mark.django_db
@pytest.mark.usefixtures("_redis_is_away")
def test_people_log_in_and_work_without_it(vera: User) -> None:
    browser = Client()
    landed = browser.post(
        "/accounts/login/",
        {"username": "vera", "password": "vera", "next": "/activity/"},
        follow=True,
    )
    assert "Sign out" in response_text(landed)
    assert browser.get("/").status_code == 200
    assert browser.get("/pages/").status_code == 200


@pytest.mark.django_db
@pytest.mark.usefixtures("_redis_is_away")
def test_a_code_signs_in_once_without_it(vera: User) -> None:
    secret = set_up_app(logged_in(vera), vera)
    first, second = Client(), Client()
    for browser in (first, second):
        sign_in(browser, "vera")
    code = code_of(secret)
    assert first.post(STEP, {"code": code}).status_code == 302
    assert second.post(STEP, {"code": code}).status_code == 422


@pytest.mark.django_db
@pytest.mark.usefixtures("_redis_is_away")
def test_readiness_reports_it_to_a_balancer(client: Client) -> None:
    answer = client.get("/health/ready")
    assert answer.status_code == 503
    assert json.loads(answer.content)["checks"]["cache"] == "failed"


@pytest.mark.usefixtures("_redis_is_away")
def test_the_cache_appears_empty() -> None:
    cache.set("k", 1)
    assert (cache.get("k"), cache.get("k", 2), cache.has_key("k")) == (None, 2, False)
    assert (cache.add("k", 1), cache.delete("k"), cache.get_many(["k"])) == (False, False, {})
    assert cache.set_many({"k": 1, "l": 2}) == ["k", "l"]
    assert cache.get_or_set("k", lambda: 3) == 3
    cache.delete_many(["k"])
    with pytest.raises(ValueError, match="not found"):
        cache.incr("k")


@pytest.fixture
def gate(settings: Any) -> Iterator[Gate]:
    with own_gate() as gate:
        settings.CACHES = cache_at(gate.url, socket_connect_timeout=2, socket_timeout=2)
        yield gate


@pytest.mark.usefixtures("clock")
def test_one_that_is_silent_is_waited_for_once(as_viewer: Client, gate: Gate) -> None:
    as_viewer.get("/")
    gate.is_silent = True
    assert [as_viewer.get("/").status_code for _ in range(3)] == [200] * 3
    assert gate.dropped_chunks == 1


def test_a_silent_service_is_retried_automatically(gate: Gate, clock: Clock) -> None:
    gate.is_silent = True
    cache.set("k", 1)
    gate.is_silent = False
    cache.set("k", 2)
    assert cache.get("k") is None
    clock.advance(RETRY_AFTER_S)
    cache.set("k", 3)
    assert cache.get("k") == 3


@pytest.fixture
def redis(settings: Any) -> Iterator[Redis]:
    """A client of the cache's Redis, as other releases would use it."""
    with own_cache() as url:
        settings.CACHES = cache_at(url)
        with Redis.from_url(url) as redis:
            yield redis


class _Attack:
    """An object whose pickle runs code when it is loaded."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (os.environ["ATTACKED"],)


def test_a_pickle_in_redis_is_never_run(
    as_publisher: Client, redis: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed_view(None)
    monkeypatch.setenv("ATTACKED", str(attacked := tmp_path / "attacked"))
    assert as_publisher.get("/").status_code == 200
    keys = redis.keys(":1:*")
    assert len(keys) >= 3
    for key in keys:
        redis.set(key, pickle.dumps(_Attack()))
    assert as_publisher.get("/").status_code == 200
    assert not attacked.exists()


ODD = [
    *(b"no JSON", b"\xff", b"9" * 5_000, b"[" * 100_000, pickle.dumps(("odd", {}))),
    *(
        b"[[]]",
        b'{"5": 1}',
        b'"text"',
        b"null",
        b"[1, 2, 3, 4, 5, [7]]",
        b"[1, 2, 3, 4, 5, [[[], 1]]]",
        b"[[1e300, 1e300]]",
    ),
    b'[[5, 1, 1, 1, "answering", ["odd"]]]',
]


def test_what_another_release_cached_is_as_good_as_nothing(
    as_publisher: Client, redis: Redis, fake_service: FakeService, subtests: pytest.Subtests
) -> None:
    serve(fake_service, wire.audience())
    seed_view(None)
    addresses = ["/", "/pages/page_1/", address("version-list")]
    for value in (b"{}", *ODD):
        with subtests.test(value=value[:40]):
            assert [as_publisher.get(address).status_code for address in addresses] == [200] * 3
        cached = redis.keys(":1:*")
        assert len(cached) >= 4
        for key in [*cached, b":1:service:line:2:List-audiences"]:
            redis.set(key, value)


def test_everything_that_is_cached_is_json(
    as_publisher: Client, redis: Redis, fake_service: FakeService
) -> None:
    seed_view(None)
    serve(fake_service, wire.audience())
    as_publisher.get("/pages/page_1/")
    fake_service.fails(httpx.ConnectError)
    as_publisher.get("/people/")
    assert as_publisher.get("/").status_code == 200
    assert Client().post("/accounts/login/", {"username": "paula", "password": "x"})
    cached = {key: redis.get(key) or b"" for key in redis.keys(":1:*")}
    assert len(cached) >= 4
    assert all(json.dumps(json.loads(value)).encode() == value for value in cached.values())


def test_who_signed_out_while_it_was_silent_stays_out(
    as_viewer: Client, gate: Gate, clock: Clock
) -> None:
    session = as_viewer.cookies["pressroom_session"].value
    assert as_viewer.get("/activity/").status_code == 200
    gate.is_silent = True
    as_viewer.post("/accounts/logout/")
    gate.is_silent = False
    clock.advance(RETRY_AFTER_S)
    assert Client().get("/health/ready").status_code == 200
    as_viewer.cookies["pressroom_session"] = session
    response = as_viewer.get("/activity/")
    assert (response.status_code, response.headers.get("Location")) == (
        302,
        "/accounts/login/?next=/activity/",
    )
