# SPDX-License-Identifier: Apache-2.0
"""A stance with the posture that shows that it exists."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_planner.contacts.stances.planned_stance import PlannedStance
from humanoid_planner.contacts.stances.search_volume import SearchVolume


@dataclass(frozen=True, eq=False)
class StancePosture:
    """A stance and its witness.

    Attributes:
        stance: contacts with their roles.
        q: (nq,) posture that shows that the stance, and the way to it from its parent, exist.
        at_goal: whether the goal's tasks are fulfilled: the end of a plan.
        born: volume that the posture generator chose the new contact's place in, for VBFP.
    """

    stance: PlannedStance
    q: NDArray[np.float64]
    at_goal: bool = False
    born: SearchVolume | None = None
