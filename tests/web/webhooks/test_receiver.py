"""The receiver is off until it is turned on, records deliveries, and trusts none of them."""

import gzip
import json
import socket
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import DeviationRecord
from dashboard.notifications.models import Event
from dashboard.outgoing_webhooks import new_secret, signed_headers
from dashboard.webhooks.models import ReceivedDelivery, Receiver
from tests.support import wire
from tests.support.clock import stopped
from tests.support.dashboards import Dashboard, hidden, logged_in, over_http
from tests.support.fake_service import FakeService
from tests.support.html import elements, response_text, text
from tests.support.live_page import BACKGROUND
from tests.support.processes import Running
from tests.support.publishing_service import PublishingService
from tests.support.receiver_page import (
    PAGE,
    PUBLISHED,
    ReceiverPage,
    address_on,
    arrive,
    shown_address,
    switched_on,
)
from tests.support.written_log import written_log

REDACTED = "redacted (15 characters)"


@pytest.fixture
def receiver(as_administrator: Client) -> ReceiverPage:
    return ReceiverPage(as_administrator)


def test_it_is_off_until_an_administrator_switches_it_on(
    as_administrator: Client, fake_service: FakeService
) -> None:
    assert "The receiver is off" in response_text(as_administrator.get(PAGE))
    Receiver.objects.create(pk=1, secret="known")
    assert arrive("/hooks/known/").status_code == 404
    assert arrive(switched_on(as_administrator)).status_code == 200
    assert ReceivedDelivery.objects.count() == 1


def test_what_arrives_is_shown_as_text_with_its_headers(receiver: ReceiverPage) -> None:
    body = {"note": "<script>alert(1)</script>"} | PUBLISHED
    receiver.arrive(body, **{"X-Sent-By": "the <b>service</b>"})
    html = receiver.last()
    assert "alert(1)" in text(html)
    assert "the <b>service</b>" in text(html)
    assert "<script>alert" not in html
    assert "<b>service" not in html
    assert "page.version.published" in text(html)


def test_headers_that_may_hold_a_secret_are_redacted(receiver: ReceiverPage) -> None:
    names = [
        *("Authorization", "Cookie", "X-Api-Key", "Proxy-Authorization", "X-Webhook-Secret"),
        *("X-Hub-Signature-256", "X-Session", "X-Access-Token", "X-Password"),
    ]
    receiver.arrive(**dict.fromkeys(names, "hunter2-hunter2"))
    headers = ReceivedDelivery.objects.get().headers
    assert {name: headers[name] for name in names} == dict.fromkeys(names, REDACTED)
    assert receiver.last().count(REDACTED) == len(names)


def test_a_receiver_url_repeated_by_a_proxy_is_redacted(receiver: ReceiverPage) -> None:
    receiver.arrive(**{"X-Original-Uri": receiver.address})
    assert Receiver.objects.get().secret not in json.dumps(ReceivedDelivery.objects.get().headers)


def test_old_and_disabled_addresses_receive_nothing(receiver: ReceiverPage) -> None:
    old = receiver.address
    receiver.do("replace")
    new = shown_address(receiver.client)
    assert old != new
    assert (arrive(old).status_code, arrive(new).status_code) == (404, 200)
    receiver.do("off")
    assert arrive(new).status_code == 404
    receiver.do("on")
    assert shown_address(receiver.client) == new


def test_pressing_twice_replaces_the_url_once(receiver: ReceiverPage) -> None:
    inputs = elements(receiver.page(), "input")
    [key] = [
        field.attributes["value"] for field in inputs if field.attributes.get("name") == "form_key"
    ]
    form = {"do": "replace", "form_key": key}
    receiver.client.post(PAGE, form)
    new = shown_address(receiver.client)
    receiver.client.post(PAGE, form)
    assert shown_address(receiver.client) == new


