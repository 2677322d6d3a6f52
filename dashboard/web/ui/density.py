"""The density of a list: that of `?density=`, or else of the user's preference."""

from collections.abc import Mapping

DENSITIES = ("compact", "comfortable")


def density_param(params: Mapping[str, str]) -> str:
    """Return `?density=`, one of DENSITIES; empty for the preference."""
    density = params.get("density", "")
    return density if density in DENSITIES else ""
