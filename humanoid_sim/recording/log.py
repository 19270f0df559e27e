# SPDX-License-Identifier: Apache-2.0
"""Logs read back as tables of columns, whichever way they were written, and curves drawn from them.

Curves are forces, centre of mass, zero-moment point, torques and the profile (specification 000, F024).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_model.extensions import optional_library
from humanoid_sim.recording.tables import TABLES, Row
from humanoid_sim.stepping.contacts import ContactState

Columns = dict[str, NDArray[Any]]
"""A table: arrays of one length by name of the column, numbers as floats."""


def read_log(path: str | Path) -> dict[str, Columns]:
    """Return tables of a log by name, see :data:`~humanoid_sim.recording.tables.TABLES`; empty ones are left out.

    Args:
        path: a folder of CSV tables, an ``.mcap`` file, or a rosbag2 folder (MCAP or SQLite).

    Raises:
        InputError: no such log, one that can't be read, or one without any signal of a simulation.
    """
    path = Path(path)
    if not path.exists():
        raise InputError("there is no such log", source=path, element="log", remedy="Give a file or a folder")
    tables = _read_tables(path) if path.is_dir() and not (path / "metadata.yaml").is_file() else _read_bag(path)
    if not tables:
        raise InputError(
            "it holds no signal of a simulation",
            source=path,
            element="log",
            remedy="Give what CsvRecorder or McapRecorder wrote",
        )
    return tables


# -- tables ----------------------------------------------------------------------------------


def _read_tables(folder: Path) -> dict[str, Columns]:
    tables = {}
    for name, table in TABLES.items():
        path = folder / f"{name}.csv"
        if not path.is_file():
            continue
        with path.open(newline="", encoding="utf-8") as file:
            lines = csv.reader(file)
            header = [re.sub(r" \[.*\]$", "", title) for title in next(lines, [])]
            if header != list(table.columns):
                raise InputError(
                    f"the columns are {', '.join(header)}",
                    source=path,
                    line=1,
                    remedy=f"They have to be {', '.join(table.columns)}",
                )
            rows = []
            for row in lines:
                if len(row) != len(header):
                    raise InputError(
                        f"the row has {len(row)} of {len(header)} values", source=path, line=lines.line_num
                    )
                rows.append(row)
        if rows:
            tables[name] = _columns(name, rows, path)
    return tables


def _columns(name: str, rows: list[Any], source: Path) -> Columns:
    table = TABLES[name]
    columns: Columns = {}
    for i, (column, unit) in enumerate(zip(table.columns, table.units, strict=True)):
        values = [row[i] for row in rows]
        try:
            columns[column] = np.array(values, dtype=float if unit else str)
        except ValueError as problem:
            raise InputError(
                str(problem), source=source, element=f"{name}.{column}", remedy="Give numbers"
            ) from problem
    return columns


# -- messages --------------------------------------------------------------------------------


def _read_bag(path: Path) -> dict[str, Columns]:
    highlevel = optional_library("rosbags.highlevel", "simulation", source=path)
    rows: dict[str, list[Row]] = {name: [] for name in TABLES}
    points: dict[tuple[float, str], dict[str, list[float]]] = {}
    try:
        with highlevel.AnyReader([path]) as reader:
            known = [c for c in reader.connections if _kind(c.topic) in (*_READERS, *_POINTS)]
            for connection, stamp, data in reader.messages(known):
                message: Any = reader.deserialize(data, connection.msgtype)
                topic, kind, time = connection.topic.strip("/"), _kind(connection.topic), stamp * 1e-9
                if kind in _POINTS:
                    points.setdefault((time, topic.rpartition("/")[0]), {})[kind] = list(_xyz(message.point))
                else:
                    _READERS[kind](message, time, topic, rows)
    except (highlevel.AnyReaderError, OSError, ValueError, KeyError, IndexError, EOFError, TypeError) as problem:
        raise InputError(
            f"the log can't be read: {problem}", source=path, element="log", remedy="Record it again"
        ) from problem
    nowhere = [float("nan")] * 3
    rows["balance"] = [
        (time, owner, *(value for kind in _POINTS for value in found.get(kind, nowhere)))
        for (time, owner), found in points.items()
    ]
    return {name: _columns(name, own, path) for name, own in rows.items() if own}


def _kind(topic: str) -> str:
    """Return what a topic is about: its last word, or the word before a sensor's name."""
    parts = topic.strip("/").split("/")
    return "wrenches" if parts[-2:-1] == ["wrenches"] else parts[-1]


def _xyz(vector: Any) -> tuple[float, float, float]:
    return vector.x, vector.y, vector.z


