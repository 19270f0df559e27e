# SPDX-License-Identifier: Apache-2.0
"""Commands that last only as long as they come: velocities of tools and joints."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from humanoid_model.loop_closure import ROWS


@dataclass(frozen=True, eq=False)
class ToolVelocity:
    """Move a tool, or any link, at a velocity.

    Attributes:
        tool: name of a tool or link.
        linear: velocity of its origin [m/s].
        angular: angular velocity [rad/s].
        frame: whose axes these are in: ``world``, ``view`` (the camera's), ``tool``, or a tool or link by name.
        rows: as of a :class:`~humanoid_kinematics.solver.commands.ToolMotion`.
    """

    tool: str
    linear: ArrayLike = (0.0, 0.0, 0.0)
    angular: ArrayLike = (0.0, 0.0, 0.0)
    frame: str = "world"
    rows: tuple[str, ...] = ROWS


@dataclass(frozen=True)
class JointVelocity:
    """Move a joint of one coordinate at a velocity [rad/s or m/s]."""

    joint: str
    velocity: float
