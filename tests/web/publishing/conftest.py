"""A service whose version 2 is a draft, and the dialog that publishes it."""

import pytest
from django.test import Client

from tests.support.publishing_service import PublishingService
from tests.support.schedule_form import ScheduleForm


@pytest.fixture
def service(publishing: PublishingService) -> PublishingService:
    return publishing


@pytest.fixture
def schedule(as_publisher: Client, service: PublishingService) -> ScheduleForm:
    """The dialog's schedule form in a publisher's browser."""
    return ScheduleForm(as_publisher, service)
