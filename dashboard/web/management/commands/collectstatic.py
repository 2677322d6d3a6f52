"""`manage.py collectstatic`: Django's own, without the files that no page names."""

from typing import Any

from django.contrib.staticfiles.management.commands import collectstatic

from dashboard.web.collecting import digest_of_sources, forget_collected, note_collected

NOT_SERVED = [
    *("htmx-4*", "htmax*", "hx-*-4*"),
    *("htmx-2.js", "jquery.js", "select2.full.js", "xregexp.js"),
]
"""Other versions of htmx, and long forms of files that pages name in their short form.

Compressing them takes seconds of a first start.
"""


class Command(collectstatic.Command):
    """Collect and compress static files, as `serve` does where they are missing or old."""

    def set_options(self, **options: Any) -> None:
        """Leave out what is not served, besides what the options leave out."""
        super().set_options(**options)
        self.ignore_patterns = [*self.ignore_patterns, *NOT_SERVED]

    def collect(self) -> dict[str, list[str]]:
        """Collect, and note of what once all is there: compressed, too, which is done last."""
        if self.dry_run or not self.post_process:
            return super().collect()
        # Read before: what is changed meanwhile is collected by the next start.
        sources = digest_of_sources()
        forget_collected()
        found = super().collect()
        note_collected(sources)
        return found
