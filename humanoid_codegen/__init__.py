# SPDX-License-Identifier: Apache-2.0
"""Dynamic models of robots as readable equations and fast code."""

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.generate import generate

__all__ = ["DynamicModel", "generate"]
