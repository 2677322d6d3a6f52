"""The receiver: off until switched on, writes down what arrives, and trusts nothing of it."""

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
from django.core.cache import cache
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models import Delivery, DeviationRecord, Receiver
from dashboard.notifications.models import Event
from dashboard.outgoing_webhooks import new_secret, signed_headers
from tests.support import wire
from tests.support.dashboards import Dashboard, hidden, logged_in, over_http
from tests.support.fake_service import FakeService
from tests.support.html import elements, text
from tests.support.processes import Running
from tests.support.publishing_service import PublishingService
from tests.support.written_log import written_log

PAGE = "/hooks/"
REDACTED = "redacted (15 characters)"
PUBLISHED = {"type": "page.version.published", "data": {"audienceId": "aud_1"}}


def switched_on(administrator: Client) -> str:
    """Switch the receiver on and return the path of its URL."""
    administrator.post(PAGE, {"do": "on"})
    return shown_address(administrator)


def shown_address(administrator: Client) -> str:
    return address_on(administrator.get(PAGE).content.decode())


def address_on(html: str) -> str:
    [address] = [
        tag.attributes["data-copy"]
        for tag in elements(html, "button")
        if tag.attributes.get("aria-label") == "Copy the receiver URL"
    ]
    return urlsplit(address).path


def arrive(address: str, body: Any = PUBLISHED, **headers: str) -> Any:
    """Send a request without a session, and return the response."""
    content = body if isinstance(body, bytes | str) else json.dumps(body)
    stranger = Client(enforce_csrf_checks=True)
    return stranger.post(address, content, content_type="application/json", headers=headers)


def detail(client: Client) -> str:
    return client.get(f"/hooks/deliveries/{Delivery.objects.latest('pk').pk}/").content.decode()


def test_it_is_off_until_an_administrator_switches_it_on(
    as_administrator: Client, fake_service: FakeService
) -> None:
    assert "The receiver is off" in text(as_administrator.get(PAGE).content.decode())
    Receiver.objects.create(pk=1, secret="known")
    assert arrive("/hooks/known/").status_code == 404
    assert arrive(switched_on(as_administrator)).status_code == 200
    assert Delivery.objects.count() == 1


def test_what_arrives_is_shown_as_text_with_its_headers(as_administrator: Client) -> None:
    body = {"note": "<script>alert(1)</script>"} | PUBLISHED
    arrive(switched_on(as_administrator), body, **{"X-Sent-By": "the <b>service</b>"})
    html = detail(as_administrator)
    assert "alert(1)" in text(html)
    assert "the <b>service</b>" in text(html)
    assert "<script>alert" not in html
    assert "<b>service" not in html
    assert "page.version.published" in text(html)


def test_headers_that_may_hold_a_secret_are_redacted(as_administrator: Client) -> None:
    names = [
        *("Authorization", "Cookie", "X-Api-Key", "Proxy-Authorization", "X-Webhook-Secret"),
        *("X-Hub-Signature-256", "X-Session", "X-Access-Token", "X-Password"),
    ]
    arrive(switched_on(as_administrator), **dict.fromkeys(names, "hunter2-hunter2"))
    headers = Delivery.objects.get().headers
    assert {name: headers[name] for name in names} == dict.fromkeys(names, REDACTED)
    assert detail(as_administrator).count(REDACTED) == len(names)


def test_the_receivers_own_url_is_redacted_where_a_proxy_repeats_it(
    as_administrator: Client,
) -> None:
    address = switched_on(as_administrator)
    arrive(address, **{"X-Original-Uri": address})
    assert Receiver.objects.get().secret not in json.dumps(Delivery.objects.get().headers)


def test_an_old_address_gets_nothing_and_one_that_is_off_neither(
    as_administrator: Client,
) -> None:
    old = switched_on(as_administrator)
    as_administrator.post(PAGE, {"do": "replace"})
    new = shown_address(as_administrator)
    assert old != new
    assert (arrive(old).status_code, arrive(new).status_code) == (404, 200)
    as_administrator.post(PAGE, {"do": "off"})
    assert arrive(new).status_code == 404
    as_administrator.post(PAGE, {"do": "on"})
    assert shown_address(as_administrator) == new


