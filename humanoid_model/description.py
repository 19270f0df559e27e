# SPDX-License-Identifier: Apache-2.0
"""What a robot description says, link by link and joint by joint, free of any dynamics library's model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_model.loop_closure import LoopClosure
from humanoid_model.value_equality import ValueEquality

#: Joint types of the URDF standard.
JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")

#: Colour of a geometry that names none: light grey, opaque (r, g, b, a in 0..1).
DEFAULT_COLOUR = (0.7, 0.7, 0.7, 1.0)


@dataclass(frozen=True, eq=False)
class Inertial(ValueEquality):
    """Mass properties of a link.

    Attributes:
        mass: kg.
        placement_link_com: inertial frame in the link frame; its origin is the centre of mass.
        inertia: (3, 3) rotational inertia about the centre of mass, in the inertial frame, kg m^2.
    """

    mass: float
    placement_link_com: pin.SE3
    inertia: np.ndarray


@dataclass(frozen=True, eq=False)
class Box(ValueEquality):
    """Box centred on its frame; ``size`` (3,) full edge lengths along x, y, z in metres."""

    size: np.ndarray


@dataclass(frozen=True)
class Sphere:
    """Sphere centred on its frame; ``radius`` in metres."""

    radius: float


@dataclass(frozen=True)
class Cylinder:
    """Cylinder centred on its frame, axis along z; ``radius`` and ``length`` in metres."""

    radius: float
    length: float


@dataclass(frozen=True)
class Capsule:
    """Capsule centred on its frame, axis along z; ``length`` (m) of the cylinder without the two caps."""

    radius: float
    length: float


@dataclass(frozen=True, eq=False)
class Ellipsoid(ValueEquality):
    """Ellipsoid centred on its frame; ``radii`` (3,) half lengths of its axes along x, y, z in metres."""

    radii: np.ndarray


@dataclass(frozen=True)
class HalfSpace:
    """All points with z <= 0 of its frame: the outward normal is +z."""


#: What a mesh can collide as, the default first: its convex hull; its triangles; convex parts that approximate it.
MESH_COLLISIONS = ("hull", "exact", "convex_decomposition")


@dataclass(frozen=True, eq=False)
class Mesh(ValueEquality):
    """Triangle mesh in a file (STL, OBJ, DAE, glTF, NFF, DXF or VRML ``.wrl``).

    Attributes:
        path: of the file.
        scale: (3,) factor of each axis.
        collision: what it collides as, one of ``MESH_COLLISIONS``.
    """

    path: Path
    scale: np.ndarray
    collision: str = MESH_COLLISIONS[0]


@dataclass(frozen=True, eq=False)
class HeightField(ValueEquality):
    """Ground given by heights over a grid centred on its frame; what is below is solid.

    Attributes:
        size: (2,) extent along x and y, metres.
        heights: (ny, nx) z at the points of the grid, metres; rows go along y, columns along x.
    """

    size: np.ndarray
    heights: np.ndarray


Shape = Box | Sphere | Cylinder | Capsule | Ellipsoid | HalfSpace | Mesh | HeightField


@dataclass(frozen=True, eq=False)
class Geometry(ValueEquality):
    """A shape fixed to a link or body.

    Attributes:
        name: name given in the file, empty when none.
        shape: one of the shapes of this module.
        placement: shape frame in the frame of its link or body.
        colour: (4,) r, g, b, a, each in 0..1.
    """

    name: str
    shape: Shape
    placement: pin.SE3
    colour: np.ndarray


@dataclass(frozen=True)
class JointLimit:
    """Limits of a one-degree-of-freedom joint: rad or m, rad/s or m/s, N m or N; infinite when unlimited."""

    lower: float
    upper: float
    velocity: float
    effort: float


@dataclass(frozen=True)
class Mimic:
    """The joint follows another one: q = multiplier * q[joint] + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True, eq=False)
class Joint(ValueEquality):
    """A joint between two links.

    Attributes:
        name: unique name.
        type: one of ``JOINT_TYPES``.
        parent: name of the link that carries the joint.
        child: name of the link that the joint moves; its frame is the joint frame.
        placement: joint frame, at joint position zero, in the parent link frame.
        axis: (3,) unit axis in the joint frame (for a planar joint the normal of the plane).
        limit: None for joints that have none by nature (fixed, floating, planar).
        damping: viscous friction, N m s/rad or N s/m.
        friction: dry friction, N m or N.
        mimic: None when the joint moves by itself.
    """

    name: str
    type: str
    parent: str
    child: str
    placement: pin.SE3
    axis: np.ndarray
    limit: JointLimit | None = None
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None


@dataclass(frozen=True, eq=False)
class Link(ValueEquality):
    """A rigid body; ``inertial`` is None for a link without mass."""

    name: str
    inertial: Inertial | None = None
    visuals: tuple[Geometry, ...] = ()
    collisions: tuple[Geometry, ...] = ()


@dataclass(frozen=True, eq=False)
class RobotDescription(ValueEquality):
    """A tree of links and joints, in the order of the file.

    Attributes:
        name: robot name.
        links: by name, in declaration order.
        joints: by name, in declaration order.
        root: name of the link that no joint moves.
        loops: joints and links cut out of loops.
        source: file the description comes from, or a word saying where else.
        text: legal URDF text of the same robot: an undeclared root link and limits that the standard
            demands are filled in, mesh addresses are absolute.
    """

    name: str
    links: Mapping[str, Link]
    joints: Mapping[str, Joint]
    root: str
    loops: tuple[LoopClosure, ...] = ()
    source: str = field(compare=False, default="")
    text: str = field(compare=False, default="")

    @cached_property
    def child_joints(self) -> dict[str, tuple[Joint, ...]]:
        """Joints carried by each link, in declaration order."""
        carried: dict[str, list[Joint]] = {link: [] for link in self.links}
        for joint in self.joints.values():
            carried[joint.parent].append(joint)
        return {link: tuple(joints) for link, joints in carried.items()}

    @cached_property
    def parent_joint(self) -> dict[str, Joint]:
        """Joint that moves each link; the root has none."""
        return {joint.child: joint for joint in self.joints.values()}

    @property
    def total_mass(self) -> float:
        """Sum of the link masses in kg."""
        return float(sum(link.inertial.mass for link in self.links.values() if link.inertial))

    def rigid_group(self, link: str) -> tuple[str, ...]:
        """Links reached from ``link`` downwards through fixed joints only, itself first."""
        group = [link]
        for member in group:
            group.extend(joint.child for joint in self.child_joints[member] if joint.type == "fixed")
        return tuple(group)
