# SPDX-License-Identifier: Apache-2.0
"""Optimal gaits of any robot, in space or in a plane, with any contacts; needs CasADi."""

from humanoid_model.extensions import optional_library

optional_library("casadi", "planner")  # what is below imports it without asking

from humanoid_gait.costs import (  # noqa: E402
    AccelerationCost,
    ClearanceCost,
    ClosureCost,
    Cost,
    ForceCost,
    PowerCost,
    TimeCost,
    TorqueCost,
)
from humanoid_gait.family import gait_family  # noqa: E402
from humanoid_gait.gait import GaitResult, GaitSolver  # noqa: E402
from humanoid_gait.generation import Walk, generate_gait  # noqa: E402
from humanoid_gait.hold import Hold, hold_of  # noqa: E402
from humanoid_gait.problem import Cycle, GaitProblem, Phase, State  # noqa: E402
from humanoid_gait.proof import gait_proof  # noqa: E402
from humanoid_gait.repeat import repeated  # noqa: E402
from humanoid_gait.walk import WalkRequest  # noqa: E402
from humanoid_gait.walk_report import walk_figure  # noqa: E402

__all__ = [
    "AccelerationCost",
    "ClearanceCost",
    "ClosureCost",
    "Cost",
    "Cycle",
    "ForceCost",
    "GaitProblem",
    "GaitResult",
    "GaitSolver",
    "Hold",
    "Phase",
    "PowerCost",
    "State",
    "TimeCost",
    "TorqueCost",
    "Walk",
    "WalkRequest",
    "gait_family",
    "gait_proof",
    "generate_gait",
    "hold_of",
    "repeated",
    "walk_figure",
]
