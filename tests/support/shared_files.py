"""Files that a run of the suite creates once for all its workers."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

RUN = "PRESSROOM_TESTS_RUN"
"""Environment variable with the folder of the run, which workers inherit."""


def begin() -> None:
    """Create the folder of the run."""
    os.environ[RUN] = tempfile.mkdtemp(prefix="pressroom-tests-")


def end() -> None:
    """Delete the folder of the run."""
    shutil.rmtree(os.environ.pop(RUN))


def is_a_run() -> bool:
    """Return whether the suite runs. Benchmarks also start servers, with production settings."""
    return RUN in os.environ


def settings() -> str:
    """Return the settings module for servers."""
    return "tests.support.server_settings" if is_a_run() else "config.settings"


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """Return the file of that name. The first caller creates it while others wait."""
    folder = Path(os.environ[RUN])
    created, half_made = folder / name, folder / f"half-{name}"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not created.exists():
            make(half_made)
            half_made.rename(created)
    return created


def find_made(name: str) -> Path | None:
    """Return the file of that name if it exists."""
    file = Path(os.environ[RUN]) / name
    return file if file.exists() else None


def is_first(name: str) -> bool:
    """Return whether this is the run's first call with that name."""
    if not is_a_run():
        return True
    try:
        (Path(os.environ[RUN]) / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
