# SPDX-License-Identifier: Apache-2.0
"""Actuators, passive springs and tendons of robots.

Joints for which no gains are given get some. A tendon is a length made of joint positions or of distances between
points, with a force along it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_model.value_equality import ValueEquality

#: Natural frequency of a position-controlled joint with default gains, Hz.
DEFAULT_FREQUENCY = 8.0
#: How long a motor may give more than its nominal effort when nothing is said, s (specification 000 section 20.4).
DEFAULT_PEAK_TIME = 3.0


@dataclass(frozen=True)
class Actuator:
    """A position- or effort-controlled joint drive.

    Attributes:
        stiffness: position gain, N m/rad or N/m.
        damping: velocity gain, N m s/rad or N s/m.
        effort: largest effort, N m or N; infinite when unlimited.
        velocity: largest speed, rad/s or m/s; infinite when unlimited.
        armature: rotor inertia seen at the joint, kg m^2 or kg.
        gear_ratio: turns of the motor per turn of the joint: the motor gives ``effort / gear_ratio``.
        viscous_friction: of joint and gear, N m s/rad or N s/m.
        dry_friction: likewise, N m or N.
        nominal_effort: largest effort that may last, N m or N; infinite when it is not below ``effort``.
        peak_time: how long the effort may be above the nominal one, s.
    """

    stiffness: float
    damping: float
    effort: float
    velocity: float
    armature: float
    gear_ratio: float = 1.0
    viscous_friction: float = 0.0
    dry_friction: float = 0.0
    nominal_effort: float = math.inf
    peak_time: float = DEFAULT_PEAK_TIME


@dataclass(frozen=True)
class Spring:
    """A passive joint's spring and damper: effort = -stiffness (q - rest) - damping v.

    Attributes:
        stiffness: N m/rad or N/m.
        damping: N m s/rad or N s/m.
        rest: joint position without effort, rad or m.
    """

    stiffness: float
    damping: float
    rest: float


def default_gains(model: pin.Model, support_joints: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
    """Stiffness and damping of every velocity coordinate: a critically damped 8 Hz oscillator.

    The inertia that a drive moves is what hangs from its joint, or, for a joint between the root and a
    support (a leg's), all the rest of the robot. It is taken in the model's zero posture, armature added.

    Args:
        model: the robot; its inertias and armature count.
        support_joints: joints that carry the links on which the robot stands.

    Returns:
        (nv,) stiffness and (nv,) damping.
    """
    data = model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    below = [data.oMi[j].act(model.inertias[j]) for j in range(model.njoints)]
    for j in range(model.njoints - 1, 0, -1):
        below[model.parents[j]] = below[model.parents[j]] + below[j]
    legs: set[int] = set()
    for joint in support_joints:
        legs.update(model.supports[joint])
    carried = np.zeros(model.nv)
    for j in range(1, model.njoints):
        inertia = below[j].matrix()
        if j in legs:
            inertia = below[0].matrix() - inertia
        joint = model.joints[j]
        # A model of one coordinate gets its Jacobian without the second dimension.
        motion = np.reshape(pin.computeJointJacobian(model, data, pin.neutral(model), j), (6, -1))
        columns = data.oMi[j].action @ motion[:, joint.idx_v : joint.idx_v + joint.nv]
        carried[joint.idx_v : joint.idx_v + joint.nv] = np.einsum(
            "ik,ij,jk->k", columns, inertia, columns
        )
    carried += model.armature
    omega = 2 * math.pi * DEFAULT_FREQUENCY
    return carried * omega**2, 2 * carried * omega


@dataclass(frozen=True, eq=False)
class TendonPoint(ValueEquality):
    """A point that a tendon goes straight to and from.

    Attributes:
        body: name in the scene, empty for the world.
        point: (3,) in the body frame [m].
    """

    body: str
    point: np.ndarray


@dataclass(frozen=True)
class TendonDrive:
    """A drive along a tendon.

    Attributes:
        stiffness: of a position servo, zero for others [N/m].
        damping: velocity gain [N s/m].
        effort: largest force; infinite when unlimited [N].
    """

    stiffness: float
    damping: float
    effort: float


@dataclass(frozen=True, eq=False)
class Tendon(ValueEquality):
    """A length that depends on the configuration, and the force along it.

    The length is the sum of ``coefficient * position`` of the joints, or of the straight pieces of each branch over its
    divisor, as of a rope over pulleys. Units are those of a length in metres; a tendon of hinges has rad and N m.

    Attributes:
        name: in the scene.
        joints: joints, ``robot/joint``, of one coordinate each and their coefficients; empty for one through points.
        branches: divisor and points, two at least, of each branch; empty for one of joints.
        stiffness: of its spring [N/m].
        damping: viscous friction [N s/m].
        rest: lengths between which the spring has no force [m].
        limits: shortest and longest length, infinite where there is none [m].
        drive: what pulls it, None for a passive one.
    """

    name: str
    joints: tuple[tuple[str, float], ...] = ()
    branches: tuple[tuple[float, tuple[TendonPoint, ...]], ...] = ()
    stiffness: float = 0.0
    damping: float = 0.0
    rest: tuple[float, float] = (0.0, 0.0)
    limits: tuple[float, float] = (-math.inf, math.inf)
    drive: TendonDrive | None = None

    def holds(self, name: str) -> bool:
        """Whether a robot or body, by its name in the scene, carries a part of it."""
        bodies = [point.body for _, points in self.branches for point in points] + [joint for joint, _ in self.joints]
        return any(body == name or body.startswith(f"{name}/") for body in bodies)
