"""`manage.py import_people`: what is added, updated and rejected, and the report."""

import csv
import os
import sys
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from dashboard.embedded_api.management.common import find_tenant
from dashboard.embedded_api.models import DEFAULT_TENANT_ID, Person, Tenant
from dashboard.embedded_api.people_csv import RejectedLine
from dashboard.embedded_api.people_import import PeopleImport
from tests.support.embedded_api_factories import make_person, other_tenant

HEADER = "personId,name,email,domain,slug,phoneNumber,linkedinProfileUrl\n"
ADA = "prospect_" + "a" * 26
pytestmark = pytest.mark.django_db


@pytest.fixture
def imported(import_file: Callable[..., str]) -> Any:
    """Return a function that imports text or bytes and returns the command's output."""
    return partial(import_file, "import_people", "people.csv")


def rejected_of(imported: Any, tmp_path: Path, content: str | bytes) -> list[list[str]]:
    """Import a file with invalid lines; return the lines of the report."""
    report = tmp_path / "rejected.csv"
    with pytest.raises(CommandError, match="Rejected:"):
        imported(content, "--report", str(report))
    with report.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))[1:]


def test_imported_people_have_all_fields_and_are_searchable(imported: Any, service: Client) -> None:
    message = imported(
        f"{HEADER}{ADA},Zoë Müller,zoe@acme.example,acme.example,zoe,+49 30 1,https://in.example/z\n"
    )
    assert message == "People: added 1, updated 0, unchanged 0."
    response = service.get("/v0/persons/search?query=muller").json()["items"]
    times = {"createdAt": response[0]["createdAt"], "updatedAt": response[0]["updatedAt"]}
    assert response == [
        {
            "personId": ADA,
            "tenantId": DEFAULT_TENANT_ID,
            "name": "Zoë Müller",
            "email": "zoe@acme.example",
            "domain": "acme.example",
            "slug": "zoe",
            "phoneNumber": "+49 30 1",
            "linkedinProfileUrl": "https://in.example/z",
            **times,
        }
    ]


@pytest.mark.parametrize(
    "content",
    [
        "name,email\nAda,ada@acme.example\nBob,\n",
        "\ufeffname,email\r\nAda,ada@acme.example\r\n\r\nBob,\r\n",
        'email,name\nada@acme.example,"Ada"\n,Bob',
    ],
)
def test_importing_a_file_twice_changes_nothing(imported: Any, content: str) -> None:
    assert imported(content) == "People: added 2, updated 0, unchanged 0."
    before = list(Person.objects.values().order_by("number"))
    assert imported(content) == "People: added 0, updated 0, unchanged 2."
    assert list(Person.objects.values().order_by("number")) == before


def test_a_known_person_is_updated(imported: Any, service: Client) -> None:
    imported("name,email,slug\nAda,ada@acme.example,ada\n")
    before = Person.objects.get()
    assert imported("name,email\nZoë,ADA@acme.example\n") == (
        "People: added 0, updated 1, unchanged 0."
    )
    after = Person.objects.get()
    assert (after.name, after.slug, after.person_id) == ("Zoë", "ada", before.person_id)
    assert after.updated_at > before.updated_at
    assert after.created_at == before.created_at
    assert service.get("/v0/persons/search?query=zoe").json()["totalCount"] == 1
    assert imported(f"personId,slug\n{after.person_id},\n").endswith("updated 1, unchanged 0.")
    assert Person.objects.get().slug is None


def test_the_last_line_of_a_person_counts(imported: Any) -> None:
    message = imported(f"personId,name\n{ADA},Ada\n{ADA},Zoë\n")
    assert message == "People: added 1, updated 1, unchanged 0."
    assert Person.objects.get().name == "Zoë"


def test_a_rejected_line_is_reported_with_its_reason(imported: Any, tmp_path: Path) -> None:
    content = b'name,email\nAda,ada@acme.example\nBob,bob\n"Two\nlines",two@@x\nA,b,c\n,\n"x"y,\n'
    rejected = rejected_of(imported, tmp_path, content + b"M\xfcller,\nNul\0,\nEva,\n")
    assert rejected == [
        ["3", "email: must be an email address", "Bob,bob"],
        ["4", "email: must be an email address", '"Two\nlines",two@@x'],
        ["6", "has 3 values for 2 columns", "A,b,c"],
        ["7", "has no value", ","],
        ["8", "is not CSV: ',' expected after '\"'", '"x"y,'],
        ["9", "is not UTF-8", "M\\xfcller,"],
        ["10", "must not contain a NUL character", "Nul\0,"],
    ]
    assert {person.name for person in Person.objects.all()} == {"Ada", "Eva"}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("ada,Ada,,,,,", "personId: must be prospect_ and 26 lowercase letters or digits"),
        (f"{ADA},,,,,,", "has no value but its ID"),
        (",Ada,,a b,,,", "domain: must be a domain, such as example.com"),
        (",Ada,,,,,linkedin", "linkedinProfileUrl: must be an absolute http or https URL"),
    ],
)
def test_a_line_with_an_invalid_value_is_rejected(
    imported: Any, tmp_path: Path, line: str, reason: str
) -> None:
    assert rejected_of(imported, tmp_path, f"{HEADER}{line}\n")[0][1].startswith(reason)
    assert not Person.objects.exists()


