# SPDX-License-Identifier: Apache-2.0
"""The mechanism that the algorithms see: bodies that move, numbered from the root, and the links fixed to them.

Bodies are the joints of a robot's Pinocchio model; what hangs on fixed joints is part of the body. Inertial parameters
are moments of its mass distribution.

A frame fixed to a body can be turned and moved as long as the joint's motion looks the same in it. Frames are chosen in
which most constants are zero: a skew axis is turned onto a coordinate axis, and the origin slides along the joint axis
to where it has fewest coordinates in the parent's frame. (The modified Denavit-Hartenberg frames of Khalil and
Kleinfinger do the same with another choice of axes.)
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_codegen.dynamics.vector import (
    Matrix,
    Scalar,
    SymmetricMatrix,
    Vector,
    add,
    add_symmetric,
    apply,
    constant_matrix,
    constant_vector,
    rotate_symmetric,
    scale,
)
from humanoid_model import Robot, RobotError
from humanoid_model.description import Inertial
from humanoid_model.inertia import spatial_inertia
from humanoid_model.tree import kinematic_tree
from humanoid_model.tree.kinematic_tree import joint_motion

#: Where an entry of a symmetric matrix is kept.
_PLACE = ((0, 1, 2), (1, 3, 4), (2, 4, 5))


@dataclass(frozen=True)
class BodyInertia:
    r"""Mass, first and second moments of a body about the origin of a frame, in its axes.

    The second moment :math:`J = \int r r^T dm` stands for the inertia tensor :math:`I = \mathrm{tr}(J) 1 - J`: parts of
    it that a joint can't tell from the parent's disappear entry by entry
    (:mod:`humanoid_codegen.dynamics.inertial_parameters`).

    Attributes:
        mass: kg.
        first: :math:`\int r dm` [kg m].
        second: xx, xy, xz, yy, yz, zz of :math:`\int r r^T dm` [kg m^2].
    """

    mass: Scalar
    first: Vector
    second: SymmetricMatrix

    @classmethod
    def zero(cls) -> BodyInertia:
        """No mass at all."""
        return cls(0.0, (0.0, 0.0, 0.0), (0.0,) * 6)

    @classmethod
    def from_pinocchio(cls, inertia: pin.Inertia) -> BodyInertia:
        """From Pinocchio's spatial inertia, in the same frame."""
        return cls.from_parameters(inertia.toDynamicParameters())

    @classmethod
    def from_inertial(cls, inertial: Inertial) -> BodyInertia:
        """From a link's mass properties, in the link frame."""
        placement = inertial.placement_link_com
        tensor = placement.rotation @ inertial.inertia @ placement.rotation.T
        return cls.from_pinocchio(spatial_inertia(inertial.mass, placement.translation, tensor))

    @classmethod
    def from_parameters(cls, parameters: np.ndarray | tuple[Scalar, ...]) -> BodyInertia:
        """From m, m cx, m cy, m cz, ixx, ixy, iyy, ixz, iyz, izz about the frame's origin: Pinocchio's order."""
        m, hx, hy, hz, ixx, ixy, iyy, ixz, iyz, izz = parameters
        second = (
            0.5 * (iyy + izz - ixx),
            -ixy,
            -ixz,
            0.5 * (ixx + izz - iyy),
            -iyz,
            0.5 * (ixx + iyy - izz),
        )
        if isinstance(parameters, np.ndarray):
            size = max(float(np.abs(parameters[4:]).max()), 1e-300)
            rounded = [0.0 if abs(value) < 1e-15 * size else float(value) for value in second]
            return cls(float(m), constant_vector(np.array([hx, hy, hz])), tuple(rounded))  # type: ignore[arg-type]
        return cls(m, (hx, hy, hz), second)

    @property
    def is_zero(self) -> bool:
        """Whether nothing is there; symbols count as something."""
        return all(isinstance(value, float) and value == 0.0 for value in (self.mass, *self.first, *self.second))

    @property
    def tensor(self) -> SymmetricMatrix:
        """Inertia tensor about the origin: xx, xy, xz, yy, yz, zz [kg m^2]."""
        xx, xy, xz, yy, yz, zz = self.second
        return (yy + zz, -xy, -xz, xx + zz, -yz, xx + yy)

    def expressed(self, rotation: Matrix, position: Vector) -> BodyInertia:
        """Return the same body in another frame.

        Args:
            rotation: of this frame in the other one.
            position: of this frame's origin in the other one [m].
        """
        turned = apply(rotation, self.first)
        second = rotate_symmetric(rotation, self.second)
        m, (hx, hy, hz), (px, py, pz) = self.mass, turned, position
        shift = (
            2.0 * (hx * px) + m * px * px,
            hx * py + hy * px + m * px * py,
            hx * pz + hz * px + m * px * pz,
            2.0 * (hy * py) + m * py * py,
            hy * pz + hz * py + m * py * pz,
            2.0 * (hz * pz) + m * pz * pz,
        )
        return BodyInertia(m, add(turned, scale(m, position)), add_symmetric(second, shift))

    def turned(self, axis: int, c: Scalar, s: Scalar) -> BodyInertia:
        """Return the same body in a frame relative to which this one is turned about a coordinate axis.

        Args:
            axis: 0, 1 or 2.
            c: cosine of the angle.
            s: sine of the angle.
        """
        i, j = (axis + 1) % 3, (axis + 2) % 3
        first = list(self.first)
        first[i] = c * self.first[i] - s * self.first[j]
        first[j] = s * self.first[i] + c * self.first[j]
        ii, jj, ij, ki, kj = (_PLACE[i][i], _PLACE[j][j], _PLACE[i][j], _PLACE[axis][i], _PLACE[axis][j])
        J = self.second
        second = list(J)
        # sin 2a and cos 2a times what the turn mixes, by way of one common factor.
        mixed = s * (J[ii] - J[jj]) + c * (J[ij] + J[ij])
        second[ii] = J[ii] - s * mixed
        second[jj] = J[jj] + s * mixed
        second[ij] = c * mixed - J[ij]
        second[ki] = c * J[ki] - s * J[kj]
        second[kj] = s * J[ki] + c * J[kj]
        return BodyInertia(self.mass, (first[0], first[1], first[2]), tuple(second))

    def plus(self, other: BodyInertia) -> BodyInertia:
        """Both bodies together; same frame."""
        mass = self.mass + other.mass
        return BodyInertia(mass, add(self.first, other.first), add_symmetric(self.second, other.second))


