# SPDX-License-Identifier: Apache-2.0
"""The arrays of a world's steps, and the order in which the stages work on them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import SimulationError
from humanoid_model.tree.articulated_body import ArticulatedInertia
from humanoid_model.tree.forward_kinematics import integrate
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_model.tree.tree_motion import TreeMotion
from humanoid_sim.contact.block_nsgs import BILATERAL, CONTACT, BlockProblem, block_natural_map, block_nsgs
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.solve import ContactProblem, SolverKernel
from humanoid_sim.delassus.constraint_rows import ConstraintRows
from humanoid_sim.detection.contact_points import ContactPoints, PointTable
from humanoid_sim.detection.world_contacts import DetectionRecord
from humanoid_sim.stepping.joints import drive_efforts, joint_loads
from humanoid_sim.stepping.operators import (
    AUTO,
    DELASSUS_METHODS,
    build_operators,
    closure_forces,
    closure_rows,
    eliminate_closures,
)
from humanoid_sim.stepping.rows_and_forces import (
    end_wrenches,
    first_not_finite,
    free_velocities,
    gather_reactions,
    gather_wrenches,
    give_up,
    keep_velocities,
    remember_forces,
)
from humanoid_sim.stepping.run_steps import (
    NO_OPERATOR_ROOM,
    NO_ROOM,
    advance,
    complete_operators,
    constrain,
    finish,
    free_motion,
    move,
    pose_problems,
    respond,
    room,
    run_steps,
)
from humanoid_sim.stepping.second_order import (
    PinocchioDynamics,
    displacement_velocity,
    fly,
    free_bodies,
    remember_pull,
    turning,
)
from humanoid_sim.stepping.solve_groups import correction_forces, solve_all
from humanoid_sim.stepping.step_data import (
    BlockArrays,
    ClockArrays,
    FlightArrays,
    GroupArrays,
    LockArrays,
    MemoryArrays,
    PointArrays,
    PushArrays,
    SolverSettings,
    StateArrays,
    Step,
    StepSettings,
    make_step,
)
from humanoid_sim.stepping.world_arrays import Servos, closures_of, pair_table
from humanoid_sim.world.world import World

DYNAMICS = ("articulated_body", "pinocchio")
"""Where the dynamics of a step come from: the thesis' compiled recursions, or Pinocchio's matrices to compare with."""
_MAX_OPERATOR_SIZE = 200_000_000
"""Entries of all operators of a step: 1.6 GB."""
_LARGEST_OPERATOR = 450
"""Rows up to which a group of contacts alone has a dense operator, and Newton's method: a system of 450 rows takes some
milliseconds, and the time grows with the cube."""
_FIRST_ROWS, _FIRST_BODIES = 240, 48
"""Room for constraints, and for bodies of a tree that they act on, to begin with: enough for a humanoid that lies, so
that no step waits for more. Memory that isn't used is only reserved."""
_ALTERNATIONS = 200
"""A solver for contacts alone takes turns with the other constraints at most so many times."""


