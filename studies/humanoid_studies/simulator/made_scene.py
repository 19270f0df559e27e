# SPDX-License-Identifier: Apache-2.0
"""Scenes of bodies on a floor, made in Python where their number is what an experiment varies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_model.description import Geometry, HalfSpace, Shape
from humanoid_model.inertia import uniform_inertia
from humanoid_model.scene import PairRule, Scene, SceneBody, SceneRobot

GRAVITY = 9.8
"""What the thesis' numbers imply [m/s^2]."""


def floor_body() -> SceneBody:
    """Return the fixed half-space z <= 0."""
    here = pin.SE3.Identity()
    return SceneBody(
        "floor", "floor", 0.0, np.zeros(3), np.zeros((3, 3)), here, np.zeros(6),
        (Geometry("", HalfSpace(), here, np.ones(4)),),
    )  # fmt: skip


def made_body(
    name: str, shapes: Sequence[tuple[Shape, pin.SE3]], mass: float, at: pin.SE3, twist: ArrayLike = (0.0,) * 6
) -> SceneBody:
    """Return a body of uniform shapes.

    Args:
        name: of the body.
        shapes: with their placements in the body frame.
        mass: kg; 0 makes it fixed.
        at: where it starts.
        twist: start velocity in the body frame, linear then angular, shape (6,).
    """
    geometries = tuple(Geometry("", shape, placement, np.ones(4)) for shape, placement in shapes)
    com, moments = np.zeros(3), np.zeros((3, 3))
    if mass > 0.0:
        inertia = uniform_inertia(geometries, mass)
        assert inertia is not None
        com, moments = np.array(inertia.lever), np.array(inertia.inertia)
    return SceneBody(name, name, mass, com, moments, at, np.array(twist, dtype=float), geometries)


def made_scene(
    name: str,
    bodies: Iterable[SceneBody],
    *,
    robots: tuple[SceneRobot, ...] = (),
    friction: float = 0.4,
    rules: tuple[PairRule, ...] = (),
) -> Scene:
    """Bodies and robots on the floor, the same friction between all unless a rule says otherwise.

    Args:
        name: of the scene.
        bodies: besides the floor.
        robots: of the scene.
        friction: coefficient.
        rules: further rules of pairs.
    """
    return Scene(
        name=name,
        robots=robots,
        bodies=(floor_body(), *bodies),
        rules=(PairRule("*", "*", friction=friction), *rules),
        gravity=np.array([0.0, 0.0, -GRAVITY]),
    )
