"""Filling an empty database: the service's sample, and a dashboard that has been in use."""

from django.db import transaction
from django.utils import timezone

from dashboard.web.demo import memory
from dashboard.web.demo.accounts import make_accounts
from dashboard.web.demo.operations import remember_operations
from dashboard.web.demo.past import everything_done
from dashboard.web.demo.service import Progress, SampleService
from dashboard.web.quiet import calls_unheard


def fill(sample: SampleService, *, people: int, progress: Progress) -> None:
    """Make everything or nothing: a demo that was stopped half-way starts over."""
    now = timezone.now()
    with transaction.atomic(), calls_unheard():
        accounts = make_accounts()
        sample.load(people_count=people, progress=progress)
        progress("what was seen and done in the last weeks")
        memory.remember_earlier_looks(sample.versions_seen())
        memory.look_at_everything_listed()
        memory.age_what_was_seen()
        memory.know_subscriptions(sample.subscription_ids(), added_by=accounts["demo"], now=now)
        remember_operations(everything_done(now), accounts)