@pytest.mark.parametrize("do", ["on", "off", "replace", "sign", "unsign"])
def test_a_viewer_sees_no_receiver_url(as_viewer: Client, receiver: ReceiverPage, do: str) -> None:
    before = Receiver.objects.values().get()
    html = as_viewer.get(PAGE).text
    assert before["secret"] not in html
    assert "Only administrators can see it" in text(html)
    assert as_viewer.post(PAGE, {"do": do}).status_code == 403
    assert Receiver.objects.values().get() == before


def signature(secret: str, body: bytes, *, ago: timedelta = timedelta()) -> dict[str, str]:
    return signed_headers(secret, "msg_1", datetime.now(UTC) - ago, body)


def test_with_a_secret_only_signed_deliveries_are_stored(receiver: ReceiverPage) -> None:
    secret, body = new_secret(), b'{"audienceId": "a"}'
    receiver.do("sign", signing_secret=secret)
    assert receiver.arrive(body).status_code == 401
    assert receiver.arrive(body + b" ", **signature(secret, body)).status_code == 401
    assert receiver.arrive(body, **signature(new_secret(), body)).status_code == 401
    late = signature(secret, body, ago=timedelta(minutes=6))
    assert receiver.arrive(body, **late).status_code == 401
    assert ReceivedDelivery.objects.count() == 0
    assert "Last rejected" in text(receiver.page())
    assert receiver.arrive(body, **signature(secret, body)).status_code == 200
    assert "The signature is valid." in text(receiver.last())


def test_a_sent_body_is_shown_in_any_format(receiver: ReceiverPage) -> None:
    published = json.dumps(PUBLISHED).encode()

    def delivery_text(body: bytes, encoding: str = "") -> str:
        assert receiver.arrive(body, **{"Content-Encoding": encoding}).status_code == 200
        return text(receiver.last())

    page = delivery_text(
        b'{"type":"form.submitted","amount":1e999,"type":"page.version.published","e":[]}'
    )
    assert page.count('"type"') == 2
    assert "1e999" in page
    assert "Unknown" in page, "which of the two it is can't be told"
    assert "Not byte for byte" not in page
    page = delivery_text(BOM_UTF8 + published)
    assert "page.version.published" in page.split("Body")[0]
    assert "without its byte order mark" in page
    assert "aud_1" in delivery_text(published.decode().encode("utf-16"))
    assert "bytes that aren’t text" in delivery_text(b"{\xff}")
    assert "hidden characters are shown as their codes" in delivery_text('["\u202e"]'.encode())


def test_a_compressed_delivery_is_unpacked_up_to_a_limit(receiver: ReceiverPage) -> None:
    published = json.dumps(PUBLISHED).encode()

    def delivery_text(body: bytes, encoding: str) -> str:
        assert receiver.arrive(body, **{"Content-Encoding": encoding}).status_code == 200
        return text(receiver.last())

    for packed, encoding in (
        (gzip.compress(published), "gzip"),
        (zlib.compress(published), "deflate"),
    ):
        page = delivery_text(packed, encoding)
        assert f"unpacked from {encoding}" in page
        assert "page.version.published" in page.split("Body")[0]
    assert "damaged" in delivery_text(published, "gzip")
    assert "not to its end" in delivery_text(gzip.compress(published)[:-12], "gzip")
    assert "compressed with br, which isn’t unpacked" in delivery_text(b"\x1b", "br")
    bomb = gzip.compress(b"[" + b" " * 100_000_000 + b"]")
    assert "not to its end" in delivery_text(bomb, "gzip")
    assert ReceivedDelivery.objects.latest("pk").size == len(bomb)


def test_a_delivery_that_was_signed_then_compressed_is_accepted(receiver: ReceiverPage) -> None:
    secret = new_secret()
    receiver.do("sign", signing_secret=secret)
    headers = signature(secret, b"{}") | {"Content-Encoding": "gzip"}
    assert receiver.arrive(gzip.compress(b"{}"), **headers).content == b"Received.\n"
    assert receiver.arrive(gzip.compress(b"[]"), **headers).status_code == 401


