# SPDX-License-Identifier: Apache-2.0
"""What a mechanism can be told to do: tools, joints and the centre of mass, to a goal or by a motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_model.loop_closure import ROWS

POSITION, ORIENTATION = ROWS[:3], ROWS[3:]

Point = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class ToolGoal:
    """Bring a tool, or any link, to a place of the world, wholly or in some directions.

    Attributes:
        tool: name of a tool or link.
        goal: frame of the world that the tool should come to.
        rows: directions that are commanded, of x, y, z, rx, ry, rz, in the goal's axes. Of two rotations, the third
            axis of the tool comes onto the goal's at any angle about it.
        weight: of this command against others that can't be met with it.
        point: origin of what is commanded, in the tool's frame [m].
        turn: rotation (3, 3) in the tool's frame of the axes that should come onto the goal's; None for the tool's.
    """

    tool: str
    goal: pin.SE3
    rows: tuple[str, ...] = ROWS
    weight: float = 1.0
    point: Point = (0.0, 0.0, 0.0)
    turn: Array | None = None

    @classmethod
    def position(cls, tool: str, position: ArrayLike, weight: float = 1.0, point: Point = (0.0, 0.0, 0.0)) -> ToolGoal:
        """Command a point of the tool to a position of the world [m], in any orientation."""
        return cls(tool, pin.SE3(np.eye(3), np.asarray(position, float)), POSITION, weight, point)

    @classmethod
    def orientation(cls, tool: str, rotation: ArrayLike, weight: float = 1.0) -> ToolGoal:
        """Command an orientation (3, 3), wherever the tool is."""
        return cls(tool, pin.SE3(np.asarray(rotation, float), np.zeros(3)), ORIENTATION, weight)

    @classmethod
    def axis(cls, tool: str, direction: ArrayLike, axis: str = "z", weight: float = 1.0) -> ToolGoal:
        """Command an axis of the tool (x, y or z) along a direction of the world, at any angle about it."""
        wanted = np.asarray(direction, float)
        length = np.linalg.norm(wanted)
        if not 0.0 < length < np.inf:
            raise InputError(f"direction is {wanted}", element=f"axis of '{tool}'", remedy="Give a direction")
        k = "xyz".index(axis)
        rotation = pin.Quaternion.FromTwoVectors(np.eye(3)[k], wanted / length).matrix()
        rows = tuple(row for row in ORIENTATION if row != f"r{axis}")
        return cls(tool, pin.SE3(rotation, np.zeros(3)), rows, weight)


@dataclass(frozen=True, eq=False)
class ToolMotion:
    """Move a tool, or any link, by a small motion from where it is (specification §3.9).

    Attributes:
        tool: name of a tool or link.
        linear: translation [m].
        angular: rotation vector [rad].
        frame: axes and centre of the motion: ``centred`` (the world's axes, about the tool), ``world`` (about the
            world's origin), ``tool``, or a placement in the world such as a camera's, whose axes are taken.
        rows: directions that are commanded, of the axes that the motion is in.
        weight: of this command against others.
        point: what is moved, in the tool's frame [m].
    """

    tool: str
    linear: ArrayLike = (0.0, 0.0, 0.0)
    angular: ArrayLike = (0.0, 0.0, 0.0)
    frame: str | pin.SE3 = "centred"
    rows: tuple[str, ...] = ROWS
    weight: float = 1.0
    point: Point = (0.0, 0.0, 0.0)

    def in_world(self, placement: pin.SE3) -> tuple[Array, Array]:
        """Express the motion in the world's axes: translation of the tool at a placement, and rotation."""
        d, delta = np.asarray(self.linear, float), np.asarray(self.angular, float)
        if isinstance(self.frame, pin.SE3):
            return self.frame.rotation @ d, self.frame.rotation @ delta
        if self.frame == "tool":
            return placement.rotation @ d, placement.rotation @ delta
        if self.frame == "world":
            return d + np.cross(delta, placement.translation), delta
        if self.frame == "centred":
            return d, delta
        raise InputError(
            f"frame is '{self.frame}'", element=f"motion of '{self.tool}'",
            remedy="Give centred, world, tool or a placement",
        )  # fmt: skip

    def goal_from(self, placement: pin.SE3) -> ToolGoal:
        """Return the goal that the motion leads to from a tool's placement."""
        d, delta = self.in_world(placement)
        # All six rows are as good in any axes; the tool's need no turn.
        axes = placement.rotation if len(self.rows) == len(ROWS) else self.axes(placement)
        turned = any(row in ORIENTATION for row in self.rows)
        goal = pin.SE3((pin.exp3(delta) @ axes) if turned else axes, placement.act(np.array(self.point)) + d)
        turn = placement.rotation.T @ axes if len(self.rows) < len(ROWS) and turned else None
        return ToolGoal(self.tool, goal, self.rows, self.weight, self.point, turn)

    def axes(self, placement: pin.SE3) -> Array:
        """Return the axes (3, 3) that the motion is in, of a tool at a placement, in the world."""
        if isinstance(self.frame, pin.SE3):
            return np.array(self.frame.rotation)
        return np.array(placement.rotation) if self.frame == "tool" else np.eye(3)


@dataclass(frozen=True)
class JointGoal:
    """Bring a joint of one coordinate to a position: direct operation, the loops follow (specification §3.12).

    Attributes:
        joint: name.
        position: rad or m.
        weight: of this command against others.
    """

    joint: str
    position: float
    weight: float = 1.0


@dataclass(frozen=True, eq=False)
class CentreOfMassGoal:
    """Bring the centre of mass to a position of the world [m]."""

    position: ArrayLike
    weight: float = 1.0


Command = ToolGoal | ToolMotion | JointGoal | CentreOfMassGoal


def transport(linear: ArrayLike, angular: ArrayLike, placement_sensor_tool: pin.SE3) -> tuple[Array, Array]:
    """Express a small motion of the sensor's frame as the tool's, in the tool's axes (eq. 3.28)."""
    d, delta = np.asarray(linear, float), np.asarray(angular, float)
    A, r = placement_sensor_tool.rotation, placement_sensor_tool.translation
    return A.T @ (np.cross(delta, r) + d), A.T @ delta
