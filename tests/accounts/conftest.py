"""What the tests of sign-in and rights share: the rule on second factors, and who it holds back."""

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
    """Mia is in every group, so that nothing but the rule can hold her back."""
    return person("mia", "Publishers", "Administrators")
