# SPDX-License-Identifier: Apache-2.0
"""Choosing which bodies of a scene are simulated and which pairs may touch (specification 000 §1.5)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from fnmatch import fnmatchcase

from humanoid_model.errors import InputError
from humanoid_model.scene import PairRule, Scene


def simulate_only(scene: Scene, names: Iterable[str]) -> Scene:
    """Return a scene in which only some bodies move; the others stay where they are, still to be touched.

    Robots are always simulated.

    Args:
        scene: the whole scene; it stays as it is.
        names: names or patterns of mobile bodies (``box*``).

    Raises:
        InputError: a name that no body with a mass has.
    """
    patterns = list(names)
    mobile = [body.name for body in scene.bodies if not body.fixed]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in mobile):
            raise InputError(
                f"no body with a mass is called '{pattern}'",
                source=scene.source or None,
                element="simulate",
                remedy=f"Name some of {', '.join(mobile) or 'none'}",
            )
    return dataclasses.replace(
        scene,
        bodies=tuple(
            dataclasses.replace(
                body, simulated=body.simulated and any(fnmatchcase(body.name, pattern) for pattern in patterns)
            )
            for body in scene.bodies
        ),
    )


def collide_only(scene: Scene, pairs: Iterable[tuple[str, str]]) -> Scene:
    """Return a scene in which only some pairs of bodies may touch; by default all may.

    Args:
        scene: the whole scene; it stays as it is.
        pairs: names or patterns of bodies, a robot's links as ``robot/link`` (``("hrp2/*", "floor")``).

    Raises:
        InputError: a name that no body has.
    """
    chosen = list(pairs)
    known = scene.body_names()
    for pattern in (pattern for pair in chosen for pattern in pair):
        if not any(fnmatchcase(name, pattern) for name in known):
            raise InputError(
                f"no body is called '{pattern}'",
                source=scene.source or None,
                element="pairs",
                remedy="python -m humanoid_sim info <scene> lists them",
            )
    rules = (
        PairRule("*", "*", collide=False),
        *(PairRule(first, second, collide=True) for first, second in chosen),
    )
    return dataclasses.replace(scene, rules=(*scene.rules, *rules))
