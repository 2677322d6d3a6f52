"""Samples of large test matrices: without `--exhaustive`, each parameter value is used once.

A run takes one random cell of a test marked `matrix(cells=1)`. The seed of a sample is printed at
the end of a run; `--matrix-seed` repeats it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, TypeVar

import pytest

Cell = TypeVar("Cell")


def sample(items: Iterable[pytest.Item], seed: int) -> set[pytest.Item]:
    """Return the cells that a run takes of each test marked `matrix`."""
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
    """Return one turn's share of the cells; `of` turns together take each cell once.

    With `--exhaustive`, every turn takes all cells.
    """
    order = sorted(cells)  # type: ignore[type-var]  # texts, or tuples of them
    if config.getoption("exhaustive"):
        return order
    Random(config.option.matrix_seed).shuffle(order)
    return order[turn::of]


def covering(cells: Sequence[Cell], values_of: Callable[[Cell], set[Any]], seed: int) -> list[Cell]:
    """Go through the cells in random order and keep each that has a new value."""
    seen: set[Any] = set()
    taken = []
    for cell in Random(seed).sample(cells, len(cells)):
        values = values_of(cell)
        if not values <= seen:
            taken.append(cell)
            seen |= values
    return taken
