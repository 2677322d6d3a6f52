"""People with names and known rights, and a service under the test's control."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.cache import cache
from django.test import Client, TransactionTestCase
from django.test import client as test_client
from hypothesis import settings as hypothesis_settings
from xdist.remote import Producer

from dashboard.ledger.queries.pages import tally_as_of
from tests import far_end as far_end_module
from tests import once
from tests.dealing import Dealing
from tests.far_end import FarEnd
from tests.secrets_watch import no_secret_in_the_log

# How long an example takes says more of the machine, on which many tests run at once.
hypothesis_settings.register_profile("suite", deadline=None)
hypothesis_settings.load_profile("suite")

# Of every template that is drawn, the test client copies all it was given. Nobody looks at that.
test_client.store_rendered_templates = lambda *_, **__: None


@pytest.fixture(autouse=True)
def _empty_cache() -> Iterator[None]:
    yield
    cache.clear()
    tally_as_of.cache_clear()


@pytest.fixture(autouse=True)
def _no_secret_leaves() -> Iterator[None]:
    with no_secret_in_the_log():
        yield


@pytest.fixture
def far_end(settings: Any) -> FarEnd:
    """The service, answering as the test decides, in place of the embedded API."""
    settings.SERVICE_TRANSPORT = "tests.far_end.FarEndTransport"
    far_end_module.far_end.__init__()  # type: ignore[misc]
    return far_end_module.far_end


def person(name: str, *groups: str) -> User:
    """Return a user of that name in those groups, with the name as password."""
    user = User.objects.create_user(name, password=name)
    user.groups.set(Group.objects.filter(name__in=groups))
    return user


@pytest.fixture
def vera(db: None) -> User:
    """Vera may look."""
    return person("vera", "Viewers")


@pytest.fixture
def paula(db: None) -> User:
    """Paula may publish and create pages."""
    return person("paula", "Publishers")


@pytest.fixture
def ada(db: None) -> User:
    """Ada may change webhooks."""
    return person("ada", "Administrators")


def logged_in(user: User) -> Client:
    """Return a browser in which the user is logged in."""
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def as_viewer(vera: User) -> Client:
    """Vera's browser."""
    return logged_in(vera)


@pytest.fixture
def as_publisher(paula: User) -> Client:
    """Paula's browser."""
    return logged_in(paula)


@pytest.fixture
def as_administrator(ada: User) -> Client:
    """Ada's browser."""
    return logged_in(ada)


def pytest_configure(config: pytest.Config) -> None:
    """Begin a run, where this is not one of its workers."""
    if not hasattr(config, "workerinput"):
        once.begin()


def pytest_unconfigure(config: pytest.Config) -> None:
    """End it."""
    if not hasattr(config, "workerinput"):
        once.end()


def depends_on_the_database(item: pytest.Item) -> bool:
    """Whether the test says something of the database of the suite.

    A server that a test starts has one of its own.
    """
    return item.get_closest_marker("same_on_any_database") is None and (
        item.get_closest_marker("django_db") is not None
        or not {"db", "transactional_db"}.isdisjoint(getattr(item, "fixturenames", ()))
        or issubclass(getattr(item, "cls", None) or object, TransactionTestCase)
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On a database that was asked for, leave out what would be the same on any."""
    if "TEST_DATABASE_URL" in os.environ:
        config.hook.pytest_deselected(
            items=[each for each in items if not depends_on_the_database(each)]
        )
        items[:] = [each for each in items if depends_on_the_database(each)]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Dealing:
    """Deal the tests out in our own way."""
    return Dealing(config, log)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how large the matrices were: a test notes its cells by `record_property`."""
    cells: dict[str, list[int]] = {}
    for column, outcome in enumerate(("passed", "failed")):
        for report in terminalreporter.stats.get(outcome, []):
            for name, count in getattr(report, "user_properties", ()):
                if name.endswith("matrix"):
                    cells.setdefault(name, [0, 0])[column] += int(count)
    for name, (passed, failed) in sorted(cells.items()):
        terminalreporter.write_line(f"{name}: {passed} cells passed, {failed} failed")
