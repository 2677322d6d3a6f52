"""Two publishers and a fake service with some audiences."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.conftest import logged_in, person
from tests.support.fake_service import FakeService
from tests.support.release_service import PublishingAudiences
from tests.support.review_desk import ReviewDesk

Begin = Callable[..., ReviewDesk]


@pytest.fixture
def service(db: None, fake_service: FakeService) -> PublishingAudiences:
    """Three audiences with a live version and a newer draft. Publishes succeed at once."""
    fake_service.answer = service = PublishingAudiences()
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
