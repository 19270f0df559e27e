# SPDX-License-Identifier: Apache-2.0
"""HRP-2 that lifts an object with both hands, seen from the side: seven joints on feet that stay flat.

The thesis' model (specification 000 sections 21.1 and 22, Figs. 5.13 and 5.25): robot, object and motion are symmetric,
so that both arms and both legs are one each. Angles and torques are those of the robot's own joints, one side's; the
origin is on the ground below the ankles, x forward, z up. All of the robot that the seven joints don't move is rigid,
in the posture ``zero``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_studies.planar_gait.mechanism.planar_body import PlanarBody
from humanoid_studies.planar_gait.mechanism.planar_point import PlanarPoint
from humanoid_studies.planar_gait.mechanism.planar_tree import PlanarTree
from humanoid_studies.planar_gait.models.lateral_motion import in_plane, planar_masses

JOINTS = ("LEG_JOINT4", "LEG_JOINT3", "LEG_JOINT2", "CHEST_JOINT1", "ARM_JOINT0", "ARM_JOINT3", "ARM_JOINT5")
"""The thesis' joints 1 to 7."""
JOINT_WORDS = ("ankle", "knee", "hip", "trunk", "shoulder", "elbow", "wrist")
"""What they are called."""
BODIES = ("shank", "thigh", "waist", "trunk", "upper_arm", "forearm", "hand")
SIDES = np.array([2.0, 2.0, 2.0, 1.0, 2.0, 2.0, 2.0])
"""How many of each joint there are."""
SHARE_OF_PEAK = 0.2
"""Nominal torques are "less than 20 %" of the peak ones (thesis §5.2.2.3)."""
RATED_LOAD = 2.0
"""What a hand holds on a stretched, horizontal arm at nominal torques [kg]: our choice."""
SENSOR_LIMITS = np.array([200.0, 100.0, 5.0])
"""Of a wrist's sensor: force along the hand, across it [N], moment about the lateral axis [N m] (thesis §5.2.2.3)."""
GRIP = 0.04
"""From the fingers' joint to the middle of what they hold, along the hand [m]."""


