"""Which forms are saved after a session ended. Each feature tests that they are."""

from django.urls import get_resolver

from dashboard.web.shell.unsent_forms import RESUMED_AT, SAVED_IN_URL


def test_forms_that_are_saved_have_a_url() -> None:
    assert {*RESUMED_AT, *RESUMED_AT.values(), *SAVED_IN_URL} <= {*get_resolver().reverse_dict}
