# SPDX-License-Identifier: Apache-2.0
"""A ball that follows a pointer and never enters a body: god-object and virtual proxy (specification 000, F121).

C. Zilles and J. Salisbury, "A constraint-based god-object method for haptic display", IROS 1995; D. Ruspini, K. Kolarov
and O. Khatib, "The haptic display of complex graphical environments", SIGGRAPH 1997.
"""

from __future__ import annotations

from dataclasses import dataclass

import daqp
import numpy as np
from numpy.typing import NDArray

from humanoid_sim.interaction.nearby import NearbyShapes, Planes

_ROUNDS = 50
_SLACK = 1e-3
"""By this share of its radius the ball may be nearer to a plane; without, it would not get past the edges of meshes."""


@dataclass(frozen=True)
class ProxyContacts:
    """What holds the ball back from the pointer.

    Attributes:
        bodies: index of each body in the world's list, shape (k,).
        points: nearest points of the bodies, in the world [m], shape (k, 3).
        normals: unit, out of the bodies, in the world, shape (k, 3).
        depths: share of each in the way from pointer to ball: ball - pointer = sum of depth * normal [m], shape (k,).
    """

    bodies: NDArray[np.int64]
    points: NDArray[np.float64]
    normals: NDArray[np.float64]
    depths: NDArray[np.float64]


def project(
    goal: NDArray[np.float64], normals: NDArray[np.float64], offsets: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the point of a polyhedron {y: n_i . y >= c_i} nearest to a goal.

    DAQP's dual active-set method.

    Args:
        goal: shape (3,).
        normals: unit, shape (k, 3).
        offsets: shape (k,).

    Returns:
        The point, shape (3,), and multipliers >= 0, shape (k,), with point - goal = sum of multiplier * normal; None if
        the polyhedron is empty.
    """
    missing = offsets - normals @ goal
    scale = float(missing.max(initial=0.0))
    if scale <= 0.0:
        return goal.copy(), np.zeros(len(offsets))
    k = len(offsets)
    model = daqp.Model()
    model.settings = {"primal_tol": 1e-10, "sing_tol": 1e-14}
    sense = np.zeros(k, np.intc)
    status, _ = model.setup(
        np.eye(3), np.zeros(3), np.ascontiguousarray(normals), np.full(k, 1e30), missing / scale, sense
    )
    if status < 0:
        return None
    _, _, status, info = model.solve()
    if status <= 0:
        return None
    multipliers = scale * np.maximum(-info["lam"], 0.0)
    return goal + normals.T @ multipliers, multipliers


class Proxy:
    """A ball between the pointer and the bodies.

    Attributes:
        radius: of the ball [m].
        position: of its centre in the world [m], shape (3,).
        triangles: most mesh triangles that a round of the last move looked at.
    """

    def __init__(self, radius: float, position: NDArray[np.float64]) -> None:
        """Put the ball somewhere."""
        self.radius = radius
        self.position: NDArray[np.float64] = position.copy()
        self.triangles = 0

    def follow(self, goal: NDArray[np.float64], shapes: NearbyShapes) -> ProxyContacts:
        """Move the ball as near to the pointer as the bodies let it, along them if need be.

        Each round makes half-spaces of what is near (see :meth:`NearbyShapes.planes`) and goes to their point nearest
        to the goal. No round enters a body, and none goes away from the goal unless a body has moved into the ball.

        Args:
            goal: the pointer in the world [m], shape (3,).
            shapes: the bodies where they are now.

        Returns:
            What holds the ball back at the end; empty in free space.
        """
        self.triangles = 0
        planes, depths = _NONE, _NONE.offsets
        for _ in range(_ROUNDS):
            reach = float(np.linalg.norm(goal - self.position))
            planes = shapes.planes(self.position, self.radius, reach + 2.0 * self.radius)
            self.triangles = max(self.triangles, planes.triangles)
            found = project(goal, planes.normals, planes.offsets - _SLACK * self.radius)
            if found is None:  # squeezed between bodies: stay
                depths = np.zeros(len(planes.offsets))
                break
            target, depths = found
            move = target - self.position
            length = float(np.linalg.norm(move))
            if length > planes.complete_within:
                move *= planes.complete_within / length
            self.position = self.position + move
            if length < 1e-9:
                break
        held = depths > 0.0
        return ProxyContacts(planes.bodies[held], planes.points[held], planes.normals[held], depths[held])


_NONE = Planes(np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), np.zeros(0, dtype=np.int64), np.inf, 0)