@dataclass(frozen=True)
class HeldObject:
    """A box that both hands hold at its centre of mass.

    Attributes:
        mass: [kg].
        depth: across the hand, in the sagittal plane [m].
        height: along the hand [m].
        tilt: of the object against the hand, from forward to up [rad].
        below: share of the height that is below the grasp, where the centre of mass is.
    """

    mass: float
    depth: float
    height: float
    tilt: float = 0.0
    below: float = 0.5

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InputError: mass or size isn't positive.
        """
        for name in ("mass", "depth", "height"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise InputError(f"is {value}", element=f"object.{name}", remedy="Give a positive number")

    @property
    def inertia(self) -> float:
        """About the lateral axis through its centre of mass, as if uniform about it [kg m²]."""
        return self.mass * (self.depth**2 + self.height**2) / 12.0


@dataclass(frozen=True, eq=False)
class StaticLoad:
    """What holding postures without motion takes; arrays over the postures' leading axes.

    Attributes:
        torques: (..., 7) of one side's joints [N m].
        centre_x: (...) centre of mass of robot and object [m].
        sensor: (..., 3) forces along and across the hand and moment at one wrist's sensor [N, N m].
    """

    torques: Array
    centre_x: Array
    sensor: Array


class PlanarLifter:
    """The seven-joint robot with an object in its hands.

    Attributes:
        held: the object.
        tree: of all that moves above the ankles, in absolute angles, the object welded to the hands.
        absolute: (7, 7) matrix S of absolute angles from joint angles.
        grip: middle of the object.
        beyond_wrist: centre of mass of hands and object.
        wrist_mass: mass of hands and object [kg].
        lower: (7,) joint limits [rad].
        upper: (7,) likewise.
        speed: (7,) largest speeds [rad/s].
        nominal: (7,) torques that may last [N m].
        armature: (7,) rotor inertia of one joint [kg m²].
        viscous: (7,) friction of one joint [N m s/rad].
        dry: (7,) likewise [N m].
        ankle_height: above the ground [m].
        feet_mass: of both [kg].
        feet_x: centre of mass of the feet [m].
        sole: heel and toe [m].
    """

    def __init__(self, robot: Robot, held: HeldObject, gravity: float = 9.8) -> None:
        """Project the robot onto its sagittal plane.

        Args:
            robot: with HRP-2's joints.
            held: what is in its hands.
            gravity: [m/s²]; the thesis' numbers imply 9.8.

        Raises:
            InputError: a joint isn't there.
        """
        self.held = held
        named = [name if name.startswith("CHEST") else f"R{name}" for name in JOINTS]
        lost = [name for name in named if name not in robot.actuators]
        if lost:
            raise InputError(f"has no joint '{lost[0]}'", element=f"robot '{robot.name}'", remedy="Give an HRP-2")
        model, data, zero = robot.model, robot.model.createData(), robot.posture("zero")
        pin.forwardKinematics(model, data, zero)
        ids = [model.getJointId(name) for name in named]
        mirrored = [model.getJointId(name.replace("R", "L", 1)) for name in named if name.startswith("R")]
        masses = planar_masses(model, data, [*ids, *mirrored])
        place = [in_plane(data.oMi[joint].translation) for joint in ids]
        ankle, knee, hip, chest, shoulder, elbow, wrist = place
        # From the ground up: what a leg's joint carries in the robot is what it stands on here.
        groups = (ids[1], ids[2], 0, ids[3], ids[4], ids[5], ids[6])
        axes = (ankle, knee, hip, chest, shoulder, elbow, wrist)
        parents = (None, "shank", "thigh", "waist", "trunk", "upper_arm", "forearm")
        sole = robot.contacts["right_sole"].vertices_link
        self.ankle_height, self.sole = -float(sole[:, 2].min()), (float(sole[:, 0].min()), float(sole[:, 0].max()))
        bodies, previous = [], ankle - 1j * self.ankle_height
        for name, parent, group, axis, sides in zip(BODIES, parents, groups, axes, SIDES, strict=True):
            part = masses[group]
            both = sides if group else 1.0
            bodies.append(
                PlanarBody(name, parent, axis - previous, both * part.mass, part.centre - axis, both * part.inertia)
            )
            previous = axis
        finger = in_plane(data.oMi[model.getJointId("RARM_JOINT6")].translation) - wrist
        reach = finger - 1j * GRIP
        bodies.append(PlanarBody("object", "hand", reach, held.mass, 0.0, held.inertia, welded=True))
        self.absolute = np.tril(np.ones((7, 7)))
        self.absolute[3:, 3:] *= -1.0
        v = [robot.index_v(name) for name in named]
        self.armature = np.asarray(model.armature)[v].copy()
        self.viscous, self.dry = np.asarray(model.damping)[v].copy(), np.asarray(model.friction)[v].copy()
        inverse = np.linalg.inv(self.absolute)
        rotors = inverse.T @ np.diag(SIDES * self.armature) @ inverse
        self.tree = PlanarTree.from_bodies(bodies, gravity).with_rotors(0.5 * (rotors + rotors.T))
        self.grip = self.tree.point("object")
        hands = masses[ids[6]]
        self.wrist_mass = 2.0 * hands.mass + held.mass
        self.beyond_wrist = self.tree.point(
            "hand", (2.0 * hands.mass * (hands.centre - wrist) + held.mass * reach) / self.wrist_mass
        )
        foot = masses[ids[0]]
        self.feet_mass, self.feet_x = 2.0 * foot.mass, (foot.centre - ankle).real
        places = [robot.index_q(name) for name in named]
        self.lower, self.upper = robot.limits.lower[places], robot.limits.upper[places]
        self.speed, self.nominal = robot.limits.velocity[v].copy(), robot.limits.effort[v].copy()
        self.lengths = (abs(knee - ankle), abs(hip - knee), abs(elbow - shoulder), abs(wrist - elbow))
        self.trunk, self.reach = shoulder - hip, reach
        # The arms' nominal torques hold the rated load; those of legs and trunk are the robot file's.
        weights = [(2.0 * masses[ids[k]].mass, masses[ids[k]].centre) for k in (4, 5, 6)]
        for k, axis in ((4, shoulder), (5, elbow), (6, wrist)):
            moment = sum(0.5 * m * abs(c - axis) for (m, c), own in zip(weights, (4, 5, 6), strict=True) if own >= k)
            self.nominal[k] = gravity * (moment + RATED_LOAD * abs(wrist + reach - axis))

    @property
    def peak(self) -> Array:
        """(7,) torques that may be given for a short time [N m]."""
        return np.asarray(self.nominal / SHARE_OF_PEAK)

    @property
    def total_mass(self) -> float:
        """Robot and object [kg]."""
        return self.tree.mass + self.feet_mass

    def angle_of_object(self, q: ArrayLike) -> Array:
        """(...) the thesis' angle of the object at joint angles (..., 7) [rad]: 90° hanging, 0 ahead, −90° above."""
        return np.asarray(0.5 * np.pi - np.asarray(q) @ self.absolute[6])

    def point(self, name: str) -> PlanarPoint:
        """Return the joint axis of a body."""
        return self.tree.point(name)

    def posture(self, hip: complex, shoulder: complex, grip: complex, angle: float) -> Array:
        """(7,) joint angles for places of hip, shoulder and object; the trunk's own joint stays straight.

        Args:
            hip: forward and up from the ground below the ankles [m].
            shoulder: the direction from the hip counts, the distance is the robot's.
            grip: middle of the object.
            angle: of the object [rad].

        Raises:
            InputError: a leg or an arm is too short, or a joint beyond its limits.
        """
        shank, thigh, upper, fore = self.lengths
        ankle = 1j * self.ankle_height
        first, second = _two_links(hip - ankle, shank, thigh, "hip")
        trunk = float(np.angle((shoulder - hip) / self.trunk))
        at = hip + abs(self.trunk) * (shoulder - hip) / abs(shoulder - hip)
        hand = 0.5 * np.pi - angle
        wrist = grip - self.reach * np.exp(1j * hand)
        above, below = _two_links(wrist - at, upper, fore, "wrist")
        # Legs rise from their axes, arms hang: absolute angles are zero in the posture zero.
        theta = np.array([first - 0.5 * np.pi, second - 0.5 * np.pi, trunk, trunk, above, below, hand])
        theta[4:6] += 0.5 * np.pi
        theta = trunk + np.remainder(theta - trunk + 0.5 * np.pi, 2.0 * np.pi) - 0.5 * np.pi
        q = np.linalg.solve(self.absolute, theta)
        off = (q < self.lower) | (q > self.upper)
        if off.any():
            k = int(np.argmax(off))
            raise InputError(
                f"is {q[k]:.3f} of {self.lower[k]:.3f} to {self.upper[k]:.3f} rad",
                element=JOINTS[k],
                remedy="Choose another posture",
            )
        return np.asarray(q)

    def static_load(self, q: ArrayLike) -> StaticLoad:
        """Return what postures (..., 7) take without motion: torques by (5.27), centre of mass, sensor."""
        theta = np.asarray(q, dtype=float) @ self.absolute.T
        rows = self.tree.potential_gradient(theta)
        weight = 0.5 * self.wrist_mass * self.tree.gravity
        hand = theta[..., 6]
        sensor = np.stack([-weight * np.cos(hand), weight * np.sin(hand), 0.5 * rows[..., 6]], axis=-1)
        centre = self.tree.mass * self.tree.centre.position(theta)[..., 0] + self.feet_mass * self.feet_x
        return StaticLoad(rows @ self.absolute / SIDES, centre / self.total_mass, sensor)


def _two_links(way: complex, first: float, second: float, element: str) -> tuple[float, float]:
    """Return directions of two links that lead along a way, the second turned counter-clockwise from the first [rad].

    Raises:
        InputError: the way is too long or too short.
    """
    distance = abs(way)
    if not abs(first - second) <= distance <= first + second:
        raise InputError(
            f"is {distance:.3f} m away", element=element, remedy=f"Give at most {first + second:.3f} m"
        )
    inner = math.acos((distance**2 + first**2 - second**2) / (2.0 * distance * first))
    outer = math.acos((distance**2 + second**2 - first**2) / (2.0 * distance * second))
    along = float(np.angle(way))
    return along - inner, along + outer