def choose_frames(model: pin.Model, directions: Sequence[np.ndarray]) -> list[pin.SE3]:
    """Return the placement of each body's new frame in its joint frame.

    Args:
        model: the robot.
        directions: axis of each joint in its frame, (3,) each; zero where the frame must stay as it is.
    """
    frames: list[pin.SE3] = []
    for i, direction in enumerate(directions):
        frame = pin.SE3.Identity()
        one_axis = model.joints[i + 1].nv == 1
        if one_axis:
            frame.rotation = _onto_coordinate_axis(direction)
            parent = int(model.parents[i + 1]) - 1
            parent_frame = pin.SE3.Identity() if parent < 0 else frames[parent]
            placement = parent_frame.actInv(model.jointPlacements[i + 1])
            frame.translation = direction * _slide(placement.translation, placement.rotation @ direction)
        frames.append(frame)
    return frames


def _onto_coordinate_axis(direction: np.ndarray) -> np.ndarray:
    """Rotation whose column along the largest component of a direction is that direction, (3, 3)."""
    axis = int(np.argmax(np.abs(direction)))
    target = np.zeros(3)
    target[axis] = np.sign(direction[axis])
    if np.abs(direction - target).max() < 1e-12:
        return np.eye(3)
    return np.asarray(pin.Quaternion.FromTwoVectors(target, direction).matrix())


def _slide(origin: np.ndarray, axis: np.ndarray) -> float:
    """Distance along an axis to the point with most zero coordinates, the nearest of such points [m].

    Args:
        origin: a point of the axis, (3,).
        axis: its unit direction, (3,).
    """
    candidates = [0.0] + [-origin[k] / axis[k] for k in range(3) if abs(axis[k]) > 1e-6]
    return min(candidates, key=lambda d: (np.count_nonzero(np.abs(origin + d * axis) > 1e-12), abs(d)))