@pytest.mark.parametrize("do", ["on", "off", "replace", "sign", "unsign"])
def test_a_viewer_sees_no_receiver_url_and_turns_nothing_on(
    as_viewer: Client, as_administrator: Client, do: str
) -> None:
    switched_on(as_administrator)
    before = Receiver.objects.values().get()
    html = as_viewer.get(PAGE).content.decode()
    assert before["secret"] not in html
    assert "Only administrators can see it" in text(html)
    assert as_viewer.post(PAGE, {"do": do}).status_code == 403
    assert Receiver.objects.values().get() == before


def signature(secret: str, body: bytes, *, ago: timedelta = timedelta()) -> dict[str, str]:
    return signed_headers(secret, "msg_1", datetime.now(UTC) - ago, body)


def test_with_a_secret_only_signed_deliveries_are_stored(as_administrator: Client) -> None:
    address, secret, body = switched_on(as_administrator), new_secret(), b'{"audienceId": "a"}'
    as_administrator.post(PAGE, {"do": "sign", "signing_secret": secret})
    assert arrive(address, body).status_code == 401
    assert arrive(address, body + b" ", **signature(secret, body)).status_code == 401
    assert arrive(address, body, **signature(new_secret(), body)).status_code == 401
    late = signature(secret, body, ago=timedelta(minutes=6))
    assert arrive(address, body, **late).status_code == 401
    assert Delivery.objects.count() == 0
    assert "Last rejected" in text(as_administrator.get(PAGE).content.decode())
    assert arrive(address, body, **signature(secret, body)).status_code == 200
    assert "The signature is valid." in text(detail(as_administrator))


def test_what_was_sent_is_shown_whatever_its_form(as_administrator: Client) -> None:
    address, published = switched_on(as_administrator), json.dumps(PUBLISHED).encode()

    def shown(body: bytes, encoding: str = "") -> str:
        assert arrive(address, body, **{"Content-Encoding": encoding}).status_code == 200
        return text(detail(as_administrator))

    page = shown(b'{"type":"form.submitted","amount":1e999,"type":"page.version.published","e":[]}')
    assert page.count('"type"') == 2
    assert "1e999" in page
    assert "Unknown" in page, "which of the two it is can't be told"
    assert "Not byte for byte" not in page
    page = shown(BOM_UTF8 + published)
    assert "page.version.published" in page.split("Body")[0]
    assert "without its byte order mark" in page
    assert "aud_1" in shown(published.decode().encode("utf-16"))
    assert "bytes that aren’t text" in shown(b"{\xff}")
    assert "hidden characters are shown as their codes" in shown('["\u202e"]'.encode())


def test_a_compressed_delivery_is_unpacked_up_to_a_limit(as_administrator: Client) -> None:
    address, published = switched_on(as_administrator), json.dumps(PUBLISHED).encode()

    def shown(body: bytes, encoding: str) -> str:
        assert arrive(address, body, **{"Content-Encoding": encoding}).status_code == 200
        return text(detail(as_administrator))

    for packed, encoding in (
        (gzip.compress(published), "gzip"),
        (zlib.compress(published), "deflate"),
    ):
        page = shown(packed, encoding)
        assert f"unpacked from {encoding}" in page
        assert "page.version.published" in page.split("Body")[0]
    assert "damaged" in shown(published, "gzip")
    assert "not to its end" in shown(gzip.compress(published)[:-12], "gzip")
    assert "compressed with br, which isn’t unpacked" in shown(b"\x1b", "br")
    bomb = gzip.compress(b"[" + b" " * 100_000_000 + b"]")
    assert "not to its end" in shown(bomb, "gzip")
    assert Delivery.objects.latest("pk").size == len(bomb)


def test_a_delivery_that_was_signed_then_compressed_is_accepted(as_administrator: Client) -> None:
    address, secret = switched_on(as_administrator), new_secret()
    as_administrator.post(PAGE, {"do": "sign", "signing_secret": secret})
    headers = signature(secret, b"{}") | {"Content-Encoding": "gzip"}
    assert arrive(address, gzip.compress(b"{}"), **headers).content == b"Received.\n"
    assert arrive(address, gzip.compress(b"[]"), **headers).status_code == 401


def test_the_address_works_without_its_last_slash(as_administrator: Client) -> None:
    address = switched_on(as_administrator).removesuffix("/")
    assert arrive(address).status_code == 200
    assert arrive(f"{address}x").status_code == 404
    assert Delivery.objects.count() == 1


