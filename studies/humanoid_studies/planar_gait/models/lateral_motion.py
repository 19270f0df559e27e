# SPDX-License-Identifier: Apache-2.0
"""What of a robot moves in its sagittal plane: joints about the lateral axis, and bodies that move as one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_model.robot import Robot

PARALLEL = 1e-6
"""Difference of an axis' lateral component from one beyond which the axis isn't lateral."""

_PLANAR_ROOT = ["JointModelPX", "JointModelPZ", "JointModelRY"]


@dataclass(frozen=True)
class PlanarMass:
    """Bodies that move as one, seen from the side.

    Attributes:
        mass: [kg].
        centre: centre of mass, forward and up [m].
        inertia: about it, around the lateral axis [kg m²].
    """

    mass: float
    centre: complex
    inertia: float


def posture_of(robot: Robot, posture: str | ArrayLike) -> NDArray[np.float64]:
    """(nq,) a posture by its name, or as given.

    Raises:
        InputError: unknown name, wrong size, or values that aren't finite.
    """
    if isinstance(posture, str):
        return robot.posture(posture)
    given = np.array(posture, dtype=float)
    if given.shape != (robot.model.nq,) or not np.isfinite(given).all():
        raise InputError(
            f"posture of shape {given.shape}, or not finite",
            element=f"robot '{robot.name}'",
            remedy=f"Give {robot.model.nq} finite coordinates",
        )
    return given


def has_planar_root(robot: Robot) -> bool:
    """Return whether the first joints are those of a base that slides along x and z and turns about y."""
    first = [robot.model.joints[joint].shortname() for joint in range(1, min(4, robot.model.njoints))]
    return robot.base_joint is None and first == _PLANAR_ROOT


def lateral_sign(robot: Robot, data: pin.Data, name: str) -> int:
    """+1 or -1 if a joint of one angle turns about the lateral axis to the left or to the right, 0 if neither.

    Args:
        robot: of the joint.
        data: with the placements of a posture.
        name: of the joint.
    """
    joint = robot.model.getJointId(name)
    if joint >= robot.model.njoints or robot.model.joints[joint].nv != 1:
        return 0
    own = robot.model.joints[joint].createData()
    robot.model.joints[joint].calc(own, pin.neutral(robot.model), np.ones(robot.model.nv))
    spin = data.oMi[joint].act(pin.Motion(np.asarray(own.S, dtype=float).reshape(6))).angular
    if abs(abs(spin[1]) - 1.0) > PARALLEL:
        return 0
    return 1 if spin[1] > 0.0 else -1


def rigid_groups(model: pin.Model, moving: Collection[int]) -> list[int]:
    """For each joint the moving joint that carries it, itself included; 0 where there is none."""
    group = [0] * model.njoints
    for joint in range(1, model.njoints):
        group[joint] = joint if joint in moving else group[model.parents[joint]]
    return group


def planar_masses(model: pin.Model, data: pin.Data, moving: Collection[int]) -> dict[int, PlanarMass]:
    """Mass properties of what moves as one, by moving joint; 0 for what none of them carries.

    Args:
        model: of the robot.
        data: with the placements of a posture.
        moving: joints that move.
    """
    sums = {joint: pin.Inertia.Zero() for joint in (0, *moving)}
    groups = rigid_groups(model, moving)
    for joint in range(1, model.njoints):  # what is welded to the world doesn't move
        sums[groups[joint]] = sums[groups[joint]] + data.oMi[joint].act(model.inertias[joint])
    return {
        key: PlanarMass(float(total.mass), in_plane(total.lever), float(total.inertia[1, 1]))
        for key, total in sums.items()
    }


def in_plane(point: NDArray[np.float64]) -> complex:
    """Return a point in the sagittal plane: forward and up."""
    return complex(point[0], point[2])
