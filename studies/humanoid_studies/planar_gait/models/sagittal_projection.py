# SPDX-License-Identifier: Apache-2.0
"""A biped of any URDF as seven links in its sagittal plane, and the way back to the robot's own coordinates.

Joints of the legs that turn about the robot's lateral axis move; all others are locked where a reference posture has
them, and what they join becomes one body. Such a body moves in the plane, so that mass, centre of mass and the moment
of inertia about the lateral axis tell all of its motion. Rotor inertias of the drives are not part of it: where they
matter they are to be in the links' inertias, as in the thesis' table.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.models.bip import Bip
from humanoid_studies.planar_gait.models.foot_triangle import FootTriangle
from humanoid_studies.planar_gait.models.lateral_motion import (
    PlanarMass,
    has_planar_root,
    in_plane,
    lateral_sign,
    planar_masses,
    posture_of,
)
from humanoid_studies.planar_gait.models.leg_joint import LegJoint
from humanoid_studies.planar_gait.models.segment import Segment

_KINDS = ("hip", "knee", "ankle")
_APART = 1e-6
"""Distance beyond which axes and corners count as apart [m]."""


@dataclass(frozen=True)
class SagittalLeg:
    """A leg's moving joints, from hip to ankle.

    Attributes:
        joints: their names in the robot.
        signs: +1 where a joint turns about the lateral axis to the left, -1 to the right.
        shifts: what the planar model counts where the robot counts zero [rad].
    """

    joints: tuple[str, str, str]
    signs: tuple[int, int, int]
    shifts: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class SagittalProjection:
    """The planar model of a robot.

    Attributes:
        robot: that was projected.
        bip: its seven links; the rear leg is ``rear``'s.
        rear: the leg that is the rear one in double support and the stance one in single support.
        front: the other one.
        reference: (nq,) posture that locked joints keep.
        hip_reference: (3,) middle of both hips in the reference posture [m].
    """

    robot: Robot
    bip: Bip
    rear: SagittalLeg
    front: SagittalLeg
    reference: Array
    hip_reference: Array

    def configuration(self, model: PhaseModel, q: ArrayLike, offset: float = 0.0, swap_legs: bool = False) -> Array:
        """(nq,) posture of the robot at angles of one of the planar models.

        Args:
            model: double or single support of ``bip``.
            q: (n,) absolute angles [rad].
            offset: x of the model's frame in the world [m].
            swap_legs: let the legs change parts, as in every other step; only a robot whose legs are alike moves then
                as the model says.

        Raises:
            InputError: the model isn't one of this projection.
        """
        return self.state(model, q, np.zeros(model.n), offset, swap_legs)[0]

    def state(
        self, model: PhaseModel, q: ArrayLike, v: ArrayLike, offset: float = 0.0, swap_legs: bool = False
    ) -> tuple[Array, Array]:
        """(nq,) posture and (nv,) velocity of the robot; arguments as of :meth:`configuration`, rates (n,) [rad/s].

        Raises:
            InputError: the model isn't one of this projection.
        """
        angles, rates = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        posture, velocity = self.reference.copy(), np.zeros(self.robot.model.nv)
        for joint, sign, shift, angle, rate in zip(
            *self._joints(model, swap_legs), model.robot_angles(angles), model.robot_rates(rates), strict=True
        ):
            # Every turn that the planar angles have wound up is one that the joint hasn't.
            turned = sign * (angle - shift)
            middle = self._middle(joint)
            posture[self.robot.index_q(joint)] = turned - 2.0 * math.pi * round((turned - middle) / (2.0 * math.pi))
            velocity[self.robot.index_v(joint)] = sign * rate
        hip = model.points["hip"]
        place, speed = hip.position(angles) + np.array([offset, 0.0]), hip.jacobian(angles) @ rates
        trunk = model.tree.index("trunk")
        pitch, pitch_rate = math.pi / 2 - angles[trunk], -rates[trunk]
        self._move_base(posture, velocity, place, speed, pitch, pitch_rate)
        return posture, velocity

    def torques(self, model: PhaseModel, u: ArrayLike, swap_legs: bool = False) -> Array:
        """(nv,) joint torques of the robot that are the controls (N,) of one of the planar models [N m].

        Raises:
            InputError: the model isn't one of this projection.
        """
        result = np.zeros(self.robot.model.nv)
        for joint, sign, _, torque in zip(*self._joints(model, swap_legs), model.robot_torques(u), strict=True):
            result[self.robot.index_v(joint)] = sign * torque
        return result

    def _joints(self, model: PhaseModel, swap_legs: bool) -> tuple[list[str], list[int], list[float]]:
        """Robot joints in the order of the model's joints, their signs and shifts."""
        legs = {"rear": self.rear, "stance": self.rear, "front": self.front, "swing": self.front}
        if swap_legs:
            legs = {"rear": self.front, "stance": self.front, "front": self.rear, "swing": self.rear}
        joints, signs, shifts = [], [], []
        for name in model.joint_names:
            side, _, kind = name.partition("_")
            if side not in legs or kind not in _KINDS:
                raise InputError(
                    f"joint '{name}' is none of a seven-link biped", element=model.name, remedy="Give a model of .bip"
                )
            index = _KINDS.index(kind)
            joints.append(legs[side].joints[index])
            signs.append(legs[side].signs[index])
            shifts.append(legs[side].shifts[index])
        return joints, signs, shifts

    def _middle(self, joint: str) -> float:
        index = self.robot.index_q(joint)
        lower, upper = self.robot.limits.lower[index], self.robot.limits.upper[index]
        return 0.5 * (lower + upper) if np.isfinite(lower) and np.isfinite(upper) else 0.0

    def _move_base(
        self, posture: Array, velocity: Array, place: Array, speed: Array, pitch: float, pitch_rate: float
    ) -> None:
        """Put the hips at a place of the plane, the trunk turned forward by ``pitch`` from the reference."""
        turn = pin.SE3(pin.rpy.rpyToMatrix(0.0, pitch, 0.0), np.zeros(3))
        hip = np.array([place[0], self.hip_reference[1], place[1]])
        moved = pin.SE3(np.eye(3), hip) * turn * pin.SE3(np.eye(3), -self.hip_reference)
        spin = np.array([0.0, pitch_rate, 0.0])
        model = self.robot.model
        if self.robot.base_joint is not None:
            base = moved * self.robot.placement_base(self.reference)
            posture[:] = self.robot.place_base(posture, base)
            at = np.array([speed[0], 0.0, speed[1]]) + np.cross(spin, base.translation - hip)
            start = model.joints[self.robot.base_joint].idx_v
            velocity[start : start + 3] = base.rotation.T @ at
            velocity[start + 3 : start + 6] = base.rotation.T @ spin
            return
        data = model.createData()
        pin.forwardKinematics(model, data, self.reference)
        base = moved * data.oMi[3]
        start = posture[:3].copy()
        posture[0] = start[0] + base.translation[0] - data.oMi[3].translation[0]
        posture[1] = start[1] + base.translation[2] - data.oMi[3].translation[2]
        posture[2] = start[2] + pitch
        at = np.array([speed[0], 0.0, speed[1]]) + np.cross(spin, base.translation - hip)
        velocity[:3] = at[0], at[2], pitch_rate


