"""Users who may not change webhooks can't read the receiver's secret, nor search for it."""

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.approvals.models import ApprovalKind, ApprovalRule, RequestState
from dashboard.notifications.models import Event
from tests.conftest import logged_in
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import text
from tests.support.receiver_page import arrive, switched_on
from tests.support.seeding import seed_approval, seed_subscription
from tests.support.webhook_form import PAGE, WebhookForm
from tests.support.webhook_service import WebhookService, answers, cut

NEW_RULE = {"changed_at": "2026-11-01T10:00Z", "changed_by_name": "ada"}


@pytest.fixture
def secret(ada: User, fake_service: FakeService) -> str:
    """The secret, which is in a subscription, its updates, an approval and a notification."""
    editor = logged_in(ada)
    path = switched_on(editor)
    secret = path.split("/")[2]
    target = f"https://pressroom.example{path}"
    service = WebhookService()
    fake_service.answer = lambda request: (
        service(request) if request.content else httpx.Response(200, json=wire.envelope())
    )
    service.held = wire.subscription(url=target, proxiedUrl=target)
    seed_subscription(url=target, proxiedUrl=target)
    form = WebhookForm(editor, service)
    arrive(path, {"callback": target}, Host="testserver", Origin=target)
    service.way = answers(422, detail=f"{target}a can't be reached", errors=[])
    form.save(url=f"{target}a")
    service.way = cut(carried_out=False)
    form.save(url=f"{target}b")
    service.held = service.held | {"url": f"{target}c"}
    ApprovalRule.objects.create(covers_webhooks=True, **NEW_RULE)
    form.save(url=target, note="Back to the receiver")
    body = {"url": f"{target}d", "active": True}
    differences = [{"item": "", "what": "url", "then": f'"{target}"', "now": f'"{target}e"'}]
    for pk, state in ((901, RequestState.OPEN), (902, RequestState.VOID)):
        seed_approval(
            pk,
            kind=ApprovalKind.WEBHOOK,
            state=state,
            subject={"subscription_id": "whs_1", "body": body, "before": body},
            differences=differences,
        )
    return secret


def pages(browser: Client) -> dict[str, str]:
    """Return the pages about a subscription, by URL."""
    response = browser.get("/activity/").text
    keys = {part.split("/")[0] for part in response.split('href="/activity/')[1:]}
    urls = [
        *("/", "/webhooks/", PAGE, "/hooks/", "/hooks/deliveries/1/", "/activity/"),
        *("/activity/export.csv", "/approvals/", "/approvals/901/", "/approvals/902/"),
        *("/notifications/", "/service/watch/", "/find/?q=crm", "/webhooks/?state=on"),
        *("/accounts/settings/notifications/", "/saved-views/"),
        *(f"/activity/{key}/" for key in keys if key.count("-") == 4),
    ]
    bodies = {url: b"".join(browser.get(url)).decode() for url in urls}  # type: ignore[arg-type]
    row = {"HX-Request": "true", "HX-Target": "exchange-1"}
    return bodies | {f"{url} row": browser.get(url, headers=row).text for url in urls if "-" in url}


def test_a_viewer_and_a_publisher_never_see_the_secret(
    secret: str, as_viewer: Client, as_publisher: Client, subtests: pytest.Subtests
) -> None:
    for browser in (as_viewer, as_publisher):
        result = pages(browser)
        assert len([url for url in result if url.startswith("/activity/") and "-" in url]) >= 2
        for url, body in result.items():
            with subtests.test(url=url):
                assert secret not in body
        assert "https://pressroom.example/hooks/…" in text(result["/webhooks/"])
    assert not Event.objects.filter(facts__icontains=secret).exists()


def test_an_administrator_sees_what_is_sent_and_approved(secret: str, ada: User) -> None:
    result = pages(logged_in(ada))
    seen = {url for url, body in result.items() if secret in body}
    assert {"/webhooks/", PAGE, "/activity/export.csv", "/approvals/901/"} <= seen
    assert {"/find/?q=crm", "/notifications/", "/service/watch/"}.isdisjoint(seen)


def test_search_never_matches_parts_of_the_secret(secret: str, as_viewer: Client) -> None:
    start = as_viewer.get("/find/", {"q": f"hooks/{secret[:6]}"})
    assert PAGE not in start.text
    assert PAGE in as_viewer.get("/find/", {"q": "pressroom.example/hooks"}).text
