# SPDX-License-Identifier: Apache-2.0
"""Trajectories of gaits as files: all of it in NumPy's format, joints as CSV, schedule and forces as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from humanoid_model.archive import BROKEN_ARCHIVE, read_archive
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.trajectory.contact_schedule import ContactInterval
from humanoid_studies.planar_gait.trajectory.gait_trajectory import GaitTrajectory

_TEXTS = ("joint_names", "kinds", "legs", "feet", "foot_places")
_CONTACTS = ("contact_feet", "contact_parts", "contact_times")


def save_gait_trajectory(trajectory: GaitTrajectory, path: str | Path) -> None:
    """Write everything into a file of NumPy arrays, ``.npz``."""
    arrays: dict[str, Any] = {name: np.asarray(value) for name, value in vars(trajectory).items() if name != "contacts"}
    arrays["contact_feet"] = np.array([contact.foot for contact in trajectory.contacts])
    arrays["contact_parts"] = np.array([contact.part for contact in trajectory.contacts])
    arrays["contact_times"] = np.array([[contact.start, contact.end] for contact in trajectory.contacts])
    with open(path, "wb") as file:
        np.savez_compressed(file, **arrays)


def load_gait_trajectory(path: str | Path) -> GaitTrajectory:
    """Read what :func:`save_gait_trajectory` wrote.

    Raises:
        InputError: the file can't be read or holds no gait.
    """
    try:
        arrays = read_archive(path)
    except InputError:
        raise
    except BROKEN_ARCHIVE as problem:
        raise InputError(f"can't be read: {problem}", source=str(path), remedy="Give a saved gait") from None
    expected = {*GaitTrajectory.__dataclass_fields__, *_CONTACTS} - {"contacts"}
    if set(arrays) != expected:
        raise InputError(
            f"holds {', '.join(sorted(arrays)) or 'nothing'}",
            source=str(path),
            remedy=f"A gait holds {', '.join(sorted(expected))}",
        )
    feet, parts, spans = (arrays.pop(name) for name in _CONTACTS)
    values: dict[str, Any] = dict(arrays)
    values["robot"] = str(arrays["robot"])
    values.update({name: tuple(str(item) for item in arrays[name]) for name in _TEXTS})
    values["contacts"] = tuple(
        ContactInterval(str(foot), str(part), float(start), float(end))
        for foot, part, (start, end) in zip(feet, parts, spans, strict=True)
    )
    return GaitTrajectory(**values)


def write_joints(trajectory: GaitTrajectory, path: str | Path, torques: bool = False) -> None:
    """Write times and positions of the driven joints as comma-separated values.

    A first row names the columns, ``time`` and the joints; s and rad. Of transitions, where both sides have the same
    positions, there is one row.

    Args:
        trajectory: to write.
        path: of the file.
        torques: add the feed-forward torques [N m], in columns named ``effort:<joint>``. Transitions, where they jump,
            then have two rows of the same time.
    """
    kept = np.arange(len(trajectory.times)) if torques else trajectory.increasing
    columns = [trajectory.times[kept], trajectory.positions[kept]]
    names = ["time", *trajectory.joint_names]
    if torques:
        columns.append(trajectory.torques[kept])
        names += [f"effort:{name}" for name in trajectory.joint_names]
    rows, header = np.column_stack(columns), ",".join(names)
    np.savetxt(path, rows, fmt="%.17g", delimiter=",", header=header, comments="")


def write_gait_json(trajectory: GaitTrajectory, path: str | Path) -> None:
    """Write phases, contact schedule, joints with feed-forward torques, and planned forces as JSON.

    Transitions are there twice, as in the trajectory. A centre of pressure is null where nothing presses.
    """
    pressure = [None if np.isnan(x) else float(x) for x in trajectory.centre_of_pressure]
    content = {
        "robot": trajectory.robot,
        "phases": [
            {"kind": kind, "start": float(start), "end": float(end)}
            for kind, start, end in zip(
                trajectory.kinds, trajectory.starts[:-1], trajectory.starts[1:], strict=True
            )
        ],
        "contacts": [
            {"foot": item.foot, "part": item.part, "start": item.start, "end": item.end}
            for item in trajectory.contacts
        ],
        "times": trajectory.times.tolist(),
        "joints": {
            name: {
                "positions": trajectory.positions[:, j].tolist(),
                "velocities": trajectory.velocities[:, j].tolist(),
                "accelerations": trajectory.accelerations[:, j].tolist(),
                "torques": trajectory.torques[:, j].tolist(),
            }
            for j, name in enumerate(trajectory.joint_names)
        },
        "base": {
            name: {"position": trajectory.base[:, j].tolist(), "velocity": trajectory.base_velocity[:, j].tolist()}
            for j, name in enumerate(("x", "z", "pitch"))
        },
        "forces": {
            foot: {
                **{place: trajectory.normal[:, index, j].tolist() for j, place in enumerate(trajectory.foot_places)},
                "tangential": trajectory.tangential[:, index].tolist(),
            }
            for index, foot in enumerate(trajectory.feet)
        },
        "centre_of_pressure": pressure,
        "advance": trajectory.next_offset.tolist(),
    }
    Path(path).write_text(json.dumps(content, allow_nan=False) + "\n", encoding="utf-8")
