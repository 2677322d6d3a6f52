"""The URLs of all pages, and a service with the data for them."""

from typing import Any

import httpx
from django.test import Client
from django.utils import timezone

from dashboard.ledger.models.operations import Outcome
from dashboard.ledger.operations import AttemptResult
from tests.conftest import logged_in, person
from tests.faults.pages import good_answer, operation_of
from tests.support import wire
from tests.support.fake_service import FakeService
from tests.support.operations import operation
from tests.support.seeding import (
    seed_delivery,
    seed_notification,
    seed_release,
    seed_review,
    seed_subscription,
    seed_thread,
    seed_view,
)

AUDIENCE = "/pages/page_1/audiences/aud_1/"
CALLS = f"{AUDIENCE}conversation/"
WEBHOOKS = "/accounts/settings/notifications/webhooks/"
PAGES = {
    "overview": ["/"],
    "find": ["/find/", "/find/?q=bright", "/find/?q=publish"],
    "page-list": ["/pages/", "/pages/?q=fleet&status=published&sort=name"],
    "audience-list": ["/audiences/", "/audiences/?q=bright&live=changed&sort=name"],
    "audience-export": ["/audiences/export.csv"],
    "page-create": ["/pages/new/"],
    "page-detail": ["/pages/page_1/", "/pages/page_unknown/"],
    "audience-detail": [AUDIENCE, "/pages/page_1/audiences/aud_unknown/"],
    "page-preview": ["/pages/page_1/preview/", "/pages/page_1/preview/?width=tablet&hide=sources"],
    "audience-preview": [f"{AUDIENCE}preview/", f"{AUDIENCE}preview/?version=ver_1"],
    "version-list": [f"{AUDIENCE}versions/"],
    "version-compare": [f"{AUDIENCE}versions/compare/?from=live&to=latest"],
    "version-publish": [f"{AUDIENCE}versions/ver_2/publish/"],
    "publish-progress": [f"{AUDIENCE}versions/ver_2/publish/progress/?operation=key-done"],
    "version-scheduled": [f"{AUDIENCE}versions/ver_2/publish/scheduled/1/"],
    "version-rollback": [f"{AUDIENCE}versions/ver_1/rollback/"],
    "conversation": [CALLS],
    "conversation-newer": [f"{CALLS}newer/"],
    "conversation-export": [f"{CALLS}export/?format=markdown"],
    "tool-call": [f"{CALLS}calls/m_1/0/"],
    "tool-result": [f"{CALLS}results/m_1/0/"],
    "release-list": ["/releases/", "/releases/?q=prices&state=drafts"],
    "release-new": ["/releases/new/", "/releases/new/?audience=page_1/aud_1"],
    "release-detail": ["/releases/1/", "/releases/2/", "/releases/3/", "/releases/4/"],
    "release-edit": ["/releases/1/edit/"],
    "release-schedule": ["/releases/1/schedule/"],
    "release-export": ["/releases/1/export.csv"],
    "approval-list": ["/approvals/", "/approvals/?state=open"],
    "approval-detail": ["/approvals/4/"],
    "audience-comments": [f"{AUDIENCE}comments/", f"{AUDIENCE}comments/?version=ver_1"],
    "assign-audiences": ["/audiences/assign/?audience=page_1/aud_1"],
    "discussion": ["/comments/?place=release:1"],
    "thread-new": ["/comments/new/?place=release:1"],
    "thread-reply": ["/comments/threads/1/reply/"],
    "comment-edit": ["/comments/1/edit/"],
    "comment-delete": ["/comments/1/delete/"],
    "comment-export": ["/comments/export.csv"],
    "comment-people": ["/comments/people/"],
    "site-pattern": ["/accounts/settings/site/"],
    "approval-rule": ["/accounts/settings/approvals/"],
    "notification-list": ["/notifications/", "/notifications/?state=unread"],
    "notification-settings": ["/accounts/settings/notifications/"],
    "email-change": ["/accounts/settings/notifications/email/"],
    "target-add": [f"{WEBHOOKS}new/", f"{WEBHOOKS}new/?team=1"],
    "target-detail": [f"{WEBHOOKS}1/"],
    "target-delete": [f"{WEBHOOKS}1/delete/"],
    "delivery-log": ["/notifications/deliveries/", "/notifications/deliveries/?state=sent"],
    "delivery-entry": ["/notifications/deliveries/1/"],
    "saved-view-list": ["/saved-views/"],
    "saved-view-new": ["/saved-views/new/?list=audiences&state=live%3Dchanged"],
    "saved-view-edit": ["/saved-views/1/"],
    "saved-view-delete": ["/saved-views/1/delete/"],
    "review-list": ["/review/"],
    "review-summary": ["/review/1/"],
    "review-item": ["/review/1/1/", "/review/1/1/?show=version"],
    "review-export": ["/review/1/export.csv"],
    "people-list": ["/people/", "/people/?q=ada"],
    "page-export": ["/pages/export.csv"],
    "people-export": ["/people/export.csv"],
    "subscription-list": ["/webhooks/"],
    "subscription-detail": ["/webhooks/whs_1/"],
    "receiver": ["/hooks/"],
    "delivery-detail": ["/hooks/deliveries/1/"],
    "operation-list": ["/activity/", "/activity/?outcome=unknown"],
    "operation-export": ["/activity/export.csv"],
    "outside-list": ["/activity/outside/", "/activity/outside/?since=2026-01-01&target=aud_1"],
    "outside-export": ["/activity/outside/export.csv"],
    "release-operations": ["/activity/releases/1/"],
    "operation-detail": ["/activity/key-done/", "/activity/key-unknown/"],
    "service-watch": ["/service/watch/"],
    "password": ["/accounts/password/"],
    "settings": ["/accounts/settings/"],
    "token-list": ["/accounts/settings/tokens/"],
    "token-new": ["/accounts/settings/tokens/new/", "/accounts/settings/tokens/new/?service=1"],
    "connect": ["/accounts/settings/connect/"],
    "mfa_activate_totp": ["/accounts/settings/app/"],
    "mfa_add_webauthn": ["/accounts/settings/passkey/"],
    "account_reauthenticate": ["/accounts/again/"],
    "sign-in-policy": ["/accounts/rules/"],
    "second-factor-reset": ["/accounts/rules/1/reset/"],
}
"""URLs of pages by view name."""
PARTIALS = [
    ("/find/", "dialogs"),
    ("/find/?q=bright", "palette-list"),
    ("/", "in-flight"),
    ("/pages/?q=fleet", "results"),
    ("/pages/page_1/", "audiences"),
    ("/pages/page_1/", "all-matching"),
    ("/audiences/?q=bright", "results"),
    ("/pages/page_1/preview/", "preview"),
    (f"{AUDIENCE}preview/", "preview"),
    ("/audiences/", "f-page"),
    ("/audiences/", "all-matching"),
    ("/releases/?q=prices", "results"),
    ("/releases/", "results"),
    ("/releases/1/?item=1", "detail"),
    ("/releases/1/", "release"),
    ("/releases/2/", "release"),
    ("/review/1/1/", "item"),
    ("/review/1/1/", "around"),
    ("/review/1/1/", "review-items"),
    ("/review/1/1/?shown=x", "now"),
    ("/people/?q=ada", "results"),
    (f"{AUDIENCE}comments/", "discussion"),
    *(("/comments/?place=release:1", target) for target in ("discussion", "item-discussion")),
    ("/live/?since=x", "live-poll"),
    ("/live/here/?place=audience:page_1:aud_1", "here-audience"),
    ("/notifications/", "notices-in"),
    (f"{CALLS}?q=hello", "matches"),
    (f"{AUDIENCE}versions/ver_2/publish/", "dialogs"),
    ("/releases/moment/?date=2020-01-01&time=14:00", "schedule-moment"),
    ("/activity/releases/2/", "release-2"),
]
"""URLs that htmx requests, with their targets."""
NOT_PAGES = {
    *(
        "live",
        "here",
        "page-draft",
        "page-check",
        "page-rows",
        "page-field",
        "page-discard",
        "version-schedule",
        "version-request",
        "schedule-moment",
        "rollback-progress",
        "rollback-request",
        "audience-load",
        "subscription-active",
        "subscription-forget",
        "operation-check",
    ),
    *(
        "operation-send-again",
        "service-check",
        "hook",
        "hook-without-slash",
        "policy-report",
        "health-live",
        "health-ready",
        "metrics",
    ),
    "favicon",
    *("login", "account_login", "logout", "mfa_authenticate", "single-sign-on", "mfa_index"),
    *("single-sign-on-callback", "organisation-connect", "organisation-disconnect", "theme", "utc"),
    *("keys", "pin", "mfa_deactivate_totp", "mfa_remove_webauthn", "mfa_view_recovery_codes"),
    *("mfa_generate_recovery_codes", "mfa_reauthenticate", "mfa_reauthenticate_webauthn"),
    *("release-item", "release-check", "release-publish", "release-continue", "release-stop"),
    *("release-cancel", "release-roll-back", "release-retry", "release-request-approval"),
    *("release-discard", "release-unschedule", "release-schedule-request"),
    *("subscription-add", "saved-view-save", "saved-view-move", "saved-view-default"),
    *("notification-read", "notifications-read", "page-opened", "follow", "overview-visited"),
    *("email-confirm", "email-reset", "target-secret", "target-test", "delivery-send"),
    *("token-revoke", "token-owner", "approval-publish", "approval-ask"),
    *("approval-approve", "approval-decline", "approval-withdraw", "approval-send"),
    *("thread-detail", "thread-resolve", "thread-reopen"),
    *("review-next", "review-take-over", "review-release", "review-needs-work", "review-reject"),
    *("review-later", "review-skip", "review-undo", "review-narrow"),
    "change-verdict",
}
"""Forms without a page, URLs for machines, and pages that need a second factor."""