def test_another_tenants_person_is_neither_changed_nor_shown(imported: Any, tmp_path: Path) -> None:
    make_person("Theirs", tenant=other_tenant(), person_id=ADA)
    rejected = rejected_of(imported, tmp_path, f"personId,name\n{ADA},Ours\n")
    assert rejected == [["2", "personId: belongs to another tenant", f"{ADA},Ours"]]
    assert Person.objects.get().name == "Theirs"


def test_without_a_report_the_first_rejected_lines_are_listed(
    imported: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "".join(f"Ada,{number}\n" for number in range(30))
    with pytest.raises(CommandError, match=r"Rejected: 30 \(the first 20 are listed above"):
        imported(f"name,email\n{lines}")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 20
    assert lines[0] == "Line 2: email: must be an email address."


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "The file is empty"),
        ("name,mail\n", "unknown column 'mail'. Known columns: personId, name, email"),
        ("\n\nname,mail\n", "unknown column 'mail'"),
        ("name,name\n", "more than once"),
        ("personId\n", "no column besides personId"),
        ("name,email\n".encode("utf-16-le"), "not UTF-8. Save it as CSV UTF-8"),
        ("name,email\n".encode("utf-32"), "UTF-32. Save it as CSV UTF-8"),
    ],
)
def test_a_file_without_a_usable_header_is_refused(
    imported: Any, content: str | bytes, reason: str
) -> None:
    with pytest.raises(CommandError, match=reason.replace("(", r"\(")):
        imported(content)


def test_a_dry_run_reports_the_same_and_saves_nothing(imported: Any) -> None:
    make_person("Ada", person_id=ADA)
    Tenant.objects.filter(people=None).delete()
    before = list(Person.objects.values())
    message = imported(f"personId,name\n{ADA},Zoë\n,Bob\n", "--dry-run")
    assert message == "Dry run, nothing was saved. Would be: added 1, updated 1, unchanged 0."
    assert list(Person.objects.values()) == before


def test_a_dry_run_does_not_even_make_the_tenant() -> None:
    assert find_tenant(DEFAULT_TENANT_ID, is_dry_run=True).pk == DEFAULT_TENANT_ID
    assert not Tenant.objects.exists()


def test_people_of_another_tenant_are_imported_there(imported: Any) -> None:
    tenant = other_tenant()
    imported("name\nAda\n", "--tenant", tenant.pk)
    assert Person.objects.get().tenant_id == tenant.pk
    with pytest.raises(CommandError, match="No tenant has the ID ten_missing"):
        imported("name\nAda\n", "--tenant", "ten_missing")


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_an_interruption_leaves_whole_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.embedded_api.people_import.BATCH_SIZE", 10)
    tenant = find_tenant(DEFAULT_TENANT_ID, is_dry_run=False)
    lines = [b"name\n", *(b"Person %d\n" % number for number in range(35))]

    def stop(read: int) -> None:
        if read > len(b"".join(lines[:15])):
            raise KeyboardInterrupt

    work = PeopleImport(tenant.pk, on_reject=print)
    with pytest.raises(KeyboardInterrupt):
        work.run(BytesIO(b"".join(lines)), on_batch=stop)
    assert Person.objects.count() == work.result.added == 20


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (b"x" * 3_000_000, "is not CSV: longer than 131,072 characters"),
        (b'"' + b"x,\n" * 100_000, "open a quote that is not closed"),
    ],
)
def test_a_record_that_is_too_long_costs_itself(record: bytes, reason: str) -> None:
    rejected: list[RejectedLine] = []
    tenant = find_tenant(DEFAULT_TENANT_ID, is_dry_run=False)
    content = b"name\nAda\n" + record + b"\nBob\n"
    PeopleImport(tenant.pk, rejected.append).run(BytesIO(content), on_batch=lambda read: None)
    assert rejected[0].reason == reason
    assert all(len(line.text) <= 131_074 for line in rejected)
    assert {person.name for person in Person.objects.all()} >= {"Ada", "Bob"}


TABLE = 'name,email\r\nÅse,ase@north.example\r\n"Weiß, Jürgen",juergen@mid.example\r\n'


@pytest.mark.parametrize(
    "content",
    [
        TABLE.encode("utf-16"),
        "\ufeff".encode("utf-16-be") + TABLE.encode("utf-16-be"),
        TABLE.replace(",", "\t").replace("Weiß\t", "Weiß,").encode("utf-16"),
        TABLE.replace("\r\n", "\r"),
        "\ufeff" + TABLE.replace(",", ";").replace("Weiß;", "Weiß,"),
        "sep=,\r\n" + TABLE,
        "\r\n \r\n" + TABLE,
    ],
    ids=["utf-16", "utf-16-be", "tabs", "cr", "semicolons", "sep", "blank-lines"],
)
def test_files_of_any_spreadsheet_are_read(imported: Any, content: str | bytes) -> None:
    assert imported(content) == "People: added 2, updated 0, unchanged 0."
    assert {person.name for person in Person.objects.all()} == {"Åse", "Weiß, Jürgen"}


