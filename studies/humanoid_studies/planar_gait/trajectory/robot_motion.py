# SPDX-License-Identifier: Apache-2.0
"""From the absolute angles of a phase's model to the coordinates of the robot that walks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.models.lateral_motion import has_planar_root
from humanoid_studies.planar_gait.models.sagittal_projection import SagittalLeg, SagittalProjection


@dataclass(frozen=True, eq=False)
class RobotStates:
    """A robot along K samples.

    Attributes:
        q: (K, nq) postures.
        v: (K, nv) velocities.
        acceleration: (K, nv) their rates.
        base: (K, 3) x, z and pitch of the root link, forward positive [m, rad].
        base_velocity: (K, 3) rates of it.
        base_acceleration: (K, 3) rates of those.
    """

    q: Reals
    v: Reals
    acceleration: Reals
    base: Reals
    base_velocity: Reals
    base_acceleration: Reals


class RobotMotion(Protocol):
    """A robot whose motion in its sagittal plane is that of the phases' models.

    Attributes:
        robot: that moves.
        legs: limbs; the first is the rear or stance leg where the legs aren't swapped.
        soles: support contacts that the limbs end in.
    """

    robot: Robot
    legs: tuple[str, str]
    soles: tuple[str, str]

    def states(
        self, model: PhaseModel, q: Reals, v: Reals, acceleration: Reals, offset: Reals, swap: bool
    ) -> RobotStates:
        """Postures, velocities and accelerations of the robot.

        Args:
            model: of the phase.
            q: (K, n) absolute angles [rad].
            v: (K, n) rates [rad/s].
            acceleration: (K, n) [rad/s²].
            offset: (2,) place of the model's frame in the world [m].
            swap: whether the legs have changed parts.
        """

    def torques(self, model: PhaseModel, u: Reals, swap: bool) -> Reals:
        """(K, nv) joint torques that are the controls u (K, N) [N m]."""


class PlanarRootMotion:
    """A robot whose base slides along x and z and turns about y, its joints named and counted as the models' are.

    ``urdf/bip_planar.urdf`` and ``urdf/rabbit.urdf`` are such: rear_knee of the model is rear_knee of the robot, and
    the base's frame is at the hips.
    """

    def __init__(self, robot: Robot, first_leg: str | None = None) -> None:
        """Find the legs.

        Args:
            robot: with two limbs, rear_leg and front_leg.
            first_leg: limb that is the rear or stance leg unless legs are swapped; the rear one if left out.

        Raises:
            InputError: the base moves otherwise, a limb is missing or ends in no support contact.
        """
        if not has_planar_root(robot):
            raise InputError(
                "its base doesn't move along x and z and about y alone",
                element=f"robot '{robot.name}'",
                remedy="Give project_to_sagittal_plane(robot) in place of the robot",
            )
        self.robot = robot
        self.legs = _ordered_legs(robot, ("rear_leg", "front_leg"), first_leg)
        self.soles = (sole_of(robot, self.legs[0]), sole_of(robot, self.legs[1]))

    def states(
        self, model: PhaseModel, q: Reals, v: Reals, acceleration: Reals, offset: Reals, swap: bool
    ) -> RobotStates:
        """As :meth:`RobotMotion.states` says."""
        hip, trunk = model.points["hip"], model.tree.index("trunk")
        J = hip.jacobian(q)
        base = np.column_stack([hip.position(q) + offset, math.pi / 2 - q[:, trunk]])
        speed = np.column_stack([(J @ v[..., None])[..., 0], -v[:, trunk]])
        rate = np.column_stack([(J @ acceleration[..., None])[..., 0] + hip.bias(q, v), -acceleration[:, trunk]])
        own = self.robot.model
        parts = []
        for size, moved, joints in (
            (own.nq, base, model.robot_angles(q)),
            (own.nv, speed, model.robot_rates(v)),
            (own.nv, rate, model.robot_rates(acceleration)),
        ):
            values = np.zeros((len(q), size))
            values[:, :3] = moved
            for name, column in zip(self._joints(model, swap), joints.T, strict=True):
                values[:, self.robot.index_q(name)] = column
            parts.append(values)
        return RobotStates(parts[0], parts[1], parts[2], base, speed, rate)

    def torques(self, model: PhaseModel, u: Reals, swap: bool) -> Reals:
        """As :meth:`RobotMotion.torques` says."""
        result = np.zeros((len(u), self.robot.model.nv))
        for name, column in zip(self._joints(model, swap), model.robot_torques(u).T, strict=True):
            result[:, self.robot.index_v(name)] = column
        return result

    def _joints(self, model: PhaseModel, swap: bool) -> list[str]:
        """Return the robot's joints in the order of the model's."""
        sides = [leg.removesuffix("_leg") for leg in (reversed(self.legs) if swap else self.legs)]
        parts = {"rear": sides[0], "stance": sides[0], "front": sides[1], "swing": sides[1]}
        names = []
        for name in model.joint_names:
            part, _, kind = name.partition("_")
            own = f"{parts.get(part)}_{kind}"
            if own not in self.robot.joint_names:
                raise InputError(
                    f"joint '{name}' is none of its legs",
                    element=f"robot '{self.robot.name}', {model.name}",
                    remedy="Give the robot that the gait was made for",
                )
            names.append(own)
        return names


class ProjectedMotion:
    """A robot in space that moves as its projection on the sagittal plane does."""

    def __init__(self, projection: SagittalProjection, first_leg: str | None = None) -> None:
        """Find the legs.

        Args:
            projection: of the robot.
            first_leg: limb that is the rear or stance leg unless legs are swapped; the projection's rear if left out.

        Raises:
            InputError: no such leg.
        """
        self.robot = projection.robot
        self._projection = projection
        names = _limb_of(self.robot, projection.rear), _limb_of(self.robot, projection.front)
        self.legs = _ordered_legs(self.robot, names, first_leg)
        self._turned = self.legs != names
        self.soles = (sole_of(self.robot, self.legs[0]), sole_of(self.robot, self.legs[1]))

    def states(
        self, model: PhaseModel, q: Reals, v: Reals, acceleration: Reals, offset: Reals, swap: bool
    ) -> RobotStates:
        """As :meth:`RobotMotion.states` says."""
        robot, swapped = self.robot, swap != self._turned
        hip, trunk = model.points["hip"], model.tree.index("trunk")
        bias = hip.bias(q, v)
        speeds = (hip.jacobian(q) @ v[..., None])[..., 0]
        K = len(q)
        postures, velocities = np.zeros((K, robot.model.nq)), np.zeros((K, robot.model.nv))
        rates = np.zeros((K, robot.model.nv))
        base, base_velocity, base_acceleration = np.zeros((K, 3)), np.zeros((K, 3)), np.zeros((K, 3))
        floating = robot.base_joint is not None
        start = robot.model.joints[robot.base_joint].idx_v if robot.base_joint is not None else 0
        for k in range(K):
            posture, velocity = self._projection.state(model, q[k], v[k], float(offset[0]), swapped)
            _, rate = self._projection.state(model, q[k], acceleration[k], float(offset[0]), swapped)
            # What is left of the acceleration where rates stand for velocities: hips and base turn about each other.
            pitch, spin, turning = math.pi / 2 - q[k, trunk], -v[k, trunk], -acceleration[k, trunk]
            if floating:
                placed = robot.placement_base(posture)
                placed.translation = placed.translation + np.array([0.0, 0.0, offset[1]])
                posture = robot.place_base(posture, placed)
                origin, turn = placed.translation, placed.rotation
                hips = model.points["hip"].position(q[k]) + offset
                lever = origin[[0, 2]] - hips
                rest = bias[k] - spin * _across(speeds[k])
                rate[start : start + 3] += turn.T @ np.array([rest[0], 0.0, rest[1]])
                base[k] = origin[0], origin[2], pitch
                base_velocity[k, :2] = speeds[k] + spin * _across(lever)
                base_acceleration[k, :2] = (
                    model.points["hip"].jacobian(q[k]) @ acceleration[k]
                    + bias[k]
                    + turning * _across(lever)
                    - spin**2 * lever
                )
            else:
                posture[1] += offset[1]
                lever = self._lever(posture, model.points["hip"].position(q[k]) + offset)
                rate[:2] += bias[k] - spin**2 * lever
                base[k] = posture[:3]
                base_velocity[k, :2], base_acceleration[k, :2] = velocity[:2], rate[:2]
            base[k, 2] = pitch
            base_velocity[k, 2], base_acceleration[k, 2] = spin, turning
            postures[k], velocities[k], rates[k] = posture, velocity, rate
        return RobotStates(postures, velocities, rates, base, base_velocity, base_acceleration)

    def torques(self, model: PhaseModel, u: Reals, swap: bool) -> Reals:
        """As :meth:`RobotMotion.torques` says."""
        return np.stack([self._projection.torques(model, row, swap != self._turned) for row in u])

    def _lever(self, posture: Reals, hips: Reals) -> Reals:
        """(2,) from the hips to the origin of a planar base [m]."""
        data = self.robot.model.createData()
        pin.forwardKinematics(self.robot.model, data, posture)
        return np.asarray(data.oMi[3].translation[[0, 2]] - hips)


def sole_of(robot: Robot, limb: str) -> str:
    """Return the support contact that a limb ends in.

    Raises:
        InputError: it ends in none.
    """
    last = robot.model.getJointId(robot.limbs[limb][-1])
    for contact in robot.contacts.values():
        carrier = robot.parts.links[contact.link].joint_id
        while carrier not in (0, last):
            carrier = robot.model.parents[carrier]
        if contact.support and carrier == last:
            return contact.name
    raise InputError(
        "ends in no support contact",
        element=f"robot '{robot.name}', limb '{limb}'",
        remedy="Mark the sole's contact in the robot's YAML with support: true",
    )


def _across(way: Reals) -> Reals:
    """Return what a forward pitch of 1 rad/s does to the end of a way (x, z): (z, -x)."""
    return np.array([way[1], -way[0]])


def _limb_of(robot: Robot, leg: SagittalLeg) -> str:
    return next(name for name, joints in robot.limbs.items() if set(leg.joints) <= set(joints))


def _ordered_legs(robot: Robot, legs: tuple[str, str], first: str | None) -> tuple[str, str]:
    for leg in legs:
        if leg not in robot.limbs:
            raise InputError(
                f"has no limb '{leg}'",
                element=f"robot '{robot.name}'",
                remedy="Name its legs rear_leg and front_leg",
            )
    if first is None or first == legs[0]:
        return legs
    if first != legs[1]:
        raise InputError(f"is '{first}'", element="first_leg", remedy=f"Use {legs[0]} or {legs[1]}")
    return legs[1], legs[0]
