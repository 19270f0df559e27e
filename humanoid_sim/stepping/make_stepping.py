# SPDX-License-Identifier: Apache-2.0
"""Which way of making its steps a simulation takes: in one compiled call, stage by stage, or by another scheme.

One compiled call makes many steps at once where nothing acts in between; deformable soles, any contact solver and any
dynamics and detection go stage by stage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from humanoid_model.apart import Apart, load_called
from humanoid_model.arrays import Array
from humanoid_model.errors import InputError, SimulationError
from humanoid_sim.contact.block_nsgs import UNILATERAL, BlockProblem, block_natural_map, block_nsgs
from humanoid_sim.contact.nsgs import nsgs
from humanoid_sim.contact.nsgs_newton import nsgs_newton
from humanoid_sim.contact.scalar_active_set import scalar_active_set
from humanoid_sim.contact.solve import ContactProblem, SolverKernel, find_solver, solve_in_time
from humanoid_sim.detection.world_contacts import world_contacts
from humanoid_sim.stepping.by_bodies import solve_by_bodies
from humanoid_sim.stepping.held_response import VANISHED, HeldConstraints, HeldResponses, held_responses
from humanoid_sim.stepping.impacts import ImpactStage
from humanoid_sim.stepping.interface import Advance, Stepping, SteppingState, StepSetup
from humanoid_sim.stepping.operators import closure_forces, eliminate_closures
from humanoid_sim.stepping.options import find_scheme
from humanoid_sim.stepping.rows_and_forces import gather_wrenches
from humanoid_sim.stepping.run_steps import (
    DONE,
    NO_DETECTION_ROOM,
    RollControls,
    RollRecord,
    advance,
    finish,
    free_motion,
    move,
    pose_problems,
    respond,
    roll,
    run_steps,
)
from humanoid_sim.stepping.second_order import fly
from humanoid_sim.stepping.solve_groups import correction_forces, solve_all
from humanoid_sim.world.world import World

if TYPE_CHECKING:
    from humanoid_sim.flexibility.deformable_sole import DeformableSole
    from humanoid_sim.flexibility.sole_stage import SoleStage


COMPILED_SOLVERS: tuple[SolverKernel, ...] = (nsgs, nsgs_newton)
"""Contact solvers that the compiled step knows itself."""
_STAGES = (
    move, gather_wrenches, free_motion, fly, pose_problems, solve_all, correction_forces,
    respond, finish, advance,
)  # fmt: skip
"""What a step calls from here, and what calls others apart."""


class StagedStepping(Stepping):
    r"""The simulator's own step, stage by stage.

    One step of size dt from the state (q, v):

    1. placements and twists of all bodies at (q, v);
    2. contact points, with their gaps; joints near their limits; loops;
    3. velocity without constraint forces by the articulated-body recursion, servos taken implicitly; Delassus operator
       :math:`W = \delta t\,J H^{-1} J^T` of each group of bodies that touch;
    4. forces of all constraints at once, those of contacts in their Coulomb cones, so that
       :math:`v_c^+ = W f + v_{free}` satisfies Signorini's and Coulomb's laws (specification 000 §8.2);
    5. :math:`v^+`, then :math:`q^+ = q \oplus \delta t\,v^+`.

    With ``impacts="separate"`` what strikes is resolved between 2 and 3; 3 begins with the velocity after the impacts.

    All forces are evaluated at the start of the step; the position moves with the new velocity, since moving it with
    the old one feeds energy into free flight.
    """

    def __init__(self, setup: StepSetup) -> None:
        """Prepare soles and impacts too.

        Raises:
            InputError: a mesh file of a sole can't be read.
        """
        super().__init__(setup)
        self._solve = find_solver(setup.options.method)
        self._soles = _make_soles(setup.world)
        self._rigid_count = 0
        if setup.options.impacts == "separate":
            self.impact_stage = ImpactStage(
                [body.name for body in self.world.bodies], self.world.model.njoints, self.world.model.nv,
                setup.impact_speed,
            )  # fmt: skip

    def advance(self, q: Array, v: Array, step_count: int, steps: int) -> Advance:
        """Make one step, see :meth:`Stepping.advance`."""
        stepper, profile = self.stepper, self.profile
        stepper.move(q, v)
        m = -1
        if self.impact_stage is not None:
            m = self.impact_stage.resolve(stepper, self._detect_rigid)
            profile.end("detection")
        stepper.gather_wrenches()
        stepper.free_motion()
        profile.end("dynamics")
        if m < 0:
            m = self._detect()
            profile.end("detection")
        wrong = self._finish_step(m)
        if wrong >= 0:
            return Advance(q, v, q, v, 0, self._failure(wrong, q, v, step_count))
        self._take_step(m, step_count)
        return Advance(stepper.state.q_new.copy(), stepper.state.v_new.copy(), q, v, 1)

    def warm_up(self) -> None:
        """See :meth:`Stepping.warm_up`."""
        super().warm_up()
        if self.impact_stage is not None:
            self.impact_stage.warm_up(self.stepper)
        if self._solve not in COMPILED_SOLVERS:
            _warm_up_solver(self._solve)
        load_called(_STAGES)

    def _finish_step(self, m: int) -> int:
        """All stages after detection.

        Args:
            m: number of contact points.

        Returns:
            What :meth:`Stepper.finish` returns.
        """
        stepper, profile, settings = self.stepper, self.profile, self.settings
        left = settings.budget
        stepper.constrain(m)
        if self._soles is not None:
            self._soles.locate(stepper.blocks, stepper.groups, m)
        for attempt in range(settings.passes):
            stepper.pose_problems()
            self._pose_soles()
            profile.end("assembly")
            begin = perf_counter()
            if self._solve in COMPILED_SOLVERS:
                stepper.solve(left)
            else:
                stepper.solve_by(self._kernel(begin, left))
            left -= perf_counter() - begin
            profile.end("contacts")
            if not stepper.respond() or attempt + 1 == settings.passes:
                break
            stepper.free_motion()
        wrong = stepper.finish(m, left)
        if wrong < 0 and self._soles is not None:
            self._soles.deform(stepper.points.frames, stepper.blocks, stepper.groups)
        return wrong

    def _kernel(self, begin: float, budget: float) -> SolverKernel:
        """Return the contact solver, with the budget that is left of this step's from ``begin`` on [s]."""
        if budget == np.inf:
            return self._solve

        def within_budget(W: Any, v_free: Any, mu: Any, f: Any, tolerance: Any, most: Any, v: Any, out: Any) -> int:
            return solve_in_time(self._solve, W, v_free, mu, f, tolerance, most, v, out, begin + budget)[0]

        return within_budget

    def _detect(self) -> int:
        """Find the contact points; returns their number."""
        motion, detector, dt = self.stepper.motion, self.detector, self.settings.dt
        points = detector.detect(motion.rotations, motion.origins, motion.twists, dt)
        slots = detector.slot_count
        self._rigid_count = points.size
        if self._soles is not None:
            points = detector.points = self._soles.detect(
                motion.rotations, motion.origins, motion.twists, dt, points, slots
            )
            slots += self._soles.slot_count
        if points is not self._points or slots > len(self.stepper.memory.contacts):
            self._use_points(points, slots)
        return points.size

    def _detect_rigid(self) -> tuple[int, int]:
        """Find the contact points; returns their number and that of those without a deformable sole."""
        return self._detect(), self._rigid_count

    def _pose_soles(self) -> None:
        """Add the compliance and the deformation of soles to the problems of the rigid bodies."""
        if self._soles is not None:
            stepper = self.stepper
            self._soles.pose(stepper.points.frames, stepper.blocks, stepper.groups, self.settings.dt)

    def contact_problem(self) -> ContactProblem | None:
        """Return the contact problem of the last step, soles included."""
        return self.stepper.contact_problem(self._pose_soles)

    @property
    def soles(self) -> Mapping[str, DeformableSole]:
        """See :attr:`Stepping.soles`."""
        return {} if self._soles is None else self._soles.contacts.soles

    def save(self) -> SteppingState:
        """See :meth:`Stepping.save`."""
        state = super().save()
        return state if self._soles is None else replace(state, soles=self._soles.contacts.save())

    def restore(self, state: SteppingState) -> None:
        """See :meth:`Stepping.restore`."""
        super().restore(state)
        if self._soles is not None:
            self._soles.contacts.restore(state.soles)


