# SPDX-License-Identifier: Apache-2.0
"""Grains strewn on the ground that make it rough (specification 000 section 18)."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_model.description import Box, Geometry, Shape, Sphere

#: Kinds of grains.
GRAIN_KINDS = ("spheres", "boxes")


def grains(
    kind: str,
    count: int,
    size: np.ndarray,
    radius: np.ndarray,
    sunk: float,
    seed: int,
    placement: pin.SE3,
    colour: np.ndarray,
) -> list[Geometry]:
    """Return shapes of grains at random places on the plane z = 0 of a frame.

    Args:
        kind: ``spheres``, or ``boxes``: cubes of the same volume turned at random.
        count: number of grains.
        size: (2,) extent along x and y of the area that holds their centres, centred on the frame [m].
        radius: (2,) least and largest radius [m].
        sunk: part of its diameter that a grain is below the plane, in 0..1.
        seed: the same seed makes the same grains.
        placement: of the frame in the body.
        colour: (4,) r, g, b, a.
    """
    rng = np.random.default_rng(seed)
    shapes = []
    for i in range(count):
        x, y = (rng.uniform(-0.5, 0.5, 2) * size).tolist()
        r = float(rng.uniform(*radius))
        turn = pin.Quaternion(rng.normal(size=4)).normalized().matrix()
        shape: Shape = Sphere(r) if kind == "spheres" else Box(np.full(3, r * (4.0 * np.pi / 3.0) ** (1.0 / 3.0)))
        place = pin.SE3(turn, np.array([x, y, r * (1.0 - 2.0 * sunk)]))
        shapes.append(Geometry(f"grain_{i}", shape, placement * place, np.array(colour)))
    return shapes
