"""Two publishers, the approval rule, and a fake service with many audiences."""

from collections.abc import Callable
from typing import TypeAlias

import pytest
from django.contrib.auth.models import User

from dashboard.approvals.models import ApprovalRequest, ApprovalRule
from dashboard.notifications.recipients import notify_pending
from dashboard.releases import approval_requests
from dashboard.releases.models import Release
from dashboard.releases.reviewing import board_digest
from tests.support.release_service import PublishingAudiences, checked_release
from tests.support.seeding import seed_rule

Ask: TypeAlias = Callable[..., ApprovalRequest]


@pytest.fixture
def rule(db: None) -> ApprovalRule:
    """All changes need an approval."""
    return seed_rule(
        covers_publishing=True, covers_rollbacks=True, covers_webhooks=True, covers_pages=True
    )


@pytest.fixture
def release(service: PublishingAudiences, paula: User, rule: ApprovalRule) -> Release:
    """A checked draft by Paula with two audiences."""
    return checked(service, paula, 2)


@pytest.fixture
def ask(service: PublishingAudiences, paula: User, rule: ApprovalRule) -> Ask:
    """Makes Paula request approval of a release of `count` new audiences; a worker notifies."""

    def make(count: int = 2) -> ApprovalRequest:
        release = checked(service, paula, count)
        approval = approval_requests.request_approval(release, paula, "", board_digest(release))
        notify_pending("worker-1")
        return approval

    return make


def checked(service: PublishingAudiences, user: User, count: int) -> Release:
    """Return a checked draft of `count` new audiences."""
    return checked_release(service.add(count), user, name="November prices", note="For Monday")
