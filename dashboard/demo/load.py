"""Fill an empty database: accounts, the service's sample, and a ledger as after weeks of use."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Protocol, cast

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.urls import reverse
from django.utils.module_loading import import_string

from dashboard import clock
from dashboard.contract.audiences import AudienceVersion
from dashboard.demo import history
from dashboard.demo.machines import add_agent_request
from dashboard.demo.operations import add_operations
from dashboard.demo.releases import add_releases
from dashboard.observability.log import suppress_call_reports
from dashboard.saved_views.rules import create_view
from dashboard.webhooks.receiver import get_receiver, set_signing_secret, switch_receiver

SAMPLE = "dashboard.embedded_api.sample.Sample"
"""Named by path, because only settings may import the embedded API."""
GROUPS = {
    "demo": ("Publishers", "Administrators"),
    "publisher": ("Publishers",),
    "viewer": ("Viewers",),
}
"""The demo's accounts with their groups. The password is the name: never create them elsewhere."""

ReportProgress = Callable[..., None]
"""Called with a text, and optionally the number done and the total."""


class SampleService(Protocol):
    """The sample data of the embedded API."""

    def is_loaded(self) -> bool:
        """Whether the database contains the sample."""

    def load(self, *, people_count: int, progress: ReportProgress) -> None:
        """Fill the embedded API."""

    def versions_seen(self) -> Iterator[tuple[str, AudienceVersion, datetime, datetime]]:
        """Yield page id, version as last seen, and the times when it was first and last seen."""

    def subscription_ids(self) -> list[str]:
        """Return the ids of the webhook subscriptions."""

    def subscribe_receiver(self, url: str) -> tuple[str, str]:
        """Subscribe a URL to every event. Return the subscription's id, and its secret if new."""

    def issue_key(self) -> str:
        """Return a new API key for external callers."""


def sample_service(now: datetime) -> SampleService:
    return cast("SampleService", import_string(SAMPLE)(now))


def fill(sample: SampleService, *, people: int, progress: ReportProgress) -> None:
    """Create everything in one transaction: an interrupted demo starts over."""
    now = clock.now()
    with transaction.atomic(), suppress_call_reports("dashboard.operations"):
        accounts = make_accounts()
        if not sample.is_loaded():  # `load_sample_data` may have done so
            sample.load(people_count=people, progress=progress)
        progress("the history of the last weeks")
        history.save_seen_versions(sample.versions_seen())
        history.read_first_page()
        history.backdate_records()
        history.add_subscriptions(sample.subscription_ids(), added_by=accounts["demo"], now=now)
        add_operations(now, accounts)
        history.add_publications()
        add_releases(now, accounts)
        add_agent_request(now, accounts["publisher"])
        history.roll_back_one(accounts["publisher"])
        history.add_notifications(now, accounts)
        for view in history.TEXTS["saved_views"]:
            columns = {name: value for name, value in view.items() if name != "owner"}
            create_view(accounts[view["owner"]], **columns)


def make_accounts() -> dict[str, User]:
    accounts = {}
    for name, groups in GROUPS.items():
        is_root = name == "demo"
        accounts[name], is_new = User.objects.get_or_create(
            username=name, defaults={"is_superuser": is_root, "is_staff": is_root}
        )
        if is_new:
            accounts[name].set_password(name)
            accounts[name].save()
            accounts[name].groups.set(Group.objects.filter(name__in=groups))
    return accounts


def subscribe_receiver(sample: SampleService, address: str) -> None:
    """Deliver the events to the receiver of this dashboard, which verifies the signatures.

    If users turned it off or removed its secret, it stays so.
    """
    receiver = get_receiver()
    if not receiver.changed_by:
        receiver = switch_receiver(is_on=True, by="demo")
    path = reverse("hook", kwargs={"secret": receiver.secret})
    subscription_id, secret = sample.subscribe_receiver(address.rstrip("/") + path)
    if secret:
        set_signing_secret(secret, by="demo")
        demo = User.objects.get(username="demo")
        with suppress_call_reports():
            history.add_subscription("Receiver of this demo", subscription_id, added_by=demo)