def _contacts(message: Any, time: float, topic: str, rows: dict[str, list[Row]]) -> None:
    for c in message.contacts:
        vectors = [value for vector in (c.position, c.normal, c.force, c.torque) for value in _xyz(vector)]
        state = ContactState(c.state).name.lower()
        rows["contacts"].append((time, c.body_a, c.body_b, *vectors, c.gap, c.friction, state))


def _joints(message: Any, time: float, topic: str, rows: dict[str, list[Row]]) -> None:
    robot = topic.rpartition("/")[0]
    columns = (message.name, message.position, message.velocity, message.effort)
    rows["joints"].extend((time, robot, *row) for row in zip(*columns, strict=True))


def _sensors(message: Any, time: float, topic: str, rows: dict[str, list[Row]]) -> None:
    robot, sensor = topic.rpartition("wrenches/")[::2]
    wrench = message.wrench
    rows["sensors"].append((time, robot.rstrip("/"), sensor, *_xyz(wrench.force), *_xyz(wrench.torque)))


def _odometry(message: Any, time: float, topic: str, rows: dict[str, list[Row]]) -> None:
    pose, twist = message.pose.pose, message.twist.twist
    q = pose.orientation
    rows["bodies"].append(
        (
            time,
            message.child_frame_id,
            *_xyz(pose.position),
            q.x,
            q.y,
            q.z,
            q.w,
            *_xyz(twist.linear),
            *_xyz(twist.angular),
        )
    )


def _status(message: Any, time: float, topic: str, rows: dict[str, list[Row]]) -> None:
    rows["energy"].append((time, message.kinetic_energy, message.potential_energy, message.total_energy))
    s = message.solver
    rows["solver"].append(
        (
            time,
            s.method,
            _SOLVER_STATUS[s.status],
            s.contacts,
            s.iterations,
            s.complementarity,
            s.cone,
            s.dissipation,
            s.time,
        )
    )
    rows["profile"].extend((time, stage.stage, stage.last) for stage in message.profile)


_READERS: dict[str, Callable[[Any, float, str, dict[str, list[Row]]], None]] = {
    "contacts": _contacts,
    "joint_states": _joints,
    "odometry": _odometry,
    "status": _status,
    "wrenches": _sensors,
}
_SOLVER_STATUS = ("converged", "not_converged", "time_limit", "no_contact", "failed", "approximate")
_POINTS = ("centre_of_mass", "zero_moment_point")


_NAMED_JOINTS = 8
"""So many joints of a plot have a name in its legend: those with the largest values, or that move farthest."""


def plot_log(log: Mapping[str, Columns], path: str | Path, what: Sequence[str] | None = None) -> None:
    """Draw curves of a log below each other over one time axis.

    Args:
        log: from :func:`read_log`.
        path: of the picture; its ending says of which kind (``.png``, ``.pdf``, ``.svg``).
        what: names of :data:`PLOTS`; forces, com, zmp, torques and profile, as far as the log holds them, if not given.

    Raises:
        InputError: unknown curves, curves of which the log holds nothing, or a picture that can't be written.
    """
    for name in what or ():
        if name not in PLOTS:
            raise InputError(f"there are no curves '{name}'", element="what", remedy=f"Choose of {', '.join(PLOTS)}")
        if PLOTS[name][0] not in log:
            raise InputError(
                f"the log holds no {PLOTS[name][0]}, from which '{name}' is drawn",
                element="what",
                remedy=f"It holds {', '.join(log)}",
            )
    chosen = what or [name for name in DEFAULT_PLOTS if PLOTS[name][0] in log]
    if not chosen:
        raise InputError(f"the log holds {', '.join(log)} only", element="what", remedy="Name curves to draw")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 2.6 * len(chosen)), layout="constrained")
    FigureCanvasAgg(figure)
    all_axes = figure.subplots(len(chosen), 1, sharex=True, squeeze=False)[:, 0]
    for axes, name in zip(all_axes, chosen, strict=True):
        table, draw = PLOTS[name]
        draw(axes, log[table])
        axes.grid(alpha=0.3)
        axes.margins(x=0.0)
        handles, _ = axes.get_legend_handles_labels()
        if handles:
            beside = 1.0 if name != "solver" else 1.07  # its right axis has numbers, too
            axes.legend(loc="center left", bbox_to_anchor=(beside, 0.5), fontsize="small", frameon=False)
    all_axes[-1].set_xlabel("time [s]")
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as problem:
        raise InputError(
            f"the picture can't be written: {problem}", source=path, element="out", remedy="Name a .png, .pdf or .svg"
        ) from problem