def test_a_signed_event_sent_again_is_stored_once(as_administrator: Client) -> None:
    address, secret, body = switched_on(as_administrator), new_secret(), json.dumps(PUBLISHED)
    assert [arrive(address, body, **{"webhook-id": "msg_1"}).status_code for _ in range(2)]
    assert Delivery.objects.count() == 2, "unsigned ones are stored each time"
    as_administrator.post(PAGE, {"do": "sign", "signing_secret": secret})
    for ago in (timedelta(minutes=2), timedelta(), timedelta()):
        answer = arrive(address, body, **signature(secret, body.encode(), ago=ago))
        assert answer.status_code == 200
    assert answer.content == b"Already received. Nothing was stored.\n"
    assert Delivery.objects.filter(is_signed=True).count() == 1
    other = signed_headers(secret, "msg_2", datetime.now(UTC), body.encode())
    assert arrive(address, body, **other).content == b"Received.\n"


def test_without_the_secret_signatures_are_not_required_again(as_administrator: Client) -> None:
    address = switched_on(as_administrator)
    as_administrator.post(PAGE, {"do": "sign", "signing_secret": new_secret()})
    as_administrator.post(PAGE, {"do": "unsign"})
    assert arrive(address).status_code == 200
    assert "The sender wasn’t verified." in text(detail(as_administrator))


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_short", "hunter2!", "whsec_" + "A" * 150])
def test_a_text_that_is_no_secret_is_not_saved(as_administrator: Client, secret: str) -> None:
    switched_on(as_administrator)
    answer = as_administrator.post(PAGE, {"do": "sign", "signing_secret": secret})
    assert answer.status_code == 422
    assert f'value="{secret}"' in answer.content.decode() or not secret
    assert Receiver.objects.get().signing_secret == ""


def test_the_secret_is_stored_encrypted_and_never_shown(
    as_administrator: Client, settings: Any
) -> None:
    address, secret = switched_on(as_administrator), new_secret()
    as_administrator.post(PAGE, {"do": "sign", "signing_secret": secret})
    assert secret not in str(Receiver.objects.values().get())
    assert secret not in as_administrator.get(PAGE).content.decode()
    encrypted = Receiver.objects.get().signing_secret
    Receiver.objects.update(signing_secret=encrypted[:-9])
    assert arrive(address, b"{}", **signature(secret, b"{}")).status_code == 401
    assert "can’t be decrypted" in text(as_administrator.get(PAGE).content.decode())


def test_unknown_events_are_counted_up_to_twenty_names(as_administrator: Client) -> None:
    address = switched_on(as_administrator)
    for number in (*range(30), 0, 0):
        arrive(address, {"event": f"page.version.{number}.{'x' * 300}"})
    arrive(address, {"type": "page.version.published"})
    counts = DeviationRecord.objects.order_by("pk").values_list("count", flat=True)
    assert list(counts) == [3] + [1] * 19
    assert max(map(len, DeviationRecord.objects.values_list("place", flat=True))) == 60
    assert not Event.objects.exists()
    assert "page.version.19." in as_administrator.get("/service/watch/").content.decode()


def polled(client: Client, html: str) -> Any:
    """Poll for new deliveries as the page does."""
    divs = [each.attributes for each in elements(html, "div")]
    [part] = [each for each in divs if each.get("id") == "deliveries"]
    headers = {"HX-Request": "true", "HX-Target": "deliveries"} | json.loads(part["hx-headers"])
    return client.get(part["hx-get"], headers=headers)


def test_a_page_that_is_open_gets_what_arrives_and_nothing_else(as_administrator: Client) -> None:
    address = switched_on(as_administrator)
    page = as_administrator.get(PAGE, {"event": "page.version.published"}).content.decode()
    assert polled(as_administrator, page).status_code == 204
    arrive(address, {"type": "form.submitted"})
    assert polled(as_administrator, page).status_code == 204
    arrive(address)
    arrive(address)
    response = polled(as_administrator, page).content.decode()
    assert "2 new deliveries" in text(response)
    assert "form.submitted" not in response
    assert "<h1>" not in response
    assert polled(as_administrator, response).status_code == 204


def test_older_deliveries_and_a_receiver_that_is_off_are_not_polled(
    as_administrator: Client,
) -> None:
    address = switched_on(as_administrator)
    arrive(address)
    older = as_administrator.get(PAGE, {"before": Delivery.objects.get().pk + 1}).content.decode()
    as_administrator.post(PAGE, {"do": "off"})
    for html in (older, as_administrator.get(PAGE).content.decode()):
        assert "page.version.published" in html
        assert "after=" not in html


