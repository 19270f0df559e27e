# SPDX-License-Identifier: Apache-2.0
"""Dynamic models of robots as readable equations and fast code."""

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.generate import GeneratedModel, generate, read_loops
from humanoid_codegen.inverse_dynamics import GivenMotion, KnownWrench, ModelCache, MotionEfforts, inverse_dynamics
from humanoid_model.loop_closure import LoopClosure

__all__ = [
    "DynamicModel",
    "GeneratedModel",
    "GivenMotion",
    "KnownWrench",
    "LoopClosure",
    "ModelCache",
    "MotionEfforts",
    "generate",
    "inverse_dynamics",
    "read_loops",
]
