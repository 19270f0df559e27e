# SPDX-License-Identifier: Apache-2.0
"""Many steps in one compiled call that follow controls and write down what they pass through."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_model.compiling import uncounted
from humanoid_sim.detection.detection_record import DetectionRecord
from humanoid_sim.stepping.run_steps import DONE, run_steps
from humanoid_sim.stepping.step_data import Step
from humanoid_sim.stepping.step_settings import StepSettings


class RollControls(NamedTuple):
    """What drives the steps.

    Attributes:
        values: target positions, or efforts, by step, shape (steps, n); no columns where nothing is controlled.
        rates: target velocities by step, shape (steps, n), or no columns for zero.
        q_places: where the configuration has the joints, shape (n,).
        v_places: where the velocity has them, shape (n,).
        by_effort: whether the values are efforts, shape (1,).
    """

    values: NDArray[np.float64]
    rates: NDArray[np.float64]
    q_places: NDArray[np.int64]
    v_places: NDArray[np.int64]
    by_effort: NDArray[np.bool_]


class RollRecord(NamedTuple):
    """What is written down after each step.

    Attributes:
        q: configurations, shape (steps, nq).
        v: velocities, shape (steps, nv).
        contacts: numbers of contact points, shape (steps,).
        joints: joints whose wrenches are written down, shape (k,).
        wrenches: those of contacts and loops at the world origin, force first, shape (steps, k, 6).
    """

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    contacts: NDArray[np.int64]
    joints: NDArray[np.int64]
    wrenches: NDArray[np.float64]


@uncounted()
def control(step: Step, controls: RollControls, i: int) -> None:
    """Give the drives what the controls say for step ``i``."""
    joints, with_rates = step.joints, controls.rates.shape[1] > 0
    for n in range(controls.values.shape[1]):
        k = controls.v_places[n]
        if controls.by_effort[0]:
            joints.feedforward[k] = controls.values[i, n]
        else:
            joints.q_target[controls.q_places[n]] = controls.values[i, n]
            joints.v_target[k] = controls.rates[i, n] if with_rates else 0.0


@uncounted(nogil=True)
def roll(
    step: Step,
    detection: DetectionRecord,
    start: tuple[np.ndarray, np.ndarray],
    first: int,
    controls: RollControls,
    record: RollRecord,
    settings: StepSettings,
) -> tuple[int, int]:
    """Make steps from the number ``first`` on until the record is full.

    Args:
        step: the step.
        detection: the compiled detection.
        start: configuration and velocity to begin with.
        first: number of the first step to make.
        controls: what drives the steps.
        record: receives what they pass through.
        settings: constants of the steps.

    Returns:
        Number of the step that could not be made, and what was in its way, as of
        :func:`~humanoid_sim.stepping.run_steps.run_steps`; the number of all steps and ``DONE`` if all were made.
    """
    (q, v), state = start, step.state
    for i in range(first, record.contacts.size):
        control(step, controls, i)
        _, end = run_steps(step, detection, q, v, 1, settings)
        if end != DONE:
            return i, end
        q, v = state.q_new, state.v_new
        for r in range(q.size):
            record.q[i, r] = q[r]
        for k in range(v.size):
            record.v[i, k] = v[k]
        record.contacts[i] = step.clock.contacts[0]
        for n in range(record.joints.size):
            for r in range(6):
                record.wrenches[i, n, r] = state.reactions[record.joints[n], r]
    return record.contacts.size, DONE
