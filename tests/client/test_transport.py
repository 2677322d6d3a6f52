"""Over real sockets: cut connections, compression, sizes, redirects, and messages to users."""

import gzip
import json
import logging
import socket
import zlib
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import brotli
import pytest

from dashboard.client import (
    APIError,
    CallReport,
    ConflictError,
    ConnectError,
    Executed,
    InvalidResponseError,
    InvalidURLError,
    NotFoundError,
    ResponseLostError,
    ServerError,
)
from tests.support import wire
from tests.support.api_clients import (
    KEY,
    PAGE_REQUEST,
    PEOPLE,
    client_of,
    client_of_server,
    error_of,
)
from tests.support.small_server import answer, says, says_and_closes, serving

MIB = 1024 * 1024
CUTS = {
    "before the answer": b"",
    "in the status line": b"HTTP/1.1 20",
    "in the headers": b"HTTP/1.1 200 OK\r\nContent-Le",
    "before the body": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n",
    "in the body": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
    "in a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{",
}


def test_a_response_arrives_over_the_wire() -> None:
    with client_of_server(says(answer(PEOPLE))) as (client, server):
        assert client.people.list().items[0].name == "Ada Lovelace"
    assert f"x-api-key: {KEY}".encode() in server.requests[0]


def test_library_logs_do_not_hold_the_key(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with client_of_server(says(answer(PEOPLE))) as (client, _):
        client.people.list()
    assert "send_request_headers.started" in caplog.text
    assert KEY not in caplog.text


def test_connections_are_used_again() -> None:
    with client_of_server(says(answer(PEOPLE))) as (client, server):
        for _ in range(3):
            client.people.list()
    assert (len(server.requests), server.connections) == (3, 1)


def test_a_write_has_a_connection_of_its_own() -> None:
    version = json.dumps(wire.version()).encode()
    with client_of_server(says(answer(PEOPLE)), says(answer(version))) as (client, server):
        client.people.list()
        for _ in range(2):
            client.audiences.publish("page_1", "aud_1", "ver_2")
    assert server.connections == 3


def test_an_unsolicited_response_answers_no_write() -> None:
    lie, truth = (
        json.dumps(wire.version(status=name)).encode() for name in ("published", "queued")
    )
    with client_of_server(says(answer(PEOPLE) + answer(lie)), says(answer(truth))) as (client, _):
        client.people.list()
        assert client.audiences.publish("page_1", "aud_1", "ver_2").status == "queued"


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_an_unexpected_body_is_not_the_next_response(status: str) -> None:
    lie = answer(json.dumps(wire.envelope(wire.person(name="Nobody"))).encode())
    with client_of_server(says(answer(lie, status=status)), says(answer(PEOPLE))) as (client, _):
        error_of(APIError, client.people.list)
        assert client.people.list().items[0].name == "Ada Lovelace"


def test_threads_share_a_client() -> None:
    with client_of_server(says(answer(PEOPLE))) as (client, server), ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: client.people.list().total_count, range(40)))
    assert (results, len(server.requests)) == ([1] * 40, 40)


def test_a_hundred_calls_at_once_have_a_connection_each() -> None:
    together = Barrier(100)

    def answers_all_at_once(connection: socket.socket) -> None:
        together.wait(timeout=60)
        connection.sendall(answer(PEOPLE))

    with (
        client_of_server(answers_all_at_once, timeout_s=60.0) as (client, _),
        ThreadPoolExecutor(100) as pool,
    ):
        results = list(pool.map(lambda _: client.people.list().total_count, range(100)))
    assert results == [1] * 100


def test_an_idle_connection_is_reused_first() -> None:
    with client_of_server(says(answer(PEOPLE))) as (client, server), ThreadPoolExecutor(4) as pool:
        for _ in range(10):
            pool.submit(client.people.list).result()
    assert server.connections == 1


@pytest.mark.parametrize("says_so", [(), ("Connection: close",)])
def test_a_closed_connection_is_not_reused(says_so: tuple[str, ...]) -> None:
    reports: list[CallReport] = []
    closes = says_and_closes(answer(PEOPLE, *says_so))
    with client_of_server(closes, on_call=reports.append) as (client, server):
        client.people.list()
        assert server.closed.acquire(timeout=60)
        client.people.list()
    assert (server.connections, [report.attempts for report in reports]) == (2, [1, 1])


def test_every_address_of_a_name_is_tried() -> None:
    # On most machines localhost is also ::1, where nothing listens.
    with serving(says(answer(PEOPLE))) as server:
        address = f"http://localhost:{server.port}"
        with client_of(address) as client:
            assert client.people.list().total_count == 1


def test_an_identifier_arrives_as_it_is() -> None:
    with client_of_server(says(answer(b"{}", status="404 Not Found"))) as (client, server):
        error_of(NotFoundError, client.pages.get, "../a b?c#d%2F")
    assert server.requests[0].startswith(b"GET /v0/pages/..%2Fa%20b%3Fc%23d%252F HTTP/1.1\r\n")


