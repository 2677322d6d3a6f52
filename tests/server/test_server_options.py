"""The options of `serve` and `demo`."""

import os
import sys

import pytest
from django.core.management import CommandError, call_command

import manage
from dashboard.server.management.commands.serve import Command


@pytest.mark.parametrize(
    ("command", "option", "value", "reason"),
    [
        ("serve", "--processes", "0", "0 must be 1 or more"),
        ("serve", "--processes", "-1", "-1 must be 1 or more"),
        ("serve", "--processes", "two", "'two' must be a whole number"),
        ("serve", "--threads", "0", "0 must be 1 or more"),
        ("serve", "--port", "0", "0 must be from 1 to 65535"),
        ("serve", "--port", "-1", "-1 must be from 1 to 65535"),
        ("serve", "--port", "70000", "70000 must be from 1 to 65535"),
        ("serve", "--host", "127.0.0.1:99", "must be a host name or IP address, without a port"),
        ("serve", "--host", "http://desk.example", "must be a host name or IP address"),
        ("serve", "--host", "", "'' must be a host name or IP address"),
        ("demo", "--port", "0", "0 must be from 1 to 65535"),
        ("demo", "--port", "70000", "70000 must be from 1 to 65535"),
        ("demo", "--people", "-5", "-5 must be 1 or more"),
    ],
)
def test_a_wrong_option_is_reported_by_its_name(
    command: str, option: str, value: str, reason: str
) -> None:
    with pytest.raises(CommandError) as refused:
        call_command(command, f"{option}={value}")
    assert str(refused.value).startswith(f"Error: argument {option}: ")
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("host", "bound"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("desk.example", "desk.example"),
        ("::1", "[::1]"),
        ("[::1]", "[::1]"),
        ("::", "[::]"),
    ],
)
def test_a_host_is_bound_as_its_address_is_written(host: str, bound: str) -> None:
    parser = Command().create_parser("manage.py", "serve")
    assert parser.parse_args(["--host", host]).host == bound


def test_help_tells_the_defaults() -> None:
    help_text = Command().create_parser("manage.py", "serve").format_help()
    for default in ("127.0.0.1", "8000", "2", "8"):
        assert f"default: {default}\n" in help_text


@pytest.mark.parametrize("value", ["abc", ""])
def test_gunicorns_own_number_of_processes_does_not_matter(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`test_serving.py` starts a server in spite of an invalid one."""
    monkeypatch.setenv("WEB_CONCURRENCY", value)
    monkeypatch.setattr(sys, "argv", ["manage.py", "serve", "--help"])
    with pytest.raises(SystemExit) as ended:
        manage.main()
    assert ended.value.code == 0
    assert "WEB_CONCURRENCY" not in os.environ
