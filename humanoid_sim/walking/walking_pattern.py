# SPDX-License-Identifier: Apache-2.0
"""A walk as a motion of all joints, with what it was made from."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from humanoid_model.errors import InputError
from humanoid_model.input_file import require_file
from humanoid_sim.control.trajectory import JointTrajectory


@dataclass(frozen=True, eq=False)
class WalkingPattern:
    """A walk on flat ground, sampled k times; n joints move the robot.

    Attributes:
        robot: name of the robot that it was made for.
        joint_names: driven joints.
        times: s, from 0, shape (k,).
        positions: of the joints [rad or m], shape (k, n).
        base: place of the root link in the frame of the walk, as x, y, z and a quaternion x, y, z, w, shape (k, 7).
        zmp_reference: what the footsteps ask for [m], shape (k, 2).
        zmp: of the whole motion, by inverse dynamics [m], shape (k, 2).
        margin: of ``zmp`` within the soles that stand [m], shape (k,).
        centre_of_mass: m, shape (k, 3).
        soles: names of the support contacts.
        sole_placements: of the soles' frames: x, y, z and yaw [m, rad], shape (k, 2, 4).
        support: which soles stand, shape (k, 2).
    """

    robot: str
    joint_names: tuple[str, ...]
    times: NDArray[np.float64]
    positions: NDArray[np.float64]
    base: NDArray[np.float64]
    zmp_reference: NDArray[np.float64]
    zmp: NDArray[np.float64]
    margin: NDArray[np.float64]
    centre_of_mass: NDArray[np.float64]
    soles: tuple[str, str]
    sole_placements: NDArray[np.float64]
    support: NDArray[np.bool_]

    @property
    def duration(self) -> float:
        """Time of the last sample [s]."""
        return float(self.times[-1])

    @property
    def trajectory(self) -> JointTrajectory:
        """What :class:`~humanoid_sim.actuation.TrajectoryPlayer` plays: the cubic spline through all samples."""
        velocities = CubicSpline(self.times, self.positions, bc_type="clamped").derivative()(self.times)
        return JointTrajectory(self.joint_names, self.times, self.positions, velocities)

    def save(self, path: str | Path) -> None:
        """Write everything into a file of NumPy arrays, ``.npz``."""
        arrays: dict[str, Any] = {name: np.asarray(value) for name, value in vars(self).items()}
        with open(path, "wb") as file:
            np.savez_compressed(file, **arrays)

    def write_joints(self, path: str | Path) -> None:
        """Write times and joint positions as comma-separated values.

        :func:`~humanoid_sim.actuation.read_joint_trajectory` reads them.
        """
        rows = np.column_stack([self.times, self.positions])
        header = ",".join(("time", *self.joint_names))
        np.savetxt(path, rows, fmt="%.17g", delimiter=",", header=header, comments="")


def load_walking_pattern(path: str | Path) -> WalkingPattern:
    """Read what :meth:`WalkingPattern.save` wrote.

    Raises:
        InputError: the file can't be read or holds no walk.
    """
    require_file(path, remedy="Give a saved walking pattern")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile) as problem:
        raise InputError(f"can't be read: {problem}", source=str(path), remedy="Give a saved walking pattern") from None
    expected = set(WalkingPattern.__dataclass_fields__)
    if set(arrays) != expected:
        raise InputError(
            f"holds {', '.join(sorted(arrays)) or 'nothing'}",
            source=str(path),
            remedy=f"A walking pattern holds {', '.join(sorted(expected))}",
        )
    first, second = (str(sole) for sole in arrays["soles"])
    texts = {
        "robot": str(arrays["robot"]),
        "joint_names": tuple(str(name) for name in arrays["joint_names"]),
        "soles": (first, second),
    }
    return WalkingPattern(**{**arrays, **texts})
