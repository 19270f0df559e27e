# SPDX-License-Identifier: Apache-2.0
"""What a search for postures may choose of a robot: one real number for each freedom, with limits and efforts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.errors import RobotError
from humanoid_model.robot import Robot
from humanoid_model.tree.kinematic_tree import JOINT, PRISMATIC, REVOLUTE, KinematicTree

_EYE = np.eye(3)
#: Base and ball joint angles about z, y, x keep off the middle angle's singularity at a right angle by this much [rad].
_SINGULARITY_MARGIN = 0.02


@dataclass(frozen=True, eq=False)
class RobotVariables:
    """Variables, and the robot as a tree of joints that move by one each; body b is moved by coordinate b - 1.

    A free-flyer is three prismatic joints followed by rotations about z, y and x (specification 001 (A.5):
    R = Rz Ry Rx), a planar joint two prismatic ones and a rotation, a ball joint its three revolute members. Bodies
    between them have no mass. Variables are the coordinates that move by themselves: a joint that mimics another has
    none of its own, its ``idx_q`` is the other's.

    Attributes:
        coordinate_names: of the coordinates, (nb - 1).
        tree: of revolute and prismatic joints; its configuration and the columns of its Jacobians are the variables.
        names: of the variables, (nx).
        lower: (nx,) lowest values [rad] or [m].
        upper: (nx,) highest values.
        effort: (nx,) largest efforts [N m] or [N]; infinite where there is no limit.
        driven: (nx,) whether a motor or a spring holds the variable; floating joints and those without are free.
        stiffness: (nx,) of the springs of passive joints, 0 for the others.
        rests: (nx,) where those springs are without force.
        base: bodies (first, last) of the floating base's six coordinates, None for a robot fixed to the world.
        bodies_of_links: by link name, the body that carries it and its placement there.
        total_mass: [kg].
    """

    coordinate_names: tuple[str, ...]
    tree: KinematicTree
    names: tuple[str, ...]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    effort: NDArray[np.float64]
    driven: NDArray[np.bool_]
    stiffness: NDArray[np.float64]
    rests: NDArray[np.float64]
    base: tuple[int, int] | None
    bodies_of_links: Mapping[str, tuple[int, pin.SE3]]
    total_mass: float

    @property
    def body_count(self) -> int:
        """Number of bodies, the world included."""
        return len(self.tree.joints)

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def base_columns(self) -> NDArray[np.int64]:
        """(6,) variables of the floating base, (0,) for a robot fixed to the world."""
        first, last = self.base or (0, -1)
        return np.asarray(self.tree.joints["idx_q"][first : last + 1])

    @classmethod
    def from_robot(cls, robot: Robot) -> RobotVariables:
        """Read a robot.

        Raises:
            RobotError: joints mimic each other in a circle, or mimic a joint of more than one freedom.
        """
        return _Builder(robot).variables()


@dataclass
class _Builder:
    """Coordinates collected joint by joint."""

    robot: Robot
    names: list[str] = field(default_factory=lambda: ["world"])
    rows: list[dict[str, Any]] = field(default_factory=lambda: [{"rotation": _EYE}])
    limits: list[tuple[float, float, float]] = field(default_factory=lambda: [(0.0, 0.0, 0.0)])
    floats: list[bool] = field(default_factory=lambda: [False])

    def add(
        self,
        name: str,
        kind: int,
        parent: int,
        placement: pin.SE3,
        axis: NDArray[np.float64],
        limits: tuple[float, float, float],
        floats: bool = False,
    ) -> int:
        self.names.append(name)
        self.rows.append(
            {
                "kind": kind, "parent": parent, "rotation": placement.rotation, "translation": placement.translation,
                "axis": axis, "pitch": float(kind == PRISMATIC), "nv": 1, "idx_v": len(self.rows) - 1,
            }
        )  # fmt: skip
        self.limits.append(limits)
        self.floats.append(floats)
        return len(self.names) - 1

    def add_joint(self, name: str, joint_id: int, parent: int) -> int:
        """Add the coordinates of a model joint; returns the last body."""
        robot, model = self.robot, self.robot.model
        joint, placement = model.joints[joint_id], model.jointPlacements[joint_id]
        none, free = pin.SE3.Identity(), (-math.inf, math.inf, math.inf)
        held = name in robot.actuators or name in robot.springs or name in robot.mimics
        right = math.pi / 2 - _SINGULARITY_MARGIN
        if name in robot.ball_joints:
            members = robot.ball_joints[name]
            turn = np.eye(3)
            axes = []
            for index, member in enumerate(members):
                description = robot.description.joints[member]
                if index:
                    turn = turn @ description.placement.rotation
                axes.append(turn @ description.axis)
            for index, member in enumerate(members):
                limit = robot.description.joints[member].limit
                assert limit is not None  # members of ball joints are revolute
                bounds = (limit.lower, limit.upper, float(model.effortLimit[joint.idx_v + index]))
                if index == 1:
                    bounds = (max(bounds[0], -right), min(bounds[1], right), bounds[2])
                # Pinocchio's ball joint turns the frame in which all three are at zero.
                at_zero = turn.T @ axes[index]
                parent = self.add(
                    member, REVOLUTE, parent, none if index else placement, at_zero, bounds, not held
                )
            return parent
        if joint.nv == 1:
            description = robot.description.joints[name]
            kind = PRISMATIC if description.type == "prismatic" else REVOLUTE
            bounds = (
                float(robot.limits.lower[joint.idx_q]),
                float(robot.limits.upper[joint.idx_q]),
                float(robot.limits.effort[joint.idx_v]),
            )
            return self.add(name, kind, parent, placement, description.axis, bounds, not held)
        slides = "xyz" if joint.nv == 6 else "xy"
        for index, letter in enumerate(slides):
            parent = self.add(
                f"{name}/{letter}", PRISMATIC, parent, none if index else placement, _EYE[index], free, True
            )
        if joint.nv == 3:
            return self.add(f"{name}/yaw", REVOLUTE, parent, none, _EYE[2], free, True)
        for axis, label, bounds in (
            (2, "yaw", free),
            (1, "pitch", (-right, right, math.inf)),
            (0, "roll", free),
        ):
            parent = self.add(f"{name}/{label}", REVOLUTE, parent, none, _EYE[axis], bounds, True)
        return parent

    def variables(self) -> RobotVariables:
        robot, model = self.robot, self.robot.model
        joint_names = {joint_id: name for name, joint_id in robot.parts.joint_ids.items()}
        bodies = [0] * model.njoints
        for joint_id in range(1, model.njoints):
            body = self.add_joint(joint_names[joint_id], joint_id, bodies[model.parents[joint_id]])
            bodies[joint_id] = body
            inertia = model.inertias[joint_id]
            self.rows[body] |= {"mass": inertia.mass, "lever": inertia.lever, "inertia": inertia.inertia}
        base = None
        if robot.base_joint is not None:
            base = (bodies[robot.base_joint] - 5, bodies[robot.base_joint])
        columns, factors, offsets, names, bounds = self._variables()
        first = {column: index for index, column in reversed(list(enumerate(columns))) if index}
        own = [first[column] for column in range(len(names))]
        springs = {name: robot.springs[name] for name in robot.springs}
        stiffness = [springs[name].stiffness if name in springs else 0.0 for name in names]
        rests = [springs[name].rest if name in springs else 0.0 for name in names]
        joints = np.zeros(len(self.rows), dtype=JOINT)
        for row, values in zip(joints, self.rows, strict=True):
            for name, value in values.items():
                row[name] = value
        joints["idx_q"], joints["factor"], joints["offset"] = columns, factors, offsets
        return RobotVariables(
            coordinate_names=tuple(self.names[1:]),
            tree=KinematicTree.of_joints(
                joints, np.array(columns[1:]), np.array(model.armature, float), np.array(model.gravity.linear)
            ),
            names=tuple(names),
            lower=np.array([bound[0] for bound in bounds]),
            upper=np.array([bound[1] for bound in bounds]),
            effort=np.array([bound[2] for bound in bounds]),
            driven=np.array([not self.floats[index] for index in own], dtype=bool),
            stiffness=np.array(stiffness),
            rests=np.array(rests),
            base=base,
            bodies_of_links={
                link: (bodies[place.joint_id], place.placement_joint_link) for link, place in robot.parts.links.items()
            },
            total_mass=float(joints["mass"].sum()),
        )

    def _variables(
        self,
    ) -> tuple[list[int], list[float], list[float], list[str], list[tuple[float, float, float]]]:
        """Variable, factor and offset of each coordinate; names and limits of the variables."""
        mimics = self.robot.mimics
        names = [name for name in self.names[1:] if name not in mimics]
        place = {name: column for column, name in enumerate(names)}
        columns, factors, offsets = [0], [0.0], [0.0]
        bounds = [self.limits[body] for body, name in enumerate(self.names) if body and name not in mimics]
        for body, name in enumerate(self.names):
            if not body:
                continue
            leader, factor, offset = self.robot.followed(name)
            if leader not in place:
                raise RobotError(
                    f"mimics '{leader}', which has no single angle or position of its own",
                    element=f"joint '{name}'",
                    remedy="Let it mimic a revolute or prismatic joint that moves by itself",
                )
            column = place[leader]
            columns.append(column)
            factors.append(factor)
            offsets.append(offset)
            if leader != name and factor != 0.0:
                ends = sorted((self.limits[body][side] - offset) / factor for side in (0, 1))
                lower, upper, effort = bounds[column]
                bounds[column] = (max(lower, ends[0]), min(upper, ends[1]), effort)
        return columns, factors, offsets, names, bounds
