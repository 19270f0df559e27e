# SPDX-License-Identifier: Apache-2.0
"""Ground by chance for robots that walk: tiles of different heights and slopes, bumps, ramps."""

from __future__ import annotations

import math

import numpy as np
import yaml

from humanoid_model.ground_profile import GroundProfile

HEAD = {
    "pairs": [{"between": ["*", "*"], "friction": 0.8}],
    "camera": {"xyz": [3.4, -2.4, 1.3], "look_at": [0.6, 0, 0.7]},
}


def _box(xyz: list[float], rpy: list[float], size: list[float]) -> dict:
    return {"xyz": xyz, "rpy": rpy, "shapes": [{"box": size, "colour": [0.7, 0.68, 0.64, 1]}]}


def _scene(bodies: dict, friction: float = 0.8) -> str:
    head = {**HEAD, "pairs": [{"between": ["*", "*"], "friction": friction}]}
    return yaml.safe_dump({"bodies": bodies, **head})


def field(
    seed: int, length: float, *, height: float = 0.02, slope: float = math.radians(5.0), tile: float = 0.5,
    friction: float = 0.8
) -> str:  # fmt: skip
    """Make a field of square tiles, the first square metre flat.

    Args:
        seed: of heights and slopes.
        length: of the way [m].
        height: greatest height of a tile's middle above or below the ground [m].
        slope: greatest slope of a tile along each axis [rad].
        tile: edge of a tile [m].
        friction: everywhere.

    Returns:
        A scene's text in YAML, without robots.
    """
    rng = np.random.default_rng(seed)
    bodies = {}
    for i in range(math.ceil((length + 2.0) / tile)):
        for j in range(-4, 4):
            x, y = -1.0 + (i + 0.5) * tile, (j + 0.5) * tile
            flat = x < 0.5
            tilt = rng.uniform(-slope, slope, 2) * (not flat)
            z = float(rng.uniform(-height, height)) * (not flat)
            # A box of 0.4 m whose upper side has its middle at z.
            normal = np.array([math.sin(tilt[1]), -math.sin(tilt[0]) * math.cos(tilt[1]), 0.0])
            normal[2] = math.sqrt(1.0 - normal @ normal)
            centre = np.array([x, y, z]) - 0.2 * normal
            bodies[f"tile_{i}_{j + 4}"] = _box(
                [float(c) for c in centre], [float(tilt[0]), float(tilt[1]), 0.0], [tile * 1.02, tile * 1.02, 0.4]
            )
    return _scene(bodies, friction)


def bump(height: float, x: float, *, side: float = 0.0, friction: float = 0.8) -> str:
    """Make a flat floor with a bar across the way.

    Args:
        height: of the bar above the floor, or below it when negative: then the floor has a ditch [m].
        x: where it begins [m].
        side: 0: for both feet, 1: the left half of the way only, -1: the right half.
        friction: everywhere.
    """
    width, middle = (3.0, 0.0) if side == 0.0 else (1.5, 0.75 * side)
    if height >= 0.0:
        bodies = {"floor": {"shapes": [{"half_space": True}]}}
        bodies["bar"] = _box([x + 0.2, middle, height / 2.0], [0.0, 0.0, 0.0], [0.4, width, height])
    else:
        deep = {"xyz": [0.0, 0.0, height], "shapes": [{"half_space": True}]}
        bodies = {"bottom": deep, "before": _box([x - 2.0, 0.0, -0.2], [0.0, 0.0, 0.0], [4.0, 3.0, 0.4])}
        bodies["after"] = _box([x + 0.4 + 5.0, 0.0, -0.2], [0.0, 0.0, 0.0], [10.0, 3.0, 0.4])
        if side != 0.0:
            bodies["beside"] = _box([x + 0.2, -0.75 * side, -0.2], [0.0, 0.0, 0.0], [0.4, 1.5, 0.4])
    return _scene(bodies, friction)


def ramp(slope: float, x: float, *, friction: float = 0.8) -> str:
    """Make a floor that goes on as a ramp, up or, with a negative slope [rad], down, from x [m] on."""
    length = 12.0
    middle = [x + 0.5 * length * math.cos(slope) + 0.2 * math.sin(slope), 0.0]
    z = 0.5 * length * math.sin(slope) - 0.2 * math.cos(slope)
    bodies = {
        "floor": _box([x - 2.0, 0.0, -0.2], [0.0, 0.0, 0.0], [4.0, 3.0, 0.4]),
        "ramp": _box([middle[0], 0.0, z], [0.0, -slope, 0.0], [length, 3.0, 0.4]),
    }
    return _scene(bodies, friction)


def profile(ground: GroundProfile, *, friction: float = 0.8) -> str:
    """Make a floor that rises along x as a ground does, a box of 3 m to each side for every height."""
    if not len(ground.edges):
        tilt = [0.0, -math.atan(ground.slope), 0.0]
        return _scene({"floor": {"rpy": tilt, "shapes": [{"half_space": True}]}}, friction)
    within = ground.edges.tolist()
    edges = [within[0] - 3.0, *within, within[-1] + 3.0]
    ways = zip(edges, edges[1:], ground.heights.tolist(), strict=False)
    boxes = (([0.5 * (a + b), 0.0, z - 2.0], [0.0, 0.0, 0.0], [b - a, 6.0, 4.0]) for a, b, z in ways)
    return _scene({f"stair_{k}": _box(*box) for k, box in enumerate(boxes)}, friction)
