"""Measure Pressroom against its goals and its peers: `uv run python -m tests.benchmarks`.

Prints a Markdown table, one figure at a time. All files are in a temporary folder, which is
removed at the end.
"""

import argparse
import os
import platform
import signal
import sys
import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from tests.benchmarks import crowd, growth, lists, live, memory, pages, people_search
from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import HEADER
from tests.benchmarks.measuring import TURN_S

PARTS = {
    "lists": lists.beside_peers,
    "counts": lists.counts,
    "overview": pages.overview,
    "waiting": pages.three_answers,
    "weight": pages.weight,
    "memory": memory.figures,
    "growth": growth.figures,
    "crawl": growth.slow_crawl,
    "crowd": crowd.figures,
    "people": people_search.figures,
    "live": live.figures,
}


def main() -> None:
    """Run the chosen parts and print their figures."""
    chosen = arguments().parse_args()
    # However it is stopped, it stops the servers and removes its folder.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped."))
    with tempfile.TemporaryDirectory(prefix="pressroom-bench-") as folder, ExitStack() as stack:
        bench = Bench(Path(folder), stack, chosen.quick, chosen.postgres, chosen.seed)
        sys.stdout.write(f"{conditions(bench)}\n\n{HEADER}\n")
        for name in chosen.only or PARTS:
            for figure in PARTS[name](bench):
                sys.stdout.write(f"{figure}\n")
                sys.stdout.flush()


def conditions(bench: Bench) -> str:
    """Return the date, the machine, its load and the number of measurements."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{datetime.now(UTC):%-d %B %Y}, {os.cpu_count()} cores, {memory:.0f} GiB,"
        f" Python {platform.python_version()}, load {os.getloadavg()[1]:.1f} before.\n"
        f"{bench.rows:,} pages, audiences and people each; {bench.rounds} turns of at least"
        f" {bench.requests} requests and {TURN_S:g} s; seed {bench.seed!r}."
    )


def arguments() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, help="some parts")
    parser.add_argument("--quick", action="store_true", help="fewer rows and rounds: a first look")
    parser.add_argument("--postgres", action="store_true", help="growth and people on PostgreSQL")
    parser.add_argument("--seed", default="pressroom", help="of the people who are searched for")
    return parser


if __name__ == "__main__":
    main()
