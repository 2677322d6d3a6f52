"""Fixtures for sign-in and rights: the second-factor rule, and a user it restricts."""

import pytest
from django.contrib.auth.models import User

from dashboard.accounts.sign_in import require_second_factor_for_publishers
from tests.conftest import person


@pytest.fixture
def rule(db: None) -> None:
    """Publishers must use a second factor."""
    require_second_factor_for_publishers(on=True, by=person("rita", "Administrators"))


@pytest.fixture
def mighty(db: None) -> User:
    """Mia is in every group, so only the rule can restrict her."""
    return person("mia", "Publishers", "Administrators")
