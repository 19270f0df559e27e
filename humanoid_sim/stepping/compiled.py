# SPDX-License-Identifier: Apache-2.0
"""Steps made in one compiled call, many at once where nothing acts in between."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humanoid_model.apart import Apart, load_called
from humanoid_model.arrays import Array
from humanoid_sim.contact.scalar_active_set import scalar_active_set
from humanoid_sim.detection.world_contacts import world_contacts
from humanoid_sim.errors import SimulationError
from humanoid_sim.stepping.by_bodies import solve_by_bodies
from humanoid_sim.stepping.held_response import VANISHED, HeldConstraints, HeldResponses, held_responses
from humanoid_sim.stepping.operators import closure_forces, eliminate_closures
from humanoid_sim.stepping.roll import RollControls, RollRecord, roll
from humanoid_sim.stepping.run_steps import DONE, NO_DETECTION_ROOM, run_steps
from humanoid_sim.stepping.second_order import fly
from humanoid_sim.stepping.staged import StagedStepping
from humanoid_sim.stepping.stepping import Advance


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
        """Make many steps that follow controls, see :func:`~humanoid_sim.stepping.roll.roll`.

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

