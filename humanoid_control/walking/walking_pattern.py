# SPDX-License-Identifier: Apache-2.0
"""A walk as a motion of all joints, with what it was made from, and paths of its feet in the air."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from humanoid_control.walking.footstep_plan import Footstep
from humanoid_model.archive import BROKEN_ARCHIVE, read_archive
from humanoid_model.contact import Contact, Surface
from humanoid_model.errors import InputError
from humanoid_model.files import require_file
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.robot import Robot
from humanoid_model.whole_body_trajectory import ContactSpan, WholeBodyTrajectory


def quintic(s: float) -> float:
    r""":math:`10s^3-15s^4+6s^5`: from 0 at s = 0 to 1 at s = 1 with zero velocity and acceleration at both ends."""
    return s**3 * (10.0 + s * (-15.0 + 6.0 * s))


def swing_yaw(origin: Footstep, goal: Footstep, s: float) -> float:
    """Return the yaw of the foot [rad] at a share s of the swing; it turns the shorter way."""
    turn = math.remainder(goal.yaw - origin.yaw, 2.0 * math.pi)
    return origin.yaw + quintic(s) * turn


def swing_placement(origin: Footstep, goal: Footstep, height: float, s: float) -> pin.SE3:
    """Sole frame at a share of the swing.

    The foot stays parallel to the ground, leaves it and lands with zero velocity and acceleration, and is highest half
    way.

    Args:
        origin: footprint that it leaves.
        goal: footprint that it lands on.
        height: of the highest point [m].
        s: share of the swing's time, 0 to 1.
    """
    share = quintic(s)
    lift = height * quintic(2.0 * min(s, 1.0 - s))
    position = [origin.x + share * (goal.x - origin.x), origin.y + share * (goal.y - origin.y), lift]
    return pin.SE3(pin.utils.rotate("z", swing_yaw(origin, goal, s)), np.array(position))


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
        """What players and controllers of joints take: the cubic spline through all samples."""
        velocities = CubicSpline(self.times, self.positions, bc_type="clamped").derivative()(self.times)
        return JointTrajectory(self.joint_names, self.times, self.positions, velocities)

    def motion(self, robot: Robot, spacing: float = 0.02) -> WholeBodyTrajectory:
        """Return the walk as a motion of the whole robot, for bridges and players.

        Velocities and accelerations are central differences of the samples.

        Args:
            robot: that walks.
            spacing: between samples of the motion [s]; those of the walk are nearer to each other.
        """
        model, dt = robot.model, float(self.times[1] - self.times[0])
        q = np.tile(pin.neutral(model), (len(self.times), 1))
        q[:, [robot.index_q(name) for name in self.joint_names]] = self.positions
        for row, base in zip(q, self.base, strict=True):
            row[:] = robot.place_base(row, pin.XYZQUATToSE3(base))
        v, a = np.zeros((len(q), model.nv)), np.zeros((len(q), model.nv))
        for k in range(1, len(q) - 1):
            v[k] = pin.difference(model, q[k - 1], q[k + 1]) / (2.0 * dt)
            a[k] = (pin.difference(model, q[k], q[k + 1]) - pin.difference(model, q[k - 1], q[k])) / dt**2
        every = max(round(spacing / dt), 1)
        kept = np.unique(np.append(np.arange(0, len(q), every), len(q) - 1))
        return WholeBodyTrajectory(robot, self.times[kept], q[kept], v[kept], a[kept], self._spans(robot))

    def _spans(self, robot: Robot) -> list[ContactSpan]:
        """When which sole stands where."""
        ground, spans = Surface("ground", "", pin.SE3.Identity()), []
        for i, sole in enumerate(self.soles):
            changes = np.flatnonzero(np.diff(self.support[:, i].astype(int))) + 1
            edges = [0, *changes, len(self.times) - 1]
            for first, last in itertools.pairwise(edges):
                if not self.support[first, i]:
                    continue
                x, y, _, yaw = self.sole_placements[first, i]
                contact = Contact(robot.contacts[sole], ground, float(x), float(y), float(yaw))
                spans.append(ContactSpan(contact, float(self.times[first]), float(self.times[last])))
        return spans

    def save(self, path: str | Path) -> None:
        """Write everything into a file of NumPy arrays, ``.npz``."""
        arrays: dict[str, Any] = {name: np.asarray(value) for name, value in vars(self).items()}
        with open(path, "wb") as file:
            np.savez_compressed(file, **arrays)

    def write_joints(self, path: str | Path) -> None:
        """Write times and joint positions as comma-separated values, as files of joint trajectories have them."""
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
        arrays: dict[str, Any] = read_archive(path)
    except InputError:
        raise
    except BROKEN_ARCHIVE as problem:
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
