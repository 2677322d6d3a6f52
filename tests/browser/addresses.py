"""Every address of the demo that a person can open, found in its database."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.browser.more_releases import CANCELED, DRAFT
from tests.support.processes import Running

UNPLANNED_DRAFT = """SELECT page_id, audience_id, latest_version_id
  FROM ledger_audiencerecord
  WHERE latest_status = 'draft' AND live_version_id != '' AND archived = 0
    AND audience_id NOT IN (SELECT audience_id FROM releases_releaseitem)
  ORDER BY audience_id LIMIT 1 OFFSET ?"""
"""The ids of a draft over a live version that is in no release. The parameter is its offset."""

AUDIENCE = """SELECT page_id, audience_id FROM ledger_audiencerecord
  WHERE latest_status = 'draft' AND live_version_id != ''
  AND audience_id IN (SELECT audience_id FROM embedded_api_conversation)
  ORDER BY audience_id LIMIT 1"""
LATEST = "SELECT latest_version_id FROM ledger_audiencerecord WHERE audience_id = ?"
LONG_TALK = """SELECT a.page_id, a.id FROM embedded_api_conversation c
  JOIN embedded_api_audience a ON a.id = c.audience_id
  WHERE json_array_length(c.messages) BETWEEN 20 AND 60 ORDER BY a.id LIMIT 1"""
SUBSCRIPTION = "SELECT subscription_id FROM ledger_subscriptionrecord ORDER BY 1 LIMIT 1"
VIEWER = "SELECT id FROM auth_user WHERE username = 'viewer'"
RELEASE = "SELECT id FROM releases_release WHERE name = ?"
VIEW = "SELECT id FROM saved_views_savedview WHERE name = 'Unpublished changes'"
APPROVAL = "SELECT id FROM approvals_approvalrequest ORDER BY id LIMIT 1"
TARGET = "SELECT id FROM notifications_webhooktarget ORDER BY id LIMIT 1"
DELIVERY = "SELECT id FROM notifications_delivery ORDER BY id DESC LIMIT 1"
NOTIFIED = "/accounts/settings/notifications/webhooks/"
OPERATION = "SELECT operation_key FROM ledger_operation WHERE outcome = ? ORDER BY 1 LIMIT 1"

RELEASES = {
    "draft": DRAFT,
    "that needs approval": "Prices from finance",
    "scheduled": "Winter wording",
    "held": "Depot wording",
    "finished": "New rates, named accounts",
    "canceled": CANCELED,
}
"""Names of the demo's releases by state. None is publishing, as no release stays so."""


def database_of(server: Running) -> Path:
    """Return the database of the demo."""
    return server.log.parent / "demo.sqlite3"


def execute(
    server: Running, statement: str, *values: object, **named_values: object
) -> list[tuple[Any, ...]]:
    """Execute SQL on the database of the demo; return the rows of a query."""
    with closing(sqlite3.connect(database_of(server), timeout=30)) as database, database:
        return database.execute(statement, named_values or values).fetchall()


def addresses(server: Running) -> dict[str, str]:
    """Return the addresses by name."""

    def first(query: str, *values: str) -> list[str]:
        return [quote(quote(str(value), safe="")) for value in execute(server, query, *values)[0]]

    page_id, audience_id = first(AUDIENCE)
    audience = f"/pages/{page_id}/audiences/{audience_id}/"
    [latest] = first(LATEST, audience_id)
    talk_page, talk_audience = first(LONG_TALK)
    [subscription_id] = first(SUBSCRIPTION)
    [viewer] = first(VIEWER)
    accepted, unknown = first(OPERATION, "accepted"), first(OPERATION, "unknown")
    [approval], [target], [delivery] = first(APPROVAL), first(TARGET), first(DELIVERY)
    [view] = first(VIEW)
    releases = {state: f"/releases/{first(RELEASE, name)[0]}/" for state, name in RELEASES.items()}
    return {
        "overview": "/",
        "pages": "/pages/",
        "pages filtered": "/pages/?q=deck&status=published&sort=name",
        "pages, none found": "/pages/?q=nothing-is-called-so",
        "audiences": "/audiences/",
        "audiences filtered": "/audiences/?q=an&live=changed&live=not-live&sort=name",
        "audiences, none found": "/audiences/?q=nothing-is-called-so",
        "page": f"/pages/{page_id}/",
        "page never seen": "/pages/page_nobody_saw/",
        "create page": "/pages/new/",
        "audience": audience,
        "preview": f"{audience}preview/",
        "page preview": f"/pages/{page_id}/preview/?width=desktop",
        "address of the site": "/accounts/settings/site/",
        "versions": f"{audience}versions/",
        "compare": f"{audience}versions/compare/?from=live&to=latest",
        "publish": f"{audience}versions/{latest}/publish/",
        "conversation": f"/pages/{talk_page}/audiences/{talk_audience}/conversation/",
        "reviews": "/review/",
        "releases": "/releases/",
        "releases, none found": "/releases/?q=nothing-is-called-so",
        "new release": "/releases/new/",
        **{f"release {state}": address for state, address in releases.items()},
        "release to change": f"{releases['draft']}edit/",
        "release to schedule": f"{releases['draft']}schedule/",
        "approvals": "/approvals/",
        "approval": f"/approvals/{approval}/",
        "people": "/people/",
        "people found": "/people/?q=an",
        "saved views": "/saved-views/",
        "new view": "/saved-views/new/?list=audiences&state=live%3Dchanged",
        "view to edit": f"/saved-views/{view}/",
        "view to delete": f"/saved-views/{view}/delete/",
        "changed view": "/audiences/?live=live&columns=name,status,id&density=comfortable"
        f"&page=gone&view={view}",
        "webhooks": "/webhooks/",
        "webhook": f"/webhooks/{subscription_id}/",
        "receiver": "/hooks/",
        "activity": "/activity/",
        "published outside": "/activity/outside/",
        "operation done": f"/activity/{accepted[0]}/",
        "operation unknown": f"/activity/{unknown[0]}/",
        "find": "/find/?q=bright",
        "answers that differ": "/service/watch/",
        "settings": "/accounts/settings/",
        "notifications": "/notifications/",
        "unread notifications": "/notifications/?state=unread",
        "notification settings": "/accounts/settings/notifications/",
        "new webhook that is notified": f"{NOTIFIED}new/?team=1",
        "webhook that is notified": f"{NOTIFIED}{target}/",
        "webhook to delete": f"{NOTIFIED}{target}/delete/",
        "delivery log": "/notifications/deliveries/",
        "delivery log, none found": "/notifications/deliveries/?channel=email",
        "delivery": f"/notifications/deliveries/{delivery}/",
        "approval rule": "/accounts/settings/approvals/",
        "password": "/accounts/password/",
        "confirm": "/accounts/again/",
        "set up an app": "/accounts/settings/app/",
        "add a passkey": "/accounts/settings/passkey/",
        "how people sign in": "/accounts/rules/",
        "reset": f"/accounts/rules/{viewer}/reset/",
        "no such page": "/nowhere/",
    }
