"""The form that creates a page, in a publisher's browser."""

import pytest
from django.test import Client

from tests.support.fake_service import FakeService
from tests.support.page_form import PageForm


@pytest.fixture
def form(as_publisher: Client, fake_service: FakeService) -> PageForm:
    """The form. The service accepts new pages unless the test changes that."""
    form = PageForm(as_publisher, fake_service)
    form.creates()
    return form
