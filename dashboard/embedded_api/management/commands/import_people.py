"""`manage.py import_people`: add people from a CSV file, or update them."""

import csv
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError, IntegrityError

from dashboard.embedded_api.management.common import (
    add_source_arguments,
    find_tenant,
    opened,
    progress_bar,
    require_embedded_api,
)
from dashboard.embedded_api.people_csv import HeaderError, RejectedLine
from dashboard.embedded_api.people_import import PeopleImport
from dashboard.texts import escape_formula

MAX_LISTED = 20
"""Number of rejected lines on standard error. `--report` has all of them."""


class Command(BaseCommand):
    """Import people in batches. Importing a file again changes nothing."""

    help = (
        "Add people from a CSV file whose first line has the API's names: personId, name, email, "
        "domain, slug, phoneNumber, linkedinProfileUrl, in any order; none but one is required. "
        "A CSV file that Pressroom's People page exported can be imported, too. "
        "A person whose ID exists is updated: an empty cell clears the value. Without personId, "
        "the ID is derived from the email, or from the whole line if it has none."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_source_arguments(parser, ".csv")
        parser.add_argument(
            "--report", metavar="REPORT.csv", help="write rejected lines, with reasons, to a file"
        )

    def handle(
        self, *, file: str, tenant: str, dry_run: bool, report: str | None, **options: Any
    ) -> None:
        require_embedded_api()
        tenant_id = find_tenant(tenant, is_dry_run=dry_run).pk
        is_quiet = options["verbosity"] == 0
        if report and _is_same_file(report, file):
            raise CommandError(f"{report} is the file to import. Name another file for --report.")
        with opened(file) as source, self._rejects(report) as on_reject:
            work = PeopleImport(tenant_id, on_reject, is_dry_run=dry_run)
            _run(work, source, is_quiet=is_quiet)
        done = work.result
        counts = f"added {done.added:,}, updated {done.updated:,}, unchanged {done.unchanged:,}."
        start = "Dry run, nothing was saved. Would be" if dry_run else "People"
        summary = f"{start}: {counts}"
        if rejected := done.rejected:
            where = f"in {report}" if report else "listed above"
            if not report and rejected > MAX_LISTED:
                where = f"the first {MAX_LISTED} are listed above; --report FILE writes all"
            raise CommandError(f"{summary} Rejected: {rejected:,} ({where}).")
        if not is_quiet:
            self.stdout.write(summary)

    @contextmanager
    def _rejects(self, report: str | None) -> Iterator[Callable[[RejectedLine], None]]:
        """Yield a function that writes rejected lines to the report, or the first to stderr."""
        if report is None:
            listed: list[int] = []

            def show(line: RejectedLine) -> None:
                if len(listed) < MAX_LISTED:
                    listed.append(line.number)
                    lines = (
                        f"Lines {line.number:,} to {line.last:,}"
                        if line.last
                        else f"Line {line.number:,}"
                    )
                    self.stderr.write(f"{lines}: {line.reason}.")

            yield show
            return
        try:
            target = Path(report).open("w", encoding="utf-8", newline="")  # noqa: SIM115
        except OSError as error:
            raise CommandError(f"{report} can't be written: {error.strerror}.") from None
        with target:
            writer = csv.writer(target)
            writer.writerow(("line", "reason", "text"))

            def report_line(line: RejectedLine) -> None:
                lines = f"{line.number} to {line.last}" if line.last else line.number
                writer.writerow((lines, line.reason, escape_formula(line.text)))

            yield report_line


def _is_same_file(report: str, file: str) -> bool:
    try:
        return file != "-" and Path(report).samefile(file)
    except OSError:  # The report does not exist yet, or the file to import is missing.
        return False


def _run(work: PeopleImport, source: BinaryIO, *, is_quiet: bool) -> None:
    try:
        status = os.fstat(source.fileno())
        size = status.st_size if stat.S_ISREG(status.st_mode) else None  # None for a pipe.
        with progress_bar(is_quiet=is_quiet) as bar:
            task = bar.add_task("People", total=size, done=0)
            work.run(
                source,
                on_batch=lambda read: bar.update(task, completed=read, done=work.result.lines),
            )
    except HeaderError as error:
        raise CommandError(f"{error} Nothing was imported.") from None
    except KeyboardInterrupt:
        raise CommandError(_stopped(work), returncode=130) from None
    except IntegrityError:
        other = "Another import adds the same people. Wait until it has ended."
        raise CommandError(f"{other} {_stopped(work)}") from None
    except DatabaseError as error:
        reason = str(error).partition("\n")[0]
        raise CommandError(f"The database failed: {reason}. {_stopped(work)}") from None


def _stopped(work: PeopleImport) -> str:
    if work.is_dry_run:
        return "Stopped. Nothing was saved."
    return (
        f"Stopped. The first {work.result.lines:,} lines are done. Run the command again to "
        "continue: what is saved stays unchanged."
    )
