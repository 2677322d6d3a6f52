"""Webhooks go only to the public internet, and stay within their time limit."""

import socket
import threading
import time
from datetime import UTC, datetime

import pytest
from standardwebhooks import Webhook

from dashboard import outgoing_webhooks
from dashboard.outgoing_webhooks import (
    ForbiddenURLError,
    WebhookError,
    check_url,
    is_public,
    new_secret,
    send_webhook,
    signed_headers,
)
from tests.support.small_server import answer, dribbles, says, serving

pytestmark = pytest.mark.same_on_any_database


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "100.127.255.255", "224.0.0.1", "255.255.255.255"),
        *("192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.9", "240.0.0.1"),
        *("::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1"),
        *("64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001::1"),
        *("fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "fec0::1", "ff02::1", "100::1"),
        *("2001:db8::1", "64:ff9b::a9fe:a9fe"),
    ],
)
def test_an_address_of_no_public_network_is_refused(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_a_public_address_is_not(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.com/", "ftp://example.com/", "//example.com/", "example.com", ""),
        *("https://", "https:///x", "https://user:pw@example.com/", "https://127.0.0.1/"),
        *("https://[::1]/", "https://[::ffff:10.0.0.1]/", "https://169.254.169.254/latest"),
        *("https://[64:ff9b::7f00:1]/", "https://exa mple.com/", "https://a.example/" + "x" * 2000),
        *("javascript:alert(1)", "file:///etc/passwd", "https://example.com:0/"),
        *("https://xn--/", "https://xn--zzzzzzzz99999/x", "https://a..example/"),
        f"https://{'a' * 64}.example/",
    ],
)
def test_a_revealing_url_is_refused_when_typed(url: str) -> None:
    with pytest.raises(ForbiddenURLError):
        check_url(url)


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "127.1"),
        *("10.1", "0", "169.254.43518", "0xa9fea9fe"),
    ],
)
def test_a_host_without_public_address_is_refused(host: str) -> None:
    with pytest.raises(ForbiddenURLError, match="public internet"):
        send_webhook(f"https://{host}/hook", b"{}", {})


@pytest.mark.parametrize("host", ["10.1.2.3", "192.168.0.9", "[fd12::1]", "[::ffff:10.0.0.1]"])
def test_a_private_address_can_be_allowed_by_https_alone(host: str) -> None:
    assert check_url(f"https://{host}/", allows_private=True).path == "/"
    with pytest.raises(ForbiddenURLError, match="https"):
        check_url(f"http://{host}/", allows_private=True)


@pytest.mark.parametrize(
    "host",
    [
        *("169.254.169.254", "0.0.0.0", "[fe80::1]", "[ff02::1]"),
        *("[fd00:ec2::254]", "100.100.100.200", "[::ffff:100.100.100.200]", "168.63.129.16"),
    ],
)
def test_cloud_metadata_addresses_are_always_refused(host: str) -> None:
    with pytest.raises(ForbiddenURLError, match="public internet"):
        check_url(f"https://{host}/", allows_private=True)


def test_one_private_address_among_several_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = [(2, 1, 6, "", ("8.8.8.8", 443)), (2, 1, 6, "", ("10.0.0.7", 443))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: addresses)
    with pytest.raises(ForbiddenURLError, match="public internet"):
        send_webhook("https://hooks.example.com/", b"{}", {})


def test_the_connection_goes_to_the_address_that_was_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolved: list[str] = []

    def resolve(host: str, port: int, *_: object, **__: object) -> list[object]:
        resolved.append(host)
        return [(2, 1, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with serving(says(answer(b"ok"))) as server:
        url = f"http://hooks.example.com:{server.port}/a?b=1"
        assert send_webhook(url, b"{}", {}, allows_loopback=True).is_accepted
    assert resolved == ["hooks.example.com", "127.0.0.1"]
    head = server.requests[0].lower()
    assert head.startswith(b"post /a?b=1 http/1.1\r\n")
    assert f"host: hooks.example.com:{server.port}".encode() in head


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary Redirect"])
def test_a_redirect_is_not_followed(status: str) -> None:
    with serving(says(answer(b"", "Location: /elsewhere", status=status))) as server:
        response = send_webhook(server.url, b"{}", {}, allows_loopback=True)
    assert not response.is_accepted
    assert len(server.requests) == 1


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time limit of half a second instead of ten."""
    monkeypatch.setattr(outgoing_webhooks, "TIME_LIMIT_S", 0.5)


@pytest.mark.parametrize(
    "script",
    [says(), dribbles(b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n"), dribbles(b"", b"H")],
    ids=["silent", "header after header", "byte after byte"],
)
@pytest.mark.usefixtures("brief")
def test_the_limit_covers_the_whole_call(script: object) -> None:
    with serving(script) as server:  # type: ignore[arg-type]
        began = time.monotonic()
        with pytest.raises(WebhookError):
            send_webhook(server.url, b"{}", {}, allows_loopback=True)
    assert time.monotonic() - began < 2


@pytest.mark.usefixtures("brief")
def test_a_look_up_that_hangs_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    forever = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: forever.wait(5))
    with pytest.raises(WebhookError, match="in time"):
        send_webhook("https://hooks.example.com/", b"{}", {})
    forever.set()


def test_a_response_is_read_up_to_64_kb() -> None:
    head = b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 80_000 + b"\r\n\r\n"
    with serving(says(head)) as server, pytest.raises(WebhookError, match="without a response"):
        send_webhook(server.url, b"{}", {}, allows_loopback=True)


def test_the_response_for_a_missing_object_is_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(WebhookError, match="Couldn’t connect to"):
        send_webhook(f"http://127.0.0.1:{port}/", b"{}", {}, allows_loopback=True)


def test_https_is_verified(tmp_path: object) -> None:
    with serving(says(answer(b"ok"))) as server, pytest.raises(WebhookError, match="TLS"):
        send_webhook(f"https://127.0.0.1:{server.port}/", b"{}", {}, allows_loopback=True)


@pytest.mark.parametrize(
    ("header", "seconds"), [("120", 120), ("soon", None), ("Fri, 01 Jan 2010 00:00:00 GMT", 0)]
)
def test_retry_after_is_read(header: str, seconds: float | None) -> None:
    busy = answer(b"", f"Retry-After: {header}", status="503 Unavailable")
    with serving(says(busy)) as server:
        response = send_webhook(server.url, b"{}", {}, allows_loopback=True)
    assert (response.status_code, response.retry_after_s) == (503, seconds)


def test_a_receiver_can_verify_the_signature() -> None:
    secret, body = new_secret(), b'{"a": "b"}'
    headers = signed_headers(secret, "msg_1", datetime.now(UTC), body)
    assert Webhook(secret).verify(body, headers) == {"a": "b"}