def _forces(axes: Any, contacts: Columns) -> None:
    """Draw normal forces by pair of bodies, and where there are several their sum."""
    normal = np.sum([contacts[f"force_{x}"] * contacts[f"normal_{x}"] for x in "xyz"], axis=0)
    times, at = np.unique(contacts["time"], return_inverse=True)
    names = np.char.add(np.char.add(contacts["body_a"], " on "), contacts["body_b"])
    pairs = np.unique(names)
    for pair in pairs:
        rows = names == pair
        axes.plot(times, np.bincount(at[rows], normal[rows], len(times)), label=pair, linewidth=1.0)
    if len(pairs) > 1:
        axes.plot(times, np.bincount(at, normal, len(times)), "k", label="all", linewidth=0.8)
    axes.set_ylabel("normal force [N]")


def _com(axes: Any, balance: Columns) -> None:
    _points(axes, balance, "com", "xyz")
    axes.set_ylabel("centre of mass [m]")


def _zmp(axes: Any, balance: Columns) -> None:
    _points(axes, balance, "zmp", "xy")
    _points(axes, balance, "com", "xy", linestyle=":")
    axes.set_ylabel("ZMP [m]")


def _points(axes: Any, balance: Columns, name: str, coordinates: str, **style: Any) -> None:
    for robot in np.unique(balance["robot"]):
        rows = balance["robot"] == robot
        for x in coordinates:
            colour = f"C{'xyz'.index(x)}"
            label = f"{robot} {name} {x}".strip()
            axes.plot(balance["time"][rows], balance[f"{name}_{x}"][rows], color=colour, label=label, **style)


def _joint_curves(signal: str, title: str) -> Callable[[Any, Columns], None]:
    def draw(axes: Any, joints: Columns) -> None:
        names = np.char.add(np.char.add(joints["robot"], " "), joints["joint"])
        curves = {name: names == name for name in np.unique(names)}
        if signal == "position":
            largest = sorted(curves, key=lambda name: -np.ptp(joints[signal][curves[name]]))
        else:
            largest = sorted(curves, key=lambda name: -np.abs(joints[signal][curves[name]]).max())
        for name in largest:
            named = name in largest[:_NAMED_JOINTS]
            axes.plot(
                joints["time"][curves[name]],
                joints[signal][curves[name]],
                color=f"C{largest.index(name)}" if named else "0.8",
                linewidth=1.0 if named else 0.6,
                zorder=3 if named else 2,
                label=name.strip() if named else None,
            )
        axes.set_ylabel(title)

    return draw


def _energy(axes: Any, energy: Columns) -> None:
    for name, style in (("kinetic", "C0"), ("potential", "C1"), ("total", "k")):
        axes.plot(energy["time"], energy[name] - energy[name][0] * (name != "kinetic"), style, label=name)
    axes.set_ylabel("energy since start [J]")


def _solver(axes: Any, solver: Columns) -> None:
    axes.step(solver["time"], solver["iterations"], where="post", label="iterations", linewidth=0.8)
    missed = ~np.isin(solver["status"], ("converged", "approximate", "no_contact"))
    axes.plot(solver["time"][missed], solver["iterations"][missed], "rx", label="not converged")
    axes.set_ylabel("iterations [-]")
    residuals = axes.twinx()
    for name, colour in (("complementarity", "C1"), ("cone", "C2"), ("dissipation", "C3")):
        if np.any(solver[name] > 0.0):
            residuals.semilogy(
                solver["time"], np.where(solver[name] > 0.0, solver[name], np.nan), colour, linewidth=0.6
            )
            axes.plot([], [], colour, label=f"{name} (right)")


def _profile(axes: Any, profile: Columns) -> None:
    """Time of a step by stage, stacked; smoothed over a fiftieth of the log, for single steps are restless."""
    stages = list(dict.fromkeys(profile["stage"].tolist()))
    times = profile["time"][profile["stage"] == stages[0]]
    width = max(len(times) // 50, 1)
    curves = [_smoothed(1e6 * profile["seconds"][profile["stage"] == stage], width) for stage in stages]
    axes.stackplot(times, curves, labels=stages)
    axes.set_ylabel("step [µs]")


def _smoothed(values: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    """Mean over so many neighbours, fewer at the ends."""
    kernel = np.ones(width)
    return np.convolve(values, kernel, "same") / np.convolve(np.ones(len(values)), kernel, "same")


PLOTS: dict[str, tuple[str, Callable[[Any, Columns], None]]] = {
    "forces": ("contacts", _forces),
    "com": ("balance", _com),
    "zmp": ("balance", _zmp),
    "torques": ("joints", _joint_curves("effort", "effort [N m or N]")),
    "positions": ("joints", _joint_curves("position", "position [rad or m]")),
    "velocities": ("joints", _joint_curves("velocity", "velocity [rad/s or m/s]")),
    "energy": ("energy", _energy),
    "solver": ("solver", _solver),
    "profile": ("profile", _profile),
}
"""Curves by name: the table that they are drawn from, and how."""

DEFAULT_PLOTS = ("forces", "com", "zmp", "torques", "profile")
