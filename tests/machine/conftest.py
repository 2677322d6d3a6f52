"""Fixtures: a service with a draft over a live version, and a client of the JSON API."""

import pytest
from django.contrib.auth.models import User

from tests.conftest import person
from tests.support.clock import Clock, stopped
from tests.support.fake_service import FakeService
from tests.support.machines import JsonInterface, new_token
from tests.support.many_audiences import Key
from tests.support.release_service import PublishingAudiences


@pytest.fixture
def service(db: None, fake_service: FakeService) -> PublishingAudiences:
    """An empty service that publishes at once."""
    fake_service.answer = service = PublishingAudiences()
    return service


@pytest.fixture
def key(service: PublishingAudiences) -> Key:
    """The ids of a page and of an audience whose version 2 is a draft over version 1."""
    [key] = service.add()
    return key


@pytest.fixture
def peter(db: None) -> User:
    """Peter, another publisher."""
    return person("peter", "Publishers")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock, which the test advances."""
    return stopped(monkeypatch)


@pytest.fixture
def interface(paula: User, key: Key) -> JsonInterface:
    """The JSON API, with a token of Paula's that has all scopes."""
    return JsonInterface(new_token(paula))
