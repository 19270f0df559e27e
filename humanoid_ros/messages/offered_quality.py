# SPDX-License-Identifier: Apache-2.0
"""The quality of service that a recorded topic's publishers offered, as rosbag2 keeps it beside the topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any

import yaml
from rclpy.duration import Duration
from rclpy.qos import DurabilityPolicy, LivelinessPolicy, QoSProfile, ReliabilityPolicy

from humanoid_ros.node.qos import LATCHED, SENSOR, STATE, STATIC_TRANSFORMS, TRANSFORMS

_TIMES = ("deadline", "lifespan", "liveliness_lease_duration")
_SENSOR_KINDS = ("Imu", "WrenchStamped", "Image", "CameraInfo")
"""Last words of the types that nodes publish as sensor data."""


def quality_text(offered: Iterable[QoSProfile]) -> str:
    """Return profiles as rosbag2 writes them into ``offered_qos_profiles``."""
    words = []
    for own in offered:
        profile: dict[str, Any] = {"history": own.history.short_key, "depth": own.depth}
        profile |= {"reliability": own.reliability.short_key, "durability": own.durability.short_key}
        for name in _TIMES:
            seconds, nanoseconds = divmod(getattr(own, name).nanoseconds, 10**9)
            profile[name] = {"sec": seconds, "nsec": nanoseconds}
        profile["liveliness"] = own.liveliness.short_key
        profile["avoid_ros_namespace_conventions"] = False
        words.append(profile)
    return str(yaml.safe_dump(words, sort_keys=False))


def recorded_quality(topic: str, kind: str, text: str) -> QoSProfile:
    """Return what a topic is to be offered with once more.

    Args:
        topic: its name.
        kind: its type, as ``sensor_msgs/msg/Imu``.
        text: what :func:`quality_text` or rosbag2 wrote; where it can't be read, topic and type decide.

    Returns:
        What every listener of then can hear: reliable if one publisher was, kept for late listeners if all did,
        deadline, lifespan and liveliness if all had the same. Publishers don't tell depths: those of the nodes.
    """
    try:
        offered = [_profile(own) for own in yaml.safe_load(text) or []]
    except (yaml.YAMLError, TypeError, KeyError, ValueError, AttributeError, OverflowError):
        offered = []
    own = _by_kind(topic, kind)
    if not offered:
        return own
    latched = all(given["durability"] == DurabilityPolicy.TRANSIENT_LOCAL for given in offered)
    quality = copy(LATCHED if latched and topic != "/tf_static" else own)
    reliable = any(given["reliability"] == ReliabilityPolicy.RELIABLE for given in offered)
    quality.reliability = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
    quality.durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
    for name in (*_TIMES, "liveliness"):
        if all(given[name] == offered[0][name] for given in offered):
            setattr(quality, name, offered[0][name])
    return quality


def _by_kind(topic: str, kind: str) -> QoSProfile:
    special = {"/tf": TRANSFORMS, "/tf_static": STATIC_TRANSFORMS}
    return special.get(topic, SENSOR if kind.split("/")[-1] in _SENSOR_KINDS else STATE)


def _profile(own: Mapping[str, Any]) -> dict[str, Any]:
    """Policies of one publisher; versions of rosbag2 before Jazzy wrote their numbers in the place of words."""
    found: dict[str, Any] = {
        "reliability": _policy(ReliabilityPolicy, own["reliability"], ReliabilityPolicy.RELIABLE),
        "durability": _policy(DurabilityPolicy, own["durability"], DurabilityPolicy.VOLATILE),
        "liveliness": _policy(LivelinessPolicy, own["liveliness"], LivelinessPolicy.AUTOMATIC),
    }
    for name in _TIMES:
        found[name] = Duration(nanoseconds=min(own[name]["sec"] * 10**9 + own[name]["nsec"], 2**63 - 1))
    return found


def _policy(kind: Any, given: Any, default: Any) -> Any:
    """Return a policy; what isn't decided (system default, unknown) is the default."""
    policy = kind(given) if isinstance(given, int) else kind[given.upper()]
    undecided = ("system_default", "unknown", "best_available")
    return default if policy.short_key in undecided else policy