@pytest.mark.parametrize("where", CUTS)
def test_a_cut_write_is_not_sent_again(where: str) -> None:
    with client_of_server(says_and_closes(CUTS[where])) as (client, server):
        error = error_of(ResponseLostError, client.audiences.publish, "page_1", "aud_1", "ver_2")
    assert str(error) == "The service closed the connection before responding."
    assert (error.executed, len(server.requests)) == (Executed.MAYBE, 1)


@pytest.mark.parametrize("where", CUTS)
def test_a_read_whose_connection_is_cut_is_tried_again(where: str) -> None:
    with client_of_server(says_and_closes(CUTS[where]), says(answer(PEOPLE))) as (client, server):
        assert client.people.list().total_count == 1
    assert len(server.requests) == 2


@pytest.mark.parametrize("cut", ["cut", "too large", "bad gzip"])
def test_a_status_counts_even_if_its_body_is_lost(cut: str) -> None:
    bodies = {
        "cut": b"HTTP/1.1 409 Conflict\r\nContent-Length: 100\r\n\r\n{",
        "too large": answer(b"x" * MIB, status="409 Conflict"),
        "bad gzip": answer(b"no", "Content-Encoding: gzip", status="409 Conflict"),
    }
    with client_of_server(says_and_closes(bodies[cut])) as (client, _):
        error = error_of(ConflictError, client.audiences.publish, "page_1", "aud_1", "ver_2")
    assert (error.message, error.executed) == ("Conflict", Executed.NO)


@pytest.mark.parametrize("packing", ["as it is", "gzip"])
def test_the_words_of_a_long_refusal_are_read(packing: str) -> None:
    errors = [{"path": f"actions.{n}.url", "message": "is required"} for n in range(20_000)]
    body = json.dumps({"errors": errors, "detail": "Too many of them."}).encode()
    packed = answer(gzip.compress(body), "Content-Encoding: gzip", status="409 Conflict")
    whole = packed if packing == "gzip" else answer(body, status="409 Conflict")
    with client_of_server(says(whole)) as (client, _):
        error = error_of(ConflictError, client.people.list)
    assert (error.message, error.problems[0].path) == ("Too many of them.", "actions.0.url")


def test_the_received_part_of_an_error_response_is_stored() -> None:
    head = b"HTTP/1.1 409 Conflict\r\nContent-Length: 100\r\n\r\n"
    with client_of_server(says_and_closes(head + b'{"detail": "No such br')) as (client, _):
        assert error_of(ConflictError, client.people.list).body == '{"detail": "No such br'


