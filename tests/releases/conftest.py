"""A fake service with any audiences, and drafts of them."""

from collections.abc import Callable
from typing import TypeAlias

import pytest
from django.contrib.auth.models import User

from dashboard.releases.checking import check_release
from dashboard.releases.drafting import create_release
from dashboard.releases.models import Release
from tests.support.fake_service import FakeService
from tests.support.many_audiences import ManyAudiences

Draft: TypeAlias = Callable[..., Release]


@pytest.fixture
def service(db: None, fake_service: FakeService) -> ManyAudiences:
    """A service without any page."""
    service = ManyAudiences()
    fake_service.answer = service
    return service


@pytest.fixture
def draft(service: ManyAudiences, paula: User) -> Draft:
    """Makes a checked draft of so many new audiences, or of those given by their keys."""

    def make(count: int = 1, *, keys: list[tuple[str, str]] | None = None) -> Release:
        audiences = keys or service.add(count)
        release = create_release(name="", note="", audiences=audiences, user=paula)
        check_release(release)
        return release

    return make
