# SPDX-License-Identifier: Apache-2.0
r"""What the optimal cost changes with a number of the problem, from the multipliers of one solution.

With unknowns x and multipliers :math:`\lambda, z` of rows and bounds held, the Lagrangian changes as the optimal cost
does (the envelope theorem):

.. math::

    \frac{dJ^*}{dp}=\frac{\partial}{\partial p}\Bigl[J+\lambda\cdot(r-r_\text{active})-z\cdot x_\text{active}\Bigr],

where a row or bound is active at the end that its multiplier pushes from.
"""

from __future__ import annotations

import numpy as np

from humanoid_gait.program_solution import ProgramSolution
from humanoid_gait.transcription import Transcription
from humanoid_model.arrays import Array


def lagrangian(transcription: Transcription, solution: ProgramSolution) -> float:
    """Return a solution's Lagrangian in a program of the same shape, which may differ in numbers."""
    cost, rows = _values(transcription, solution.x)
    total = cost
    for factors, values, ends in (
        (solution.multipliers, rows, (transcription.row_lower, transcription.row_upper)),
        (solution.bound_multipliers, np.zeros(len(solution.x)), (transcription.lower, transcription.upper)),
    ):
        active = np.where(factors > 0.0, ends[1], ends[0])
        # An end that isn't there pushes by what rounding leaves.
        total += float(factors @ np.where(np.isfinite(active), values - active, 0.0))
    return total


def _values(t: Transcription, x: Array) -> tuple[float, Array]:
    """Return the cost and the rows (R,)."""
    layout, rows = t.layout, np.zeros(len(t.row_lower))
    cost, states = 0.0, x[layout.states()]
    for index in range(len(t.points)):
        w = x[layout.stages(index)]
        value = t.stage(index)[0]
        parameters = np.tile(t.parameters(index)[:, None], len(w))
        own, after, path = (np.asarray(part) for part in value.map(len(w))(w.T, parameters))
        cost += float(own.sum())
        rows[t.paths[index]] = path.T
        nodes = np.arange(layout.first[index], layout.first[index + 1])
        rows[t.gaps[nodes]] = states[nodes + 1] - after.T
    for kind, (_, at) in zip(t.node_rows, t.kinds, strict=True):
        count = len(kind.columns)
        found = kind.function.map(count)(x[kind.columns].T, np.tile(kind.parameters[:, None], count))
        rows[at] = np.asarray(found).T
    return cost, rows
