"""`manage.py import_pages` and `load_sample_data`."""

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from dashboard.embedded_api.models import Page, Person, Subscription
from tests.support.embedded_api_factories import PAGE_BODY, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def imported(import_file: Callable[..., str]) -> Any:
    """Return a function that imports a value and returns the command's output."""

    def run(value: Any, *arguments: str) -> str:
        content = value if isinstance(value, str) else json.dumps(value)
        return import_file("import_pages", "pages.json", content, *arguments)

    return run


def test_pages_are_those_that_the_api_would_create(imported: Any, service: Client) -> None:
    action = {"purpose": "", "buttonTitle": "Go", "actionType": "", "url": "", "actionId": "a"}
    body = PAGE_BODY | {"metadata": {"title": "Title"}, "actions": [action]}
    assert imported([body, PAGE_BODY]) == "Created: 2 pages."
    service.post("/v0/pages", body, content_type="application/json")
    pages = service.get("/v0/pages").json()["items"]
    own = {"pageId", "createdAt", "updatedAt"}
    first, second = (
        {name: value for name, value in page.items() if name not in own}
        for page in pages
        if page["title"] == "Title"
    )
    assert first == second


def test_one_page_needs_no_list(imported: Any) -> None:
    assert imported(PAGE_BODY) == "Created: 1 page."


def test_one_invalid_page_prevents_all(imported: Any, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = PAGE_BODY | {"name": "", "metadata": {"titel": "x"}}
    with pytest.raises(CommandError, match="1 of 3"):
        imported([PAGE_BODY, wrong, PAGE_BODY])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("1.name: ")
    assert lines[1] == "1.metadata.titel: is not a field of this request"
    assert not Page.objects.exists()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[", "The file is not JSON"),
        ('{"name": "a", "name": "b"}', "Invalid: name"),
        ("7", "Invalid pages"),
        ("[NaN]", "The file is not JSON"),
    ],
)
def test_a_file_without_pages_json_is_refused(imported: Any, content: str, reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        imported(content)


def test_a_dry_run_creates_nothing(imported: Any) -> None:
    assert imported(PAGE_BODY, "--dry-run") == (
        "Dry run, nothing was saved. Would be created: 1 page."
    )
    assert not Page.objects.exists()


def test_a_missing_file_is_one_sentence() -> None:
    with pytest.raises(CommandError, match=r"/missing.json can't be read: No such file"):
        call_command("import_pages", "/missing.json")


def test_the_sample_fills_an_empty_service_and_only_that(service: Client) -> None:
    output = StringIO()
    call_command("load_sample_data", "--people", "20", stdout=output)
    assert output.getvalue().strip() == "Loaded 60 pages, 900 audiences and 20 people."
    assert service.get("/v0/persons").json()["totalCount"] == 20
    assert Subscription.objects.count() == 8
    with pytest.raises(CommandError, match="The service already has data"):
        call_command("load_sample_data", "--people", "20")


def test_one_person_is_data_already() -> None:
    make_person()
    with pytest.raises(CommandError, match="already has data"):
        call_command("load_sample_data")
    assert Person.objects.count() == 1
    assert not Page.objects.exists()