def log_in_to_every_page(service: FakeService) -> Client:
    """Record what the pages show, and log in Mia, who may open all pages."""
    service.answer = answer
    seed_subscription()
    seed_delivery()
    seed_view(None)
    seed_thread()
    seed_release(1)
    seed_release(2, state="running", started_at=timezone.now())
    seed_release(3, state="finished", started_at=timezone.now(), finished_at=timezone.now())
    mia = person("mia", "Publishers", "Administrators")
    seed_notification(mia)
    seed_review(mia)
    operation(mia, "key-done")
    operation(mia, "key-unknown", ending=AttemptResult(Outcome.UNKNOWN))
    return logged_in(mia)


def answer(request: httpx.Request) -> httpx.Response:
    """Return the service's fixed response."""
    return httpx.Response(200, json=_body(request))


def _body(request: httpx.Request) -> Any:
    if operation_of(request) == "List audiences":
        others = [
            wire.audience(audienceId=f"aud_{number}", effectiveName=f"Company {number}")
            for number in range(2, 5)
        ]
        return wire.envelope(wire.audience(), *others)
    if operation_of(request) == "Get audience messages":
        call = {"name": "lookup", "arguments": {"for": 12_345}, "result": {"found": 1_234_567}}
        message = {"messageId": "m_1", "content": "Hello", "timestamp": 1.7e12, "toolCalls": [call]}
        return wire.conversation(messages=[message])
    return good_answer(operation_of(request), request)
