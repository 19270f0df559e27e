# SPDX-License-Identifier: Apache-2.0
"""A contact force as an arrow marker, and its friction cone as high as the normal force is large."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from humanoid_ros.messages.conversions import fill_vector, point

CONE_COLOUR = ColorRGBA(r=0.85, g=0.05, b=0.05, a=0.6)
SHAFT = 0.008
"""Diameter of a force arrow's shaft [m]."""


def shape_cone(
    marker: Marker, tip: NDArray[np.float64], normal: NDArray[np.float64], height: float, friction: float
) -> None:
    """Make an arrow marker a friction cone (specification 000 §1.7, F022).

    It is all head: its tip is the contact point, its axis the normal, its half-angle atan(friction).

    Args:
        marker: of type ARROW.
        tip: (3,) contact point [m].
        normal: (3,) unit normal.
        height: of the cone [m].
        friction: coefficient [-].
    """
    marker.points = [point(tip + height * normal), point(tip)]
    # A frictionless contact keeps a thin spike.
    width = max(2.0 * friction * height, 0.1 * height)
    fill_vector(marker.scale, (1e-4, width, height))
    marker.color = CONE_COLOUR


def shape_force(marker: Marker, start: NDArray[np.float64], arrow: NDArray[np.float64], colour: ColorRGBA) -> None:
    """Make an arrow marker a force: from ``start`` (3,) along ``arrow`` (3,), both in metres."""
    marker.points = [point(start), point(start + arrow)]
    fill_vector(marker.scale, (SHAFT, 2.5 * SHAFT, 0.0))
    marker.color = colour
