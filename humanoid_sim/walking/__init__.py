# SPDX-License-Identifier: Apache-2.0
"""Walking patterns: footsteps, preview control of the zero-moment point, whole-body motions."""

from humanoid_sim.walking.footstep_plan import Footstep, FootstepPlan, plan_footsteps
from humanoid_sim.walking.generator import generate_walk
from humanoid_sim.walking.motion_playback import play_motion
from humanoid_sim.walking.motion_watch import ContactLoad, MotionWatch, PlayedMotion
from humanoid_sim.walking.preview_control import PreviewController
from humanoid_sim.walking.walking_pattern import WalkingPattern, load_walking_pattern
from humanoid_sim.walking.whole_body_tracking import TrackingGains, WholeBodyTracking

__all__ = [
    "ContactLoad",
    "Footstep",
    "FootstepPlan",
    "MotionWatch",
    "PlayedMotion",
    "PreviewController",
    "TrackingGains",
    "WalkingPattern",
    "WholeBodyTracking",
    "generate_walk",
    "load_walking_pattern",
    "plan_footsteps",
    "play_motion",
]
