"""Django's staticfiles app, without files that no page uses."""

from django.contrib.staticfiles import apps


class StaticFilesConfig(apps.StaticFilesConfig):
    """Ignore other versions of htmx, and unminified files of which pages use the minified form.

    Compressing them would take seconds of the first start.
    """

    ignore_patterns = [
        *apps.StaticFilesConfig.ignore_patterns,
        *("htmx-4*", "htmax*", "hx-*-4*"),
        *("htmx-2.js", "jquery.js", "select2.full.js", "xregexp.js"),
    ]
