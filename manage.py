#!/usr/bin/env python
"""Django's command line; `demo` is the command to try first."""

import os
import sys

from config.environment import use_demo_environment


def main() -> None:
    """Run the command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    # Gunicorn reads it while it is loaded, and fails where it is no number; --processes says it.
    os.environ.pop("WEB_CONCURRENCY", None)
    if sys.argv[1:2] == ["demo"]:
        use_demo_environment()

    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
