# SPDX-License-Identifier: Apache-2.0
"""Left and right changed: which joint becomes which, and how a state looks after a step."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_gait.coordinates import Coordinates, quaternion_product, rotation
from humanoid_gait.mirrored_name import mirrored_name
from humanoid_model import InputError, Robot
from humanoid_model.arrays import Array

_EVEN = 1e-3
"""First moment of a body [kg m] that counts as none, by the robot's mass."""
_AXIS = 0.9
"""Least cosine between an axis and another one's mirror image that count as one direction."""


@dataclass(frozen=True, eq=False)
class Mirror:
    """Reflection in the plane y = 0.

    Attributes:
        source: (n,) coordinate that each one takes its value from; the base's own.
        sign: (n,) factor, ones for the base.
        reflects: whether the base is reflected too.
    """

    source: NDArray[np.int64]
    sign: Array
    reflects: bool

    @classmethod
    def none(cls, n: int) -> Mirror:
        """Nothing changes."""
        return cls(np.arange(n), np.ones(n), False)

    @classmethod
    def of(cls, robot: Robot) -> Mirror:
        """Pair a robot's joints by their names, and tell signs by their axes.

        Raises:
            InputError: a joint has no partner, its partner's axis isn't its image, or the robot is heavier on one side.
        """
        if (uneven := uneven_joint(robot)) is not None:
            raise InputError(
                f"what '{uneven}' moves is heavier on one side",
                element=f"robot '{robot.name}'",
                remedy="Give a cycle of two steps that isn't mirrored",
            )
        model = robot.model
        data = model.createData()
        names = list(model.names)
        source, sign = np.arange(model.nv), np.ones(model.nv)
        for name in robot.joint_names:
            joint = names.index(name)
            partner = names.index(other_name(names, name))
            axis, other = (_axis(model, data, k) for k in (joint, partner))
            # An axis of turns is mirrored with its sign changed, one of slides without.
            turns = 1.0 if model.joints[joint].shortname().startswith("JointModelR") else -1.0
            cosine = turns * float(axis @ (other * [-1.0, 1.0, -1.0]))
            if abs(cosine) < _AXIS:
                raise InputError(
                    f"joint '{name}' has no mirror image in '{names[partner]}'",
                    element=f"robot '{robot.name}'",
                    remedy="Give a cycle of two steps that isn't mirrored",
                )
            at = model.joints[joint].idx_v
            source[at], sign[at] = model.joints[partner].idx_v, np.sign(cosine)
        return cls(source, sign, True)

    def image(self, coordinates: Coordinates, step: pin.SE3, state: ca.SX) -> ca.SX:
        """(2 n,) state, mirrored and moved by a step: coordinates and rates, turning rates in the chart's own axes.

        Args:
            coordinates: charts.
            step: motion of the plane.
            state: (2 n,) coordinates and rates.
        """
        n, b = coordinates.size, coordinates.base
        source = self.source.tolist()
        signs = ca.DM(self.sign)
        y, rate = signs * state[:n][source], signs * state[n:][source]
        if b is None:
            return ca.vertcat(y + ca.DM(self._planar(coordinates, step)), rate)
        mirror = ca.DM([1.0, -1.0, 1.0]) if self.reflects else ca.DM.ones(3)
        axial = -mirror if self.reflects else ca.DM.ones(3)
        half = 0.5 * np.arctan2(step.rotation[1, 0], step.rotation[0, 0])
        # Turns about the vertical add up; the chart's heading is mirrored too.
        half -= coordinates.heading if self.reflects else 0.0
        turn = ca.DM([0.0, 0.0, np.sin(half), np.cos(half)])
        u = 0.5 * y[b + 3 : b + 6]
        turned = quaternion_product(turn, ca.vertcat(axial * u, ca.sqrt(1.0 - ca.dot(u, u))))
        position = ca.DM(step.rotation) @ (mirror * y[b : b + 3]) + ca.DM(step.translation)
        speed = ca.DM(step.rotation) @ (mirror * rate[b : b + 3])
        spin = rotation(turn) @ (axial * _spin(u, rate[b + 3 : b + 6]))
        return ca.vertcat(y[:b], position, 2.0 * turned[:3], y[b + 6 :], rate[:b], speed, spin, rate[b + 6 :])

    @staticmethod
    def _planar(coordinates: Coordinates, step: pin.SE3) -> Array:
        """(n,) what a step adds to the coordinates of a planar root: slides along x and z.

        Raises:
            InputError: the root doesn't slide along x, and the step isn't zero.
        """
        model = coordinates.robot.model
        shift = np.zeros(coordinates.size)
        data = model.createData()
        for joint in range(1, model.njoints):
            if model.parents[joint] == joint - 1 and model.joints[joint].shortname().startswith("JointModelP"):
                shift[model.joints[joint].idx_v] = float(_axis(model, data, joint) @ step.translation)
        if np.linalg.norm(step.translation) > 0.0 and not shift.any():
            raise InputError("the base can't take the step", element="step", remedy="Give a robot that moves freely")
        return shift


def uneven_joint(robot: Robot) -> str | None:
    """Return the joint whose body is least the mirror image of its partner's, None where the robot is even.

    What counts is the moment of its weight by which a mirrored motion asks for other efforts.
    """
    model, names = robot.model, list(robot.model.names)
    worst, most = None, _EVEN * robot.total_mass
    for joint, name in enumerate(names[1:], start=1):
        own, other = (model.inertias[k] for k in (joint, names.index(other_name(names, name))))
        moments = own.mass * own.lever * [1.0, -1.0, 1.0] - other.mass * other.lever
        off = abs(own.mass - other.mass) + float(np.abs(moments).max())
        if off > most:
            worst, most = name, off
    return worst


def other_name(names: list[str], name: str) -> str:
    """Return a joint's partner on the other side, itself where there is none."""
    return swapped if (swapped := mirrored_name(name)) in names else name


def _spin(u: ca.SX, rate: ca.SX) -> ca.SX:
    """(3,) turning rate in the chart's own axes, of half the chart's coordinates and their full rates [rad/s]."""
    du = 0.5 * rate
    w = ca.sqrt(1.0 - ca.dot(u, u))
    dw = -ca.dot(u, du) / w
    return 2.0 * (w * du - dw * u + ca.cross(u, du))


def _axis(model: pin.Model, data: pin.Data, joint: int) -> Array:
    """(3,) direction of a joint's axis in the world."""
    rate = np.zeros(model.nv)
    rate[model.joints[joint].idx_v] = 1.0
    pin.forwardKinematics(model, data, pin.neutral(model), rate)
    moved = data.v[joint]
    part = moved.angular if np.abs(moved.angular).max() > 0.0 else moved.linear
    return np.asarray(data.oMi[joint].rotation @ part)
