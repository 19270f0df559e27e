# SPDX-License-Identifier: Apache-2.0
"""One mechanism that runs: it follows the newest commands, a tick at a time, and is switched while it moves."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_kinematics.analysis.dexterity import dexterity
from humanoid_kinematics.live.joint_path import JointPath
from humanoid_kinematics.live.live_state import LiveState, rank_of
from humanoid_kinematics.live.velocity_commands import JointVelocity, ToolVelocity
from humanoid_kinematics.mechanism import Mechanism
from humanoid_kinematics.solver.commands import ORIENTATION, JointGoal, ToolGoal, ToolMotion
from humanoid_kinematics.solver.mechanism_solver import Closing, MechanismSolver, SolverOptions
from humanoid_kinematics.solver.thesis_solver import ThesisSolver
from humanoid_model import InputError
from humanoid_model.arrays import Array
from humanoid_model.checks import check_known, check_positive
from humanoid_model.loop_closure import ROWS

ROBUST, THESIS = "robust", "thesis"
PROFILES = (ROBUST, THESIS)
_STILL = 1e-9
"""Joints slower than this stand still [rad/s, m/s]."""

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


class LiveMechanism:
    """A mechanism that follows the newest command for each tool and joint.

    Places of tools are kept until they are replaced or released; positions of joints until they are reached; velocities
    for a while after they were given; motions are made once. While a tool is commanded (inverse operation), joints that
    aren't commanded follow. While only joints are (direct operation), driven joints that aren't commanded stay where
    they are, and tools follow.

    Attributes:
        solver: keeps the loops closed in the profile ``robust``, and measures in both.
        limits: how fast commands are followed.
        view: placement of the viewer's camera in the world, for commands in its axes.
        time: since it was loaded, the sum of the ticks [s].
    """

    def __init__(
        self, mechanism: Mechanism, options: SolverOptions | None = None, limits: LiveLimits | None = None
    ) -> None:
        """Load a mechanism and close its loops.

        Raises:
            InputError: the loops don't close from the initial posture.
        """
        self.solver = MechanismSolver(mechanism, options)
        if not self.solver.closing.closed:
            raise InputError(
                f"the loops don't close: {told_gaps(self.solver.closing)}",
                source=mechanism.robot.description.source, element=f"mechanism '{mechanism.name}'",
                remedy="Give a posture nearer to a closed one, or lengths with which the loops can close",
            )  # fmt: skip
        self.limits = limits if limits is not None else LiveLimits()
        self.view = pin.SE3.Identity()
        self.time = 0.0
        self._thesis: ThesisSolver | None = None
        self._tools: dict[str, tuple[ToolGoal | ToolVelocity, float]] = {}
        self._joints: dict[str, tuple[JointGoal | JointVelocity, float]] = {}
        self._motions: dict[str, ToolMotion] = {}
        self._held: dict[str, float] = {}
        self._rows: dict[str, tuple[str, ...]] = {}
        self._path: tuple[JointPath, float] | None = None
        self._v = np.zeros(mechanism.model.nv)
        self._status = "idle"
        self._slowed = False
        self._solve_time = self._cycle_time = 0.0

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism."""
        return self.solver.mechanism

    @property
    def q(self) -> Array:
        """(nq,) configuration."""
        return self.solver.q.copy()

    @property
    def v(self) -> Array:
        """(nv,) velocities in the last tick."""
        return self._v.copy()

    @property
    def status(self) -> str:
        """How the last tick ended."""
        return self._status

    @property
    def gap(self) -> float:
        """Largest gap of a loop that is held [m or rad]."""
        return max((max(gap) for gap in self.solver.loop_gaps().values()), default=0.0)

    @property
    def profile(self) -> str:
        """``robust`` or ``thesis``."""
        return ROBUST if self._thesis is None else THESIS

    # ---- commands ----

    def give(self, *commands: LiveCommand) -> None:
        """Take commands, each in the place of the older one for its tool or joint; all of them or none.

        Raises:
            InputError: an unknown tool, joint or frame, or a number that isn't finite.
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

    def follow(self, path: JointPath) -> None:
        """Follow positions of joints over time from now on, in the place of older commands of joints.

        Raises:
            InputError: an unknown joint, or one of several coordinates.
        """
        for joint in path.joints:
            self._coordinate(joint)
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
    def commanded(self) -> tuple[str, ...]:
        """Tools that were commanded in the last tick (inverse operation), in the order in which they were given."""
        return tuple(self._rows)

    @property
    def idle(self) -> bool:
        """Whether there is nothing to follow."""
        return not (self._tools or self._joints or self._motions or self._path)

    # ---- motion ----

    def tick(self, dt: float) -> str:
        """Follow the commands for a time [s]; how it ended, as of a :class:`LiveState`.

        Raises:
            InputError: a time that isn't positive.
        """
        check_positive(dt, "dt", "time in seconds")
        begin = clock.perf_counter()
        before = self.solver.q.copy()
        self.time += dt
        self._drop_old()
        self._slowed = False
        tools = self._tool_commands(dt)
        joints = self._joint_goals(dt, hold=not tools)
        self._rows = {command.tool: command.rows for command in tools}
        start = clock.perf_counter()
        if self._thesis is not None:
            self._status = self._thesis_tick(tools, joints)
        elif tools or joints:
            self._status = self.solver.command(*tools, *joints).status
        else:
            self._status = "idle"
        self._solve_time = clock.perf_counter() - start
        self._v = pin.difference(self.mechanism.model, before, self.solver.q) / dt
        if self._slowed and self._status in ("reached", "nearest") and np.abs(self._v).max(initial=0.0) > _STILL:
            self._status = "moving"  # a place on the way is reached
        self._forget_met()
        self._cycle_time = clock.perf_counter() - begin
        return self._status

    def place(self, q: ArrayLike) -> float:
        """Go to a configuration, loops closed by the shortest way from it; the largest gap of a loop there [m or rad].

        Raises:
            InputError: another size, not finite, or loops that don't close from there; it stays where it was then.
        """
        model = self.mechanism.model
        wanted = np.asarray(q, float)
        closing = self.solver.close(wanted, iterations=50)
        if not closing.closed:
            raise InputError(
                f"the loops don't close there: {told_gaps(closing)}", element="configuration",
                remedy="Give one near to closed loops",
            )  # fmt: skip
        away = np.abs(pin.difference(model, wanted, closing.q)).max(initial=0.0)
        self._v = np.zeros(model.nv)
        if self._thesis is not None:
            self._thesis.q = closing.q.copy()
        return float(away)

    def rebuild(self, mechanism: Mechanism, locked: tuple[str, ...]) -> None:
        """Go on with another mechanism from its initial posture: commands, profile and open loops stay.

        Args:
            mechanism: with the joints, tools and loops of this one.
            locked: joints that are held.

        Raises:
            InputError: loops that don't close; nothing is changed then.
        """
        solver = MechanismSolver(mechanism, self.solver.options)
        for loop in self.open_loops:
            solver.open_loop(loop)
        solver.unlock(*mechanism.locked)
        solver.lock(*locked)
        closing = solver.close(mechanism.initial)
        if not closing.closed:
            raise InputError(
                f"the loops would no longer close: {told_gaps(closing)}", element=f"mechanism '{mechanism.name}'",
                remedy="Change less at once, or where it stands",
            )  # fmt: skip
        self.solver = solver
        self._v = np.zeros(mechanism.model.nv)
        self._held.clear()
        if self._thesis is not None:
            self._thesis = ThesisSolver(mechanism)
            self._thesis.q = solver.q.copy()

    # ---- switches ----

    def set_profile(self, profile: str) -> None:
        """Choose the solver: ``robust``, or ``thesis``, which looks at neither limits, locks nor couplings.

        Raises:
            InputError: an unknown profile, or a mechanism that the thesis' solver doesn't take.
        """
        check_known(profile, PROFILES, "profile", "profile")
        if profile == self.profile:
            return
        if profile == ROBUST:
            self._close_from_here()
            self._thesis = None
            return
        if self.open_loops:
            raise InputError(
                f"{', '.join(self.open_loops)} are open", element="profile",
                remedy="The thesis holds all loops: hold them",
            )  # fmt: skip
        for joint in self.mechanism.robot.joint_names:
            self._coordinate(joint)
        thesis = ThesisSolver(self.mechanism)
        thesis.q = self.solver.q.copy()
        self._thesis = thesis

    def lock(self, *joints: str) -> None:
        """Hold joints where they are.

        Raises:
            InputError: an unknown joint; none is locked then.
        """
        for joint in joints:
            self._check_joint(joint)
        self.solver.lock(*joints)

    def unlock(self, *joints: str) -> None:
        """Let joints move again.

        Raises:
            InputError: an unknown joint; none is unlocked then.
        """
        for joint in joints:
            self._check_joint(joint)
        self.solver.unlock(*joints)

    def open_loop(self, loop: str) -> None:
        """Let go of a loop.

        Raises:
            InputError: an unknown loop, or the profile ``thesis``, which holds all.
        """
        if self._thesis is not None:
            raise InputError("is thesis, which holds all loops", element="profile", remedy="Set it to robust")
        self.solver.open_loop(loop)

    def hold_loop(self, loop: str) -> None:
        """Close a loop that was let go of, and hold it.

        Raises:
            InputError: an unknown loop, or one that can't be closed from here; it stays open then.
        """
        closing = self.solver.hold_loop(loop)
        if not closing.closed:
            raise InputError(
                f"doesn't close from here: {told_gaps(closing)}", element=f"loop '{loop}'",
                remedy="Bring its two ends nearer to each other",
            )  # fmt: skip

    @property
    def open_loops(self) -> tuple[str, ...]:
        """Loops that are let go of."""
        return tuple(loop.name for loop in self.mechanism.loops if not self.solver.holds(loop.name))

    # ---- state ----

    def state(self) -> LiveState:
        """Measure the mechanism where it is."""
        solver = self.solver
        J = solver.scaled_loop_jacobian()
        mobility = J.shape[1] - rank_of(_singular_values(J), solver.options.rank)
        augmented, threshold = self._augmented(J)
        sigma = _singular_values(augmented)
        rank = rank_of(sigma, threshold)
        tool = next(iter((*self.commanded, *(tool.name for tool in self.mechanism.tools))), None)
        return LiveState(
            time=self.time,
            profile=self.profile,
            status=self._status,
            in_the_way=solver.in_the_way() if self._thesis is None and self._status != "idle" else (),
            q=solver.q.copy(),
            v=self._v.copy(),
            at_limit=self._at_limit(),
            locked=solver.locked,
            open_loops=self.open_loops,
            shape=(augmented.shape[0], augmented.shape[1]),
            rank=rank,
            singular_values=sigma,
            condition=float(sigma[0] / sigma[rank - 1]) if rank else 0.0,
            manipulability=dexterity(solver, tool, unit=solver.length).manipulability if tool else 0.0,
            mobility=mobility,
            loop_residuals={loop.name: self._loop_residual(loop.name) for loop in self.mechanism.loops},
            command_residuals={tool: self._command_residual(tool) for tool in self._tools},
            solve_time=self._solve_time,
            cycle_time=self._cycle_time,
        )

    # ---- commands as arrays ----

    def _check(self, command: LiveCommand) -> None:
        if isinstance(command, JointGoal | JointVelocity):
            self._coordinate(command.joint)
            number = command.position if isinstance(command, JointGoal) else command.velocity
            if not np.isfinite(number):
                raise InputError(f"is {number}", element=f"command of '{command.joint}'", remedy="Give a finite number")
            return
        self.solver.frame(command.tool)
        unknown = [row for row in command.rows if row not in ROWS]
        if unknown:
            raise InputError(
                f"are {unknown}", element=f"rows of '{command.tool}'", remedy=f"Give some of {', '.join(ROWS)}"
            )
        if isinstance(command, ToolGoal):
            numbers = command.goal.homogeneous.ravel()
        else:
            numbers = np.concatenate([np.asarray(part, float).ravel() for part in (command.linear, command.angular)])
            if numbers.shape != (6,):
                raise InputError(
                    f"has {len(numbers)} numbers", element=f"command of '{command.tool}'", remedy="Give three and three"
                )
            if isinstance(command, ToolVelocity):
                self._axes(command.frame, command.tool)
        if not np.isfinite(numbers).all():
            raise InputError(
                f"is {numbers.tolist()}", element=f"command of '{command.tool}'", remedy="Give finite numbers"
            )

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
        if self._path is not None and self.time - self._path[1] > self._path[0].duration + self.limits.timeout:
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

    def _share(self, linear: Array, angular: Array, dt: float) -> float:
        """Return how much of a motion may be made in a time."""
        sizes = float(np.linalg.norm(linear)), float(np.linalg.norm(angular))
        fastest = dt * self.limits.linear, dt * self.limits.angular
        shares = [most / size for size, most in zip(sizes, fastest, strict=True) if size > most]
        self._slowed = self._slowed or bool(shares)
        return min(shares, default=1.0)

    def _towards(self, goal: ToolGoal, dt: float) -> ToolGoal | ToolMotion:
        """Return a goal, or a place on the way to it.

        The way goes along the whole gap, so that it ends where the goal itself is met as nearly as can be.
        """
        linear, angular = self._gap(goal)
        share = self._share(linear, angular, dt)
        if self._thesis is not None:
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
            wanted |= path.at(self.time - begun)
        for joint, (command, _) in self._joints.items():
            if isinstance(command, JointGoal):
                wanted[joint] = command.position
            else:
                wanted[joint] = self.solver.q[self._coordinate(joint)] + dt * command.velocity
        goals = []
        for joint, target in wanted.items():
            here = float(self.solver.q[self._coordinate(joint)])
            turns = self.solver.angles[self.mechanism.robot.index_v(joint)]
            most = dt * (self.limits.angular if turns else self.limits.linear)
            self._slowed = self._slowed or abs(target - here) > most
            goals.append(JointGoal(joint, here + float(np.clip(target - here, -most, most))))
        if not wanted or not hold or self._thesis is not None:
            self._held.clear()
            return goals
        for joint in self.mechanism.driven or ():
            if joint in wanted:
                self._held.pop(joint, None)
            else:
                here = float(self.solver.q[self._coordinate(joint)])
                goals.append(JointGoal(joint, self._held.setdefault(joint, here)))
        return goals

    def _forget_met(self) -> None:
        """Drop positions that are reached, or that limits, locks and loops don't let come nearer."""
        for joint, (command, _) in tuple(self._joints.items()):
            if isinstance(command, JointGoal):
                away = abs(command.position - self.solver.q[self._coordinate(joint)])
                still = np.abs(self._v).max(initial=0.0) < _STILL
                if away < 1e-6 or (still and self._status in ("nearest", "stuck", "open")):
                    del self._joints[joint]

    def _thesis_tick(self, tools: list[ToolGoal | ToolMotion], joints: list[JointGoal]) -> str:
        """Take one cycle of the thesis' solver: joints are set, then loops and tools are resolved together."""
        thesis = self._thesis
        assert thesis is not None
        for goal in joints:
            thesis.q[self._coordinate(goal.joint)] = goal.position
            given = self._joints.get(goal.joint)
            if given is not None and given[0] == JointGoal(goal.joint, goal.position):
                del self._joints[goal.joint]
        thesis.command(*(command for command in tools if isinstance(command, ToolMotion)))
        self.solver.q = thesis.q.copy()
        self.solver.loop_gaps()
        return "moving" if tools or joints else "idle"

    def _close_from_here(self) -> None:
        closing = self.solver.close()
        if not closing.closed:
            raise InputError(
                f"the loops don't close from here: {told_gaps(closing)}", element="profile",
                remedy="Bring them nearer to closed first",
            )  # fmt: skip

    # ---- measuring ----

    def _augmented(self, J: Array) -> tuple[Array, float]:
        """Augmented Jacobian of loops and commanded tools as the profile scales it, and its rank's threshold."""
        if self._thesis is not None:
            return self._thesis.jacobian(self.commanded), self._thesis.threshold
        blocks = [J]
        for tool in self.commanded:
            of_tool = self.solver.tool_jacobian(tool) * self.solver.scale
            of_tool[:3] /= self.solver.length
            blocks.append(of_tool[[row in self._rows[tool] for row in ROWS]])
        return np.vstack(blocks), self.solver.options.rank

    def _at_limit(self) -> dict[str, bool]:
        found, lower, upper = {}, self.solver.lower, self.solver.upper
        for joint in self.mechanism.robot.joint_names:
            of_model = self.mechanism.model.joints[self.mechanism.robot.parts.joint_ids[joint]]
            if of_model.nq == of_model.nv == 1:
                position, k = self.solver.q[of_model.idx_q], of_model.idx_v
                room = 1e-9 * (1.0 + abs(position))
                found[joint] = bool(position <= lower[k] + room or position >= upper[k] - room)
        return found

    def _loop_residual(self, name: str) -> Array:
        loop = next(loop for loop in self.mechanism.loops if loop.name == name)
        first = self.solver.placement(loop.link_a) * loop.placement_a
        between = first.actInv(self.solver.placement(loop.link_b) * loop.placement_b)
        residual = np.concatenate([between.translation, pin.log3(between.rotation)])
        return np.where([row in loop.rows for row in ROWS], residual, 0.0)

    def _command_residual(self, tool: str) -> Array:
        command = self._tools[tool][0]
        if isinstance(command, ToolGoal):
            return np.concatenate(self._gap(command))
        motion = ToolMotion(tool, command.linear, command.angular, self._axes(command.frame, tool))
        commanded = np.concatenate(motion.in_world(self.solver.placement(tool)))
        residual = commanded - self.solver.tool_jacobian(tool) @ self._v
        return np.where([row in command.rows for row in ROWS], residual, 0.0)

    # ---- names ----

    def _check_joint(self, joint: str) -> None:
        check_known(joint, self.mechanism.robot.joint_names, "joint", "joint")

    def _coordinate(self, joint: str) -> int:
        """Where the position of a joint of one coordinate is."""
        self._check_joint(joint)
        of_model = self.mechanism.model.joints[self.mechanism.robot.parts.joint_ids[joint]]
        if of_model.nq != 1:
            raise InputError(
                f"joint '{joint}' has several coordinates", element="joint", remedy="Name a joint of one coordinate"
            )
        return int(of_model.idx_q)


def told_gaps(closing: Closing) -> str:
    """Name the loops that are open and by how much."""
    open_ = {name: gap for name, gap in closing.gaps.items() if max(gap) > 1e-9}
    return ", ".join(f"{name} by {d:.3g} m, {a:.3g} rad" for name, (d, a) in (open_ or closing.gaps).items())


def _singular_values(J: Array) -> Array:
    return np.asarray(np.linalg.svd(J, compute_uv=False) if len(J) else np.zeros(0), float)


def _turn(axis: Array, wanted: Array) -> Array:
    """Return the rotation vector of the shortest turn of a unit vector onto another."""
    turn = pin.Quaternion.FromTwoVectors(axis, wanted)
    return np.asarray(pin.log3(turn.matrix()))
