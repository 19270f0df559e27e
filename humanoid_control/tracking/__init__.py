# SPDX-License-Identifier: Apache-2.0
"""Motions of the whole robot carried out with feedback: balance on hands and feet, contacts closed by force."""

from humanoid_control.tracking.motion_tracker import MotionTracker, TrackMode
from humanoid_control.tracking.tracker_settings import TrackerSettings

__all__ = ["MotionTracker", "TrackMode", "TrackerSettings"]
