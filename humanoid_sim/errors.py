# SPDX-License-Identifier: Apache-2.0
"""Errors of the simulator."""

from humanoid_model.errors import HumanoidError


class SimulationError(HumanoidError):
    """The simulation can't go on; its state is that before the step that failed."""
