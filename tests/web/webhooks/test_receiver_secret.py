"""Who may not change webhooks reads the receiver's secret nowhere, and can't search for it."""

import httpx
import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.ledger.models import ApprovalRule
from dashboard.ledger.models.approvals import ApprovalKind, RequestState
from dashboard.notifications.models import Event
from tests.conftest import logged_in
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.html import text
from tests.support.seeding import seed_approval
from tests.support.webhook_service import WebhookService, answers, cut
from tests.web.webhooks.test_receiver import arrive, switched_on
from tests.web.webhooks.test_webhook_edit import PAGE, put_on_list, save

NEW_RULE = {"changed_at": "2026-11-01T10:00Z", "changed_by_name": "ada"}


@pytest.fixture
def secret(ada: User, fake_service: FakeService) -> str:
    """The secret: in a subscription, its updates, an approval and a follower's notification."""
    editor = logged_in(ada)
    path = switched_on(editor)
    secret = path.split("/")[2]
    target = f"https://pressroom.example{path}"
    service = WebhookService()
    fake_service.answer = lambda request: (
        service(request) if request.content else httpx.Response(200, json=wire.envelope())
    )
    service.held = wire.subscription(url=target, proxiedUrl=target)
    put_on_list(service)
    arrive(path, {"callback": target}, Host="testserver", Origin=target)
    service.way = answers(422, detail=f"{target}a can't be reached", errors=[])
    save(editor, url=f"{target}a")
    service.way = cut(carried_out=False)
    save(editor, url=f"{target}b")
    service.held = service.held | {"url": f"{target}c"}
    ApprovalRule.objects.create(covers_webhooks=True, **NEW_RULE)
    save(editor, url=target, note="Back to the receiver")
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
    """Return the pages that have to do with a subscription, by URL."""
    found = browser.get("/activity/").text
    keys = {part.split("/")[0] for part in found.split('href="/activity/')[1:]}
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
        found = pages(browser)
        assert len([url for url in found if url.startswith("/activity/") and "-" in url]) >= 2
        for url, body in found.items():
            with subtests.test(url=url):
                assert secret not in body
        assert "https://pressroom.example/hooks/…" in text(found["/webhooks/"])
    assert not Event.objects.filter(facts__icontains=secret).exists()


def test_an_administrator_sees_what_is_sent_and_approved(secret: str, ada: User) -> None:
    found = pages(logged_in(ada))
    seen = {url for url, body in found.items() if secret in body}
    assert {"/webhooks/", PAGE, "/activity/export.csv", "/approvals/901/"} <= seen
    assert {"/find/?q=crm", "/notifications/", "/service/watch/"}.isdisjoint(seen)


def test_nobody_finds_the_secret_by_searching_for_its_parts(secret: str, as_viewer: Client) -> None:
    start = as_viewer.get("/find/", {"q": f"hooks/{secret[:6]}"})
    assert PAGE not in start.text
    assert PAGE in as_viewer.get("/find/", {"q": "pressroom.example/hooks"}).text
