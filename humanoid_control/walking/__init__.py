# SPDX-License-Identifier: Apache-2.0
"""Walking patterns: footsteps, preview control of the zero-moment point, whole-body motions."""

from humanoid_control.walking.footstep_plan import Footstep, FootstepPlan, plan_footsteps
from humanoid_control.walking.generator import generate_walk
from humanoid_control.walking.preview_control import PreviewController
from humanoid_control.walking.walking_pattern import WalkingPattern, load_walking_pattern

__all__ = [
    "Footstep",
    "FootstepPlan",
    "PreviewController",
    "WalkingPattern",
    "generate_walk",
    "load_walking_pattern",
    "plan_footsteps",
]
