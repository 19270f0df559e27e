# SPDX-License-Identifier: Apache-2.0
"""One mechanism that runs: it follows the newest commands, a tick at a time, and is switched while it moves."""

from __future__ import annotations

import time as clock

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_kinematics.analysis.dexterity import dexterity
from humanoid_kinematics.live.live_state import LiveState, rank_of
from humanoid_kinematics.live.newest_commands import LiveCommand, LiveLimits, NewestCommands, coordinate
from humanoid_kinematics.solver.assembly_modes import mode_margin
from humanoid_kinematics.solver.commands import POSITION, JointGoal, ToolGoal, ToolMotion
from humanoid_kinematics.solver.mechanism import Mechanism
from humanoid_kinematics.solver.mechanism_solver import Closing, MechanismSolver, SolverOptions
from humanoid_kinematics.solver.thesis_solver import ThesisSolver
from humanoid_model import InputError
from humanoid_model.arrays import Array
from humanoid_model.checks import check_known, check_positive
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.loop_closure import ROWS

ROBUST, THESIS = "robust", "thesis"
PROFILES = (ROBUST, THESIS)
_REMEMBERED = 1.0
"""What was in the way of a position that was given up is told for so long [s]."""
_SINGULAR = 0.01
"""Joints come no nearer to the end of the assembly mode than this, so that they find back; as of ``mode_margin``."""
_MODE_ENDS = "end of the assembly mode"
_STILL = 1e-9
"""Joints slower than this stand still [rad/s, m/s]."""