def test_the_address_works_without_its_last_slash(receiver: ReceiverPage) -> None:
    receiver.address = receiver.address.removesuffix("/")
    assert receiver.arrive().status_code == 200
    assert arrive(f"{receiver.address}x").status_code == 404
    assert ReceivedDelivery.objects.count() == 1


def test_a_signed_event_sent_again_is_stored_once(receiver: ReceiverPage) -> None:
    secret, body = new_secret(), json.dumps(PUBLISHED)
    assert [receiver.arrive(body, **{"webhook-id": "msg_1"}).status_code for _ in range(2)]
    assert ReceivedDelivery.objects.count() == 2, "unsigned ones are stored each time"
    receiver.do("sign", signing_secret=secret)
    for ago in (timedelta(minutes=2), timedelta(), timedelta()):
        answer = receiver.arrive(body, **signature(secret, body.encode(), ago=ago))
        assert answer.status_code == 200
    assert answer.content == b"Already received. Nothing was stored.\n"
    assert ReceivedDelivery.objects.filter(is_signed=True).count() == 1
    other = signed_headers(secret, "msg_2", datetime.now(UTC), body.encode())
    assert receiver.arrive(body, **other).content == b"Received.\n"


def test_without_the_secret_signatures_are_not_required_again(receiver: ReceiverPage) -> None:
    receiver.do("sign", signing_secret=new_secret())
    receiver.do("unsign")
    assert receiver.arrive().status_code == 200
    assert "The sender wasn’t verified." in text(receiver.last())


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_short", "hunter2!", "whsec_" + "A" * 150])
def test_a_text_that_is_no_secret_is_not_saved(receiver: ReceiverPage, secret: str) -> None:
    answer = receiver.do("sign", signing_secret=secret)
    assert answer.status_code == 422
    assert f'value="{secret}"' in answer.text or not secret
    assert Receiver.objects.get().signing_secret == ""


def test_the_secret_is_stored_encrypted_and_never_shown(
    receiver: ReceiverPage, settings: Any
) -> None:
    secret = new_secret()
    receiver.do("sign", signing_secret=secret)
    assert secret not in str(Receiver.objects.values().get())
    assert secret not in receiver.page()
    encrypted = Receiver.objects.get().signing_secret
    Receiver.objects.update(signing_secret=encrypted[:-9])
    assert receiver.arrive(b"{}", **signature(secret, b"{}")).status_code == 401
    assert "can’t be decrypted" in text(receiver.page())


def test_unknown_events_are_counted_up_to_twenty_names(receiver: ReceiverPage) -> None:
    for number in (*range(30), 0, 0):
        receiver.arrive({"event": f"page.version.{number}.{'x' * 300}"})
    receiver.arrive({"type": "page.version.published"})
    counts = DeviationRecord.objects.order_by("pk").values_list("count", flat=True)
    assert list(counts) == [3] + [1] * 19
    assert max(map(len, DeviationRecord.objects.values_list("place", flat=True))) == 60
    assert not Event.objects.exists()
    assert "page.version.19." in receiver.client.get("/service/watch/").text


def polled(client: Client, html: str) -> Any:
    """Poll for new deliveries as the page does."""
    divs = [element.attributes for element in elements(html, "div")]
    [part] = [div for div in divs if div.get("id") == "deliveries"]
    return client.get(part["data-live-url"], headers=BACKGROUND | {"HX-Target": "deliveries"})


def test_an_open_page_receives_only_what_arrives(receiver: ReceiverPage) -> None:
    page = receiver.client.get(PAGE, {"event": "page.version.published"}).text
    assert polled(receiver.client, page).status_code == 204
    receiver.arrive({"type": "form.submitted"})
    assert polled(receiver.client, page).status_code == 204
    receiver.arrive()
    receiver.arrive()
    response = polled(receiver.client, page).text
    assert "2 new deliveries" in text(response)
    assert "form.submitted" not in response
    assert "<h1>" not in response
    assert polled(receiver.client, response).status_code == 204


