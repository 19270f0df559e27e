# SPDX-License-Identifier: Apache-2.0
"""Dynamic models of robots as readable equations and fast code."""

from humanoid_codegen.dynamic_model import DynamicModel
from humanoid_codegen.generate import GeneratedModel, generate
from humanoid_codegen.inverse_dynamics import MotionEfforts, inverse_dynamics
from humanoid_codegen.loop_closure import read_loops
from humanoid_codegen.model_cache import ModelCache
from humanoid_codegen.motion_coordinates import GivenMotion, KnownWrench
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
