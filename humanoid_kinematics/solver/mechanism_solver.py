# SPDX-License-Identifier: Apache-2.0
"""The robust solver of a mechanism: its state, commands, locks, and why a command can't be met."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_kinematics.solver.bounded_step import group_rows
from humanoid_kinematics.solver.commands import CentreOfMassGoal, Command, JointGoal, ToolGoal, ToolMotion
from humanoid_kinematics.solver.mechanism import Mechanism
from humanoid_kinematics.solver.pair_rows import PAIR, fill_pair, moving_columns
from humanoid_kinematics.solver.tick import NOT_FINITE, Numbers, System, close, linearise, tick
from humanoid_model import InputError
from humanoid_model.arrays import Array
from humanoid_model.checks import check_numbers
from humanoid_model.loop_closure import LoopClosure
from humanoid_model.tree.forward_kinematics import body_jacobian
from humanoid_model.tree.kinematic_tree import KinematicTree, Placements

_KEPT = 64
"""Sets of commands whose arrays are kept."""
STATUS = ("reached", "nearest", "moving", "stuck", "open")


@dataclass(frozen=True)
class SolverOptions:
    """What decides how a mechanism is moved. Gaps are scaled: lengths by ``length``, angles in rad.

    Attributes:
        tolerance: largest gap of a closed loop.
        reach: largest gap of a command that counts as met.
        rank: rows of loops shorter than this, relative to the longest, count as following from the others. Loops that
            close only about (an axis 1 degree off its plane) want 0.03, and a ``tolerance`` above their gap.
        step: longest step of a joint [rad]; there are up to ``steps`` in a tick.
        damping: least damping of commands; more is added where a step doesn't help.
        steps: most steps of a tick.
        length: characteristic length [m]; 0 takes the mean distance between the mechanism's frames.
    """

    tolerance: float = 1e-10
    reach: float = 1e-7
    rank: float = 1e-6
    step: float = float(np.radians(5.0))
    damping: float = 1e-5
    steps: int = 10
    length: float = 0.0


@dataclass(frozen=True, eq=False)
class Motion:
    """What a tick came to.

    Attributes:
        q: (nq,) configuration; the one before, if no step could be taken.
        status: ``reached``; ``nearest`` (as near as loops, limits and locks allow); ``moving`` (more ticks come
            nearer); ``stuck`` (no step keeps the loops closed); ``open`` (they weren't closed, nothing moved).
        loop_gap: largest gap of a loop, scaled.
        command_gap: root of the sum of the squares of the commands' gaps, weighted and scaled.
        steps: that were taken.
    """

    q: Array
    status: str
    loop_gap: float
    command_gap: float
    steps: int


@dataclass(frozen=True, eq=False)
class Closing:
    """What closing the loops came to.

    Attributes:
        closed: whether every loop is closed to the tolerance.
        q: (nq,) where the gap is smallest.
        gap: largest left, scaled (lengths by the characteristic length).
        gaps: by loop, its distance [m] and angle [rad].
        iterations: of Newton's method.
    """

    closed: bool
    q: Array
    gap: float
    gaps: Mapping[str, tuple[float, float]]
    iterations: int


@dataclass(eq=False)
class _Problem:
    """A set of commands as arrays: what changes from tick to tick are the goals in them."""

    system: System
    gap: Array
    J: Array
    tools: tuple[str, ...]
    joints: tuple[str, ...]
    loops: list[tuple[str, int, int, int]] | None = None


class MechanismSolver:
    """Moves a mechanism by commands and keeps its loops closed: closures first, within limits, locks kept.

    Attributes:
        mechanism: that is moved.
        options: how.
        q: (nq,) configuration, with closed loops but right after loading one that doesn't close.
        closing: how the loops closed when the mechanism was loaded, or the last :meth:`close`.
        length: characteristic length [m].
        base: placement in the world of the frame that the mechanism's file is in.
    """

    def __init__(self, mechanism: Mechanism, options: SolverOptions | None = None) -> None:
        """Load a mechanism and close its loops from its initial posture."""
        self.mechanism = mechanism
        self.options = options if options is not None else SolverOptions()
        model = mechanism.model
        self.length = self.options.length or _characteristic_length(mechanism)
        self._tree = KinematicTree.from_pinocchio(model)
        self._placed = Placements.of_size(model.njoints, model.nv)
        self.base = pin.SE3.Identity()
        self._is_length = self._tree.is_length()
        self._weights = np.ones(model.nv)
        self._scale, self._stretch = np.empty(model.nv), np.empty(model.nv)
        self._rescale()
        self._locked = np.zeros(model.nv, np.int8)
        self._position_of = np.full(model.nv, -1, np.int64)
        for joint in model.joints[1:]:
            if joint.nq == joint.nv:
                self._position_of[joint.idx_v : joint.idx_v + joint.nv] = range(joint.idx_q, joint.idx_q + joint.nq)
        limited = self._position_of >= 0
        self._lower, self._upper = np.full(model.nv, -np.inf), np.full(model.nv, np.inf)
        self._lower[limited] = mechanism.robot.limits.lower[self._position_of[limited]]
        self._upper[limited] = mechanism.robot.limits.upper[self._position_of[limited]]
        self._preferred, self._preference = np.zeros(model.nv), np.zeros(model.nv)
        self._open: set[str] = set()
        self._problems: dict[tuple[object, ...], _Problem] = {}
        self._last: _Problem | None = None
        self._state = np.zeros(4)
        self.lock(*mechanism.locked)
        self.q = np.array(mechanism.initial, float)
        self.closing = self.close()

    # ---- motion ----

    def command(self, *commands: Command) -> Motion:
        """Move towards commands by one tick: inverse operation for the tools named, direct for joints.

        Tools that aren't named follow. Closures hold exactly; commands that can't be met together are met as nearly as
        possible, by their weights; :meth:`in_the_way` names what hinders them.

        Raises:
            InputError: a tool or joint that isn't there, or a value that isn't finite.
        """
        goals = [self._goal(command) for command in commands]
        key = tuple(_key(goal) for goal in goals)
        problem = self._problems.get(key)
        if problem is None:
            if len(self._problems) >= _KEPT:
                del self._problems[next(each for each in self._problems if each)]
            problem = self._problems[key] = self._problem(goals)
        self._set_goals(problem, goals)
        status = tick(problem.system, self.q, self._placed, problem.gap, problem.J, self._state)
        if status == NOT_FINITE:
            raise InputError("isn't finite", element="command", remedy="Give finite positions and rotations")
        self._last = problem
        command_gap = float(np.sqrt(2.0 * self._state[3]))
        return Motion(self.q.copy(), STATUS[status], float(self._state[1]), command_gap, int(self._state[2]))

    def close(self, posture: ArrayLike | None = None, held: tuple[str, ...] = (), iterations: int = 200) -> Closing:
        """Close the loops from a posture, the present one if none is given, by the shortest way of the joints.

        The mechanism goes there if they close; else it stays, and the answer tells the smallest gap found.

        Args:
            posture: (nq,) to begin at.
            held: joints that don't move.
            iterations: most steps.

        Raises:
            InputError: a posture of the wrong size or not finite.
        """
        q = np.array(self.q if posture is None else posture, float)
        if q.shape != self.q.shape or not np.isfinite(q).all():
            raise InputError(
                f"posture has shape {q.shape} or isn't finite", element="posture",
                remedy=f"Give {len(self.q)} finite numbers",
            )  # fmt: skip
        problem = self._problems.get(())
        if problem is None:
            problem = self._problems[()] = self._problem([])
        before = self._locked.copy()
        self.lock(*held)
        gap, _, count = close(problem.system, q, self._placed, problem.gap, problem.J, 0.5, iterations)
        self._locked[:] = before
        closing = Closing(gap <= self.options.tolerance, q, float(gap), self._loop_gaps(problem), count)
        if closing.closed:
            self.q = q.copy()
            self.closing = closing
        else:
            linearise(problem.system, self.q, self._placed, problem.gap, problem.J)
        return closing

    def in_the_way(self) -> tuple[str, ...]:
        """Name what keeps the last commands from being met: limits, locks, loops, commands against each other.

        ``reach`` where none of these does: the tool is as far as its joints take it. The commands' pull on the joints
        is balanced there by forces at limits, locks and loops (the multipliers of the nearest motion); those that
        carry a share of it are named.
        """
        problem = self._last
        if problem is None or self._state[3] <= 0.5 * self.options.reach**2:
            return ()
        system = problem.system
        m = system.closed
        J, S, error = problem.J[:m], problem.J[m : system.rows], -problem.gap[m : system.rows]
        pull = S.T @ error
        size = np.abs(pull).max(initial=0.0)
        whole = np.linalg.norm(S) * np.linalg.norm(error)
        if size < 1e-5 * whole:
            pulls = [(name, np.abs(S[rows].T @ error[rows]).max()) for name, rows in self._command_rows(problem)]
            against = [name for name, own in pulls if own > 1e-3 * whole]
            return tuple(f"command of {name}" for name in against) if len(against) > 1 else ("reach",)
        names = []
        position = self.positions
        room = 1e-9 * (1.0 + np.abs(position))
        lower = (self._position_of >= 0) & (position <= self._lower + room)
        upper = (self._position_of >= 0) & (position >= self._upper - room)
        locked = self._locked == 1
        still = locked | lower | upper
        force = np.linalg.lstsq(J[:, ~still].T, pull[~still], rcond=self.options.rank)[0] if m else np.zeros(0)
        left = pull - J.T @ force
        for joint, columns in self._columns_of_joints():
            for k in columns:
                if locked[k] and abs(left[k]) > 1e-3 * size:
                    names.append(f"lock of {joint}")
                elif (upper[k] and left[k] > 1e-3 * size) or (lower[k] and left[k] < -1e-3 * size):
                    names.append(f"{'upper' if left[k] > 0.0 else 'lower'} limit of {joint}")
        for loop, pair in zip(self._closed_loops(), system.pairs[: system.loops], strict=True):
            rows = slice(int(pair["row"]), int(pair["row"] + pair["rows"]))
            if np.abs(J[rows].T @ force[rows]).max(initial=0.0) > 1e-3 * size:
                names.append(f"loop {loop.name}")
        return tuple(names) or ("reach",)

    # ---- what is set while it moves ----

    def lock(self, *joints: str) -> None:
        """Hold joints where they are."""
        for joint in joints:
            self._locked[self._columns(joint)] = 1

    def unlock(self, *joints: str) -> None:
        """Let joints move again."""
        for joint in joints:
            self._locked[self._columns(joint)] = 0

    def set_limits(self, joint: str, lower: float, upper: float) -> None:
        """Limit a joint of one coordinate [rad or m]."""
        k = self._column(joint)
        if not lower <= upper:
            raise InputError(f"{lower} to {upper}", element=f"limits of '{joint}'", remedy="Give the lower one first")
        self._lower[k], self._upper[k] = lower, upper

    def set_weight(self, joint: str, weight: float) -> None:
        """Make a joint share in motion less (weights above 1) or more than the others, which have weight 1."""
        if not 0.0 < weight < np.inf:
            raise InputError(f"is {weight}", element=f"weight of '{joint}'", remedy="Give a positive number")
        self._weights[self._columns(joint)] = weight
        self._rescale()

    def prefer(self, joint: str, position: float, share: float = 0.1) -> None:
        """Let a joint tend to a position in what commands leave free, by a share of the way in each tick; 0 ends it."""
        k = self._column(joint)
        self._preferred[k], self._preference[k] = position, share

    def move_base(self, placement: pin.SE3) -> None:
        """Bring the whole mechanism elsewhere, as on a platform that drives: joints stay, goals are still the world's.

        Args:
            placement: in the world, of the frame that the mechanism's file is in.

        Raises:
            InputError: a placement that isn't finite, or further than 1e4 m; the base stays.
        """
        check_numbers(placement.homogeneous, "base")
        self.base = pin.SE3(placement)
        self._placed.rotations[0], self._placed.origins[0] = placement.rotation, placement.translation
        self.scaled_loop_jacobian()

    def open_loop(self, name: str) -> None:
        """Let go of a loop."""
        self._loop(name)
        self._open.add(name)
        self._forget()

    def hold_loop(self, name: str) -> Closing:
        """Hold a loop again, and close it; it stays open if it can't be closed."""
        self._loop(name)
        was_open = name in self._open
        self._open.discard(name)
        self._forget()
        closing = self.close()
        if not closing.closed and was_open:
            self._open.add(name)
            self._forget()
        return closing

    # ---- what can be asked ----

    def holds(self, loop: str) -> bool:
        """Whether a loop is held closed."""
        self._loop(loop)
        return loop not in self._open

    def placement(self, name: str) -> pin.SE3:
        """Placement of a tool or link in the world."""
        body, placement = self.frame(name)
        return pin.SE3(self._placed.rotations[body], self._placed.origins[body]) * placement

    def frame(self, name: str) -> tuple[int, pin.SE3]:
        """Model joint that carries a tool or link, and the placement of that on it."""
        for tool in self.mechanism.tools:
            if tool.name == name:
                body, placement = self.frame(tool.link) if tool.link != name else self._link(name)
                return body, placement * tool.placement
        return self._link(name)

    def tool_jacobian(self, name: str) -> Array:
        """(6, nv) Jacobian of a tool's or link's origin, translations first, in world axes."""
        body, _ = self.frame(name)
        J = np.zeros((6, len(self._scale)))
        body_jacobian(self._tree, body, self.placement(name).translation, self._placed, J)
        return J

    def scaled_loop_jacobian(self) -> Array:
        """(rows, nv) derivative of the gaps of loops and couplings by velocities, both scaled, at present."""
        problem = self._problems.get(())
        if problem is None:
            problem = self._problems[()] = self._problem([])
        linearise(problem.system, self.q, self._placed, problem.gap, problem.J)
        return problem.J.copy()

    def loop_gaps(self) -> dict[str, tuple[float, float]]:
        """Distance [m] and angle [rad] by which each loop that is held is open, at present."""
        self.scaled_loop_jacobian()
        return self._loop_gaps(self._problems[()])

    @property
    def angles(self) -> NDArray[np.bool_]:
        """(nv,) whether a velocity is of an angle; the others are of lengths."""
        return ~self._is_length

    @property
    def scale(self) -> Array:
        """(nv,) what a unit of scaled velocity moves: the characteristic length, or 1 rad, by the joints' weights."""
        return self._scale.copy()

    @property
    def positions(self) -> Array:
        """(nv,) positions of joints of one coordinate, by their velocities; 0 for those of several."""
        return np.where(self._position_of >= 0, self.q[self._position_of], 0.0)

    @property
    def lower(self) -> Array:
        """(nv,) lowest positions now set."""
        return self._lower.copy()

    @property
    def upper(self) -> Array:
        """(nv,) highest positions now set."""
        return self._upper.copy()

    @property
    def locked(self) -> tuple[str, ...]:
        """Joints held where they are."""
        return tuple(joint for joint, columns in self._columns_of_joints() if self._locked[columns].all())

    # ---- arrays ----

    def _forget(self) -> None:
        """Drop arrays that were built for other loops."""
        self._problems.clear()
        self._last = None

    def _problem(self, goals: list[ToolGoal | JointGoal | CentreOfMassGoal]) -> _Problem:
        mechanism, model = self.mechanism, self.mechanism.model
        loops = self._closed_loops()
        tools = [goal for goal in goals if isinstance(goal, ToolGoal)]
        joints = [goal for goal in goals if isinstance(goal, JointGoal)]
        centres = [goal for goal in goals if isinstance(goal, CentreOfMassGoal)]
        pairs = np.zeros(len(loops) + len(tools), PAIR)
        for pair, loop in zip(pairs[: len(loops)], loops, strict=True):
            ends = []
            for link, placement in ((loop.link_a, loop.placement_a), (loop.link_b, loop.placement_b)):
                body, on_body = self._link(link)
                ends.append((body, on_body * placement))
            fill_pair(pair, ends[0], ends[1], loop.rows)
            pair["weight"] = 1.0 / self.length, 1.0
        for pair, goal in zip(pairs[len(loops) :], tools, strict=True):
            body, placement = self.frame(goal.tool)
            fill_pair(pair, (0, goal.goal), (body, placement), goal.rows)
            pair["weight"] = goal.weight / self.length, goal.weight
        couplings = mechanism.couplings
        coupling_q, coupling_v = np.zeros((len(couplings), model.nq)), np.zeros((len(couplings), model.nv))
        offset = np.zeros(len(couplings))
        for row, coupling in enumerate(couplings):
            for joint, factor in coupling.factors.items():
                k = self._column(joint)
                coupling_q[row, self._position_of[k]] = coupling_v[row, k] = factor
            offset[row] = coupling.offset
            # In the size of a scaled velocity, like the other rows.
            size = np.abs(coupling_v[row] * self._scale).max()
            coupling_q[row], coupling_v[row], offset[row] = (
                coupling_q[row] / size, coupling_v[row] / size, offset[row] / size,
            )  # fmt: skip
        row = 0
        for i, pair in enumerate(pairs):
            if i == len(loops):
                row += len(couplings)
            pair["row"] = row
            row += int(pair["rows"])
        closed = int(pairs["rows"][: len(loops)].sum()) + len(couplings)
        columns, signs = moving_columns(self._tree, pairs)
        pattern = np.zeros((closed, model.nv), bool)
        for pair in pairs[: len(loops)]:
            pattern[pair["row"] : pair["row"] + pair["rows"], columns[pair["begin"] : pair["end"]]] = True
        pattern[closed - len(couplings) :] = coupling_v != 0.0
        joint_v = np.array([self._column(goal.joint) for goal in joints], np.int64)
        joint_weight = np.array([goal.weight for goal in joints])
        if len(joints):
            joint_weight = joint_weight / np.where(self._is_length[joint_v], self.length, 1.0)
        centre = np.zeros(4)
        centre[3] = centres[0].weight / self.length if centres else 0.0
        rows = closed + int(pairs["rows"][len(loops) :].sum()) + len(joints) + (3 if centres else 0)
        options = self.options
        system = System(
            self._tree, pairs, columns, signs, len(loops), coupling_q, coupling_v, offset, closed, group_rows(pattern),
            joint_v, np.zeros(len(joints)), joint_weight, centre, rows, self._position_of, self._lower, self._upper,
            self._scale, self._stretch, self._locked, self._preferred, self._preference,
            Numbers(options.tolerance, options.reach, options.rank, options.step, options.damping, options.steps),
        )  # fmt: skip
        problem = _Problem(
            system, np.zeros(rows), np.zeros((rows, model.nv)),
            tuple(goal.tool for goal in tools), tuple(goal.joint for goal in joints),
        )  # fmt: skip
        problem.J[closed - len(couplings) : closed] = coupling_v
        return problem

    def _set_goals(self, problem: _Problem, goals: list[ToolGoal | JointGoal | CentreOfMassGoal]) -> None:
        system = problem.system
        pair, joint = system.loops, 0
        for goal in goals:
            if isinstance(goal, ToolGoal):
                on_base = self.base.actInv(goal.goal)
                system.pairs["rotation_a"][pair] = on_base.rotation
                system.pairs["translation_a"][pair] = on_base.translation
                on_body = self.frame(goal.tool)[1]
                system.pairs["translation_b"][pair] = on_body.act(np.array(goal.point, float))
                if goal.turn is not None:
                    system.pairs["rotation_b"][pair] = on_body.rotation @ goal.turn
                pair += 1
            elif isinstance(goal, JointGoal):
                system.joint_target[joint] = goal.position
                joint += 1
            else:
                system.centre[:3] = np.asarray(goal.position, float)

    def _command_rows(self, problem: _Problem) -> list[tuple[str, slice]]:
        """Names of commands and their rows, counted from the first command's."""
        names, sizes = [], []
        for goal, pair in zip(problem.tools, problem.system.pairs[problem.system.loops :], strict=True):
            names.append(goal)
            sizes.append(int(pair["rows"]))
        for joint in problem.joints:
            names.append(joint)
            sizes.append(1)
        if problem.system.centre[3] > 0.0:
            names.append("the centre of mass")
            sizes.append(3)
        ends = np.cumsum([0, *sizes])
        return [(name, slice(int(a), int(b))) for name, a, b in zip(names, ends[:-1], ends[1:], strict=True)]

    def _goal(self, command: Command) -> ToolGoal | JointGoal | CentreOfMassGoal:
        if isinstance(command, ToolMotion):
            return command.goal_from(self.placement(command.tool))
        return command

    def _loop_gaps(self, problem: _Problem) -> dict[str, tuple[float, float]]:
        if problem.loops is None:  # where each has its rows: once, as records are slow to read
            problem.loops = [
                (loop.name, int(pair["row"]), int(pair["held"][:3].sum()), int(pair["rows"]))
                for loop, pair in zip(
                    self._closed_loops(), problem.system.pairs[: problem.system.loops], strict=True
                )
            ]
        gap = problem.gap.tolist()
        return {
            name: (math.hypot(*gap[row : row + slides]) * self.length, math.hypot(*gap[row + slides : row + rows]))
            for name, row, slides, rows in problem.loops
        }

    def _closed_loops(self) -> list[LoopClosure]:
        return [loop for loop in self.mechanism.loops if loop.name not in self._open]

    def _rescale(self) -> None:
        self._stretch[:] = 1.0 / np.sqrt(self._weights)
        self._scale[:] = np.where(self._is_length, self.length, 1.0) * self._stretch

    def _loop(self, name: str) -> None:
        names = [loop.name for loop in self.mechanism.loops]
        if name not in names:
            raise InputError(f"unknown loop '{name}'", element="loop", remedy=f"There are {', '.join(names) or 'none'}")

    def _link(self, name: str) -> tuple[int, pin.SE3]:
        links = self.mechanism.robot.parts.links
        if name not in links:
            known = [tool.name for tool in self.mechanism.tools] + list(links)
            raise InputError(
                f"unknown tool or link '{name}'", element="command", remedy=f"There are {', '.join(known[:20])}"
            )
        return links[name].joint_id, links[name].placement_joint_link

    def _columns(self, joint: str) -> slice:
        ids = self.mechanism.robot.parts.joint_ids
        if joint not in ids:
            raise InputError(
                f"unknown joint '{joint}'", element="joint", remedy=f"There are {', '.join(list(ids)[:20]) or 'none'}"
            )
        of_model = self.mechanism.model.joints[ids[joint]]
        return slice(of_model.idx_v, of_model.idx_v + of_model.nv)

    def _column(self, joint: str) -> int:
        columns = self._columns(joint)
        if columns.stop - columns.start != 1 or self._position_of[columns.start] < 0:
            raise InputError(
                f"joint '{joint}' has several coordinates", element="joint", remedy="Name a joint of one coordinate"
            )
        return columns.start

    def _columns_of_joints(self) -> list[tuple[str, range]]:
        joints = self.mechanism.model.joints
        return [
            (name, range(joints[i].idx_v, joints[i].idx_v + joints[i].nv))
            for name, i in self.mechanism.robot.parts.joint_ids.items()
            if joints[i].nv > 0
        ]


def _key(goal: ToolGoal | JointGoal | CentreOfMassGoal) -> tuple[object, ...]:
    """Return what decides the arrays of a command; its goal and its point don't."""
    if isinstance(goal, ToolGoal):
        return goal.tool, goal.rows, goal.weight, goal.turn is None
    return (goal.joint, goal.weight) if isinstance(goal, JointGoal) else (goal.weight,)


def _characteristic_length(mechanism: Mechanism) -> float:
    placements = [*mechanism.model.jointPlacements[1:], *(tool.placement for tool in mechanism.tools)]
    placements += [p for loop in mechanism.loops for p in (loop.placement_a, loop.placement_b)]
    lengths = [float(np.linalg.norm(placement.translation)) for placement in placements]
    lengths = [length for length in lengths if length > 1e-9]
    return float(np.mean(lengths)) if lengths else 1.0
