# SPDX-License-Identifier: Apache-2.0
"""Checks of a scene before it is simulated: scenes made in Python have been through no reader's checks."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_model.description import HalfSpace, HeightField, Mesh, Shape
from humanoid_model.errors import SceneError
from humanoid_model.inertia import inertia_problem
from humanoid_model.scene import CONTACT_METHODS, PairRule, Scene, SceneBody, SceneRobot

_ORTHONORMAL = 1e-6
"""How far a rotation matrix may be from one."""
_UNIT = 1e-3
"""How far a quaternion's length may be from 1."""


def check_scene(scene: Scene) -> None:
    """Refuse what can't be simulated.

    Raises:
        SceneError: two things of one name; gravity, a mass, centre of mass, inertia, twist, placement, size, start
            configuration or property of a pair that no thing can have. It names the field, its value and what would be
            right.
    """
    source = scene.source or None
    seen: set[str] = set()
    for name in [placed.name for placed in scene.robots] + [body.name for body in scene.bodies]:
        if name in seen:
            raise SceneError(
                f"the name '{name}' is taken already",
                source=source,
                element="name",
                remedy="Give each robot and body its own name",
            )
        seen.add(name)
    _finite("gravity", scene.gravity, (3,), source)
    for body in scene.bodies:
        _check_body(body, source)
    for placed in scene.robots:
        _check_start(placed, source)
    for rule in scene.rules:
        _check_rule(rule, source)


def _finite(element: str, values: ArrayLike, shape: tuple[int, ...], source: str | None) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    if array.shape != shape:
        raise SceneError(
            f"has the shape {array.shape}", source=source, element=element, remedy=f"Give numbers of the shape {shape}"
        )
    if not np.all(np.isfinite(array)):
        raise SceneError(f"is {array.tolist()}", source=source, element=element, remedy="Give finite numbers")
    return array


def _check_placement(element: str, placement: pin.SE3, source: str | None) -> None:
    R = _finite(f"{element}.rotation", placement.rotation, (3, 3), source)
    _finite(f"{element}.translation", placement.translation, (3,), source)
    if np.abs(R @ R.T - np.eye(3)).max() > _ORTHONORMAL or np.linalg.det(R) < 0.0:
        raise SceneError(
            f"is {R.tolist()}", source=source, element=f"{element}.rotation", remedy="Give a rotation matrix"
        )


def _check_body(body: SceneBody, source: str | None) -> None:
    name = f"body '{body.name}'"
    if not (np.isfinite(body.mass) and body.mass >= 0.0):
        raise SceneError(
            f"is {body.mass}",
            source=source,
            element=f"{name}: mass",
            remedy="Give a positive mass [kg], or 0 for a body that stays where it is",
        )
    _check_placement(f"{name}: placement_world_body", body.placement_world_body, source)
    _finite(f"{name}: twist", body.twist, (6,), source)
    for geometry in body.geometries:
        _check_placement(f"{name}: placement of a shape", geometry.placement, source)
        _check_shape(f"{name}: {type(geometry.shape).__name__}", geometry.shape, source)
    if body.fixed:
        return
    _finite(f"{name}: com", body.com, (3,), source)
    element = f"{name}: inertia"
    inertia = _finite(element, body.inertia, (3, 3), source)
    remedy = "Give the inertia about the centre of mass [kg m^2]"
    if np.abs(inertia - inertia.T).max() > 1e-9 * np.abs(inertia).max():
        raise SceneError(
            f"is {inertia.tolist()}, which is not symmetric", source=source, element=element, remedy=remedy
        )
    problem = inertia_problem(inertia)
    if problem is None and np.linalg.eigvalsh(inertia)[0] <= 0.0:
        problem = f"is {inertia.tolist()}: the body could spin about an axis without inertia"
    if problem:
        raise SceneError(problem.removeprefix("inertia "), source=source, element=element, remedy=remedy)


def _check_shape(element: str, shape: Shape, source: str | None) -> None:
    if isinstance(shape, (HalfSpace, Mesh, HeightField)):
        return  # files and grids are checked where they are read
    for field in fields(shape):
        values = np.asarray(getattr(shape, field.name), dtype=float)
        if not (np.all(np.isfinite(values)) and np.all(values > 0.0)):
            raise SceneError(
                f"is {values.tolist()}",
                source=source,
                element=f"{element}.{field.name}",
                remedy="Give positive lengths [m]",
            )


def _check_start(placed: SceneRobot, source: str | None) -> None:
    model, element = placed.robot.model, f"robot '{placed.name}': q"
    q = _finite(element, placed.q, (model.nq,), source)
    if not pin.isNormalized(model, q, _UNIT):
        raise SceneError(
            "has a quaternion or a cosine-sine pair that is not of unit length",
            source=source,
            element=element,
            remedy="Normalise it (pinocchio.normalize)",
        )
    _check_placement(f"robot '{placed.name}': placement", placed.placement, source)


def _check_rule(rule: PairRule, source: str | None) -> None:
    element = f"pair '{rule.first}' - '{rule.second}'"
    if rule.method is not None and rule.method not in CONTACT_METHODS:
        raise SceneError(
            f"is '{rule.method}'",
            source=source,
            element=f"{element}: method",
            remedy=f"Choose one of {', '.join(CONTACT_METHODS)}",
        )
    for name in (
        "friction",
        "dynamic_friction",
        "torsional_friction",
        "rolling_friction",
        "viscous_friction",
        "compliance",
        "restitution",
    ):
        value = getattr(rule, name)
        if value is None:
            continue
        most = 1.0 if name == "restitution" else np.inf
        if not (np.isfinite(value) and 0.0 <= value <= most):
            raise SceneError(
                f"is {value}",
                source=source,
                element=f"{element}: {name}",
                remedy="Give a coefficient in 0..1" if name == "restitution" else "Give a finite number, 0 or more",
            )


def shapeless_robots(scene: Scene) -> list[str]:
    """Return a warning for each robot that moves freely and has no collision shapes; each says what to do."""
    return [
        f"robot '{own.name}' has no collision shapes: it touches nothing and falls through the floor. Give the links "
        "of its URDF <collision>, or fix its base"
        for own in scene.robots
        if own.robot.base_joint is not None and not own.robot.collision_model.ngeoms
    ]
