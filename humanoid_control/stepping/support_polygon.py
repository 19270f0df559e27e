# SPDX-License-Identifier: Apache-2.0
"""The polygon that soles span on the ground, for points of pressure."""

from __future__ import annotations

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.convex_polygon import convex_hull, polygon_margin


class SupportPolygon:
    """Convex outline of points in the plane.

    Args:
        points: (k, 2) at least three that aren't on a line [m].
    """

    def __init__(self, points: Array) -> None:
        self.outline = convex_hull(points)

    def margin(self, point: Array) -> float:
        """Distance of a point (2,) to the nearest edge; negative outside [m]."""
        return polygon_margin(self.outline, point)

    def nearest(self, point: Array) -> Array:
        """Return the point itself, or the nearest one of the outline where it is outside, (2,)."""
        if self.margin(point) >= 0.0:
            return point
        edges = np.roll(self.outline, -1, axis=0) - self.outline
        share = np.sum((point - self.outline) * edges, axis=1) / np.sum(edges * edges, axis=1)
        candidates = self.outline + np.clip(share, 0.0, 1.0)[:, None] * edges
        return np.asarray(candidates[np.argmin(np.linalg.norm(candidates - point, axis=1))])
