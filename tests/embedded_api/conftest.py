"""A client of the service with an API key, through the whole stack."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from dashboard.embedded_api import keys
from dashboard.embedded_api.models import ApiKey, Tenant

Caller = Callable[..., Client]


@pytest.fixture
def caller_of(db: None) -> Caller:
    """Return a function that makes a client with a tenant's key, which enforces CSRF checks."""

    def caller(tenant: Tenant | None = None) -> Client:
        key = keys.issue(ApiKey(name="A test", tenant=tenant or keys.default_tenant()))
        return Client(enforce_csrf_checks=True, headers={"x-api-key": key})

    return caller


@pytest.fixture
def import_file(tmp_path: Path) -> Callable[..., str]:
    """Return a function that imports content with a command and returns its output."""

    def run(command: str, name: str, content: str | bytes, *arguments: str) -> str:
        file, output = tmp_path / name, StringIO()
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        call_command(command, str(file), *arguments, stdout=output)
        return output.getvalue().strip()

    return run


@pytest.fixture
def service(caller_of: Caller) -> Client:
    return caller_of()