def project_to_sagittal_plane(
    robot: Robot, posture: str | ArrayLike = "zero", legs: Sequence[str] | None = None
) -> SagittalProjection:
    """Make the seven-link model of a biped.

    Args:
        robot: whose base moves freely, or along x, z and about y. Its limbs name the legs' joints, its support contacts
            the soles.
        posture: in which locked joints stay, by its name or (nq,): the legs straight ahead.
        legs: limbs that become the rear and the front leg; the first two whose names end in "leg" if left out.

    Raises:
        InputError: an unknown posture or limb, a base that can't move in the plane, a leg without just three joints
            about the lateral axis, hips that aren't coaxial, a foot without a level sole, or feet of different
            triangles.
    """
    reference = posture_of(robot, posture)
    names = _leg_limbs(robot, legs)
    if robot.base_joint is None and not has_planar_root(robot):
        raise InputError(
            "its base can't move in the sagittal plane",
            element=f"robot '{robot.name}'",
            remedy="Load it with floating_base=True",
        )
    model, data = robot.model, robot.model.createData()
    pin.forwardKinematics(model, data, reference)
    chains = [_pitch_joints(robot, data, name) for name in names]
    moving = [robot.model.getJointId(joint) for chain in chains for joint, _ in chain]
    places = [[in_plane(data.oMi[model.getJointId(joint)].translation) for joint, _ in chain] for chain in chains]
    if abs(places[0][0] - places[1][0]) > _APART:
        raise InputError(
            f"hips are {abs(places[0][0] - places[1][0]):.4f} m apart in the sagittal plane",
            element=f"robot '{robot.name}'",
            remedy="Choose a posture in which they are coaxial",
        )
    hip = places[0][0]
    bodies = planar_masses(model, data, moving)
    soles = [_sole(robot, data, chain[2][0]) for chain in chains]
    segments: dict[str, Segment] = {}
    triangles: list[FootTriangle] = []
    for side, chain, place, (heel, toe) in zip(("rear", "front"), chains, places, soles, strict=True):
        foot = FootTriangle(abs(toe - place[2]), abs(toe - heel), place[2].imag - toe.imag)
        triangles.append(foot)
        ids = [model.getJointId(joint) for joint, _ in chain]
        ways = (
            {"foot": (toe, place[2]), "shank": (place[2], place[1]), "thigh": (place[1], place[0])}
            if side == "rear"
            else {"foot": (place[2], toe), "shank": (place[1], place[2]), "thigh": (place[0], place[1])}
        )
        for part, joint in zip(("thigh", "shank", "foot"), ids, strict=True):
            segments[f"{side}_{part}"] = _segment(*ways[part], bodies[joint])
    if any(
        abs(getattr(triangles[0], key) - getattr(triangles[1], key)) > _APART
        for key in ("ankle_toe", "length", "ankle_height")
    ):
        raise InputError(
            "its feet are of different triangles",
            element=f"robot '{robot.name}'",
            remedy="Give both soles the same outline",
        )
    top = max(in_plane(data.oMi[joint].translation).imag for joint in range(1, model.njoints))
    # The trunk's length is for pictures alone: to its highest joint, and well beyond its centre of mass.
    height = max(top, hip.imag + 1.6 * (bodies[0].centre.imag - hip.imag), hip.imag + 0.1) - hip.imag
    segments["trunk"] = _segment(hip, hip + 1j * height, bodies[0])
    bases = [_angles(place, toe) for place, (_, toe) in zip(places, soles, strict=True)]
    rear, front = (
        SagittalLeg(
            (chain[0][0], chain[1][0], chain[2][0]),
            (chain[0][1], chain[1][1], chain[2][1]),
            _shifts(robot, reference, chain, base),
        )
        for chain, base in zip(chains, bases, strict=True)
    )
    middle = 0.5 * sum(data.oMi[model.getJointId(chain[0][0])].translation for chain in chains)
    bip = Bip(segments, triangles[0], -float(model.gravity.linear[2]), _ranges(robot, (rear, front)))
    return SagittalProjection(robot, bip, rear, front, reference, np.asarray(middle))


