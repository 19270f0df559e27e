# SPDX-License-Identifier: Apache-2.0
"""Logs read back as tables of columns, whichever way they were written."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_model.optional_library import optional_library
from humanoid_sim.recording.table import TABLES, Row
from humanoid_sim.stepping.contacts import ContactState

Columns = dict[str, NDArray[Any]]
"""A table: arrays of one length by name of the column, numbers as floats."""


def read_log(path: str | Path) -> dict[str, Columns]:
    """Return tables of a log by name, see :data:`~humanoid_sim.recording.table.TABLES`; empty ones are left out.

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
