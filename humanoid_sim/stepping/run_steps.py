# SPDX-License-Identifier: Apache-2.0
"""Whole steps, many of them, in one compiled call."""

from __future__ import annotations

import numpy as np

from humanoid_model.apart import apart
from humanoid_sim.contact.clock import seconds
from humanoid_sim.detection.detection_record import DetectionRecord, recorded_contacts
from humanoid_sim.stepping.gather_wrenches import end_wrenches
from humanoid_sim.stepping.stages import advance, begin
from humanoid_sim.stepping.step_data import Step
from humanoid_sim.stepping.step_settings import StepSettings
from humanoid_sim.stepping.unsolved_steps import note_unsolved

DONE, NO_DETECTION_ROOM = -1, -10
"""How :func:`run_steps` ends besides what :func:`~humanoid_sim.stepping.stages.advance` says; what the detection lacks
is added to the second."""
DYNAMICS, DETECTION, ASSEMBLY = 1, 2, 3
"""Places of the stages in the times, see :data:`~humanoid_sim.profile.STAGES`."""


@apart(error_model="numpy", _nrt=False, nogil=True)  # other threads answer meanwhile
def run_steps(
    step: Step, record: DetectionRecord, q: np.ndarray, v: np.ndarray, steps: int, settings: StepSettings
) -> tuple[int, int]:
    """Return some steps from a state; each is what :class:`~humanoid_sim.simulation.Simulation` describes.

    The state before the last step is in ``step.state.q`` and ``v``, the one after it in ``q_new`` and ``v_new``. Where
    a step can't be made, the state before it is in ``step.state.q`` and ``v``.

    Args:
        step: the step; its contact points are those of the record. Its ``clock`` receives the seconds of the last step
            by stage, but for what acts around the step, and their sums, the longest step, the last number of contact
            points and the steps that were not solved.
        record: the compiled detection.
        q: configuration to begin with, shape (nq,).
        v: velocity to begin with, shape (nv,).
        steps: how many.
        settings: constants of the steps.

    Returns:
        Number of steps made; and ``DONE``, or what was in the way of the next one.
    """
    state, motion = step.state, step.motion
    clock, last, sums, longest = step.clock.work, step.clock.last, step.clock.sums, step.clock.longest
    for done in range(steps):
        start = seconds(clock)
        begin(step, q, v, settings.dt, settings.newton and step.groups.was_solved[0] < 0)
        q, v = state.q_new, state.v_new
        moved = seconds(clock)
        m = recorded_contacts(record, motion.rotations, motion.origins, motion.twists, settings.margin, settings.dt)[0]
        if m < 0:
            return done, NO_DETECTION_ROOM + m
        last[DYNAMICS] = moved - start
        last[DETECTION] = seconds(clock) - moved
        end = advance(step, m, settings, last[ASSEMBLY:])
        if end != DONE:
            return done, end
        end_wrenches(step.pushes)
        step.clock.contacts[0] = m
        if m > 0:
            note_unsolved(step, settings.tolerance)
        total = 0.0
        for stage in range(DYNAMICS, last.size):
            sums[stage] += last[stage]
            total += last[stage]
        longest[0] = max(longest[0], total)
    return steps, DONE
