"""The form that creates a page, in the browser of a publisher."""

import pytest
from django.test import Client

from tests.support.fake_service import FakeService
from tests.support.page_form import PageForm


@pytest.fixture
def form(as_publisher: Client, fake_service: FakeService) -> PageForm:
    """The form; the service creates what is sent, unless the test has it respond otherwise."""
    form = PageForm(as_publisher, fake_service)
    form.creates()
    return form