class LiveMechanism:
    """A mechanism that follows the newest command for each tool and joint.

    While a tool is commanded (inverse operation), joints that aren't commanded follow. While only joints are (direct
    operation), driven joints that aren't commanded stay where they are, and tools follow. Joints never lead through a
    singularity into another assembly mode: there they stop, and ``in_the_way`` says so. A tool may be brought through.

    Attributes:
        solver: keeps the loops closed in the profile ``robust``, and measures in both.
        commands: the newest; with how fast they are followed.
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
        self.commands = NewestCommands(self.solver, limits)
        self._thesis: ThesisSolver | None = None
        self._rows: dict[str, tuple[str, ...]] = {}
        self._v = np.zeros(mechanism.model.nv)
        self._status, self._mode_ends = "idle", False
        self._solve_time = self._cycle_time = 0.0
        self._hindered: tuple[tuple[str, ...], float] = ((), -np.inf)

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

    @property
    def time(self) -> float:
        """Time since it was loaded, the sum of the ticks [s]."""
        return self.commands.time

    # ---- commands ----

    def give(self, *commands: LiveCommand) -> None:
        """Take commands, as :meth:`NewestCommands.give`."""
        self.commands.give(*commands)

    def follow(self, path: JointTrajectory) -> None:
        """Follow positions of joints over time, as :meth:`NewestCommands.follow`."""
        self.commands.follow(path)

    def release(self, *names: str) -> None:
        """Drop the commands of tools and joints, as :meth:`NewestCommands.release`."""
        self.commands.release(*names)

    @property
    def commanded(self) -> tuple[str, ...]:
        """Tools that were commanded in the last tick (inverse operation), in the order in which they were given."""
        return tuple(self._rows)

    # ---- motion ----

    def tick(self, dt: float, count: int = 1) -> str:
        """Follow the commands for a time; how it ended, as of a :class:`LiveState`.

        Args:
            dt: the time [s].
            count: steps in which it is done; fewer while there is nothing to follow.

        Raises:
            InputError: a time that isn't positive.
        """
        check_positive(dt, "dt", "time in seconds")
        count = 1 if self.commands.idle else count
        begin, before = clock.perf_counter(), self.solver.q.copy()
        self._solve_time = 0.0
        for _ in range(count):
            self._step(dt / count)
        self._v = pin.difference(self.mechanism.model, before, self.solver.q) / dt
        self._solve_time /= count
        self._cycle_time = (clock.perf_counter() - begin) / count
        return self._status

    def _step(self, dt: float) -> None:
        before = self.solver.q.copy()
        self._mode_ends = False
        tools, joints = self.commands.step(dt)
        self._rows = {command.tool: command.rows for command in tools}
        start = clock.perf_counter()
        if self._thesis is not None:
            self._status = self._thesis_tick(tools, joints)
        elif tools:
            self._status = self._tool_tick(tools, joints, dt)
        elif joints:
            self._status = self._joint_tick(joints)
        else:
            self._status, self._mode_ends = "idle", False
        self._solve_time += clock.perf_counter() - start
        self._v = pin.difference(self.mechanism.model, before, self.solver.q) / dt
        still = bool(np.abs(self._v).max(initial=0.0) < _STILL)
        if self.commands.slowed and self._status in ("reached", "nearest") and not still:
            self._status = "moving"  # a place on the way is reached
        if self.commands.forget_met(self._status, still) and self._thesis is None:
            self._hindered = self._ways(), self.time

    def place(self, q: ArrayLike, dt: float) -> float:
        """Go to a configuration, loops closed by the shortest way from it; their largest gap before [m or rad].

        Args:
            q: (nq,) configuration.
            dt: time that it takes [s].

        Raises:
            InputError: another size, not finite, or loops that don't close from there; it stays where it was then.
        """
        check_positive(dt, "dt", "time in seconds")
        model, before = self.mechanism.model, self.solver.q.copy()
        wanted = np.asarray(q, float)
        gap = 0.0
        if wanted.shape == before.shape and np.isfinite(wanted).all():
            self.solver.q = wanted.copy()
            gap = self.gap
            self.solver.q = before
        closing = self.solver.close(wanted, iterations=50)
        if not closing.closed:
            raise InputError(
                f"the loops don't close there: {told_gaps(closing)}", element="configuration",
                remedy="Give one near to closed loops",
            )  # fmt: skip
        self.commands.time += dt
        self._v = pin.difference(model, before, closing.q) / dt
        if self._thesis is not None:
            self._thesis.q = closing.q.copy()
        return gap

    def move_base(self, placement: pin.SE3) -> None:
        """Bring the whole mechanism elsewhere, as :meth:`MechanismSolver.move_base`.

        Raises:
            InputError: a placement that isn't finite, or the profile ``thesis``, whose base stands.
        """
        if self._thesis is not None:
            raise InputError("is thesis, whose base stands", element="profile", remedy="Set it to robust")
        self.solver.move_base(placement)

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
        solver.move_base(self.solver.base)
        closing = solver.close(mechanism.initial)
        if not closing.closed:
            raise InputError(
                f"the loops would no longer close: {told_gaps(closing)}", element=f"mechanism '{mechanism.name}'",
                remedy="Change less at once, or where it stands",
            )  # fmt: skip
        self.solver = self.commands.solver = solver
        self._v = np.zeros(mechanism.model.nv)
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
            self._thesis, self.commands.increments = None, False
            return
        if self.open_loops:
            raise InputError(
                f"{', '.join(self.open_loops)} are open", element="profile",
                remedy="The thesis holds all loops: hold them",
            )  # fmt: skip
        if not self.solver.base.isIdentity(1e-12):
            raise InputError(
                "is elsewhere than in the file", element="base", remedy="The thesis' base stands: bring it back"
            )
        for joint in self.mechanism.robot.joint_names:
            coordinate(self.mechanism, joint)
        thesis = ThesisSolver(self.mechanism)
        thesis.q = self.solver.q.copy()
        self._thesis, self.commands.increments = thesis, True

    def lock(self, *joints: str) -> None:
        """Hold joints where they are.

        Raises:
            InputError: an unknown joint; none is locked then.
        """
        for joint in joints:
            check_known(joint, self.mechanism.robot.joint_names, "joint", "joint")
        self.solver.lock(*joints)

    def unlock(self, *joints: str) -> None:
        """Let joints move again.

        Raises:
            InputError: an unknown joint; none is unlocked then.
        """
        for joint in joints:
            check_known(joint, self.mechanism.robot.joint_names, "joint", "joint")
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
            in_the_way=self._in_the_way(),
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
            command_residuals={tool: self.commands.residual(tool, self._v) for tool in self.commands.tools},
            solve_time=self._solve_time,
            cycle_time=self._cycle_time,
        )

    # ---- commands as arrays ----

    def _tool_tick(self, tools: list[ToolGoal | ToolMotion], joints: list[JointGoal], dt: float) -> str:
        """Bring tools on; those that follow a pose in part only as fast as the limits allow."""
        solver = self.solver
        begin = solver.q.copy()
        poses = [goal for goal in tools if isinstance(goal, ToolGoal) and {*goal.rows} - {*POSITION}]
        before = {goal.tool: solver.placement(goal.tool) for goal in poses if {*goal.rows} & {*POSITION}}
        status = solver.command(*tools, *joints).status
        if self.commands.hurry(before, dt):
            solver.close(begin)
            status = solver.command(*self.commands.without_hurry(tools, dt), *joints).status
        return status

    def _joint_tick(self, goals: list[JointGoal]) -> str:
        """Bring joints on, unless that leads beyond the end of the assembly mode."""
        solver, robot = self.solver, self.mechanism.robot
        begin, J = solver.q.copy(), solver.scaled_loop_jacobian()
        held = {robot.index_v(goal.joint) for goal in goals}
        held |= {robot.index_v(joint) for joint in solver.locked}
        passive = [k for k in range(J.shape[1]) if k not in held]
        threshold = solver.options.rank
        status = solver.command(*goals).status
        before = J[:, passive]
        after = solver.scaled_loop_jacobian()[:, passive]
        margin = mode_margin(before, after, threshold)
        if not (margin < _SINGULAR and margin < mode_margin(before, before, threshold)):
            return status
        # Goals that can't be met together leave passive joints no say, and a singular start any.
        if rank_of(_singular_values(before), threshold) != rank_of(_singular_values(J), threshold):
            return status
        solver.close(begin)
        self._mode_ends = True
        return "stuck"

    def _thesis_tick(self, tools: list[ToolGoal | ToolMotion], joints: list[JointGoal]) -> str:
        """Take one cycle of the thesis' solver: joints are set, then loops and tools are resolved together."""
        thesis = self._thesis
        assert thesis is not None
        for goal in joints:
            thesis.q[coordinate(self.mechanism, goal.joint)] = goal.position
            self.commands.joint_is_set(goal)
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

    def _in_the_way(self) -> tuple[str, ...]:
        if self._thesis is not None:
            return ()
        if self._status != "idle":
            return self._ways()
        names, since = self._hindered
        return names if self.time - since < _REMEMBERED else ()

    def _ways(self) -> tuple[str, ...]:
        return (_MODE_ENDS,) if self._mode_ends else self.solver.in_the_way()

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


def told_gaps(closing: Closing) -> str:
    """Name the loops that are open and by how much."""
    open_ = {name: gap for name, gap in closing.gaps.items() if max(gap) > 1e-9}
    return ", ".join(f"{name} by {d:.3g} m, {a:.3g} rad" for name, (d, a) in (open_ or closing.gaps).items())


def _singular_values(J: Array) -> Array:
    return np.asarray(np.linalg.svd(J, compute_uv=False) if len(J) else np.zeros(0), float)
