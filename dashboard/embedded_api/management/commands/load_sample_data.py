"""`manage.py load_sample_data`: load the demo's data into the service, without accounts."""

from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from dashboard import clock
from dashboard.embedded_api.management.common import progress_bar, require_embedded_api
from dashboard.embedded_api.models import Audience, Page, Person, Subscription
from dashboard.embedded_api.sample import Sample


class Command(BaseCommand):
    help = (
        "Load the pages, audiences, conversations, webhook subscriptions and people of the demo "
        "into an empty service."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--people", type=_count, default=5_000, metavar="N", help="people (default: 5000)"
        )

    def handle(self, *, people: int, verbosity: int, **options: Any) -> None:
        """Load everything in one transaction. Raises CommandError unless the service is empty."""
        require_embedded_api()
        if any(model.objects.exists() for model in (Page, Audience, Person, Subscription)):
            raise CommandError(
                "The service already has data. The sample is for an empty one, so that no one "
                "mistakes it for real data: use another database."
            )
        sample = Sample(clock.now())
        try:
            with transaction.atomic(), progress_bar(is_quiet=verbosity == 0) as bar:
                task = bar.add_task("Loading", total=None, done=0)

                def report(text: str, done: int = 0, total: int = 0) -> None:
                    bar.update(
                        task,
                        description=f"Loading {text}",
                        completed=done,
                        done=done,
                        total=total or None,
                    )

                sample.load(people_count=people, progress=report)
        except KeyboardInterrupt:
            raise CommandError("Stopped. Nothing was saved.", returncode=130) from None
        if verbosity:
            counts = f"{Page.objects.count()} pages, {Audience.objects.count()} audiences"
            self.stdout.write(f"Loaded {counts} and {people:,} people.")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ArgumentTypeError("must be 1 or more")
    return number
