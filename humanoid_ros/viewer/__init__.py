# SPDX-License-Identifier: Apache-2.0
"""The embedded view: a page in the browser, made of features; what is drawn on it is free of ROS."""

from humanoid_ros.viewer.feature import Feature, register_feature

__all__ = ["Feature", "register_feature"]
