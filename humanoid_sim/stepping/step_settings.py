# SPDX-License-Identifier: Apache-2.0
"""What stays the same in all steps of a simulation."""

from __future__ import annotations

from typing import NamedTuple


class StepSettings(NamedTuple):
    """Constants of a simulation's steps.

    Attributes:
        dt: time step [s].
        margin: shapes nearer than this are handed to the contact solver [m].
        delassus: way to the operators, a value of :data:`~humanoid_sim.stepping.operators.DELASSUS_METHODS`.
        impact_speed: approach speed from which on restitution applies [m/s], infinite where impacts are resolved apart.
        newton: whether block Gauss-Seidel is helped by Newton's method where there are contacts alone.
        tolerance: bound on the relative residual.
        max_iterations: bound on the iterations of a group.
        budget: seconds that the solves of a step may take all together, infinite for no limit.
        passes: a step is solved at most so many times with other actuators saturated.
    """

    dt: float
    margin: float
    delassus: int
    impact_speed: float
    newton: bool
    tolerance: float
    max_iterations: int
    budget: float
    passes: int


class SolverSettings(NamedTuple):
    """How the groups of a step are solved.

    Attributes:
        newton: whether contacts are handed to :func:`~humanoid_sim.contact.nsgs_newton.nsgs_newton`, with limits and
            dry friction beside them by :func:`~humanoid_sim.contact.scalar_active_set.scalar_active_set`.
        tolerance: bound on the relative residual.
        max_iterations: bound on the number of sweeps.
        deadline: time of :func:`~humanoid_sim.contact.clock.seconds` at which all is to be done but a first sweep.
        dt: time step [s].
    """

    newton: bool
    tolerance: float
    max_iterations: int
    deadline: float
    dt: float
