"""Changes of the receiver's settings and log are in the change feed."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from dashboard.webhooks.models import ReceivedDelivery
from dashboard.webhooks.receiver import (
    record_delivery,
    record_rejection,
    replace_secret,
    set_signing_secret,
    switch_receiver,
)
from tests.support.feed import added_to_feed, facts

pytestmark = pytest.mark.django_db

CHANGES: dict[str, Callable[[], object]] = {
    "switch": lambda: switch_receiver(is_on=False, by="Ada"),
    "secret": lambda: replace_secret(by="Ada"),
    "signature": lambda: set_signing_secret("whsec_secret", by="Ada"),
    "rejection": lambda: record_rejection(timezone.now()),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_the_receiver_is_added(change: Callable[[], object]) -> None:
    switch_receiver(is_on=True, by="Ada")
    with added_to_feed() as entries:
        change()
    assert facts(entries) == [("receiver",)]


def test_a_second_rejection_within_a_minute_adds_nothing() -> None:
    switch_receiver(is_on=True, by="Ada")
    record_rejection(timezone.now())
    with added_to_feed() as entries:
        record_rejection(timezone.now())
    assert entries == []


def test_a_delivery_is_added() -> None:
    with added_to_feed() as entries:
        delivery = record_delivery(ReceivedDelivery(received_at=timezone.now(), size=2, headers={}))
    assert facts(entries) == [("receiver", str(delivery.pk))]
