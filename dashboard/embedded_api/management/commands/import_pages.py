"""`manage.py import_pages`: create pages from a JSON file, all or none."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from pydantic import ValidationError

from dashboard.embedded_api.management.common import (
    add_source_arguments,
    find_tenant,
    opened,
    require_embedded_api,
)
from dashboard.embedded_api.models import Page
from dashboard.embedded_api.requests import NewPage, new_page
from dashboard.json_api.parser import parse_json
from dashboard.json_api.problems import FieldError, ProblemError, field_error


class Command(BaseCommand):
    help = (
        'Create pages from a JSON file: one body of "Create page", or a list of them. All are '
        "checked first; if one is invalid, none is created."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        add_source_arguments(parser, ".json")

    def handle(self, *, file: str, tenant: str, dry_run: bool, **options: Any) -> None:
        require_embedded_api()
        owner = find_tenant(tenant, is_dry_run=dry_run)
        with opened(file) as source:
            content = source.read()
        try:
            requests = self._read(parse_json(content, name="The file"))
        except ProblemError as problem:
            self._list(problem.errors)
            raise CommandError(f"{problem.detail} Nothing was created.") from None
        pages = [new_page(owner, request) for request in requests]
        if not dry_run:
            with transaction.atomic():
                Page.objects.bulk_create(pages)
        verb = "Dry run, nothing was saved. Would be created" if dry_run else "Created"
        if options["verbosity"]:
            self.stdout.write(f"{verb}: {len(pages):,} {'page' if len(pages) == 1 else 'pages'}.")

    def _read(self, value: Any) -> list[NewPage]:
        bodies = value if isinstance(value, list) else [value]
        requests, errors, invalid = [], list[FieldError](), 0
        for index, body in enumerate(bodies):
            try:
                requests.append(NewPage.model_validate(body))
            except ValidationError as error:
                invalid += 1
                start = [str(index)] if isinstance(value, list) else []
                for problem in map(field_error, error.errors()):
                    # Path in the file, such as `2.actions.0.url`.
                    path = ".".join([*start, *filter(None, [problem.path])])
                    errors.append(FieldError(path=path, message=problem.message))
        if errors:
            self._list(errors)
            counts = f"{invalid:,} of {len(bodies):,}"
            raise CommandError(f"Invalid pages (listed above): {counts}. Nothing was created.")
        return requests

    def _list(self, errors: list[FieldError]) -> None:
        for error in errors:
            self.stderr.write(f"{error.path or 'The page'}: {error.message}")
