# SPDX-License-Identifier: Apache-2.0
"""Steps made stage by stage: with deformable soles, any contact solver, and any dynamics and detection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from humanoid_model.apart import load_called
from humanoid_model.arrays import Array
from humanoid_sim.contact.block_nsgs import UNILATERAL, BlockProblem, block_natural_map, block_nsgs
from humanoid_sim.contact.nsgs import nsgs
from humanoid_sim.contact.nsgs_newton import nsgs_newton
from humanoid_sim.contact.problem import ContactProblem
from humanoid_sim.contact.solve import SolverKernel, find_solver, solve_in_time
from humanoid_sim.stepping import stages
from humanoid_sim.stepping.gather_wrenches import gather_wrenches
from humanoid_sim.stepping.impact_stage import ImpactStage
from humanoid_sim.stepping.second_order import fly
from humanoid_sim.stepping.solve_groups import correction_forces, solve_all
from humanoid_sim.stepping.stepping import Advance, Stepping, SteppingState, StepSetup
from humanoid_sim.world.world import World

if TYPE_CHECKING:
    from humanoid_sim.flexibility.deformable_sole import DeformableSole
    from humanoid_sim.flexibility.sole_stage import SoleStage

COMPILED_SOLVERS: tuple[SolverKernel, ...] = (nsgs, nsgs_newton)
"""Contact solvers that the compiled step knows itself."""
_STAGES = (
    stages.move, gather_wrenches, stages.free_motion, fly, stages.pose_problems, solve_all, correction_forces,
    stages.respond, stages.finish, stages.advance,
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
