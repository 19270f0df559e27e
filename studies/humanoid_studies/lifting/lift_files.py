# SPDX-License-Identifier: Apache-2.0
"""Lifts as files: control points to edit them again, and joints every 5 ms for the replay."""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
import yaml

from humanoid_model.errors import InputError
from humanoid_model.yaml_node import YamlNode, read_yaml
from humanoid_studies.lifting.planar_lifter import JOINTS, HeldObject
from humanoid_studies.lifting.replay import joint_columns, sample_times
from humanoid_studies.lifting.weight_lift import FIXED, LiftMotion, WeightLift

LEAST_COUNT = 2 * FIXED + 1
"""Of control points: one between the ends."""


def write_lift(held: HeldObject, motion: LiftMotion, path: str | Path) -> None:
    """Write object, duration [s] and control points [rad] as YAML.

    Raises:
        InputError: the file can't be written.
    """
    values = {
        "object": {name: float(value) for name, value in asdict(held).items()},
        "duration": motion.duration,
        "joints": [*JOINTS],
        "points": motion.points.tolist(),
    }
    _write(path, yaml.safe_dump(values, sort_keys=False, default_flow_style=None, width=1000))


def read_lift(path: str | Path) -> tuple[HeldObject, LiftMotion]:
    """Read what :func:`write_lift` wrote.

    Raises:
        InputError: it can't be read, a key is missing or unknown, or the points don't begin and end at rest; it names
            file, line and value.
    """
    root = read_yaml(path, InputError)
    values = root.mapping(("object", "duration", "joints", "points"))
    names = [own.name for own in fields(HeldObject)]
    given = _value(values, "object", root).mapping(names)
    held = HeldObject(*(_value(given, name, values["object"]).number() for name in names))
    joints = _value(values, "joints", root)
    if [one.string() for one in joints.items()] != [*JOINTS]:
        raise joints.fail("are others than those of a lift", f"Give {', '.join(JOINTS)}")
    rows = _value(values, "points", root)
    points = np.array([row.numbers(len(JOINTS)) for row in rows.items()])
    if len(points) < LEAST_COUNT:
        raise rows.fail(f"holds {len(points)} points", f"Give {LEAST_COUNT} or more")
    if np.ptp(points[:FIXED], axis=0).any() or np.ptp(points[-FIXED:], axis=0).any():
        raise rows.fail("doesn't begin and end at rest", f"Let the first {FIXED} points be equal, and the last {FIXED}")
    return held, LiftMotion(points, _value(values, "duration", root).number(above=0.0))


def write_samples(lift: WeightLift, motion: LiftMotion, path: str | Path) -> None:
    """Write both sides' joints and their torques every 5 ms as comma-separated values.

    ``read_joint_trajectory`` reads them, ``TrajectoryPlayer`` and :func:`play_lift` play what it reads.

    Raises:
        InputError: the file can't be written.
    """
    names, places = joint_columns()
    series = lift.series(motion, sample_times(motion.duration))
    rows = np.column_stack([series.time, series.q[:, places], series.torques[:, places]])
    lines = [",".join(["time", *names, *(f"effort:{name}" for name in names)])]
    lines += [",".join(f"{value:.17g}" for value in row) for row in rows]
    _write(path, "\n".join(lines) + "\n")


def _value(values: dict[str, YamlNode], key: str, parent: YamlNode) -> YamlNode:
    if key not in values:
        raise parent.fail(f"has no '{key}'", "Give the file of a lift that the editor has saved")
    return values[key]


def _write(path: str | Path, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as problem:  # ValueError: a zero byte in the path
        raise InputError(
            f"can't be written: {getattr(problem, 'strerror', None) or problem}",
            source=str(path),
            remedy="Name a file in a folder that is there",
        ) from None
