# SPDX-License-Identifier: Apache-2.0
"""Dynamic models of robots as readable equations and fast code."""

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.generate import generate
from humanoid_codegen.inverse_dynamics import GivenMotion, KnownWrench, ModelCache, inverse_dynamics

__all__ = ["DynamicModel", "GivenMotion", "KnownWrench", "ModelCache", "generate", "inverse_dynamics"]