def test_a_response_that_is_not_http_is_reported() -> None:
    with client_of_server(says_and_closes(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")) as (client, _):
        error = error_of(ResponseLostError, client.people.list)
    assert str(error) == "The service returned something that isn’t HTTP."


def test_an_unused_port_refuses() -> None:
    # Bound but not listening, so that no other process can take the port.
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with client_of(f"http://127.0.0.1:{taken.getsockname()[1]}") as client:
            error = error_of(ConnectError, client.pages.create, PAGE_REQUEST)
    assert str(error) == "Couldn’t reach the service: 127.0.0.1 refused the connection."
    assert error.executed is Executed.NO


@pytest.mark.parametrize("host", ["pressroom.invalid", "x" * 70 + ".invalid"])
def test_an_unassigned_host_name_is_unknown(host: str) -> None:
    with client_of(f"http://{host}") as client:
        error = error_of(ConnectError, client.pages.create, PAGE_REQUEST)
    assert str(error) == f"Couldn’t reach the service: unknown host {host}."


def test_a_server_without_tls_is_a_tls_failure() -> None:
    def greet(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"220 Welcome\r\n")
            connection.recv(65536)

    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as pool:
        pool.submit(greet, listener)
        with client_of(f"https://127.0.0.1:{listener.getsockname()[1]}") as client:
            error = error_of(ConnectError, client.pages.create, PAGE_REQUEST)
    assert str(error).startswith("Couldn’t reach the service: TLS failure: ")
    assert error.executed is Executed.NO


def test_an_address_outside_the_web_is_not_called() -> None:
    with client_of("ftp://127.0.0.1") as client:
        error = error_of(InvalidURLError, client.people.list)
    assert str(error).endswith("the service: its URL is neither http nor https.")


def test_a_long_address_is_refused_before_it_is_sent() -> None:
    with client_of_server(says(answer(PEOPLE))) as (client, server):
        error = error_of(InvalidURLError, client.pages.get, "x" * 70_000)
        assert (server.connections, str(error)) == (
            0,
            "Couldn’t reach the service: the URL is too long.",
        )


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_compressed_answer_is_unpacked(encoding: str) -> None:
    packed = {"gzip": gzip.compress, "deflate": zlib.compress}[encoding](PEOPLE)
    with client_of_server(says(answer(packed, f"Content-Encoding: {encoding}"))) as (client, _):
        assert client.people.list().total_count == 1


@pytest.mark.parametrize(
    ("body", "encoding"),
    [
        (b"no gzip at all", "gzip"),
        (brotli.compress(PEOPLE), "br"),
        (gzip.compress(gzip.compress(PEOPLE)), "gzip, gzip"),
        (PEOPLE, "rot13"),
    ],
)
def test_an_unexpected_or_broken_encoding_is_rejected(body: bytes, encoding: str) -> None:
    with client_of_server(says(answer(body, f"Content-Encoding: {encoding}"))) as (client, _):
        error = error_of(InvalidResponseError, client.people.list)
    assert error.problem == "it can’t be decompressed"


def test_half_a_gzip_is_a_bad_answer() -> None:
    packed = gzip.compress(PEOPLE)[:-40]
    with client_of_server(says(answer(packed, "Content-Encoding: gzip"))) as (client, _):
        assert error_of(InvalidResponseError, client.people.list).problem == "not JSON"


@pytest.mark.parametrize("is_packed", [True, False])
def test_an_answer_above_32_mib_is_refused(*, is_packed: bool) -> None:
    body = b" " * (33 * MIB)
    whole = answer(gzip.compress(body), "Content-Encoding: gzip") if is_packed else answer(body)
    with client_of_server(says(whole), timeout_s=30.0) as (client, _):
        assert error_of(InvalidResponseError, client.people.list).problem == "larger than 32 MiB"


def test_an_answer_of_32_mib_is_read() -> None:
    padding = b" " * (32 * MIB - len(PEOPLE))
    with client_of_server(says(answer(PEOPLE + padding)), timeout_s=30.0) as (client, _):
        assert client.people.list().total_count == 1


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_not_followed_so_the_key_stays(status: str) -> None:
    with serving(says(answer(PEOPLE))) as other:
        there = f"Location: {other.url}/v0/persons"
        with client_of_server(says(answer(b"", there, status=status))) as (client, _):
            error_of(ServerError, client.people.list)
        assert other.connections == 0


@pytest.mark.parametrize("location", ["mailto:ada", "http://[", "//x:y", "/" + "x" * 65_520, "\\"])
def test_a_redirect_without_url_leaves_a_write_unknown(location: str) -> None:
    """An HTTP library may fail to parse the header, as if nothing had been sent."""
    redirect = answer(b"", f"Location: {location}", status="302 Found")
    with client_of_server(says(redirect)) as (client, _):
        error = error_of(ServerError, client.audiences.publish, "page_1", "aud_1", "ver_2")
    assert (error.status_code, error.executed) == (302, Executed.MAYBE)


@pytest.fixture
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.usefixtures("_no_proxy")
@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_calls_go_by_the_proxy_that_the_environment_names(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(says(answer(PEOPLE))) as proxy:
        monkeypatch.setenv(name, f"http://ada:secret@127.0.0.1:{proxy.port}")
        with client_of("http://service.example") as client:
            for _ in range(3):
                assert client.people.list().total_count == 1
            error_of(APIError, client.pages.create, PAGE_REQUEST)  # a list isn't a page
    heads = [head.splitlines()[0] for head in proxy.requests]
    assert heads[0] == b"GET http://service.example/v0/persons HTTP/1.1"
    assert heads[3] == b"POST http://service.example/v0/pages HTTP/1.1"
    assert b"Proxy-Authorization: Basic YWRhOnNlY3JldA==" in proxy.requests[0]
    assert proxy.connections == 2  # reads share a connection, a write opens its own


@pytest.mark.usefixtures("_no_proxy")
def test_calls_over_tls_go_through_a_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(says(answer(b"", status="407 Proxy Authentication Required"))) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"127.0.0.1:{proxy.port}")
        with client_of("https://service.example") as client:
            error = error_of(ConnectError, client.pages.create, PAGE_REQUEST)
    assert proxy.requests[0].startswith(b"CONNECT service.example:443 HTTP/1.1")
    assert KEY.encode() not in proxy.requests[0]
    why = "the proxy refused the connection (407 Proxy Authentication Required)"
    assert str(error) == f"Couldn’t reach the service: {why}."


@pytest.mark.usefixtures("_no_proxy")
@pytest.mark.parametrize("excepted", ["127.0.0.1", "*", "example.com, 127.0.0.1"])
def test_no_proxy_excepts_a_service(excepted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", excepted)
    with client_of_server(says(answer(PEOPLE))) as (client, _):
        assert client.people.list().total_count == 1


@pytest.mark.usefixtures("_no_proxy")
def test_an_unreachable_proxy_is_an_unreachable_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    with client_of("https://service.example") as client:
        error = error_of(ConnectError, client.pages.create, PAGE_REQUEST)
    assert "Couldn’t reach the service: " in str(error)
