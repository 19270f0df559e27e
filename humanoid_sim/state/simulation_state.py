# SPDX-License-Identifier: Apache-2.0
"""Everything that decides how a simulation goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_sim.stepping.interface import SteppingState
from humanoid_sim.world.servos import Servos


@dataclass(frozen=True)
class SimulationState:
    """State of a simulation; a restored one continues bit for bit.

    Attributes:
        step_count: number of steps done.
        q: configuration, shape (nq,).
        v: velocity, shape (nv,).
        servos: targets, gains and modes.
        stepping: forces for the warm start, wrenches that act, and what else the steps remember.
        modules: what each module saved, by name.
    """

    step_count: int
    q: NDArray[np.float64]
    v: NDArray[np.float64]
    servos: Servos
    stepping: SteppingState
    modules: Mapping[str, object]