def _warm_up_solver(solve: SolverKernel) -> None:
    """Compile or load what a solver for contacts alone takes turns with, by solving for one contact and one limit."""
    W, free, f, v, residuals = np.eye(3), np.array([-1.0, 0.0, 0.0]), np.zeros(3), np.zeros(3), np.zeros(5)
    solve(W, free, np.ones(1), f, 1e-6, 100, v, residuals)
    kinds, parameters, parents = np.array([UNILATERAL]), np.zeros(1), np.zeros(1, dtype=np.int64)
    problem = BlockProblem(np.ones((1, 1)), free[:1], np.array([0, 1]), kinds, parameters, parents)
    block_nsgs(problem, f[:1], 1e-6, 100, v[:1], residuals, np.inf)
    block_natural_map(np.ones(1), free[:1], problem.starts, kinds, parameters, parents, f[:1], v[:1])
    load_called([block_nsgs])


def _make_soles(world: World) -> SoleStage | None:
    """Deformable soles of all robots; what they need is loaded only where there are any."""
    declared = [(placed.name, sole) for placed in world.scene.robots for sole in placed.robot.soles.values()]
    if not declared:
        return None
    from humanoid_sim.flexibility.sole_mesh import build_sole
    from humanoid_sim.flexibility.sole_stage import SoleStage

    return SoleStage(world, {f"{robot}/{sole.contact.link}": build_sole(sole) for robot, sole in declared})


