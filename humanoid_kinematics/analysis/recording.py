# SPDX-License-Identifier: Apache-2.0
"""Recordings of a mechanism's motion: what is measured at each instant, graphs of it, replay, and values in the scene.

Augmented virtuality (specification §6.8) shows values on the part that they concern: a channel takes one of a
recording's row, smooths it, scales it between two bounds, and makes of it a size, a colour, a transparency, a shape or
a texture.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from humanoid_kinematics.analysis.dexterity import dexterity
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
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


class Recording:
    """Values over time by name.

    ``position/JOINT``, ``speed/JOINT``, ``acceleration/JOINT`` [rad, m, s], ``margin/JOINT`` (to the nearer limit),
    ``gap/LOOP`` [m and rad added], ``dexterity/TOOL`` (largest by smallest singular value, in metres and radians),
    ``x``, ``y``, ``z`` of each tool as ``x/TOOL``, and what the user adds, as distances.

    Attributes:
        times: [s], rising.
        rows: values by name, one mapping for each time.
        configurations: (nq,) for each time.
    """

    def __init__(self) -> None:
        """Begin an empty recording."""
        self.times: list[float] = []
        self.rows: list[Mapping[str, float]] = []
        self.configurations: list[Array] = []

    def add(
        self, time: float, solver: MechanismSolver, tools: Sequence[str] = (), more: Mapping[str, float] | None = None
    ) -> Mapping[str, float]:
        """Measure a mechanism at a time; speeds and accelerations are differences to the instants before.

        Raises:
            InputError: a time that isn't after the last.
        """
        if self.times and not time > self.times[-1]:
            raise InputError(f"is {time} after {self.times[-1]}", element="time", remedy="Give rising times")
        row: dict[str, float] = {}
        robot, model = solver.mechanism.robot, solver.mechanism.model
        lower, upper = solver.lower, solver.upper
        for joint in robot.joint_names:
            of_model = model.joints[robot.parts.joint_ids[joint]]
            if of_model.nq != 1:
                continue
            k, q = of_model.idx_v, float(solver.q[of_model.idx_q])
            row[f"position/{joint}"] = q
            row[f"margin/{joint}"] = float(min(q - lower[k], upper[k] - q))
            speed = acceleration = 0.0
            if self.times:
                dt, last = time - self.times[-1], self.rows[-1]
                speed = (q - last[f"position/{joint}"]) / dt
                if len(self.times) > 1:
                    acceleration = (speed - last[f"speed/{joint}"]) / (0.5 * (time - self.times[-2]))
            row[f"speed/{joint}"], row[f"acceleration/{joint}"] = speed, acceleration
        for loop, (distance, angle) in solver.loop_gaps().items():
            row[f"gap/{loop}"] = distance + angle
        for tool in tools:
            x, y, z = (float(value) for value in solver.placement(tool).translation)
            row |= {f"x/{tool}": x, f"y/{tool}": y, f"z/{tool}": z}
            row[f"dexterity/{tool}"] = dexterity(solver, tool).condition
        row |= dict(more or {})
        self.times.append(float(time))
        self.rows.append(row)
        self.configurations.append(solver.q.copy())
        return row

    def series(self, name: str) -> Array:
        """(n,) values of a name over time.

        Raises:
            InputError: a name that isn't recorded.
        """
        if not self.rows or name not in self.rows[0]:
            known = ", ".join(self.rows[0]) if self.rows else "none"
            raise InputError(f"'{name}' isn't recorded", element="series", remedy=f"There are {known}")
        return np.array([row[name] for row in self.rows])

    def at(self, time: float) -> Array:
        """(nq,) configuration at a time, between two instants on a straight line of joint positions: replay as states.

        Loops are open in between by the square of the distance of the instants.
        """
        i = int(np.clip(np.searchsorted(self.times, time), 1, len(self.times) - 1)) if len(self.times) > 1 else 0
        if i == 0:
            return self.configurations[0].copy()
        share = np.clip((time - self.times[i - 1]) / (self.times[i] - self.times[i - 1]), 0.0, 1.0)
        return np.asarray((1.0 - share) * self.configurations[i - 1] + share * self.configurations[i])

    def write_csv(self, path: str | Path) -> None:
        """Write times, configurations and all values, so that reading gives the same numbers bit by bit."""
        names = list(self.rows[0]) if self.rows else []
        count = len(self.configurations[0]) if self.rows else 0
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["time", *(f"q{i}" for i in range(count)), *names])
            for time, q, row in zip(self.times, self.configurations, self.rows, strict=True):
                writer.writerow([repr(time), *(repr(float(x)) for x in q), *(repr(float(row[name])) for name in names)])

    @classmethod
    def read_csv(cls, path: str | Path) -> Recording:
        """Read what :meth:`write_csv` wrote.

        Raises:
            InputError: a line that can't be read, with its number.
        """
        recording = cls()
        with Path(path).open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            count = sum(1 for name in header if name[:1] == "q" and name[1:].isdigit())
            names = header[1 + count :]
            for line, cells in enumerate(reader, 2):
                try:
                    numbers = [float(cell) for cell in cells]
                except ValueError as problem:
                    raise InputError(str(problem), source=path, line=line, remedy="Give numbers") from None
                if len(numbers) != len(header):
                    raise InputError(
                        f"{len(numbers)} numbers for {len(header)} columns", source=path, line=line,
                        remedy="Give one for each",
                    )  # fmt: skip
                recording.times.append(numbers[0])
                recording.configurations.append(np.array(numbers[1 : 1 + count]))
                recording.rows.append(dict(zip(names, numbers[1 + count :], strict=True)))
        return recording

    def plot(self, names: Sequence[str], path: str | Path) -> None:
        """Draw values over time as a picture.

        Raises:
            InputError: a name that isn't recorded.
        """
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(len(names), 1, sharex=True, squeeze=False, figsize=(8.0, 2.0 + 1.6 * len(names)))
        for axis, name in zip(axes[:, 0], names, strict=True):
            axis.plot(self.times, self.series(name))
            axis.set_ylabel(name)
            axis.grid(True, alpha=0.3)
        axes[-1, 0].set_xlabel("time [s]")
        figure.tight_layout()
        figure.savefig(path)
        plt.close(figure)
