# SPDX-License-Identifier: Apache-2.0
"""Whether forces within their constraints can give a phase's change of momentum at all.

Between two given states in a given time the mean force of the ground is known: (P(T) - P(0)) / T + m g Y. Rows of
constraints are affine in it, in the controls and in the accelerations, and so are their means over time. If no mean
controls within the bounds keep the mean rows, no motion keeps the rows themselves. That is necessary, not sufficient.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem

_INFEASIBLE = 2
"""Status of :func:`scipy.optimize.linprog`."""


def impulse_conflict(problem: PhaseProblem) -> str:
    """Why no forces give the change of momentum; empty where some do, or where ends or duration are free."""
    if not problem.all_rows or not (problem.start.fixed and problem.end.fixed) or problem.free_duration:
        return ""
    model, T = problem.scaled_model, problem.duration
    tree, start, end = model.tree, problem.start, problem.end
    momenta = [tree.mass * (tree.centre.jacobian(state.q) @ np.asarray(state.v)) for state in (start, end)]
    ground = (momenta[1] - momenta[0]) / T + np.array([0.0, tree.mass * tree.gravity])
    acceleration = (np.asarray(end.v) - np.asarray(start.v)) / T
    rows = problem.all_rows
    known = [
        row.constant + np.dot(row.ground, ground) + np.dot(row.on_accelerations(model.n), acceleration) for row in rows
    ]
    answer = linprog(
        np.zeros(model.control_count),
        A_ub=-np.array([row.controls for row in rows]),
        b_ub=np.array(known),
        bounds=np.stack([model.control_lower, model.control_upper], axis=1),
    )
    if answer.status != _INFEASIBLE:
        return ""
    return (
        f"no forces within their bounds change the momentum as the ends ask in {T:g} s: the ground has to push with "
        f"{ground[1]:.0f} N upward and {ground[0]:.0f} N forward on average"
    )
