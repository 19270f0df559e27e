# SPDX-License-Identifier: Apache-2.0
"""Motions of whole robots in the simulator: played on servos or tracked by a stabiliser, and measured."""

from humanoid_sim.playback.motion_playback import play_motion
from humanoid_sim.playback.motion_watch import ContactLoad, MotionWatch, PlayedMotion
from humanoid_sim.playback.whole_body_tracking import TrackingGains, WholeBodyTracking

__all__ = [
    "ContactLoad",
    "MotionWatch",
    "PlayedMotion",
    "TrackingGains",
    "WholeBodyTracking",
    "play_motion",
]
