# SPDX-License-Identifier: Apache-2.0
"""The mechanism that the algorithms see: bodies that move, numbered from the root, and the links fixed to them.

Bodies are the joints of a robot's Pinocchio model; what hangs on fixed joints is part of the body. The frame of a
body may be chosen freely as long as the joint moves the same way in it; :mod:`humanoid_codegen.body_frames` chooses
frames in which most constants are zero.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_codegen.body_frames import choose_frames
from humanoid_codegen.inertia import BodyInertia
from humanoid_codegen.vector import Matrix, Vector, constant_matrix, constant_vector
from humanoid_model import Robot, RobotError
from humanoid_model.tree import joint_kind
from humanoid_model.tree.joint_kind import joint_motion


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
    joint_kind.REVOLUTE: JointKind.REVOLUTE,
    joint_kind.PRISMATIC: JointKind.PRISMATIC,
    joint_kind.SPHERICAL: JointKind.SPHERICAL,
    joint_kind.PLANAR: JointKind.PLANAR,
    joint_kind.FREE_FLYER: JointKind.FREE_FLYER,
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
