# SPDX-License-Identifier: Apache-2.0
"""Motions of whole robots in the simulator: played on servos or carried out by a controller, and measured."""

from humanoid_sim.playback.motion_playback import play_motion
from humanoid_sim.playback.motion_watch import ContactLoad, MotionWatch, PlayedMotion

__all__ = ["ContactLoad", "MotionWatch", "PlayedMotion", "play_motion"]
