"""What a run of the suite makes once, for all its workers to copy."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

RUN = "PRESSROOM_TESTS_RUN"
"""The environment variable that names the folder of the run; workers inherit it."""


def begin() -> None:
    """Make the folder of a run."""
    os.environ[RUN] = tempfile.mkdtemp(prefix="pressroom-tests-")


def end() -> None:
    """Take it away with all that was made."""
    shutil.rmtree(os.environ.pop(RUN))


def is_a_run() -> bool:
    """Whether the suite runs: the benchmarks start servers too, with nothing made light."""
    return RUN in os.environ


def settings() -> str:
    """Return the name of the settings that servers take."""
    return "tests.served" if is_a_run() else "config.settings"


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """Return the file of that name; whoever asks first makes it, and others wait until it is."""
    folder = Path(os.environ[RUN])
    made, half_made = folder / name, folder / f"half-{name}"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            make(half_made)
            half_made.rename(made)
    return made
