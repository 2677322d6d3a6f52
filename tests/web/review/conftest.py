"""Two publishers and a fake service with some audiences."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.contract.conversations import Change
from dashboard.review.verdicts import change_key, text_digest
from tests.conftest import logged_in, person
from tests.support.release_service import PublishingAudiences
from tests.support.review_desk import ReviewDesk

CONVERSATION = "/pages/page_1/audiences/aud_1/conversation/"


@pytest.fixture
def service(service: PublishingAudiences) -> PublishingAudiences:
    """Three audiences with a live version and a newer draft. Publishes succeed at once."""
    service.add(3)
    return service


@pytest.fixture
def ben(db: None) -> User:
    """Another publisher."""
    return person("ben", "Publishers")


@pytest.fixture
def as_ben(ben: User) -> Client:
    return logged_in(ben)


@pytest.fixture
def desk(service: PublishingAudiences, as_publisher: Client) -> ReviewDesk:
    """Paula's review of all audiences, at its first item."""
    return ReviewDesk(as_publisher, query="sort=name").begin()


@pytest.fixture
def bens(service: PublishingAudiences, as_ben: Client, desk: ReviewDesk) -> ReviewDesk:
    """Ben's review of the same audiences, begun after Paula's."""
    return ReviewDesk(as_ben, query="sort=name").begin()


def judge(client: Client, change: dict[str, Any], verdict: str | None, **fields: str) -> Any:
    """Give a verdict on a pending change, or withdraw it."""
    parsed = Change.model_validate(change)
    form = {"change": change_key(parsed), "shown": text_digest(parsed)} | fields
    form |= {"verdict": verdict} if verdict else {}
    return client.post(f"{CONVERSATION}verdict/", form, follow=True)
