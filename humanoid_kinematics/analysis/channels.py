# SPDX-License-Identifier: Apache-2.0
"""Measured values shown in the scene, on the part that they concern: augmented virtuality (specification §6.8).

A channel takes a value of a :class:`Recording`'s row, smooths it, scales it between two bounds, and makes of it a
size, a colour, a transparency, a shape or a texture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from humanoid_model import InputError
from humanoid_model.arrays import Array
from humanoid_model.yaml_node import read_yaml

KINDS = ("size", "colour", "transparency", "shape", "texture")


@dataclass(frozen=True)
class Channel:
    """How a value is shown.

    Attributes:
        source: name of the value, ``*`` for many: ``speed/*`` gives a mark to each joint.
        kind: ``size`` [m], ``colour`` (red, green, blue of 0 to 1), ``transparency``, ``shape`` or ``texture``.
        on: ``mark`` for an object added to the part, ``part`` for the part itself.
        lower: value that shows as the first of ``shows``; the size of the value counts, not its sign.
        upper: value that shows as the last.
        shows: what is shown from ``lower`` to ``upper``: numbers or colours, between which there are others, or names.
        smoothing: time that a value takes to show by two thirds [s].
    """

    source: str
    kind: str
    on: str
    lower: float
    upper: float
    shows: tuple[float | str | tuple[float, ...], ...]
    smoothing: float = 0.0

    def show(self, value: float) -> float | str | Array:
        """Return what a value shows as."""
        share = float(np.clip((abs(value) - self.lower) / (self.upper - self.lower), 0.0, 1.0))
        if isinstance(self.shows[0], str):
            return self.shows[min(int(share * len(self.shows)), len(self.shows) - 1)]  # type: ignore[return-value]
        levels = np.array(self.shows, float)
        at = np.linspace(0.0, 1.0, len(levels))
        if levels.ndim == 1:
            return float(np.interp(share, at, levels))
        return np.array([np.interp(share, at, level) for level in levels.T])


#: Presets: a sphere on each joint as large as its speed, links coloured by their joints' margins, and by distances.
SPEED_SPHERES = Channel("speed/*", "size", "mark", 0.0, 2.0, (0.0, 0.1))
MARGIN_COLOURS = Channel("margin/*", "colour", "part", 0.0, 0.5, ((0.9, 0.1, 0.1), (0.9, 0.7, 0.1), (0.3, 0.7, 0.3)))
DISTANCE_COLOURS = Channel("distance/*", "colour", "part", 0.0, 0.5, ((0.9, 0.1, 0.1), (0.3, 0.7, 0.3)))


@dataclass
class Channels:
    """Channels with their smoothing; several may show on one part.

    Attributes:
        channels: how values are shown.
    """

    channels: Sequence[Channel]
    _smooth: dict[tuple[int, str], float] = field(default_factory=dict)

    def update(self, row: Mapping[str, float], dt: float) -> dict[tuple[str, str, str], float | str | Array]:
        """Show a row of values: by part (what follows the source's ``/``), ``mark`` or ``part``, and kind."""
        shown: dict[tuple[str, str, str], float | str | Array] = {}
        for number, channel in enumerate(self.channels):
            for name, value in row.items():
                if not fnmatchcase(name, channel.source):
                    continue
                old = self._smooth.get((number, name), value)
                share = 1.0 - np.exp(-dt / channel.smoothing) if channel.smoothing > 0.0 else 1.0
                # A margin without limits is infinite; there is nothing between that and another value.
                far = not (np.isfinite(value) and np.isfinite(old))
                new = self._smooth[number, name] = value if far else float(old + share * (value - old))
                shown[name.partition("/")[2], channel.on, channel.kind] = channel.show(new)
        return shown


def read_channels(path: str | Path) -> Channels:
    """Read channels from a YAML file: a list of mappings with the names of :class:`Channel`'s attributes.

    Raises:
        InputError: a key or value that can't be used, with file and line.
    """
    keys = ("source", "kind", "on", "lower", "upper", "shows", "smoothing")
    channels = []
    for node in read_yaml(path, InputError).items():
        values = node.mapping(keys)
        missing = [key for key in ("source", "kind", "shows") if key not in values]
        if missing:
            raise node.fail(f"has no '{missing[0]}'", "Give source, kind and what it shows")
        kind = values["kind"].string(KINDS)
        lower = values["lower"].number() if "lower" in values else 0.0
        upper = values["upper"].number() if "upper" in values else 1.0
        if not lower < upper:
            raise node.fail(f"goes from {lower} to {upper}", "Give a lower value first")
        shows: list[float | str | tuple[float, ...]] = []
        for item in values["shows"].items():
            if kind in ("shape", "texture"):
                shows.append(item.string())
            elif kind == "colour":
                shows.append(tuple(part.number() for part in item.items()))
            else:
                shows.append(item.number())
        if not shows or (kind == "colour" and {len(colour) for colour in shows} != {3}):  # type: ignore[arg-type]
            raise values["shows"].fail("isn't what it shows as", "Give one value or more; colours of three numbers")
        on = values["on"].string(("mark", "part")) if "on" in values else "mark"
        smoothing = values["smoothing"].number() if "smoothing" in values else 0.0
        channels.append(Channel(values["source"].string(), kind, on, lower, upper, tuple(shows), smoothing))
    return Channels(channels)
