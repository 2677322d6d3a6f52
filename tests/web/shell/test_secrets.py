"""The API key is in no page, log line, repr or crash report, and the suite checks that."""

import logging
import sys
import traceback
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.test import Client, RequestFactory
from django.views.debug import ExceptionReporter

from config.environment import Environment
from dashboard.client import APIError, PublishingClient
from tests.support.api_clients import KEY, client_answering
from tests.support.fake_service import FakeService
from tests.support.secrets_watch import SERVICE_KEYS, no_secret_in_the_log, secrets_in


def fail(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadError("cut", request=request)


def failed_call() -> APIError:
    with pytest.raises(APIError) as caught:
        client_answering(fail).audiences.publish("page_1", "aud_1", "ver_2")
    return caught.value


def test_no_repr_contains_the_key() -> None:
    client = PublishingClient(base_url="http://service.example", api_key=KEY)
    environment = Environment(
        secret_key="only-for-tests-" + "x" * 50,
        allowed_hosts=["a.example"],
        service_url="http://service.example",
        service_api_key=KEY,
    )
    for item in (client, client.pages, environment, failed_call()):
        assert KEY not in repr(item) + str(item)


def test_no_exception_contains_the_key() -> None:
    error = failed_call()
    assert KEY not in "".join(traceback.format_exception(error))
    assert (error.__cause__, error.__context__) == (None, None)


def test_a_crash_report_contains_no_key(settings: Any) -> None:
    settings.SERVICE_API_KEY, settings.METRICS_TOKEN, settings.DEBUG = KEY, KEY, True
    try:
        int("a crash")
    except ValueError:
        reporter = ExceptionReporter(RequestFactory().get("/"), *sys.exc_info())
    report = reporter.get_traceback_html() + reporter.get_traceback_text()
    assert "SERVICE_API_KEY" in report
    assert KEY not in report


@pytest.mark.parametrize("key", SERVICE_KEYS)
def test_a_key_in_a_log_line_fails_a_test(key: str) -> None:
    logger = logging.getLogger("apart")
    logger.propagate = False
    with pytest.raises(AssertionError), no_secret_in_the_log(logger):
        logger.warning("Called with %s", key)


def test_a_key_on_a_page_fails_a_test(as_viewer: Client, fake_service: FakeService) -> None:
    with pytest.raises(AssertionError, match="/people/"):
        as_viewer.get("/people/?q=fake-service-key")


def test_an_issued_key_is_recognized(db: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("issue_api_key", "--name", "A test")
    assert len(secrets_in(capsys.readouterr().out)) == 1
