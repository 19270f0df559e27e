# SPDX-License-Identifier: Apache-2.0
"""The newest commands that a mechanism follows, and what they ask of one step.

Velocities of tools and joints last only as long as they come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_kinematics.solver.commands import ORIENTATION, JointGoal, ToolGoal, ToolMotion
from humanoid_kinematics.solver.mechanism import Mechanism
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
from humanoid_model import InputError
from humanoid_model.arrays import Array
from humanoid_model.checks import check_finite, check_known, check_numbers
from humanoid_model.joint_trajectory import JointTrajectory
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


LiveCommand = ToolGoal | ToolVelocity | ToolMotion | JointGoal | JointVelocity


@dataclass(frozen=True)
class LiveLimits:
    """How fast commands are followed, so that nothing jumps, and how long velocities last.

    Attributes:
        linear: highest speed of tools and sliding joints [m/s].
        angular: highest speed of tools and turning joints [rad/s].
        timeout: a velocity lasts so long after it was given [s].
    """

    linear: float = 1.0
    angular: float = float(np.pi)
    timeout: float = 0.25


class NewestCommands:
    """Keeps the newest command for each tool and joint.

    Places of tools are kept until they are replaced or released; positions of joints until they are reached; velocities
    for a while after they were given; motions are made once. A motion of a tool that is commanded to a place, or at a
    velocity, isn't made.

    Attributes:
        solver: of the mechanism that is commanded.
        limits: how fast commands are followed.
        view: placement of the viewer's camera in the world, for commands in its axes.
        increments: whether goals of tools become motions and drives aren't held, as the thesis' solver has it.
        slowed: whether the last step goes a part of the way only.
        time: sum of the steps [s].
    """

    def __init__(self, solver: MechanismSolver, limits: LiveLimits | None = None) -> None:
        """Begin without commands."""
        self.solver = solver
        self.limits = limits if limits is not None else LiveLimits()
        self.view = pin.SE3.Identity()
        self.increments = self.slowed = False
        self.time = 0.0
        self._tools: dict[str, tuple[ToolGoal | ToolVelocity, float]] = {}
        self._joints: dict[str, tuple[JointGoal | JointVelocity, float]] = {}
        self._motions: dict[str, ToolMotion] = {}
        self._held: dict[str, float] = {}
        self._hurry: dict[str, float] = {}
        self._path: tuple[JointTrajectory, float] | None = None

    def step(self, dt: float) -> tuple[list[ToolGoal | ToolMotion], list[JointGoal]]:
        """Return what is to be done in a time [s], of tools and of joints."""
        self.time += dt
        self.slowed = False
        self._drop_old()
        tools = self._tool_commands(dt)
        return tools, self._joint_goals(dt, hold=not tools)

    def hurry(self, before: Mapping[str, pin.SE3], dt: float) -> bool:
        """Let poses that their tools follow in part only, as in an orientation out of reach, come near at full speed.

        Else a share of the whole gap would be made in each step, whose larger part stays: slower and slower.

        Args:
            before: placements in the world before the step, of tools that were commanded to poses in it.
            dt: time of the step [s].

        Returns:
            Whether a tool was too fast so; then the step isn't to be made, but that of :meth:`without_hurry`.
        """
        hurry = {}
        for tool, placement in before.items():
            goal, own = self._tools[tool][0], self._hurry.get(tool, 1.0)
            assert isinstance(goal, ToolGoal)
            after, point = self.solver.placement(tool), np.array(goal.point, float)
            turn = pin.log3(placement.rotation.T @ after.rotation)
            speed = self._speed(after.act(point) - placement.act(point), turn, dt)
            if own > 1.0 and speed > 1.0 + 1e-6:
                return True
            whole = max(1.0, self._speed(*self._gap(goal), dt))
            hurry[tool] = float(np.clip(own * min(2.0, 0.95 / max(speed, 1e-9)), 1.0, whole))
        self._hurry = hurry
        return False

    def without_hurry(self, commands: Sequence[ToolGoal | ToolMotion], dt: float) -> list[ToolGoal | ToolMotion]:
        """Return a step's commands of tools, each by the share of its gap that the limits allow."""
        self._hurry = {}
        goals = [self._tools[command.tool][0] if isinstance(command, ToolGoal) else None for command in commands]
        return [
            self._towards(goal, dt) if isinstance(goal, ToolGoal) else command
            for goal, command in zip(goals, commands, strict=True)
        ]

    def joint_is_set(self, goal: JointGoal) -> None:
        """Drop the command of a joint that was set where it should be."""
        given = self._joints.get(goal.joint)
        if given is not None and given[0] == goal:
            del self._joints[goal.joint]

    @property
    def tools(self) -> tuple[str, ...]:
        """Tools that are commanded to places or at velocities."""
        return tuple(self._tools)

    def give(self, *commands: LiveCommand) -> None:
        """Take commands, each in the place of the older one for its tool or joint; all of them or none.

        Raises:
            InputError: an unknown tool, joint or frame, or a number that isn't finite or above 1e4 in size.
        """
        for command in commands:
            self._check(command)
        for command in commands:
            if isinstance(command, ToolMotion):
                self._add_motion(command)
            elif isinstance(command, ToolGoal | ToolVelocity):
                if command.rows:
                    self._tools[command.tool] = command, self.time
                else:
                    self._tools.pop(command.tool, None)
            else:
                self._path = None
                self._joints[command.joint] = command, self.time

    def follow(self, path: JointTrajectory) -> None:
        """Follow positions of joints over time from now on, in the place of older commands of joints.

        Raises:
            InputError: an unknown joint, or one of several coordinates; positions above 1e4 in size; a time before 0.
        """
        check_numbers(path.positions, "positions")
        if path.start_time < 0.0:
            raise InputError(f"begin at {path.start_time:g} s", element="times", remedy="Give 0 or more")
        for joint in path.joint_names:
            coordinate(self.solver.mechanism, joint)
        self._joints.clear()
        self._path = path, self.time

    def release(self, *names: str) -> None:
        """Drop the commands of tools and joints, of all if none is named: those follow again (direct operation)."""
        if not names:
            self._path = None
        for kept in (self._tools, self._joints, self._motions):
            for name in names or tuple(kept):
                kept.pop(name, None)

    @property
    def idle(self) -> bool:
        """Whether there is nothing to follow."""
        return not (self._tools or self._joints or self._motions or self._path)

    def _check(self, command: LiveCommand) -> None:
        if isinstance(command, JointGoal | JointVelocity):
            coordinate(self.solver.mechanism, command.joint)
            number = command.position if isinstance(command, JointGoal) else command.velocity
            check_finite(number, f"command of '{command.joint}'")
            return
        self.solver.frame(command.tool)
        unknown = [row for row in command.rows if row not in ROWS]
        if unknown:
            raise InputError(
                f"are {unknown}", element=f"rows of '{command.tool}'", remedy=f"Give some of {', '.join(ROWS)}"
            )
        if isinstance(command, ToolGoal):
            numbers = np.concatenate([command.goal.homogeneous.ravel(), command.point])
        else:
            numbers = np.concatenate([np.asarray(part, float).ravel() for part in (command.linear, command.angular)])
            if numbers.shape != (6,):
                raise InputError(
                    f"has {len(numbers)} numbers", element=f"command of '{command.tool}'", remedy="Give three and three"
                )
            if isinstance(command, ToolVelocity):
                self._axes(command.frame, command.tool)
        check_numbers(numbers, f"command of '{command.tool}'")

    def _axes(self, frame: str, tool: str) -> str | pin.SE3:
        """Return the axes of a command, as a :class:`ToolMotion` has them."""
        if frame in ("", "world"):
            return "centred"
        if frame == "tool":
            return "tool"
        return self.view if frame == "view" else self.solver.placement(frame)

    def _add_motion(self, motion: ToolMotion) -> None:
        """Add a motion to what is still to be made of older ones in the same axes, or take it in their place."""
        old = self._motions.get(motion.tool)
        if old is not None and isinstance(motion.frame, str) and (old.frame, old.rows) == (motion.frame, motion.rows):
            linear = np.asarray(old.linear) + np.asarray(motion.linear)
            motion = replace(motion, linear=linear, angular=np.asarray(old.angular) + np.asarray(motion.angular))
        self._motions[motion.tool] = motion

    def _drop_old(self) -> None:
        last = self.time - self.limits.timeout
        for kept, kind in ((self._tools, ToolVelocity), (self._joints, JointVelocity)):
            for name, (command, given) in tuple(kept.items()):
                if isinstance(command, kind) and given < last:
                    del kept[name]
        if self._path is not None and self.time - self._path[1] > self._path[0].end_time + self.limits.timeout:
            self._path = None

    def _tool_commands(self, dt: float) -> list[ToolGoal | ToolMotion]:
        """Return this tick's commands of tools, none faster than the limits."""
        commands: list[ToolGoal | ToolMotion] = []
        for tool, (command, _) in self._tools.items():
            if isinstance(command, ToolGoal):
                commands.append(self._towards(command, dt))
            else:
                linear, angular = dt * np.asarray(command.linear, float), dt * np.asarray(command.angular, float)
                share = self._share(linear, angular, dt)
                axes = self._axes(command.frame, tool)
                commands.append(ToolMotion(tool, share * linear, share * angular, axes, command.rows))
        for tool, motion in tuple(self._motions.items()):
            linear, angular = np.asarray(motion.linear, float), np.asarray(motion.angular, float)
            share = self._share(linear, angular, dt)
            if tool not in self._tools:
                commands.append(replace(motion, linear=share * linear, angular=share * angular))
            if share < 1.0 and tool not in self._tools:
                self._motions[tool] = replace(motion, linear=(1.0 - share) * linear, angular=(1.0 - share) * angular)
            else:
                del self._motions[tool]
        return commands

    def _share(self, linear: Array, angular: Array, dt: float, hurry: float = 1.0) -> float:
        """Return how much of a motion may be made in a time, or ``hurry`` times as much."""
        share = min(1.0, hurry / max(1.0, self._speed(linear, angular, dt)))
        self.slowed = self.slowed or share < 1.0
        return share

    def _speed(self, linear: Array, angular: Array, dt: float) -> float:
        """Return how fast a motion is that takes a time; 1 is the limit."""
        fastest = dt * self.limits.linear, dt * self.limits.angular
        return max(float(np.linalg.norm(linear)) / fastest[0], float(np.linalg.norm(angular)) / fastest[1])

    def _towards(self, goal: ToolGoal, dt: float) -> ToolGoal | ToolMotion:
        """Return a goal, or a place on the way to it.

        The way goes along the whole gap, so that it ends where the goal itself is met as nearly as can be.
        """
        linear, angular = self._gap(goal)
        share = self._share(linear, angular, dt, self._hurry.get(goal.tool, 1.0))
        if self.increments:
            return ToolMotion(goal.tool, share * linear, share * angular, "centred", goal.rows)
        if share == 1.0:
            return goal
        placement = self.solver.placement(goal.tool)
        turned = any(row in ORIENTATION for row in goal.rows)
        rotation = pin.exp3(share * angular) @ self._turned(goal, placement) if turned else goal.goal.rotation
        return replace(goal, goal=pin.SE3(rotation, placement.act(np.array(goal.point)) + share * linear))

    def _gap(self, goal: ToolGoal) -> tuple[Array, Array]:
        """Return translation and rotation vector from a tool to its goal in the world's axes, in the rows commanded."""
        placement = self.solver.placement(goal.tool)
        of_point = placement.act(np.array(goal.point))
        rotation, own = goal.goal.rotation, self._turned(goal, placement)
        held = np.array([row in goal.rows for row in ROWS])
        linear = rotation @ (held[:3] * (rotation.T @ (goal.goal.translation - of_point)))
        angular: Array = np.zeros(3)
        if held[3:].sum() == 2:
            k = int(np.flatnonzero(~held[3:])[0])
            angular = _turn(own[:, k], rotation[:, k])
        elif held[3:].any():
            angular = np.asarray(rotation @ (held[3:] * pin.log3(own.T @ rotation)))
        return linear, angular

    @staticmethod
    def _turned(goal: ToolGoal, placement: pin.SE3) -> Array:
        """Axes (3, 3) of a tool at a placement that should come onto the goal's."""
        return np.asarray(placement.rotation if goal.turn is None else placement.rotation @ goal.turn)

    def _joint_goals(self, dt: float, hold: bool) -> list[JointGoal]:
        """Return this tick's positions of joints, as far as may be gone; ``hold``: with driven ones that stay."""
        wanted: dict[str, float] = {}
        if self._path is not None:
            path, begun = self._path
            wanted |= zip(path.joint_names, path.at(self.time - begun).positions.tolist(), strict=True)
        for joint, (command, _) in self._joints.items():
            if isinstance(command, JointGoal):
                wanted[joint] = command.position
            else:
                wanted[joint] = self.solver.q[coordinate(self.solver.mechanism, joint)] + dt * command.velocity
        goals = []
        for joint, target in wanted.items():
            here = float(self.solver.q[coordinate(self.solver.mechanism, joint)])
            turns = self.solver.angles[self.solver.mechanism.robot.index_v(joint)]
            most = dt * (self.limits.angular if turns else self.limits.linear)
            self.slowed = self.slowed or abs(target - here) > most
            goals.append(JointGoal(joint, here + float(np.clip(target - here, -most, most))))
        if not wanted or not hold or self.increments:
            self._held.clear()
            return goals
        for joint in self.solver.mechanism.driven or ():
            if joint in wanted:
                self._held.pop(joint, None)
            else:
                here = float(self.solver.q[coordinate(self.solver.mechanism, joint)])
                goals.append(JointGoal(joint, self._held.setdefault(joint, here)))
        return goals

    def forget_met(self, status: str, still: bool) -> bool:
        """Drop positions that are reached, or that limits, locks and loops don't let come nearer.

        Args:
            status: how the last step ended.
            still: whether nothing moved in it.

        Returns:
            Whether one was dropped that isn't reached.
        """
        hindered = False
        for joint, (command, _) in tuple(self._joints.items()):
            if isinstance(command, JointGoal):
                away = abs(command.position - self.solver.q[coordinate(self.solver.mechanism, joint)])
                ends = still and status in ("nearest", "stuck", "open")
                if away < 1e-6 or ends:
                    del self._joints[joint]
                    hindered = hindered or (ends and away >= 1e-6)
        return hindered

    def residual(self, tool: str, v: Array) -> Array:
        """Return what a tool lacks of its place [m, rad] or, with joints moving at v, of its velocity [m/s, rad/s]."""
        command = self._tools[tool][0]
        if isinstance(command, ToolGoal):
            return np.concatenate(self._gap(command))
        motion = ToolMotion(tool, command.linear, command.angular, self._axes(command.frame, tool))
        commanded = np.concatenate(motion.in_world(self.solver.placement(tool)))
        residual = commanded - self.solver.tool_jacobian(tool) @ v
        return np.where([row in command.rows for row in ROWS], residual, 0.0)


def coordinate(mechanism: Mechanism, joint: str) -> int:
    """Return where the position of a joint is.

    Raises:
        InputError: an unknown joint, or one of several coordinates.
    """
    check_known(joint, mechanism.robot.joint_names, "joint", "joint")
    of_model = mechanism.model.joints[mechanism.robot.parts.joint_ids[joint]]
    if of_model.nq != 1:
        raise InputError(
            f"joint '{joint}' has several coordinates", element="joint", remedy="Name a joint of one coordinate"
        )
    return int(of_model.idx_q)


def _turn(axis: Array, wanted: Array) -> Array:
    """Return the rotation vector of the shortest turn of a unit vector onto another."""
    turn = pin.Quaternion.FromTwoVectors(axis, wanted)
    return np.asarray(pin.log3(turn.matrix()))