def test_old_deliveries_and_disabled_receivers_are_not_polled(receiver: ReceiverPage) -> None:
    receiver.arrive()
    older = receiver.client.get(PAGE, {"before": ReceivedDelivery.objects.get().pk + 1}).text
    receiver.do("off")
    for html in (older, receiver.page()):
        assert "page.version.published" in html
        assert "after=" not in html


def test_headers_and_body_are_for_administrators(as_viewer: Client, receiver: ReceiverPage) -> None:
    receiver.arrive({"email": "someone@else.example"})
    assert "someone@else.example" in text(receiver.last())
    assert "someone@else.example" not in receiver.last(as_viewer)
    assert "Only administrators can see them." in text(receiver.last(as_viewer))


def test_a_body_too_large_is_refused_unread(receiver: ReceiverPage) -> None:
    read: list[int] = []

    class Endless:
        def read(self, size: int = -1) -> bytes:
            read.append(size)
            return b"x" * max(size, 0)

        readline = read

    length = {"CONTENT_LENGTH": str(256 * 1024 + 1), "wsgi.input": Endless()}
    assert Client().post(receiver.address, **length).status_code == 413  # type: ignore[arg-type]
    assert read == []
    chunked = {"wsgi.input": Endless(), "wsgi.input_terminated": True}
    answer = Client().post(receiver.address, HTTP_TRANSFER_ENCODING="chunked", **chunked)  # type: ignore[arg-type]
    assert answer.status_code == 413
    assert sum(read) <= 256 * 1024 + 1
    assert ReceivedDelivery.objects.count() == 0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A real server, because incomplete bodies need real sockets."""
    with over_http(PublishingService()) as service_url:
        dashboard = Dashboard(tmp_path_factory.mktemp("receiver"), service_url)
        dashboard.prepare()
        with dashboard.started() as running:
            yield running


def said_to(server: Running, address: str, rest: bytes) -> bytes:
    """Send the head of a delivery and the rest, then close for writing; return the response."""
    place = urlsplit(server.url)
    with socket.create_connection((place.hostname, place.port), timeout=60) as sender:
        head = f"POST {address} HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: close\r\n"
        sender.sendall(head.encode() + rest)
        sender.shutdown(socket.SHUT_WR)
        return sender.makefile("rb").read()


@pytest.mark.parametrize(
    "rest",
    [
        b"Content-Length: 100\r\n\r\nabc",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc no chunk\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nno size\r\nabc\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nno trailer\r\n\r\n",
    ],
)
def test_nothing_of_an_incomplete_body_is_stored(server: Running, rest: bytes) -> None:
    with logged_in(server) as browser:
        token = hidden(browser.get(PAGE), "csrfmiddlewaretoken")
        page = browser.post(PAGE, data={"do": "on", "csrfmiddlewaretoken": token}).text
        answer = said_to(server, address_on(page), rest)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"The body is incomplete. Nothing was stored." in answer
        assert "No deliveries yet" in response_text(browser.get(PAGE))


def test_the_largest_body_is_accepted_and_its_beginning_stored(receiver: ReceiverPage) -> None:
    assert receiver.arrive(b"x" * 256 * 1024).status_code == 200
    delivery = ReceivedDelivery.objects.get()
    assert (delivery.size, len(delivery.body), delivery.is_cut) == (256 * 1024, 16_384, True)
    assert "First 16,384 characters" in text(receiver.last())


def test_a_burst_is_rejected_with_the_time_to_retry(
    receiver: ReceiverPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch)  # Deliveries are counted per minute.
    answers = [receiver.arrive(b"{}") for _ in range(122)]
    assert {answer.status_code for answer in answers[120:]} == {429}
    assert 0 < int(answers[-1]["Retry-After"]) <= 60
    assert {answer.status_code for answer in answers[:120]} == {200}


def test_a_burst_is_refused_without_the_shared_cache(
    receiver: ReceiverPage, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(monkeypatch)
    shared = "dashboard.server.redis_cache.FaultTolerantRedisCache"
    settings.CACHES = {"default": {"BACKEND": shared, "LOCATION": "redis://127.0.0.1:9"}}
    assert [receiver.arrive(b"{}").status_code for _ in range(121)][-1] == 429


def some_delivery(**fields: Any) -> ReceivedDelivery:
    return ReceivedDelivery(
        **{"received_at": timezone.now(), "size": 2, "headers": {}, "body": "{}"} | fields
    )


def test_the_newest_ten_thousand_are_stored(receiver: ReceiverPage) -> None:
    ReceivedDelivery.objects.bulk_create(some_delivery() for _ in range(10_000))
    oldest = ReceivedDelivery.objects.earliest("pk").pk
    receiver.arrive()
    assert ReceivedDelivery.objects.count() == 10_000
    assert not ReceivedDelivery.objects.filter(pk=oldest).exists()


def test_what_arrived_more_than_thirty_days_ago_is_gone(receiver: ReceiverPage) -> None:
    some_delivery(received_at=timezone.now() - timedelta(days=31)).save()
    some_delivery(received_at=timezone.now() - timedelta(days=29)).save()
    receiver.arrive()
    assert ReceivedDelivery.objects.count() == 2
    ReceivedDelivery.objects.update(received_at=timezone.now() - timedelta(days=31))
    assert "No deliveries yet" in text(receiver.page())
    number = ReceivedDelivery.objects.latest("pk").pk
    assert receiver.client.get(f"/hooks/deliveries/{number}/").status_code == 404


def test_what_is_older_is_deleted_without_another_delivery(db: None) -> None:
    some_delivery(received_at=timezone.now() - timedelta(days=31)).save()
    call_command("prune", older_than=30, verbosity=0)
    assert ReceivedDelivery.objects.count() == 0


def test_a_delivery_costs_few_queries(
    receiver: ReceiverPage, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(8):
        receiver.arrive()


def test_the_list_reads_no_body_and_continues(
    receiver: ReceiverPage, django_assert_max_num_queries: Any
) -> None:
    ReceivedDelivery.objects.bulk_create(
        some_delivery(event="form.submitted" if n % 2 else "") for n in range(120)
    )
    receiver.client.get("/activity/")  # Counts for the sidebar.
    del receiver.client.cookies["pressroom_counts"]
    with django_assert_max_num_queries(12):
        html = receiver.page()
    assert html.count("/hooks/deliveries/") == 50
    older = next(
        t.attributes["href"]
        for t in elements(html, "a")
        if "before=" in t.attributes.get("href", "")
    )
    seen = receiver.client.get(PAGE + older).text
    assert not set(links(html)) & set(links(seen))
    assert (
        len(links(receiver.client.get(f"{PAGE}?event=form.submitted&before=999999999").text)) == 50
    )


def links(html: str) -> list[str]:
    response = [tag.attributes.get("href", "") for tag in elements(html, "a")]
    return [link for link in response if link.startswith("/hooks/deliveries/")]


@pytest.mark.parametrize(
    "query", ["event=nonsense", "before=x", "before=-1", "before=9" * 20, "event=%00"]
)
def test_a_strange_filter_is_left_out(as_administrator: Client, query: str) -> None:
    assert as_administrator.get(f"{PAGE}?{query}").status_code == 200


@pytest.mark.parametrize("number", ["0", "999", "9" * 30])
def test_a_delivery_that_is_not_there_is_not_found(as_administrator: Client, number: str) -> None:
    assert as_administrator.get(f"/hooks/deliveries/{number}/").status_code == 404


SPOKEN = [
    (PUBLISHED, "page.version.published", "aud_1"),
    (
        {"event": "page.version.published", "audience_id": "aud_1"},
        "page.version.published",
        "aud_1",
    ),
    ({"event": "page.version.published"}, "page.version.published", ""),
    ({"event": "page.exploded", "audienceId": "aud_1"}, "", "aud_1"),
    ({"a": "form.submitted", "b": "form.enriched"}, "", ""),
    ([{"audienceId": "aud_1"}, {"audienceId": "aud_2"}], "", ""),
    ({"audienceId": 7}, "", ""),
    ("not json", "", ""),
    ("[" * 100_000, "", ""),
    ("1" * 10_000, "", ""),
    ("null", "", ""),
    (b"\xff\xfe\x00", "", ""),
]


def test_a_body_is_read_by_its_content_alone(
    receiver: ReceiverPage, subtests: pytest.Subtests
) -> None:
    for number, (body, event, audience_id) in enumerate(SPOKEN, 1):
        with subtests.test(body=str(body)[:60]):
            assert receiver.arrive(body).status_code == 200
            assert ReceivedDelivery.objects.count() == number
            delivery = ReceivedDelivery.objects.latest("pk")
            assert (delivery.event, delivery.audience_id) == (event, audience_id)
            assert receiver.last()
            assert "\0" not in delivery.body


@pytest.mark.parametrize("method", ["get", "put", "delete", "patch", "options", "head"])
def test_it_takes_nothing_but_a_post(receiver: ReceiverPage, method: str) -> None:
    assert getattr(Client(), method)(receiver.address).status_code == 405
    assert ReceivedDelivery.objects.count() == 0


@pytest.mark.parametrize("secret", ["x", "%00", "é", "a" * 5_000, "..%2f", "on"])
def test_a_wrong_url_reveals_nothing_of_the_right_one(receiver: ReceiverPage, secret: str) -> None:
    assert arrive(f"/hooks/{secret}/").status_code == 404
    assert ReceivedDelivery.objects.count() == 0


def test_nothing_that_arrives_asks_the_service_anything(
    receiver: ReceiverPage, fake_service: FakeService
) -> None:
    receiver.arrive()
    assert fake_service.sent == []


def test_only_the_audience_of_a_delivery_shows_it(
    receiver: ReceiverPage, fake_service: FakeService
) -> None:
    fake_service.answer = PublishingService()
    audience = f"/pages/page_1/audiences/{wire.audience()['audienceId']}/"
    body = {"event": "page.version.published", "audienceId": wire.audience()["audienceId"]}
    receiver.arrive({"event": "page.version.published", "audienceId": "another"})
    receiver.arrive(body | {"event": "form.submitted"})
    message = "Publish event received"
    assert message not in response_text(receiver.client.get(audience))
    receiver.arrive(body)
    assert message in response_text(receiver.client.get(audience))


@pytest.mark.parametrize(
    ("address", "host", "status"),
    [
        ("/hooks/{}/", "testserver", 200),
        ("/hooks/{}", "testserver", 200),
        ("/h%6foks/{}/", "testserver", 200),
        ("/hooks/{}/", "elsewhere.example", 400),
        ("/hooks/{}/x/", "testserver", 404),
        ("http://testserver//hooks/{}/", "testserver", 404),
        ("/hooks//{}/", "testserver", 404),
        ("/HOOKS/{}/", "testserver", 404),
    ],
)
def test_no_mistaken_address_logs_the_secret(
    receiver: ReceiverPage, address: str, host: str, status: int
) -> None:
    secret = Receiver.objects.get().secret
    with written_log() as log:
        assert arrive(address.format(secret), Host=host).status_code == status
    assert secret not in log.getvalue()
    assert [line["view"] for line in log.lines("dashboard.requests")]


def test_a_refused_request_logs_no_secret(receiver: ReceiverPage) -> None:
    with written_log() as log:
        assert Client().get(receiver.address).status_code == 405
    assert Receiver.objects.get().secret not in log.getvalue()
    assert [line["path"] for line in log.lines("dashboard.requests")] == ["/hooks/…/"]
    assert [line["message"] for line in log.lines("django.request")] == [
        "Method Not Allowed (GET): /hooks/…/"
    ]


def test_a_delivery_is_logged_with_its_number(as_administrator: Client) -> None:
    with written_log() as log:
        as_administrator.get("/hooks/deliveries/7/")
    (line,) = log.lines("dashboard.requests")
    assert line["path"] == "/hooks/deliveries/7/"
