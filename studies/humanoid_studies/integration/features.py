# SPDX-License-Identifier: Apache-2.0
"""What of a scene a scheme doesn't know: refused by name instead of left out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import NamedTuple, NoReturn

import numpy as np

from humanoid_model.errors import InputError
from humanoid_sim.detection.contact_points import APART, PairClasses
from humanoid_sim.stepping.options import find_scheme, scheme_names
from humanoid_sim.stepping.world_arrays import Servos
from humanoid_sim.world.world import World


class _Feature(NamedTuple):
    """Something of a scene that not every scheme knows.

    Attributes:
        name: of the feature.
        where: who has it, with the value.
        attribute: attribute of an integrator that says whether the scheme knows it; None where none does.
        remedy: what of the scene could be changed.
    """

    name: str
    where: str
    attribute: str | None
    remedy: str


def check_scheme(integrator: object, name: str, world: World, servos: Servos) -> None:
    """Refuse a scene of which a scheme would leave something out.

    Args:
        integrator: the scheme.
        name: of the scheme, for the message.
        world: the scene as one mechanism.
        servos: with the dry friction of the joints, which may change between steps.

    Raises:
        InputError: the scene has loops, deformable soles, dry joint friction, joint limits, restitution, or contact
            laws beyond Coulomb's that the scheme doesn't know. It names the joint or the pair, and the schemes that do.
    """
    for feature in _features(world, servos):
        if feature.attribute is None or not getattr(integrator, feature.attribute):
            _refuse(name, feature)


def check_dry_friction(name: str, world: World, servos: Servos) -> None:
    """Check that part of :func:`check_scheme` that may change between steps.

    Raises:
        InputError: a joint has dry friction.
    """
    for feature in _dry_friction(world, servos):
        _refuse(name, feature)


def _refuse(name: str, feature: _Feature) -> NoReturn:
    others = "the simulator's own step"
    if feature.attribute is not None:
        others += f" or one of {', '.join(_knowing(feature.attribute))}"
    raise InputError(
        f"the integrator '{name}' doesn't know {feature.name}: {feature.where}",
        element="integrator",
        remedy=f"{feature.remedy}, or take {others}",
    )


def _knowing(attribute: str) -> list[str]:
    """Return the registered schemes that know a feature."""
    return [name for name in scheme_names() if getattr(find_scheme(name), attribute, False)]


def _features(world: World, servos: Servos) -> Iterator[_Feature]:
    """All features of a scene that not every scheme knows."""
    if loops := ", ".join(loop.name for loop in world.scene.closures()):
        yield _Feature("loops", f"the scene has {loops}", None, "Take robots and a scene without them")
    for placed in world.scene.robots:
        if placed.robot.soles:
            soles = ", ".join(placed.robot.soles)
            yield _Feature("deformable soles", f"'{placed.name}' has {soles}", None, "Take a robot without them")
    yield from _dry_friction(world, servos)
    yield from _limits(world, servos)
    yield from _contact_laws(world)


def _dry_friction(world: World, servos: Servos) -> Iterator[_Feature]:
    rubbing = np.flatnonzero(servos.dry_friction)
    if rubbing.size:
        k = int(rubbing[0])
        where = f"the joint '{world.coordinate_name(k)}' has {servos.dry_friction[k]:g} N m or N"
        yield _Feature("dry joint friction", where, None, "Make it 0")


def _limits(world: World, servos: Servos) -> Iterator[_Feature]:
    joints = servos.joint_arrays(world)
    limited = np.flatnonzero(np.isfinite(joints.lower) | np.isfinite(joints.upper))
    if limited.size:
        k = int(limited[0])
        where = f"the joint '{world.coordinate_name(k)}' stops at {joints.lower[k]:g} and {joints.upper[k]:g} rad or m"
        yield _Feature("joint limits", where, "has_joint_limits", "Take the limits off")


def _contact_laws(world: World) -> Iterator[_Feature]:
    """Laws beyond Coulomb's, of the first pair that has each."""
    seen: set[str] = set()
    for a, b in _touching_pairs(world):
        pair = world.scene.pairs(a, b)
        dynamic = pair.friction if pair.dynamic_friction is None else pair.dynamic_friction
        for name, value, without, attribute in (
            ("dynamic_friction", dynamic, pair.friction, None),
            ("torsional_friction", pair.torsional_friction, 0.0, None),
            ("rolling_friction", pair.rolling_friction, 0.0, None),
            ("viscous_friction", pair.viscous_friction, 0.0, None),
            ("compliance", pair.compliance, 0.0, None),
            ("restitution", pair.restitution, 0.0, "has_restitution"),
        ):
            if value != without and name not in seen:
                seen.add(name)
                where = f"the pair '{a}' - '{b}' has {value:g}"
                yield _Feature(name, where, attribute, f"Make it {without:g}")


def _touching_pairs(world: World) -> Iterator[tuple[str, str]]:
    """Yield a pair of bodies that may touch of each two classes that the rules tell apart."""
    mobile_first = sorted(world.bodies, key=lambda body: body.joint == 0)
    solid = [body for body in mobile_first if body.shapes]
    classes = PairClasses.of_scene(world.scene, [body.name for body in solid])
    # Of each class two are enough: the second one touches the first where a class meets itself.
    members = [np.flatnonzero(classes.body == k)[:2].tolist() for k in range(len(classes.method))]
    for i, j in combinations_with_replacement(range(len(members)), 2):
        if classes.method[i, j] == APART:
            continue
        for a, b in product(members[i], members[j]):
            if a != b and (solid[a].joint > 0 or solid[b].joint > 0):
                yield solid[a].name, solid[b].name
                break
