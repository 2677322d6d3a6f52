"""Users with known permissions, a fake service, and the configuration of the suite."""

import gc
import os
import shutil
import time
from collections.abc import Generator, Iterator
from datetime import timedelta
from pathlib import Path
from random import Random, randrange
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib import auth
from django.contrib.auth.models import Group, User
from django.contrib.sessions.backends.db import SessionStore
from django.core.cache import cache
from django.db import connection
from django.db.backends.signals import connection_created
from django.test import Client, TransactionTestCase
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pytest_django.plugin import DjangoDbBlocker, blocking_manager_key
from xdist.remote import Producer
from xdist.workermanage import WorkerController

from dashboard import clock as database_clock
from dashboard.accounts.sessions import BEGAN, SEEN, SIGNED_OUT
from dashboard.accounts.sign_in import last_sign_out_id
from dashboard.ledger.queries.pages import tally_as_of
from dashboard.limits import OF_PROCESS
from dashboard.server.management.commands.after_restore import skip_ids
from tests.support import shared_files
from tests.support.clock import Clock, advanced_by_hand, stopped
from tests.support.dashboards import drop_prepared
from tests.support.fake_service import FakeService, FakeServiceTransport
from tests.support.histories import ReleaseHistories
from tests.support.hook_receiver import HookReceiver, running_receiver
from tests.support.matrix import sample
from tests.support.processes import migrated_database
from tests.support.publish_dialog import PublishDialog
from tests.support.publishing_service import PublishingService
from tests.support.release_service import PublishingAudiences
from tests.support.scheduling import (
    WITHOUT_BROWSER,
    FileScheduling,
    StoredDurations,
    sort_by_duration,
)
from tests.support.secrets_watch import no_secret_in_the_log
from tests.support.seeding import seed_subscription
from tests.support.webhook_service import WebhookService

