"""Samples of large matrices of tests: without `--exhaustive`, each value of each parameter once.

Of a test marked `matrix(cells=1)` a run takes one cell, another one in another run. The seed of a
sample is printed at the end of a run; `--matrix-seed` repeats it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, TypeVar

import pytest

Cell = TypeVar("Cell")


def sample(items: Iterable[pytest.Item], seed: int) -> set[pytest.Item]:
    """Return the cells of each test marked `matrix` that a run takes."""
    matrices = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("matrix"):
            matrices[item.nodeid.partition("[")[0]].append(item)
    return {cell for name, cells in matrices.items() for cell in _taken(name, cells, seed)}


def _taken(name: str, cells: list[pytest.Function], seed: int) -> list[pytest.Function]:
    marker = cells[0].get_closest_marker("matrix")
    if marker and "cells" in marker.kwargs:
        return Random(f"{name} {seed}").sample(cells, marker.kwargs["cells"])
    return covering(cells, _parameters, seed)


def _parameters(cell: pytest.Function) -> set[tuple[str, int]]:
    return {(name, id(value)) for name, value in cell.callspec.params.items()}


def sampled(cells: Iterable[Cell], config: pytest.Config, *, turn: int, of: int) -> list[Cell]:
    """Return what one of so many turns takes of the cells: over all of them, each is taken once.

    With `--exhaustive`, every turn takes all.
    """
    order = sorted(cells)  # type: ignore[type-var]  # texts, or tuples of them
    if config.getoption("exhaustive"):
        return order
    Random(config.option.matrix_seed).shuffle(order)
    return order[turn::of]


def covering(cells: Sequence[Cell], values_of: Callable[[Cell], set[Any]], seed: int) -> list[Cell]:
    """Go through the cells in random order and keep each that holds a value not yet seen."""
    seen: set[Any] = set()
    taken = []
    for cell in Random(seed).sample(cells, len(cells)):
        values = values_of(cell)
        if not values <= seen:
            taken.append(cell)
            seen |= values
    return taken
