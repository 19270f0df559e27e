# SPDX-License-Identifier: Apache-2.0
"""States at both ends of a double support, from the few data of a step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.specification.boundary_state import BoundaryState
from humanoid_studies.planar_gait.specification.gait_model import FootSizes, load_gait_model
from humanoid_studies.planar_gait.specification.phase_spec import PhaseKind, PhaseSpec, plan_phase
from humanoid_studies.planar_gait.specification.step_data import StepData


@dataclass(frozen=True, eq=False)
class StepStates:
    """Both ends of a double support.

    Attributes:
        model: of the phase.
        initial: when the front foot touches.
        final: when the rear foot leaves.
    """

    model: PhaseModel
    initial: BoundaryState
    final: BoundaryState

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of the angles."""
        return tuple(self.model.tree.coordinates)

    def momenta(self, state: BoundaryState) -> NDArray[np.floating]:
        """(n,) momenta of one of the states [N m s]."""
        return state.phase_variables(self.model)[self.model.n :]


def step_states(model: str, step: StepData, feet: FootSizes | None = None) -> StepStates:
    """States at both ends of the double support of a step.

    Args:
        model: name of what walks, as of :func:`.load_gait_model`.
        step: its data.
        feet: where the model leaves them open.

    Raises:
        InputError: there is no such model, it doesn't walk or has no feet where angles of feet are given, or a leg
            can't reach.
    """
    loaded = load_gait_model(model, feet)
    walker = loaded.walking()
    loaded.check_feet(step, "step")
    try:
        planned = plan_phase(walker, PhaseSpec(PhaseKind.DOUBLE_SUPPORT, 1.0, step=step))
    except InputError as error:
        raise InputError(error.problem, element=f"step: {error.element}", remedy=error.remedy) from error
    return StepStates(planned.model, planned.start, planned.end)
