# SPDX-License-Identifier: Apache-2.0
"""ROS 2 message types for logs, the stack's own ones included, without a ROS 2 installation."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from humanoid_model.optional_library import optional_library
from humanoid_model.resources import find_resource

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

_OWN = ("ContactForce", "ContactForces", "SolverStatus", "StageTime", "SimulationStatus")


@cache
def ros_types() -> Typestore:
    """Return types of ROS 2 Jazzy and those of ``msg/`` that a log holds.

    Raises:
        MissingLibraryError: the library ``rosbags`` is not installed.
    """
    typesys = optional_library("rosbags.typesys", "simulation", element="record")
    store: Typestore = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    for name in _OWN:
        text = find_resource(f"msg/{name}.msg").read_text(encoding="utf-8")
        store.register(typesys.get_types_from_msg(text, f"humanoid_stack/msg/{name}"))
    return store
