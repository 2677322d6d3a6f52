"""How fast Pressroom is, beside its goals and its peers: `uv run python -m tests.benchmarks`.

Each part can be run alone (`--only lists,weight`). The processor time of a request is that of all
of the server's processes; the sides of a ratio take turns in one run. Everything is made in a
folder of its own, which is removed at the end.
"""

import argparse
import os
import platform
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from tests.benchmarks import (
    part_growth,
    part_lighthouse,
    part_lists,
    part_rows,
    part_waiting,
    part_weight,
    part_workers,
)
from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import Row, as_markdown, as_table

PARTS: dict[str, tuple[str, Callable[[Bench], Iterator[Row]]]] = {
    "lists": ("Lists beside their peers", part_lists.figures),
    "rows": ("What a row costs", part_rows.figures),
    "waiting": ("Three answers of a slow service", part_waiting.three_answers),
    "conversation": ("A long conversation", part_waiting.conversation),
    "weight": ("What a browser loads", part_weight.figures),
    "lighthouse": ("Lighthouse", part_lighthouse.figures),
    "start": ("The start of a worker", part_workers.start),
    "memory": ("The memory of a worker", part_workers.memory),
    "walk": ("The memory of a worker that sees large pages", part_workers.walk),
    "growth": ("Growth", part_growth.figures),
}


def main() -> None:
    """Run the parts that were asked for, and print what they found."""
    chosen = arguments().parse_args()
    # Stopped in any way, it stops the servers and takes its folder away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped."))
    console = Console(stderr=chosen.markdown)
    found: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="pressroom-bench-") as folder, ExitStack() as stack:
        bench = Bench(Path(folder), stack, chosen.quick)
        for name in chosen.only or PARTS:
            title, figures = PARTS[name]
            rows = list(figures(bench))
            console.print(as_table(title, rows), "")
            found += rows
    console.print(f"{this_day()}, {this_machine()}.")
    if chosen.markdown:
        sys.stdout.write(f"{as_markdown(found)}\n\n{this_day()}, {this_machine()}.\n")


def this_day() -> str:
    """Return the date, as a README has it."""
    return f"{datetime.now(UTC):%-d %B %Y}"


def this_machine() -> str:
    """Return what the figures were measured on, and how busy it was."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    version, busy = platform.python_version(), os.getloadavg()[1]
    cores = os.cpu_count()
    return f"{cores} cores, {memory:.0f} GiB, Python {version}, load {busy:.1f} at the end"


def arguments() -> argparse.ArgumentParser:
    """Return what the command line takes."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--only", type=_names, help=f"of {', '.join(PARTS)}, split by commas")
    parser.add_argument("--quick", action="store_true", help="fewer rows and rounds: a first look")
    parser.add_argument(
        "--markdown", action="store_true", help="print tests/README.md's table, too"
    )
    return parser


def _names(said: str) -> list[str]:
    names = said.split(",")
    if unknown := [name for name in names if name not in PARTS]:
        raise argparse.ArgumentTypeError(f"{unknown[0]} is none of {', '.join(PARTS)}")
    return names


if __name__ == "__main__":
    main()