def test_an_unclosed_quote_costs_its_line_alone(imported: Any, tmp_path: Path) -> None:
    people = [f"Person {number},p{number}@quote.example" for number in range(1, 41)]
    people[1] = f'"{people[1]}'
    rejected = rejected_of(imported, tmp_path, "\n".join(["name,email", *people]))
    assert rejected == [["3", "opens a quote that is not closed", people[1]]]
    assert Person.objects.count() == 39


def test_lines_that_are_no_records_are_named_and_counted(
    imported: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandError, match="Rejected: 3 "):
        imported('name\nAda\n"Two\nlines\nand more')
    assert capsys.readouterr().err == "Lines 3 to 5: open a quote that is not closed.\n"


def test_a_report_never_replaces_the_file(imported: Any, tmp_path: Path) -> None:
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "people.csv")
    for report in (tmp_path / "people.csv", link):
        with pytest.raises(CommandError, match="is the file to import"):
            imported("name\nAda\n", "--report", str(report))
        assert (tmp_path / "people.csv").read_text() == "name\nAda\n"


def test_a_report_runs_no_formula(imported: Any, tmp_path: Path) -> None:
    content = 'name,email\n=HYPERLINK("https://evil.example"),a\n'
    [(_, _, text)] = rejected_of(imported, tmp_path, content)
    assert text.startswith("'=HYPERLINK")


def test_a_second_import_ends_in_one_sentence(imported: Any) -> None:
    imported("name,email\nAda,ada@acme.example\n")
    ada = Person.objects.get()
    ada.delete()

    def add_after_lookup(execute: Any, sql: str, *arguments: Any) -> Any:
        cursor = execute(sql, *arguments)
        if sql.startswith("SELECT") and "embedded_api_person" in sql:
            make_person("Ada", person_id=ada.person_id)
        return cursor

    with connection.execute_wrapper(add_after_lookup), pytest.raises(CommandError) as error:
        imported("name,email\nAda,ada@acme.example\n")
    assert str(error.value).startswith("Another import adds the same people. Wait until")


def test_many_updates_keep_the_search_right(imported: Any, service: Client) -> None:
    imported("name,email\n" + "".join(f"Old {n},{n}@a.example\n" for n in range(300)))
    imported("name,email\n" + "".join(f"Näw {n},{n}@a.example\n" for n in range(300)))
    counts = {
        word: service.get(f"/v0/persons/search?query={word}").json()["totalCount"]
        for word in ("old", "naw", "299@a.example")
    }
    assert counts == {"old": 0, "naw": 300, "299@a.example": 1}


def test_the_service_must_be_the_embedded_one(imported: Any, settings: Any) -> None:
    settings.EMBEDDED_API = False
    with pytest.raises(CommandError, match="SERVICE_URL is set"):
        imported("name\nAda\n")


def test_the_command_reads_standard_input_and_exits_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`test_from_nothing.py` runs the command as a process."""
    read_end, write_end = os.pipe()
    os.write(write_end, b"name,email\nAda,\nBob,bob\n")
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        with pytest.raises(CommandError) as rejected:
            call_command("import_people", "-")
    assert rejected.value.returncode == 1
    assert capsys.readouterr().err == "Line 3: email: must be an email address.\n"
    assert str(rejected.value).endswith(
        "added 1, updated 0, unchanged 0. Rejected: 1 (listed above)."
    )


def values_of_people() -> list[dict[str, Any]]:
    left_out = ("number", "created_at", "updated_at")
    rows = Person.objects.order_by("person_id").values()
    return [{name: row[name] for name in row if name not in left_out} for row in rows]


def test_an_export_can_be_imported_again(imported: Any, as_viewer: Client) -> None:
    make_person("Zoë Müller", phone_number="+49 30 1", linkedin_profile_url="https://in.example/z")
    make_person("", email="-ada@acme.example", domain="acme.example", slug="@ada")
    make_person('Grace "Amazing" Hopper\nof the navy, retired')
    before = values_of_people()
    export = b"".join(as_viewer.get("/people/export.csv"))  # type: ignore[arg-type]
    assert imported(export) == "People: added 0, updated 0, unchanged 3."
    Person.objects.all().delete()
    assert imported(export) == "People: added 3, updated 0, unchanged 0."
    assert values_of_people() == before


def test_the_note_below_an_incomplete_export_is_rejected(imported: Any, tmp_path: Path) -> None:
    export = f'Person,Name\n{ADA},Ada\n"Incomplete, 1 of 2 exported: no response"\n'
    [(number, reason, _)] = rejected_of(imported, tmp_path, export)
    assert (number, reason) == ("3", "has 1 values for 2 columns")
    assert Person.objects.get().name == "Ada"
