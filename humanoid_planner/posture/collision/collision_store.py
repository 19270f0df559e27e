# SPDX-License-Identifier: Apache-2.0
"""What was found out about a robot's self-collisions, kept on disk: it takes seconds, and rests with the robot."""

from __future__ import annotations

import contextlib
import hashlib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humanoid_model.content_store import keep
from humanoid_model.robot import Robot
from humanoid_planner.distance.compound_joint import compound_joints
from humanoid_planner.distance.compound_limit import CompoundLimit
from humanoid_planner.distance.placed_volume import PlacedVolume
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume
from humanoid_planner.distance.volume_store import store_folder

_CONTENT = b"self-collisions 2"
"""Changes whenever pairs or functions are found otherwise: files of an older kind are then not found."""


def store_path(robot: Robot, volumes: Sequence[PlacedVolume], folder: Path | None = None) -> Path:
    """File for a robot with these volumes: named by URDF, postures, limits and volumes.

    Args:
        robot: the robot.
        volumes: around its links.
        folder: where files are kept; None is that of the volumes.
    """
    content = hashlib.sha256(_CONTENT)
    content.update(robot.urdf.encode())
    for name in sorted(robot.postures):
        content.update(name.encode() + np.asarray(robot.postures[name], dtype="<f8").tobytes())
    content.update(np.concatenate([robot.limits.lower, robot.limits.upper]).astype("<f8").tobytes())
    for placed in volumes:
        content.update(f"{placed.name} {placed.owner} {placed.body}".encode())
        if isinstance(placed.volume, SphereTorusVolume):
            content.update(np.asarray(placed.volume.vertices, dtype="<f8").tobytes())
            content.update(np.array([placed.volume.r, placed.volume.R], dtype="<f8").tobytes())
    return (store_folder() if folder is None else folder) / f"pairs-{content.hexdigest()}.npz"


def load_pairs(path: Path, robot: Robot) -> tuple[NDArray[np.int64], tuple[CompoundLimit, ...]] | None:
    """Pairs (m, 2) that distances keep apart, and functions of compound joints; None when nothing is kept."""
    joints = {joint.joints: joint for joint in compound_joints(robot.description)}
    # A file that was cut short or belongs to something else is made anew.
    with contextlib.suppress(OSError, ValueError, KeyError, zipfile.BadZipFile), np.load(path) as file:
        limits = []
        for index in range(int(file["count"])):
            names = tuple(str(name) for name in file[f"joints_{index}"])
            limits.append(
                CompoundLimit(
                    joint=joints[names],
                    pairs=tuple((str(a), str(b)) for a, b in file[f"pairs_{index}"].reshape(-1, 2)),
                    exponents=file[f"exponents_{index}"],
                    coefficients=file[f"coefficients_{index}"],
                    colliding=float(file[f"shares_{index}"][0]),
                    lost=float(file[f"shares_{index}"][1]),
                )
            )
        return file["pairs"].reshape(-1, 2), tuple(limits)
    return None


def save_pairs(path: Path, pairs: NDArray[np.int64], limits: Sequence[CompoundLimit]) -> None:
    """Keep pairs and functions; a folder that can't be written to keeps nothing."""
    arrays: dict[str, NDArray[np.generic]] = {"pairs": pairs, "count": np.array(len(limits))}
    for index, limit in enumerate(limits):
        arrays[f"joints_{index}"] = np.array(limit.joint.joints)
        arrays[f"pairs_{index}"] = np.array(limit.pairs)
        arrays[f"exponents_{index}"] = limit.exponents
        arrays[f"coefficients_{index}"] = limit.coefficients
        arrays[f"shares_{index}"] = np.array([limit.colliding, limit.lost])
    keep(path, arrays)
