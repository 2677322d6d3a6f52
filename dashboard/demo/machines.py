"""An agent's request that waits for approval, and a token to try the API with."""

from datetime import datetime, timedelta

from django.contrib.auth.models import User

from dashboard import clock
from dashboard.demo.history import TEXTS, at
from dashboard.ledger.models import AudienceRecord
from dashboard.ledger.models.objects import LiveStatus
from dashboard.machine import plans
from dashboard.machine.models import MachineToken
from dashboard.machine.shapes import Decide, MakePlan, VersionToPlan
from dashboard.machine.tokens import Caller, issue, revoke
from dashboard.releases.models import ReleaseItem

TRIED_NAME = "demo"


def add_agent_request(now: datetime, owner: User) -> None:
    """Request the approval of a draft, 15 minutes ago, as an agent of this user."""
    requested_at = now - timedelta(minutes=15)
    planned = ReleaseItem.objects.values("audience_id")
    drafts = AudienceRecord.objects.filter(live_status=LiveStatus.CHANGED, archived=False)
    record = drafts.exclude(audience_id__in=planned).order_by("pk").first()
    if record is None:
        return
    texts = TEXTS["machine"]
    with at(requested_at):
        token = _token(owner, name=texts["token"], is_agent=True)
        issue(token)
        caller = Caller(token, owner, texts["client"])
        version = VersionToPlan(
            page_id=record.page_id, audience_id=record.audience_id, version_id=""
        )
        plan = plans.plan(caller, MakePlan(versions=[version], name="", note=texts["note"]))
        plans.request(caller, Decide(plan=plan.plan, digest=plan.digest, confirm=plan.confirm))


def token_to_try(owner: User) -> str:
    """Return a new token that can read and request. Revokes the token of an earlier start."""
    revoke(MachineToken.objects.filter(owner=owner, name=TRIED_NAME), owner)
    return issue(_token(owner, name=TRIED_NAME))


def _token(owner: User, *, name: str, is_agent: bool = False) -> MachineToken:
    expires_at = clock.now() + timedelta(days=30)
    scopes = ["read", "request"]
    return MachineToken(
        owner=owner, name=name, scopes=scopes, is_agent=is_agent, expires_at=expires_at
    )