# No deadline and no `too_slow`, as the time of an example depends on the machine's load.
hypothesis_settings.register_profile(
    "exhaustive",
    max_examples=500,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
# The same few examples of each property in every run.
hypothesis_settings.register_profile(
    "small",
    hypothesis_settings.get_profile("exhaustive"),
    max_examples=12,
    derandomize=True,
    database=None,
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options for all cells of the matrices and more random input, or for a certain sample."""
    group = parser.getgroup("pressroom")
    group.addoption(
        "--exhaustive",
        action="store_true",
        help="run every cell of the matrices, and 500 new random examples of each property",
    )
    group.addoption(
        "--store-durations",
        action="store_true",
        help="store how long each file takes, by which later runs begin with the longest",
    )
    group.addoption(
        "--matrix-seed", type=int, help="run the sample of the matrices that this seed draws"
    )


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_keepdb: bool) -> bool:
    """Use the SQLite file that `django_db_modify_db_settings` made, and leave it to be removed."""
    return django_db_keepdb or connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None,
) -> Iterator[None]:
    """Start with a migrated copy, as migrating takes 2.6 s of processor time.

    It is a file, as in production: threads that share a database in memory don't wait for each
    other's locks, and the second one fails.
    """
    if connection.vendor != "sqlite":
        yield
        return
    with TemporaryDirectory() as folder:
        database = Path(folder) / "tests.sqlite3"
        shutil.copy(migrated_database(), database)
        connection.settings_dict["TEST"]["NAME"] = str(database)
        yield
        connection.close()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Leave low ids to the tests: the sequences of PostgreSQL go on when a test is rolled back."""
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock():
            skip_ids()


@pytest.fixture(autouse=True)
def _empty_cache() -> Iterator[None]:
    yield
    cache.clear()
    OF_PROCESS.clear()
    tally_as_of.cache_clear()


@pytest.fixture(autouse=True)
def _no_secret_leaves() -> Iterator[None]:
    with no_secret_in_the_log():
        yield


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The time of day and the monotonic clock, which only the test advances."""
    return advanced_by_hand(monkeypatch, stopped(monkeypatch))


@pytest.fixture
def _measured_by_the_test() -> Iterator[None]:
    """Keep new connections from measuring the stopped clock; reset the correction afterwards."""
    connection_created.disconnect(database_clock.measure)
    yield
    database_clock.correct_by(timedelta())
    connection_created.connect(database_clock.measure)


@pytest.fixture
def receiver(settings: Any) -> Iterator[HookReceiver]:
    """A running, real receiver of webhooks."""
    settings.WEBHOOKS_TO_LOOPBACK = True
    with running_receiver() as receiver:
        yield receiver


@pytest.fixture
def fake_service(settings: Any) -> FakeService:
    """A fake service instead of the embedded API."""
    settings.SERVICE_TRANSPORT = "tests.support.fake_service.FakeServiceTransport"
    FakeServiceTransport.service = FakeService()
    return FakeServiceTransport.service


@pytest.fixture
def service(db: None, fake_service: FakeService) -> PublishingAudiences:
    """A service without pages, which publishes at once."""
    fake_service.answer = service = PublishingAudiences()
    return service


@pytest.fixture
def publishing(fake_service: FakeService) -> PublishingService:
    """A service with one audience, whose version 2 is a draft."""
    fake_service.answer = service = PublishingService()
    return service


@pytest.fixture
def webhooks(db: None, fake_service: FakeService) -> WebhookService:
    """A service with one webhook, which is listed as CRM."""
    fake_service.answer = service = WebhookService()
    seed_subscription()
    return service


def person(name: str, *groups: str) -> User:
    """Create a user in those groups, with their name as password."""
    user = User.objects.create_user(name, password=name)
    user.groups.set(Group.objects.filter(name__in=groups))
    return user


@pytest.fixture
def vera(db: None) -> User:
    """Vera, who may view."""
    return person("vera", "Viewers")


@pytest.fixture
def paula(db: None) -> User:
    """Paula, who may publish and create pages."""
    return person("paula", "Publishers")


@pytest.fixture
def peter(db: None) -> User:
    """Peter, another publisher."""
    return person("peter", "Publishers")


@pytest.fixture
def ada(db: None) -> User:
    """Ada, who may change webhooks."""
    return person("ada", "Administrators")


def logged_in(user: User) -> Client:
    """Return a test client with a new session of the user.

    Tests of sign-in use the form. `force_login` would take a third of a small test, as it runs all
    receivers of the login signal.
    """
    now = int(time.time())
    session = SessionStore()
    session.update(
        {
            auth.SESSION_KEY: str(user.pk),
            auth.BACKEND_SESSION_KEY: django_settings.AUTHENTICATION_BACKENDS[-1],
            auth.HASH_SESSION_KEY: user.get_session_auth_hash(),
            BEGAN: now,
            SEEN: now,
            SIGNED_OUT: last_sign_out_id(user),
        }
    )
    session.save()
    client = Client()
    client.cookies[django_settings.SESSION_COOKIE_NAME] = session.session_key or ""
    return client


@pytest.fixture
def as_viewer(vera: User) -> Client:
    """A test client logged in as Vera."""
    return logged_in(vera)


@pytest.fixture
def as_publisher(paula: User) -> Client:
    """A test client logged in as Paula."""
    return logged_in(paula)


@pytest.fixture
def as_peter(peter: User) -> Client:
    """A test client logged in as Peter."""
    return logged_in(peter)


@pytest.fixture
def dialog(as_publisher: Client, publishing: PublishingService) -> PublishDialog:
    """The dialog that publishes version 2, in Paula's browser."""
    return PublishDialog(as_publisher, publishing)


@pytest.fixture
def as_administrator(ada: User) -> Client:
    """A test client logged in as Ada."""
    return logged_in(ada)


@pytest.fixture
def release_histories(
    paula: User,
    clock: Clock,
    fake_service: FakeService,
    caplog: pytest.LogCaptureFixture,
    pytestconfig: pytest.Config,
) -> ReleaseHistories:
    """Runs random histories of Paula's releases."""
    is_exhaustive = pytestconfig.getoption("exhaustive")
    return ReleaseHistories(paula, clock, fake_service, caplog, is_exhaustive)


def pytest_configure(config: pytest.Config) -> None:
    """Choose the size of the run. The main process also prepares it and draws the sample."""
    exhaustive = config.getoption("exhaustive")
    hypothesis_settings.load_profile("exhaustive" if exhaustive else "small")
    if hasattr(config, "workerinput"):
        config.option.matrix_seed = config.workerinput["matrix_seed"]
    else:
        config.option.matrix_seed = config.option.matrix_seed or randrange(1, 10_000)
        shared_files.begin()
        if config.getoption("store_durations"):
            config.pluginmanager.register(StoredDurations())


def pytest_configure_node(node: WorkerController) -> None:
    """Give a worker the sample of the main process."""
    node.workerinput["matrix_seed"] = node.config.option.matrix_seed


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector away from imported modules and collected tests.

    Going through these million objects again and again takes an eighth of the run. Tests leave
    little cyclic garbage, so it is collected a tenth as often, which saves 4 % of the run.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 10, 50)
        gc.enable()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Clean up after the run, in the main process only."""
    if not hasattr(config, "workerinput"):
        drop_prepared()
        shared_files.end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    """Restore the rows of migrations, as Django empties all tables after a test that commits.

    Django runs such tests last, but a worker may take over other files afterwards. No documented
    API does this: `serialized_rollback` restores only before a test that commits, and
    pytest-django's blocker is a fixture, which a hook can't request.
    """
    result = yield
    # After the last test, the database is gone.
    needs_it = nextitem is not None and not has_own_transactions(nextitem)
    if needs_it and has_own_transactions(item):
        with item.config.stash[blocking_manager_key].unblock():
            connection.creation.deserialize_db_from_string(connection._test_serialized_contents)
            connection.close()
    return result


def has_own_transactions(item: pytest.Item) -> bool:
    """Return whether a test commits, so that Django empties all tables after it."""
    marker = item.get_closest_marker("django_db")
    return marker is not None and bool(marker.kwargs.get("transaction"))


def depends_on_the_database(item: pytest.Item) -> bool:
    """Return whether a test uses the suite's database.

    A server that a test starts has its own database.
    """
    return item.get_closest_marker("same_on_any_database") is None and (
        item.get_closest_marker("django_db") is not None
        or not {"db", "transactional_db"}.isdisjoint(getattr(item, "fixturenames", ()))
        or issubclass(getattr(item, "cls", None) or object, TransactionTestCase)
    )


def on_another_database(items: list[pytest.Item], seed: int | None) -> list[pytest.Item]:
    """Return the tests that may fail on one database only. A seed samples a quarter of web tests.

    Other tests cover what a page reads and records, and all of them are included.
    """
    depending = [item for item in items if depends_on_the_database(item)]
    pages = [item for item in depending if item.nodeid.startswith("tests/web/")]
    if seed is None:
        return depending
    left_out = set(Random(seed).sample(pages, len(pages) * 3 // 4))
    return [item for item in depending if item not in left_out]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests outside the sample, and those that don't depend on TEST_DATABASE_URL."""
    kept = items
    seed = None if config.getoption("exhaustive") else config.option.matrix_seed
    if seed is not None:
        cells = sample(kept, seed)
        kept = [item for item in kept if not item.get_closest_marker("matrix") or item in cells]
    if "TEST_DATABASE_URL" in os.environ:
        kept = on_another_database(kept, seed)
    config.hook.pytest_deselected(items=list(set(items).difference(kept)))
    items[:] = kept
    if hasattr(config, "workerinput"):
        sort_by_duration(items)


def pytest_xdist_auto_num_workers() -> int | None:
    """Use more workers than cores, as many tests wait for a server or a browser.

    The additional workers start no dashboard and no browser: see `FileScheduling`.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None  # pytest-xdist reads it itself.
    return (os.cpu_count() or 1) + WITHOUT_BROWSER


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FileScheduling:
    """Return our own scheduler."""
    return FileScheduling(config, log)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Report the sample of the matrices that ran, and the sizes that `record_property` noted."""
    if not config.getoption("exhaustive"):
        seed = config.option.matrix_seed
        terminalreporter.write_line(f"matrices: a sample; --matrix-seed {seed} repeats it")
    cells: dict[str, list[int]] = {}
    for column, outcome in enumerate(("passed", "failed")):
        for report in terminalreporter.stats.get(outcome, []):
            for name, count in getattr(report, "user_properties", ()):
                if name.endswith("matrix"):
                    cells.setdefault(name, [0, 0])[column] += int(count)
    for name, (passed, failed) in sorted(cells.items()):
        terminalreporter.write_line(f"{name}: {passed} cells passed, {failed} failed")
