# SPDX-License-Identifier: Apache-2.0
"""Steps whose contacts were not solved to the tolerance; the best iterate was taken in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_model.compiling import uncounted
from humanoid_sim.stepping.step_data import Step


@dataclass(frozen=True)
class UnsolvedSteps:
    """Some steps that were not solved.

    Attributes:
        count: how many.
        worst: largest relative residual among them; 0 if there are none.
        iterations: of the solver in the step with that residual.
    """

    count: int
    worst: float
    iterations: int


@uncounted()
def note_unsolved(step: Step, tolerance: float) -> None:
    """Add the last step, which has contacts, to ``step.clock.unsolved`` if its residual is above the tolerance."""
    groups, unsolved = step.groups, step.clock.unsolved
    residual, iterations = 0.0, 0
    for g in range(groups.counts[0]):
        residual = max(residual, groups.residuals[g, 0])
        iterations = max(iterations, groups.iterations[g])
    if residual <= tolerance:
        return
    if unsolved[0] == 0.0 or residual > unsolved[1]:
        unsolved[1], unsolved[2] = residual, np.float64(iterations)
    unsolved[0] += 1.0