class JointKind(enum.Enum):
    """How a body moves relative to its parent."""

    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    SPHERICAL = "spherical"
    PLANAR = "planar"
    FREE_FLYER = "free-flyer"


@dataclass(frozen=True)
class Body:
    """A body and the joint that moves it.

    Attributes:
        name: of the joint.
        parent: index of the parent body, -1 for the world.
        kind: of the joint.
        rotation: of the joint frame, at position zero, in the parent body's frame.
        position: of the joint frame in the parent body's frame [m].
        axis: 0, 1 or 2: the joint turns about or slides along x, y or z of its frame (revolute and prismatic).
        sign: -1.0 when the joint's positive direction is against that axis, else 1.0.
        first_q: its first coordinate.
        first_v: its first velocity coordinate.
        factor: of a joint that follows another one: its coordinate is ``factor * q[first_q] + offset``; 1.0 otherwise.
        offset: see ``factor`` [rad or m].
        inertia: of the body in its own frame.
        armature: rotor inertia seen at each of its velocity coordinates [kg m^2 or kg].
    """

    name: str
    parent: int
    kind: JointKind
    rotation: Matrix
    position: Vector
    axis: int
    sign: float
    first_q: int
    first_v: int
    factor: float
    offset: float
    inertia: BodyInertia
    armature: tuple[float, ...]

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return {JointKind.SPHERICAL: 3, JointKind.PLANAR: 3, JointKind.FREE_FLYER: 6}.get(self.kind, 1)

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return {JointKind.SPHERICAL: 4, JointKind.PLANAR: 4, JointKind.FREE_FLYER: 7}.get(self.kind, 1)


@dataclass(frozen=True)
class LinkFrame:
    """A link of the robot, fixed to a body.

    Attributes:
        name: of the link.
        body: index of the body that it is part of, -1 for the world.
        rotation: of the link frame in the body's frame.
        position: of the link frame in the body's frame [m].
        inertia: of the link alone in the link frame, None where the URDF gives none.
    """

    name: str
    body: int
    rotation: Matrix
    position: Vector
    inertia: BodyInertia | None


