# SPDX-License-Identifier: Apache-2.0
"""A contact force as an arrow marker, and its friction cone as high as the normal force is large."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from humanoid_ros.messages.conversions import fill_vector, point

CONE_COLOUR = ColorRGBA(r=0.85, g=0.05, b=0.05, a=0.6)
SHAFT = 0.008
"""Diameter of a force arrow's shaft [m]."""


def cone_numbers(
    tips: NDArray[np.float64], normals: NDArray[np.float64], heights: NDArray[np.float64], friction: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what :func:`write_cone` needs of friction cones (specification 000 §1.7, F022).

    A cone is all head: its tip is the contact point, its axis the normal, its half-angle atan(friction).

    Args:
        tips: contact points [m], shape (n, 3).
        normals: unit, shape (n, 3).
        heights: of the cones [m], shape (n,).
        friction: coefficients [-], shape (n,).

    Returns:
        Shape (n, 8).
    """
    # A frictionless contact keeps a thin spike.
    widths = np.maximum(2.0 * friction, 0.1) * heights
    return np.column_stack([tips + heights[:, None] * normals, tips, widths, heights])


def write_cone(marker: Marker, numbers: Sequence[float]) -> None:
    """Make an arrow marker a friction cone of :func:`cone_numbers`."""
    marker.points = [point(numbers[:3]), point(numbers[3:6])]
    fill_vector(marker.scale, (1e-4, numbers[6], numbers[7]))
    marker.color = CONE_COLOUR


def write_force(
    marker: Marker,
    start: Sequence[float] | NDArray[np.float64],
    end: Sequence[float] | NDArray[np.float64],
    colour: ColorRGBA,
) -> None:
    """Make an arrow marker a force, from a start (3,) to an end (3,) in metres."""
    marker.points = [point(start), point(end)]
    fill_vector(marker.scale, (SHAFT, 2.5 * SHAFT, 0.0))
    marker.color = colour
