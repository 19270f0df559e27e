# SPDX-License-Identifier: Apache-2.0
"""What is told of a mechanism that runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Array


@dataclass(frozen=True, eq=False)
class LiveState:
    """State of a mechanism and of the solver that drives it.

    Attributes:
        time: since it was loaded [s].
        profile: ``robust`` or ``thesis``.
        status: how the last tick ended, as of a :class:`~humanoid_kinematics.solver.mechanism_solver.Motion`; ``idle``
            without commands.
        in_the_way: what keeps the commands from being met, or for a second kept a joint's position that was given up;
            empty if nothing does.
        q: (nq,) configuration.
        v: (nv,) velocities in the last tick.
        at_limit: by joint of one coordinate, whether it is at a limit.
        locked: joints that are held.
        open_loops: loops that are let go of.
        shape: rows and columns of the augmented Jacobian.
        rank: of it.
        singular_values: of it, decreasing; scaled as the profile says.
        condition: largest over smallest singular value that counts; 0 without rows.
        manipulability: product of the singular values of the first tool's Jacobian, lengths by the characteristic
            length; 0 without tools.
        mobility: freedoms that the loops leave, to first order.
        loop_residuals: (6,) by loop: translation [m] and rotation vector [rad] from its first frame to its second, in
            the first frame's axes, 0 in directions that it leaves free.
        command_residuals: (6,) by commanded tool: commanded less achieved place [m, rad] or velocity [m/s, rad/s].
        solve_time: wall-clock time of the solver in a step of the last tick, their mean [s].
        cycle_time: wall-clock time of a whole step, likewise [s].
    """

    time: float
    profile: str
    status: str
    in_the_way: tuple[str, ...]
    q: Array
    v: Array
    at_limit: Mapping[str, bool]
    locked: tuple[str, ...]
    open_loops: tuple[str, ...]
    shape: tuple[int, int]
    rank: int
    singular_values: Array
    condition: float
    manipulability: float
    mobility: int
    loop_residuals: Mapping[str, Array]
    command_residuals: Mapping[str, Array]
    solve_time: float
    cycle_time: float


def rank_of(singular_values: NDArray[np.float64], threshold: float) -> int:
    """Count the singular values above a share of the largest."""
    return int(np.sum(singular_values > threshold * singular_values.max(initial=0.0)))