def _leg_limbs(robot: Robot, legs: Sequence[str] | None) -> tuple[str, str]:
    found = [name for name in robot.limbs if name.endswith("leg")] if legs is None else list(legs)
    if len(found) < 2 or any(name not in robot.limbs for name in found[:2]):
        raise InputError(
            f"legs {', '.join(found) or 'none'}",
            element=f"robot '{robot.name}'",
            remedy=f"Name two of its limbs: {', '.join(robot.limbs) or 'it has none'}",
        )
    return found[0], found[1]


def _pitch_joints(robot: Robot, data: pin.Data, limb: str) -> list[tuple[str, int]]:
    """Return joints of a leg that turn about the lateral axis, and about which of its two directions."""
    chain = []
    for name in robot.limbs[limb]:
        sign = lateral_sign(robot, data, name)
        if sign:
            chain.append((name, sign))
    if len(chain) != 3:
        raise InputError(
            f"has {len(chain)} joints about the lateral axis: {', '.join(name for name, _ in chain) or 'none'}",
            element=f"robot '{robot.name}', limb '{limb}'",
            remedy="Project a leg whose hip, knee and ankle pitch, in a posture that keeps roll and yaw at zero",
        )
    return chain


def _segment(start: complex, end: complex, body: PlanarMass) -> Segment:
    """Return a body on the axis from a start to an end."""
    way = end - start
    own = (body.centre - start) * abs(way) / way
    return Segment(abs(way), body.mass, own, body.inertia + body.mass * abs(own) ** 2)