def test_headers_and_body_are_for_administrators(
    as_viewer: Client, as_administrator: Client
) -> None:
    arrive(switched_on(as_administrator), {"email": "someone@else.example"})
    assert "someone@else.example" in text(detail(as_administrator))
    assert "someone@else.example" not in detail(as_viewer)
    assert "Only administrators can see them." in text(detail(as_viewer))


def test_a_body_too_large_is_refused_before_it_is_read(as_administrator: Client) -> None:
    address = switched_on(as_administrator)
    read: list[int] = []

    class Endless:
        def read(self, size: int = -1) -> bytes:
            read.append(size)
            return b"x" * max(size, 0)

        readline = read

    length = {"CONTENT_LENGTH": str(256 * 1024 + 1), "wsgi.input": Endless()}
    assert Client().post(address, **length).status_code == 413  # type: ignore[arg-type]
    assert read == []
    chunked = {"wsgi.input": Endless(), "wsgi.input_terminated": True}
    answer = Client().post(address, HTTP_TRANSFER_ENCODING="chunked", **chunked)  # type: ignore[arg-type]
    assert answer.status_code == 413
    assert sum(read) <= 256 * 1024 + 1
    assert Delivery.objects.count() == 0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A real server, as a broken-off body depends on its sockets."""
    with over_http(PublishingService()) as service_url:
        dashboard = Dashboard(tmp_path_factory.mktemp("receiver"), service_url)
        dashboard.prepare()
        with dashboard.started() as running:
            yield running


def said_to(server: Running, address: str, rest: bytes) -> bytes:
    """Send the head of a delivery and the rest, stop there, and return the response."""
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
        assert "No deliveries yet" in text(browser.get(PAGE).text)


def test_the_largest_body_is_accepted_and_its_beginning_stored(as_administrator: Client) -> None:
    assert arrive(switched_on(as_administrator), b"x" * 256 * 1024).status_code == 200
    delivery = Delivery.objects.get()
    assert (delivery.size, len(delivery.body), delivery.is_cut) == (256 * 1024, 16_384, True)
    assert "First 16,384 characters" in text(detail(as_administrator))


def test_a_burst_is_rejected_with_the_time_to_retry(as_administrator: Client) -> None:
    address = switched_on(as_administrator)
    while True:  # A minute may end in between.
        cache.clear()
        answers = [arrive(address, b"{}") for _ in range(122)]
        if sum(answer.status_code == 429 for answer in answers) == 2:
            break
    assert 0 < int(answers[-1]["Retry-After"]) <= 60
    assert {answer.status_code for answer in answers[:120]} == {200}


def test_a_burst_is_refused_while_the_shared_cache_is_away(
    as_administrator: Client, settings: Any
) -> None:
    address = switched_on(as_administrator)
    shared = "dashboard.server.redis_cache.FaultTolerantRedisCache"
    settings.CACHES = {"default": {"BACKEND": shared, "LOCATION": "redis://127.0.0.1:9"}}
    # A minute may end in between, and another test may have begun this one.
    assert any(arrive(address, b"{}").status_code == 429 for _ in range(245))


def some_delivery(**fields: Any) -> Delivery:
    return Delivery(
        **{"received_at": timezone.now(), "size": 2, "headers": {}, "body": "{}"} | fields
    )


def test_the_newest_ten_thousand_are_stored(as_administrator: Client) -> None:
    address = switched_on(as_administrator)
    Delivery.objects.bulk_create(some_delivery() for _ in range(10_000))
    oldest = Delivery.objects.earliest("pk").pk
    arrive(address)
    assert Delivery.objects.count() == 10_000
    assert not Delivery.objects.filter(pk=oldest).exists()


def test_what_arrived_more_than_thirty_days_ago_is_gone(as_administrator: Client) -> None:
    address = switched_on(as_administrator)
    some_delivery(received_at=timezone.now() - timedelta(days=31)).save()
    some_delivery(received_at=timezone.now() - timedelta(days=29)).save()
    arrive(address)
    assert Delivery.objects.count() == 2
    Delivery.objects.update(received_at=timezone.now() - timedelta(days=31))
    assert "No deliveries yet" in text(as_administrator.get(PAGE).content.decode())
    number = Delivery.objects.latest("pk").pk
    assert as_administrator.get(f"/hooks/deliveries/{number}/").status_code == 404


def test_what_is_older_is_deleted_without_another_delivery(db: None) -> None:
    some_delivery(received_at=timezone.now() - timedelta(days=31)).save()
    call_command("prune", older_than=30, verbosity=0)
    assert Delivery.objects.count() == 0


def test_a_delivery_costs_few_queries(
    as_administrator: Client, django_assert_max_num_queries: Any
) -> None:
    address = switched_on(as_administrator)
    with django_assert_max_num_queries(8):
        arrive(address)


def test_the_list_reads_no_body_and_goes_on_to_older_ones(
    as_administrator: Client, django_assert_max_num_queries: Any
) -> None:
    switched_on(as_administrator)
    Delivery.objects.bulk_create(
        some_delivery(event="form.submitted" if n % 2 else "") for n in range(120)
    )
    as_administrator.get("/activity/")  # Counts for the sidebar.
    del as_administrator.cookies["pressroom_counts"]
    with django_assert_max_num_queries(12):
        html = as_administrator.get(PAGE).content.decode()
    assert html.count("/hooks/deliveries/") == 50
    older = next(
        t.attributes["href"]
        for t in elements(html, "a")
        if "before=" in t.attributes.get("href", "")
    )
    seen = as_administrator.get(PAGE + older).content.decode()
    assert not set(links(html)) & set(links(seen))
    assert (
        len(
            links(
                as_administrator.get(
                    f"{PAGE}?event=form.submitted&before=999999999"
                ).content.decode()
            )
        )
        == 50
    )


def links(html: str) -> list[str]:
    found = [tag.attributes.get("href", "") for tag in elements(html, "a")]
    return [link for link in found if link.startswith("/hooks/deliveries/")]


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
    as_administrator: Client, subtests: pytest.Subtests
) -> None:
    address = switched_on(as_administrator)
    for number, (body, event, audience_id) in enumerate(SPOKEN, 1):
        with subtests.test(body=str(body)[:60]):
            assert arrive(address, body).status_code == 200
            assert Delivery.objects.count() == number
            delivery = Delivery.objects.latest("pk")
            assert (delivery.event, delivery.audience_id) == (event, audience_id)
            assert detail(as_administrator)
            assert "\0" not in delivery.body


@pytest.mark.parametrize("method", ["get", "put", "delete", "patch", "options", "head"])
def test_it_takes_nothing_but_a_post(as_administrator: Client, method: str) -> None:
    address = switched_on(as_administrator)
    assert getattr(Client(), method)(address).status_code == 405
    assert Delivery.objects.count() == 0


@pytest.mark.parametrize("secret", ["x", "%00", "é", "a" * 5_000, "..%2f", "on"])
def test_a_wrong_url_reveals_nothing_of_the_right_one(
    as_administrator: Client, secret: str
) -> None:
    switched_on(as_administrator)
    assert arrive(f"/hooks/{secret}/").status_code == 404
    assert Delivery.objects.count() == 0


def test_nothing_that_arrives_asks_the_service_anything(
    as_administrator: Client, fake_service: FakeService
) -> None:
    arrive(switched_on(as_administrator))
    assert fake_service.sent == []


def test_only_the_audience_of_a_delivery_shows_it(
    as_administrator: Client, fake_service: FakeService
) -> None:
    fake_service.answer = PublishingService()
    audience = f"/pages/page_1/audiences/{wire.audience()['audienceId']}/"
    body = {"event": "page.version.published", "audienceId": wire.audience()["audienceId"]}
    address = switched_on(as_administrator)
    arrive(address, {"event": "page.version.published", "audienceId": "another"})
    arrive(address, body | {"event": "form.submitted"})
    said = "Publish event received"
    assert said not in text(as_administrator.get(audience).content.decode())
    arrive(address, body)
    assert said in text(as_administrator.get(audience).content.decode())


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
def test_the_secret_is_in_no_line_however_its_address_is_mistaken(
    as_administrator: Client, address: str, host: str, status: int
) -> None:
    switched_on(as_administrator)
    secret = Receiver.objects.get().secret
    with written_log() as log:
        assert arrive(address.format(secret), Host=host).status_code == status
    assert secret not in log.getvalue()
    assert [line["view"] for line in log.lines("dashboard.requests")]


def test_the_secret_is_in_no_line_of_a_request_that_is_refused(as_administrator: Client) -> None:
    address = switched_on(as_administrator)
    with written_log() as log:
        assert Client().get(address).status_code == 405
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