@dataclass(frozen=True)
class Mechanism:
    """Bodies in an order in which parents come first, with the links they carry.

    Attributes:
        name: of the robot.
        bodies: the joints' bodies.
        links: every link, in the order of the URDF.
        nq: number of coordinates.
        nv: number of velocity coordinates.
        q_names: of the coordinates, for people.
        v_names: of the velocity coordinates, for people.
        joint_names: joints that have coordinates, in their order.
        gravity: acceleration of gravity in the world frame [m/s^2].
    """

    name: str
    bodies: tuple[Body, ...]
    links: tuple[LinkFrame, ...]
    nq: int
    nv: int
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    gravity: Vector

    @classmethod
    def from_robot(cls, robot: Robot, gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> Mechanism:
        """Return the mechanism of a robot, its body frames those of the Pinocchio model.

        Joints that mimic others have no coordinate of their own, so that nq and nv are smaller than the model's
        when there are any; the order of the others is the model's.

        Args:
            robot: any robot.
            gravity: acceleration of gravity in the world frame [m/s^2], shape (3,).

        Raises:
            RobotError: a joint is of a kind unknown here, or nothing moves.
        """
        model = robot.model
        if model.nv == 0:
            raise RobotError(
                "has no joint that moves",
                source=robot.description.source,
                element=f"robot '{robot.name}'",
                remedy="Give it a joint, or let its base float",
            )
        kinds, directions = zip(*(_kind(model, j) for j in range(1, model.njoints)), strict=True)
        names = list(model.names)[1:]
        own = [i for i, name in enumerate(names) if name not in robot.mimics]
        first_q: dict[str, int] = {}
        first_v: dict[str, int] = {}
        q_names: list[str] = []
        v_names: list[str] = []
        for i in own:
            first_q[names[i]], first_v[names[i]] = len(q_names), len(v_names)
            q_names += [names[i] + suffix for suffix in _Q_SUFFIXES.get(kinds[i], ("",))]
            v_names += [names[i] + suffix for suffix in _V_SUFFIXES.get(kinds[i], ("",))]
        frames = choose_frames(model, directions)
        world = pin.SE3.Identity()
        bodies = []
        for i, name in enumerate(names):
            joint = model.joints[i + 1]
            parent = int(model.parents[i + 1]) - 1
            parent_frame = world if parent < 0 else frames[parent]
            placement = parent_frame.actInv(model.jointPlacements[i + 1] * frames[i])
            direction = frames[i].rotation.T @ directions[i]
            axis = int(np.argmax(np.abs(direction)))
            leader, factor, offset = robot.followed(name)
            bodies.append(
                Body(
                    name=name,
                    parent=parent,
                    kind=kinds[i],
                    rotation=constant_matrix(placement.rotation),
                    position=constant_vector(placement.translation),
                    axis=axis,
                    sign=-1.0 if direction[axis] < 0 else 1.0,
                    first_q=first_q[leader],
                    first_v=first_v[leader],
                    factor=factor,
                    offset=offset,
                    inertia=BodyInertia.from_pinocchio(frames[i].actInv(model.inertias[i + 1])),
                    armature=tuple(float(value) for value in model.armature[joint.idx_v : joint.idx_v + joint.nv]),
                )
            )
        links = []
        for name, attachment in robot.parts.links.items():
            body = attachment.joint_id - 1
            placement = (world if body < 0 else frames[body]).actInv(attachment.placement_joint_link)
            inertial = robot.description.links[name].inertial
            links.append(
                LinkFrame(
                    name,
                    body,
                    constant_matrix(placement.rotation),
                    constant_vector(placement.translation),
                    None if inertial is None else BodyInertia.from_inertial(inertial),
                )
            )
        return cls(
            name=robot.name,
            bodies=tuple(bodies),
            links=tuple(links),
            nq=len(q_names),
            nv=len(v_names),
            q_names=tuple(q_names),
            v_names=tuple(v_names),
            joint_names=tuple(names[i] for i in own),
            gravity=constant_vector(np.asarray(gravity, dtype=float)),
        )

    @property
    def total_mass(self) -> float:
        """Mass of all that moves or stands [kg]."""
        return float(sum(link.inertia.mass for link in self.links if link.inertia is not None))

    def children(self, index: int) -> list[int]:
        """Bodies whose parent is the given one (-1: the world)."""
        return [i for i, body in enumerate(self.bodies) if body.parent == index]


_Q_SUFFIXES = {
    JointKind.SPHERICAL: ("_qx", "_qy", "_qz", "_qw"),
    JointKind.PLANAR: ("_x", "_y", "_cos", "_sin"),
    JointKind.FREE_FLYER: ("_x", "_y", "_z", "_qx", "_qy", "_qz", "_qw"),
}
_V_SUFFIXES = {
    JointKind.SPHERICAL: ("_wx", "_wy", "_wz"),
    JointKind.PLANAR: ("_vx", "_vy", "_wz"),
    JointKind.FREE_FLYER: ("_vx", "_vy", "_vz", "_wx", "_wy", "_wz"),
}

#: Kinds that there are equations for.
_KINDS = {
    kinematic_tree.REVOLUTE: JointKind.REVOLUTE,
    kinematic_tree.PRISMATIC: JointKind.PRISMATIC,
    kinematic_tree.SPHERICAL: JointKind.SPHERICAL,
    kinematic_tree.PLANAR: JointKind.PLANAR,
    kinematic_tree.FREE_FLYER: JointKind.FREE_FLYER,
}


def _kind(model: pin.Model, j: int) -> tuple[JointKind, np.ndarray]:
    """Return the kind of a joint and its direction in the joint frame: a planar joint's normal; zero if none."""
    motion = joint_motion(model, j)
    if motion.kind not in _KINDS:
        raise RobotError(
            f"no equations for a joint of kind '{model.joints[j].shortname().removeprefix('JointModel')}'",
            element=f"joint '{model.names[j]}'",
            remedy="Use revolute, continuous, prismatic, spherical, planar or free-flying joints",
        )
    kind = _KINDS[motion.kind]
    return kind, np.array([0.0, 0.0, 1.0]) if kind is JointKind.PLANAR else motion.axis
