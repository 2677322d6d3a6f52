"""How the cost of lists and of the palette grows with what the ledger holds."""

from collections.abc import Iterator

from tests.benchmarks.bench import Bench
from tests.benchmarks.figures import Figure, Row
from tests.benchmarks.lists import GROWTH_TIMES, SIZES, growth_times


def figures(bench: Bench) -> Iterator[Row]:
    """Measure each list at each size."""
    rounds = 5 if bench.quick else 15
    databases = [bench.database_url(f"growth-{size.audiences}") for size in SIZES]
    times = growth_times(databases, rounds)
    sizes = ", ".join(f"{size.audiences:,}" for size in SIZES)
    for name, taken in times.items():
        beside = ", ".join(f"{ms:.1f}" for ms in taken) + f" ms at {sizes} audiences"
        growth = max(taken) / min(taken)
        yield Figure(f"growth: {name}", growth, GROWTH_TIMES, "×", beside)
