"""Fixtures: a service with a draft over a live version, and a client of the JSON API."""

import pytest
from django.contrib.auth.models import User

from tests.support.machines import JsonInterface, new_token
from tests.support.many_audiences import Key
from tests.support.release_service import PublishingAudiences


@pytest.fixture
def key(service: PublishingAudiences) -> Key:
    """The ids of a page and of an audience whose version 2 is a draft over version 1."""
    [key] = service.add()
    return key


@pytest.fixture
def interface(paula: User, key: Key) -> JsonInterface:
    """The JSON API, with a token of Paula's that has all scopes."""
    return JsonInterface(new_token(paula))
