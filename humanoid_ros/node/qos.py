# SPDX-License-Identifier: Apache-2.0
"""Quality of service of topics and services, one profile per purpose."""

from __future__ import annotations

from collections.abc import Sequence

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

CLOCK = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
"""Of /clock. Reliable serves both kinds of listeners; ROS clocks ask for best effort."""

STATE = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
"""Of states that a listener should not miss: joints, odometry, contacts, markers, controllers."""

SENSOR = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=5,
    reliability=ReliabilityPolicy.BEST_EFFORT,
    durability=DurabilityPolicy.VOLATILE,
)
"""Of sensor readings: the newest counts."""

NEWEST = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
"""For listeners that only use the newest message."""

NEWEST_OF_ANY = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=ReliabilityPolicy.BEST_EFFORT,
    durability=DurabilityPolicy.VOLATILE,
)
"""For listeners that only use the newest message, from reliable and best-effort publishers alike."""

LATCHED = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""Of what a late listener needs as well: descriptions, scenery, status."""

TRANSFORMS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
"""Of /tf, as tf2_ros has it."""

STATIC_TRANSFORMS = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=100,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
"""Of /tf_static, for listeners."""

COMMAND = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
"""Of commands to joints and trajectories."""

SERVICE = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=10,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.VOLATILE,
)
"""Of requests and their answers, as ROS has it by default."""


def quality_to_hear(offered: Sequence[QoSProfile], depth: int) -> QoSProfile:
    """Return the best quality in which all publishers of a topic are heard: who asks one for more hears nothing of it.

    Args:
        offered: what its publishers offer.
        depth: messages that wait to be taken.
    """
    reliable = all(own.reliability == ReliabilityPolicy.RELIABLE for own in offered)
    latched = all(own.durability == DurabilityPolicy.TRANSIENT_LOCAL for own in offered)
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if offered and reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if offered and latched else DurabilityPolicy.VOLATILE,
    )