def _sole(robot: Robot, data: pin.Data, ankle: str) -> tuple[complex, complex]:
    """Heel and toe of the support contact that the ankle carries."""
    joint = robot.model.getJointId(ankle)
    for contact in robot.contacts.values():
        link = robot.parts.links[contact.link]
        carrier = link.joint_id
        while carrier not in (0, joint):
            carrier = robot.model.parents[carrier]
        if contact.support and carrier == joint:
            placed = data.oMi[link.joint_id] * link.placement_joint_link
            corners = [in_plane(placed.act(vertex)) for vertex in contact.vertices_link]
            if max(corner.imag for corner in corners) - min(corner.imag for corner in corners) > _APART:
                raise InputError(
                    f"sole '{contact.name}' isn't level",
                    element=f"robot '{robot.name}'",
                    remedy="Choose a posture in which it is",
                )
            ends = sorted(corners, key=lambda corner: corner.real)
            return ends[0], ends[-1]
    raise InputError(
        f"no support contact beyond '{ankle}'",
        element=f"robot '{robot.name}'",
        remedy="Mark the sole's contact in the robot's YAML with support: true",
    )


def _angles(place: Sequence[complex], toe: complex) -> tuple[float, float, float]:
    """Hip, knee and ankle as the planar model counts them, trunk upright and sole level."""
    thigh, shank, foot = place[0] - place[1], place[1] - place[2], place[2] - toe  # upwards, toe to ankle
    gamma = math.asin((place[2].imag - toe.imag) / abs(foot))
    return (
        cmath.phase(1j / thigh),
        cmath.phase(thigh / shank),
        cmath.phase(shank / foot * cmath.exp(1j * (math.pi / 2 - gamma))),
    )


def _shifts(
    robot: Robot, reference: Array, chain: Sequence[tuple[str, int]], angles: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Planar angle less the robot's own."""
    hip, knee, ankle = (
        angle - sign * float(reference[robot.index_q(name)]) for angle, (name, sign) in zip(angles, chain, strict=True)
    )
    return hip, knee, ankle


def _ranges(robot: Robot, legs: Sequence[SagittalLeg]) -> dict[str, LegJoint]:
    """Return what both legs' joints allow, as the planar model counts it."""
    joints = {}
    for index, kind in enumerate(_KINDS):
        ends, rates, rotors = [], [], []
        for leg in legs:
            q, v = robot.index_q(leg.joints[index]), robot.index_v(leg.joints[index])
            limits = (float(robot.limits.lower[q]), float(robot.limits.upper[q]))
            ends.append(sorted(leg.signs[index] * limit + leg.shifts[index] for limit in limits))
            rates.append(float(robot.limits.velocity[v]))
            rotors.append(float(robot.model.armature[v]))
        if not np.isclose(rotors[0], rotors[1], rtol=1e-6):
            raise InputError(
                f"{kind}s have rotors of {rotors[0]:g} and {rotors[1]:g} kg m²",
                element=f"robot '{robot.name}'",
                remedy="Give both legs the same",
            )
        joints[kind] = LegJoint(max(low for low, _ in ends), min(high for _, high in ends), min(rates), rotor=rotors[0])
    return joints
