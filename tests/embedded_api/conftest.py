"""A caller of the service: an HTTP client with a key, through the whole stack."""

from collections.abc import Callable

import pytest
from django.test import Client

from dashboard.embedded_api import keys
from dashboard.embedded_api.models import ApiKey, Tenant

Caller = Callable[..., Client]


@pytest.fixture
def caller_of(db: None) -> Caller:
    """Return a client with a key of a tenant. It enforces CSRF checks, like a browser."""

    def caller(tenant: Tenant | None = None) -> Client:
        key = keys.issue(ApiKey(name="A test", tenant=tenant or keys.default_tenant()))
        return Client(enforce_csrf_checks=True, headers={"x-api-key": key})

    return caller


@pytest.fixture
def service(caller_of: Caller) -> Client:
    """A client with a key of the default tenant."""
    return caller_of()
