# SPDX-License-Identifier: Apache-2.0
"""Postures that hold a stance: the problem, its solution, and the reason when there is none."""

from pathlib import Path

from humanoid_model.compiling import drop_stale_kernels

drop_stale_kernels(Path(__file__).parent)  # before any kernel is imported

from humanoid_planner.posture.generate import generate_posture  # noqa: E402
from humanoid_planner.posture.posture_result import PostureResult  # noqa: E402
from humanoid_planner.posture.stance_equilibrium import StanceEquilibrium, check_stance  # noqa: E402
from humanoid_planner.posture.tasks.collision_model import CollisionModel  # noqa: E402
from humanoid_planner.posture.tasks.criteria import (  # noqa: E402
    Criterion,
    LeastTorque,
    NearReference,
    WeightedSum,
    near_middle,
)
from humanoid_planner.posture.tasks.state import Load  # noqa: E402
from humanoid_planner.posture.tasks.task import Task  # noqa: E402

__all__ = [
    "CollisionModel",
    "Criterion",
    "LeastTorque",
    "Load",
    "NearReference",
    "PostureResult",
    "StanceEquilibrium",
    "Task",
    "WeightedSum",
    "check_stance",
    "generate_posture",
    "near_middle",
]