class Stepper:
    """Everything that the stages of a step share.

    Attributes:
        settings: constants of the steps.
        model: the tree.
        motion: placements and twists of all bodies at the start of the step.
        state: state and velocities.
        joints: drives, friction and limits of the coordinates.
        blocks: constraints of the last step.
        groups: their groups and operators.
        memory: forces of the last step.
        pushes: wrenches that a user lets act.
        flight: free motion.
        locks: joints that are locked.
        points: contact points of the last step, with their forces.
        closures: loops.
        clock: times of the steps of :meth:`run_steps`.
        times: seconds of assembly, of the solves and of the rest in the last :meth:`advance`, shape (3,).
    """

    def __init__(
        self,
        world: World,
        servos: Servos,
        settings: StepSettings,
        points: ContactPoints,
        slots: int,
        dynamics: str,
        groups: bool,
        clock: ClockArrays,
    ) -> None:
        """Allocate.

        Args:
            world: the scene as one mechanical system.
            servos: targets and gains; their arrays are shared.
            settings: constants of the steps.
            points: where the detector writes its contact points.
            slots: number of contact slots.
            dynamics: one of :data:`DYNAMICS`.
            groups: whether bodies that don't touch each other have operators of their own.
            clock: where :meth:`run_steps` writes its times; shared with whoever reads them.
        """
        model = world.model
        n, nv = model.njoints, model.nv
        self.model = KinematicTree.from_pinocchio(model)
        if not groups:
            self.model = self.model._replace(trees=np.minimum(self.model.trees, 0))
        self.motion = TreeMotion.of_size(n, nv)
        others = TreeMotion.of_size(n, nv)
        self._middle = self.motion._replace(
            twists=others.twists, biases=others.biases, curvatures=others.curvatures
        )
        self.articulated = ArticulatedInertia.of_size(n, nv)
        self.state = StateArrays.of_size(model.nq, nv, n)
        self.joints = servos.joint_arrays(world)
        self.memory = MemoryArrays.of_size(slots, nv)
        self.closures = closures_of(world)
        bodies, joints = free_bodies(self.model, np.concatenate([self.closures.joint_a, self.closures.joint_b]))
        self.flight = FlightArrays(bodies, joints, np.zeros(nv), np.zeros(nv), np.zeros(nv))
        self.locks = LockArrays(
            np.zeros(1, dtype=np.int64), np.zeros(nv, dtype=np.bool_), np.zeros(nv), np.zeros(nv), np.zeros(nv)
        )
        self.pushes = PushArrays.of_size(4)
        self.settings = settings
        self._pairs = pair_table(world)
        self._nv, self._njoints = nv, n
        self._trees = int(self.model.trees.max()) + 1
        self._pinocchio = PinocchioDynamics(model, self.model) if dynamics == "pinocchio" else None
        self.clock = clock
        self.times: NDArray[np.float64] = np.zeros(3)
        self._run: Callable[..., tuple[int, int]] | None = None
        own = settings.newton and self._pinocchio is None
        most = (_LARGEST_OPERATOR, 1) if own else (_MAX_OPERATOR_SIZE, _MAX_OPERATOR_SIZE)
        self._largest = np.array(most, dtype=np.int64)
        self._rows = ConstraintRows.of_size(_FIRST_ROWS)
        self.blocks = BlockArrays.of_size(_FIRST_ROWS // 3, _FIRST_ROWS)
        room = min(int(np.bincount(self.model.trees[1:]).max(initial=0)), _FIRST_BODIES)
        self.groups = self._groups(_FIRST_ROWS**2, room**2, 2 * room)
        self._take_points(points, slots)
        self._step: Step = make_step(
            model=self.model, motion=self.motion, middle=self._middle, articulated=self.articulated, state=self.state,
            joints=self.joints, rows=self._rows, blocks=self.blocks, groups=self.groups, memory=self.memory,
            closures=self.closures, points=self.points, pairs=self._pairs, pushes=self.pushes, flight=self.flight,
            locks=self.locks, clock=self.clock,
        )  # fmt: skip

    def _groups(self, entries: int, omega: int, reach: int) -> GroupArrays:
        """Return groups with so much room for operators, none of which is in use."""
        nv, n, trees = self._nv, self._njoints, self._trees

        def integers(size: int) -> NDArray[np.int64]:
            return np.zeros(size, dtype=np.int64)

        return GroupArrays(
            blocks=integers(trees + 1), ends=integers(trees), offsets=integers(trees + 1), largest=self._largest,
            W=np.zeros(entries), residuals=np.zeros((trees, 5)), iterations=integers(trees),
            leaders=integers(trees), group_of_tree=integers(trees), mixed=np.zeros(trees, dtype=np.bool_),
            members=integers(trees), free=np.isin(np.arange(trees), self.model.trees[self.flight.bodies]),
            place=np.full(n, -1, dtype=np.int64), bodies=integers(n), tree_bodies=integers(trees + 1),
            sizes=integers(trees), omega_offsets=integers(trees),
            omega=np.zeros((omega, 6, 6)), branch=integers(nv), marks=integers(nv), U=np.zeros((nv, 6)),
            A=np.zeros((nv, 6, 6)), reach=np.zeros((reach, 6, 6)), counts=integers(5), path=integers(nv),
            was_solved=np.full(1, -1, dtype=np.int64), methods=integers(trees),
        )  # fmt: skip

    def use_points(self, points: ContactPoints, slots: int) -> None:
        """Take the contact points from these arrays from now on; their slots are below ``slots``."""
        self._take_points(points, slots)
        self._step = self._step.with_fields(points=self.points, memory=self.memory)

    def _take_points(self, points: ContactPoints, slots: int) -> None:
        capacity = len(points.gaps)
        if slots > len(self.memory.contacts):
            grown = MemoryArrays.of_size(2 * slots, self._nv)
            grown.contacts[: len(self.memory.contacts)] = self.memory.contacts
            grown.joints[:] = self.memory.joints
            grown.used[: len(self.memory.used)] = self.memory.used
            grown.used_count[:] = self.memory.used_count
            self.memory = grown
        given = PointTable.of_points(points)._asdict()
        self.points = PointArrays(
            **given, frames=np.zeros((capacity, 3, 3)), forces=np.zeros((capacity, 3)),
            torques=np.zeros((capacity, 3)), velocities=np.zeros((capacity, 3)),
        )  # fmt: skip

    @property
    def arrays(self) -> Step:
        """All arrays of the step as compiled stages take them; another object whenever some have grown."""
        return self._step

    # -- whole steps -----------------------------------------------------------

    def run_steps(
        self, record: DetectionRecord, q: NDArray[np.float64], v: NDArray[np.float64], steps: int
    ) -> tuple[int, int]:
        """Make some whole steps, see :func:`~humanoid_sim.stepping.run_steps.run_steps`.

        Returns:
            Number of steps made; and ``DONE``, what :func:`~humanoid_sim.stepping.run_steps.finish` says of a state
            that is not finite, or what has no room: :meth:`grow` gives that of the constraints, and it is called again
            for the rest of the steps.
        """
        own_q, own_v = self.state.q, self.state.v  # of the types that were compiled for, whatever a user has set
        own_q[:], own_v[:] = q, v
        if self._run is None:
            self._run = run_steps.for_types_of(self._step, record, own_q, own_v, steps, self.settings)
        made, end = self._run(self._step, record, own_q, own_v, steps, self.settings)
        return made, end

    @property
    def contact_count(self) -> int:
        """Number of contact points of the last step of :meth:`run_steps`."""
        return int(self.clock.contacts[0])

    def advance(self, m: int) -> int:
        """Everything after detection, see :func:`~humanoid_sim.stepping.run_steps.advance`.

        Returns:
            What :meth:`finish` returns; :attr:`times` has the stages' seconds.

        Raises:
            SimulationError: the constraints need more memory than a step may have.
        """
        while True:
            wrong = advance(self._step, m, self.settings, self.times)
            if not self.grow(wrong):
                return int(wrong)

    def grow(self, end: int) -> bool:
        """Make room for the constraints if that is what a step lacked; whether it was.

        Args:
            end: what :meth:`run_steps` or :func:`~humanoid_sim.stepping.run_steps.advance` said.

        Raises:
            SimulationError: they need more memory than a step may have.
        """
        if end == NO_ROOM:
            self._grow()
        elif end == NO_OPERATOR_ROOM:
            self._grow_operators()
        else:
            return False
        return True

    def grow_pushes(self) -> PushArrays:
        """Make room for more wrenches; returns the new arrays."""
        old = self.pushes
        self.pushes = PushArrays.of_size(2 * len(old.joints))
        for own, before in zip(self.pushes, old, strict=True):
            own[: len(before)] = before
        self._step = self._step.with_fields(pushes=self.pushes)
        return self.pushes

    # -- stages one by one ---------------------------------------------------------------------

    def move(self, q: NDArray[np.float64], v: NDArray[np.float64]) -> None:
        """Take a state, shapes (nq,) and (nv,), and move all bodies to it."""
        move(self._step, q, v)

    def gather_wrenches(self) -> None:
        """Sum up the wrenches that act."""
        gather_wrenches(self._step)

    def end_wrenches(self) -> None:
        """Let go of the wrenches that don't act in the next step."""
        end_wrenches(self.pushes)

    def constrain(self, m: int) -> None:
        """Write the constraints of ``m`` contact points, of joints and of loops.

        Raises:
            SimulationError: they need more memory than a step may have.
        """
        dt = self.settings.dt
        if not room(self._step, m, dt):
            self._grow()
        if not constrain(self._step, m, dt):
            self._grow_operators()

    def _grow_operators(self) -> None:
        counts, sizes = self.groups.counts, self.groups.sizes
        omega = max(2 * int(counts[4]), len(self.groups.omega))
        reach = max(4 * int(sizes.max()), len(self.groups.reach))
        self.groups = self.groups._replace(omega=np.zeros((omega, 6, 6)), reach=np.zeros((reach, 6, 6)))
        self._step = self._step.with_fields(groups=self.groups)

    def _grow(self) -> None:
        _, blocks, rows, entries, _ = (int(count) for count in self.groups.counts)
        if entries > _MAX_OPERATOR_SIZE:
            raise SimulationError(
                f"{blocks} contacts and joints push on each other at once: their operators need "
                f"{8e-9 * entries:.1f} GB, more than {8e-9 * _MAX_OPERATOR_SIZE:.1f} GB"
            )
        if rows > self.blocks.forces.size or blocks > self.blocks.kinds.size:
            self._rows, self.blocks = ConstraintRows.of_size(2 * rows), BlockArrays.of_size(2 * blocks, 2 * rows)
        if entries > self.groups.W.size:
            self.groups = self.groups._replace(W=np.zeros(min(2 * entries, _MAX_OPERATOR_SIZE)))
        self._step = self._step.with_fields(rows=self._rows, blocks=self.blocks, groups=self.groups)

    def free_motion(self) -> None:
        """Velocity without constraint forces."""
        dt = self.settings.dt
        if self._pinocchio is None:
            free_motion(self._step, dt)
        else:
            joint_loads(self.model.armature, self.state.v, self.joints, dt)
            self._pinocchio.free_motion(self.state, self.joints, self.motion, dt)
            self._pinocchio.refine(self.state, self.flight, turning(self._step), dt)
            fly(self._step, dt)

    def pose_problems(self) -> None:
        """Free velocities along the constraints, and operators."""
        s = self.settings
        if self._pinocchio is None:
            pose_problems(self._step, s.delassus, s.dt, s.impact_speed)
        else:
            free_velocities(self._step, s.dt, s.impact_speed)
            self._pinocchio.build_operators(self._rows, self.blocks, self.groups, self.motion, s.dt)

    def solve(self, budget: float) -> None:
        """Solve all groups by block Gauss-Seidel, contacts alone with the help of Newton if wanted; budget in s."""
        s = self.settings
        deadline = seconds(self.clock.work) + budget
        solve_all(self._step, SolverSettings(s.newton, s.tolerance, s.max_iterations, deadline, s.dt))

    def solve_by(self, kernel: SolverKernel) -> None:
        """Solve all groups by a solver for contacts alone; other constraints take turns with it."""
        blocks, groups = self.blocks, self.groups
        for g in range(int(groups.counts[0])):
            first, last = int(groups.blocks[g]), int(groups.blocks[g + 1])
            begin, end = int(blocks.starts[first]), int(blocks.starts[last])
            n = end - begin
            W = groups.W[groups.offsets[g] : groups.offsets[g] + n * n].reshape(n, n)
            v_free, f, v = blocks.v_free[begin:end], blocks.forces[begin:end], blocks.velocities[begin:end]
            held = closure_rows(self._step, g)
            if held > 0:
                eliminate_closures(W, v_free, held)
            groups.iterations[g] = self._solve_group(
                first, last, W[held:, held:], v_free[held:], f[held:], v[held:], held + begin, kernel,
                groups.residuals[g],
            )  # fmt: skip
            if held > 0:
                closure_forces(W, v_free, held, f)
                v[:held] = 0.0

    def _solve_group(
        self, first: int, last: int, W: NDArray[np.float64], v_free: NDArray[np.float64], f: NDArray[np.float64],
        v: NDArray[np.float64], begin: int, kernel: SolverKernel, residuals: NDArray[np.float64],
    ) -> int:  # fmt: skip
        """One group without closures; returns the iterations."""
        blocks = self.blocks
        tolerance, max_iterations = self.settings.tolerance, self.settings.max_iterations
        kinds = blocks.kinds[first:last]
        skip = int(np.count_nonzero(kinds == BILATERAL))
        first, kinds = first + skip, kinds[skip:]
        starts = blocks.starts[first : last + 1] - begin
        contacts = kinds == CONTACT
        mu = blocks.parameters[first:last][contacts]
        if contacts.all():
            return kernel(np.ascontiguousarray(W), v_free, mu, f, tolerance, max_iterations, v, residuals)
        rows = (starts[:-1][contacts][:, None] + np.arange(3)).reshape(-1)
        others = np.where(contacts, BILATERAL, kinds)
        parameters, parents = blocks.parameters[first:last], blocks.parents[first:last] - first
        W = np.ascontiguousarray(W)
        W_contacts = np.ascontiguousarray(W[np.ix_(rows, rows)])
        iterations = 0
        scratch = np.zeros(5)
        for _ in range(_ALTERNATIONS):
            f_contacts = np.ascontiguousarray(f[rows])
            if len(rows):
                outside = f.copy()
                outside[rows] = 0.0
                free = v_free[rows] + W[rows] @ outside
                iterations += kernel(
                    W_contacts, free, mu, f_contacts, tolerance, max_iterations, np.empty(len(rows)), scratch
                )
            f[rows] = f_contacts
            problem = BlockProblem(W, v_free, starts, others, parameters, parents)
            iterations += block_nsgs(problem, f, tolerance, max_iterations, v, residuals, np.inf)
            residuals[0] = block_natural_map(np.diag(W).copy(), v_free, starts, kinds, parameters, parents, f, v)
            if residuals[0] <= tolerance:
                break
        return iterations

    def respond(self) -> bool:
        """Velocity under the constraint forces; whether other actuators saturate than was assumed."""
        dt = self.settings.dt
        if self._pinocchio is None:
            return bool(respond(self._step, dt))
        state = self.state
        gather_reactions(self._step, self.blocks.forces)
        state.v_new[:] = state.v_free
        self._pinocchio.respond(self.blocks.forces[: self.groups.counts[2]], dt, state.v_new)
        return bool(drive_efforts(state.v_new, self.joints, dt))

    def finish(self, m: int, budget: float) -> int:
        """Correct positions within a budget [s], move on, remember forces; returns what ``stages.finish`` does."""
        dt, max_iterations = self.settings.dt, self.settings.max_iterations
        deadline = seconds(self.clock.work) + budget
        if self._pinocchio is None:
            return int(finish(self._step, m, dt, max_iterations, deadline, True))
        state, rows = self.state, int(self.groups.counts[2])
        wrong = int(first_not_finite(state.v_new))
        if wrong < 0:
            velocity, forces = state.v_new.copy(), np.empty(rows)
            if rows > 0 and correction_forces(self._step, dt, max_iterations, deadline, np.empty(rows), forces):
                self._pinocchio.respond(forces, dt, velocity)
            integrate(self.model, state.q, displacement_velocity(self._step, velocity, dt), dt, state.q_new)
            wrong = int(first_not_finite(state.q_new))
            if wrong >= 0:
                wrong += self._nv
        if wrong >= 0:
            give_up(self._step)
        else:
            remember_forces(self._step, m)
            remember_pull(self._step)
        return wrong

    def complete_operators(self) -> None:
        """Make the operators of the last step those of all rows, see :func:`.complete_operators`."""
        complete_operators(self._step, self.settings.delassus, self.settings.dt)

    # -- reading -------------------------------------------------------------------------------

    def delassus_method(self, joint: int) -> str | None:
        """Way by which the operator of a joint's tree was last computed; None where no constraint acted on it."""
        if self._pinocchio is not None or joint == 0:
            return None
        chosen = int(self.groups.methods[self.model.trees[joint]])
        return None if chosen == AUTO else list(DELASSUS_METHODS)[chosen]

    def contact_problem(self, complete: Callable[[], None]) -> ContactProblem:
        """Return the contacts of all groups as one problem; closures are eliminated, the other forces given.

        Args:
            complete: adds to the operators what isn't the stepper's, such as deformable soles.
        """
        diagonal = self.blocks.diagonal.copy()  # by which the next step sees whether things are at rest
        self.complete_operators()
        keep_velocities(self._step)
        self._give_operators()
        blocks, groups = self.blocks, self.groups
        if self._pinocchio is None:
            build_operators(self._step, self.settings.delassus, self.settings.dt)
        else:
            self._pinocchio.build_operators(self._rows, self.blocks, self.groups, self.motion, self.settings.dt)
        complete()
        self.blocks.diagonal[:] = diagonal
        size = 3 * int(np.count_nonzero(blocks.kinds[: groups.counts[1]] == CONTACT))
        W, v_free, mu = np.zeros((size, size)), np.zeros(size), np.zeros(size // 3)
        order = np.zeros(size // 3, dtype=np.int64)
        place = 0
        for g in range(int(groups.counts[0])):
            first, last = int(groups.blocks[g]), int(groups.blocks[g + 1])
            begin, end = int(blocks.starts[first]), int(blocks.starts[last])
            n = end - begin
            own = groups.W[groups.offsets[g] : groups.offsets[g] + n * n].reshape(n, n).copy()
            free = blocks.v_free[begin:end].copy()
            held = closure_rows(self._step, g)
            if held > 0:
                eliminate_closures(own, free, held)
            contacts = first + np.flatnonzero(blocks.kinds[first:last] == CONTACT)
            rows = (blocks.starts[contacts][:, None] - begin + np.arange(3)).reshape(-1)
            others = np.setdiff1d(np.arange(held, n), rows)
            here = slice(place, place + len(rows))
            W[here, here] = own[np.ix_(rows, rows)]
            v_free[here] = free[rows] + own[np.ix_(rows, others)] @ blocks.forces[begin:end][others]
            mu[place // 3 : place // 3 + len(contacts)] = blocks.parameters[contacts]
            order[place // 3 : place // 3 + len(contacts)] = blocks.points[contacts]
            place += len(rows)
        back = np.argsort(order)
        rows = (3 * back[:, None] + np.arange(3)).reshape(-1)
        return ContactProblem(W[np.ix_(rows, rows)], v_free[rows], mu[back])

    def _give_operators(self) -> None:
        """Make room for the operators of all groups."""
        groups, starts = self.groups, self.blocks.starts
        rows = np.diff(starts[groups.blocks[: groups.counts[0] + 1]])
        groups.offsets[: len(rows) + 1] = np.cumsum([0, *rows**2])
        groups.counts[3] = groups.offsets[len(rows)]
        if groups.counts[3] > groups.W.size:
            self._grow()

    # -- warm start ----------------------------------------------------------------------------

    def remembered(self) -> tuple[NDArray[np.float64], ...]:
        """Return copies of the forces that the next solve starts from, and of what tells whether things are at rest."""
        blocks, rows = int(self.groups.counts[1]), int(self.groups.counts[2])
        used = self.memory.used[: int(self.memory.used_count[0])]
        return (
            used.astype(float),
            self.memory.contacts[used],
            self.memory.joints.copy(),
            self.closures.memory.copy(),
            self.blocks.diagonal[:rows].copy(),
            self.blocks.built[:blocks].astype(float),
            self.groups.was_solved.astype(float),
            self.flight.pull.copy(),
        )

    def remember(self, forces: tuple[NDArray[np.float64], ...]) -> None:
        """Start the next solve from what :meth:`remembered` gave."""
        slots, contacts, joints, closures, diagonal, built, was_solved, pull = forces
        memory = self.memory
        memory.contacts[memory.used[: int(memory.used_count[0])]] = 0.0
        used = slots.astype(np.int64)
        memory.contacts[used] = contacts
        memory.used[: len(used)] = used
        memory.used_count[0] = len(used)
        memory.joints[:] = joints
        self.closures.memory[:] = closures
        if len(diagonal) > self.blocks.forces.size or len(built) > self.blocks.kinds.size:
            self._rows = ConstraintRows.of_size(2 * len(diagonal))
            self.blocks = BlockArrays.of_size(2 * len(built), 2 * len(diagonal))
            self._step = self._step.with_fields(rows=self._rows, blocks=self.blocks)
        self.blocks.diagonal[: len(diagonal)] = diagonal
        self.blocks.built[:] = -1
        self.blocks.built[: len(built)] = built
        self.groups.was_solved[:] = was_solved
        self.flight.pull[:] = pull