class CompiledStepping(StagedStepping):
    """The simulator's own step, compiled as a whole.

    Where impacts are resolved apart, what comes before the detection and what comes after it are a compiled call each.
    """

    def advance(self, q: Array, v: Array, step_count: int, steps: int) -> Advance:
        """See :meth:`Stepping.advance`."""
        stepper = self.stepper
        if self.impact_stage is not None:
            return super().advance(q, v, step_count, steps)
        stepper.pushes.counts[2] = step_count
        made, state, begin_q, begin_v = 0, stepper.state, q, v
        while True:
            done, end = stepper.run_steps(self.detector.record(), begin_q, begin_v, steps - made)
            made += done
            if end == DONE:
                break
            begin_q, begin_v = state.q.copy(), state.v.copy()
            failure = self._make_room(end) if end < 0 else self._failure(end, begin_q, begin_v, step_count + made)
            if failure is not None:
                return Advance(begin_q, begin_v, begin_q, begin_v, made, failure)
        if steps > 1:
            begin_q, begin_v = state.q.copy(), state.v.copy()
        self.has_stepped = True
        self.contact_count = stepper.contact_count
        self.profile.skip()
        return Advance(state.q_new.copy(), state.v_new.copy(), begin_q, begin_v, steps)

    def warm_up(self) -> None:
        """See :meth:`Stepping.warm_up`."""
        if self.impact_stage is not None:
            super().warm_up()
            return
        self.detector.warm_up()
        flies, touches = self.stepper.flight.bodies.size > 0, self.detector.has_pairs
        left_out: list[Apart] = []
        if not touches:
            left_out.append(world_contacts)
        if not flies:
            left_out.append(fly)
        if not (flies or touches):  # one body on half-spaces has less contact points than make a group too large
            left_out.append(solve_by_bodies)
        if self.stepper.closures.joint_a.size == 0:
            left_out += [eliminate_closures, closure_forces]
        if not self.settings.newton:
            left_out.append(scalar_active_set)
        load_called([run_steps], left_out)

    @property
    def rolls(self) -> bool:
        """See :attr:`Stepping.rolls`."""
        return self.impact_stage is None

    def roll(
        self, q: Array, v: Array, step_count: int, controls: RollControls, record: RollRecord
    ) -> tuple[int, SimulationError | None]:
        """Make many steps that follow controls, see :func:`~humanoid_sim.stepping.run_steps.roll`.

        Returns:
            Number of steps made, and why the next one could not be.
        """
        stepper, state, made = self.stepper, self.stepper.state, 0
        stepper.pushes.counts[2] = step_count
        while True:
            made, end = roll(stepper.arrays, self.detector.record(), (q, v), made, controls, record, self.settings)
            if end == DONE:
                return made, None
            q, v = state.q.copy(), state.v.copy()
            failure = self._make_room(end) if end < 0 else self._failure(end, q, v, step_count + made)
            if failure is not None:
                return made, failure

    def respond_held(
        self, start: tuple[Array, Array], held: HeldConstraints, commands: NDArray[np.int64], out: HeldResponses
    ) -> None:
        """Find what changes of a step do while its forces are held, see :mod:`humanoid_sim.stepping.held_response`.

        Raises:
            SimulationError: there is no memory, or a contact that carries a force is found on no side of the state.
        """
        while True:
            end = held_responses(
                self.stepper.arrays, self.detector.record(), start, held, commands, self.settings, out
            )
            if end == DONE:
                return
            if end == VANISHED:
                raise SimulationError(
                    "a contact that carries a force is gone when the state changes by a millionth, to either side"
                )
            failure = self._make_room(end)
            if failure is not None:
                raise failure

    def _make_room(self, end: int) -> SimulationError | None:
        """Grow what was too small for the next step of many steps in one call; why that can't be, if so."""
        try:
            if self.stepper.grow(end):
                return None
        except SimulationError as failure:
            self.forget_last_step()
            return failure
        self.detector.grow(end - NO_DETECTION_ROOM)
        self._use_points(self.detector.points, self.detector.slot_count)
        return None

    def _finish_step(self, m: int) -> int:
        wrong = self.stepper.advance(m)
        self.profile.split(("assembly", "contacts"), self.stepper.times)
        return wrong


@runtime_checkable
class SteppingScheme(Protocol):
    """A scheme that can make the steps of a simulation."""

    def make_stepping(self, setup: StepSetup) -> Stepping:
        """Make the steps of a simulation by this scheme.

        Raises:
            InputError: something of the scene or of the options that it doesn't know.
        """


def make_stepping(setup: StepSetup) -> Stepping:
    """Return the compiled step where it can be, else the one in stages; an integrator where one is asked for.

    Raises:
        InputError: a mesh file of a sole can't be read; something of the scene or of the options that the integrator
            doesn't know.
    """
    options = setup.options
    if options.integrator is not None:
        chosen = find_scheme(options.integrator) if isinstance(options.integrator, str) else options.integrator
        if not isinstance(chosen, SteppingScheme):
            raise InputError(
                f"integrator is a {type(chosen).__name__}",
                element="integrator",
                remedy="Give a name, or an integrator that is ready made",
            )
        return chosen.make_stepping(setup)
    compiled = (
        options.dynamics == "articulated_body"
        and setup.detector.compiled
        and find_solver(options.method) in COMPILED_SOLVERS
        and not any(placed.robot.soles for placed in setup.world.scene.robots)
    )
    return CompiledStepping(setup) if compiled else StagedStepping(setup)
