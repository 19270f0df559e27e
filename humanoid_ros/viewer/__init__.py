# SPDX-License-Identifier: Apache-2.0
"""The embedded view: a page in the browser, made of features; what is drawn on it is free of ROS."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from humanoid_ros.viewer.feature import Feature, register_feature

__all__ = ["Feature", "register_feature"]


def __getattr__(name: str) -> Any:
    """Return a public name; who draws alone needs no rclpy."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.feature"), name)
