# SPDX-License-Identifier: Apache-2.0
"""How any two bodies of a world touch, looked up by number in compiled code."""

from __future__ import annotations

from fnmatch import fnmatchcase

import numpy as np

from humanoid_sim.stepping.step_data import PairArrays
from humanoid_sim.world.world import World


def pair_table(world: World) -> PairArrays:
    """Return properties of all pairs of bodies.

    Bodies whose names match the same patterns of the scene's rules touch everything alike: they form a class. A scene
    of a thousand boxes has few classes, so that the table stays small.
    """
    patterns = sorted({pattern for rule in world.scene.rules for pattern in (rule.first, rule.second)})
    classes: dict[tuple[bool, ...], int] = {}
    members: list[str] = []
    of_body = np.zeros(len(world.bodies), dtype=np.int64)
    for i, body in enumerate(world.bodies):
        matched = tuple(fnmatchcase(body.name, pattern) for pattern in patterns)
        if matched not in classes:
            classes[matched] = len(members)
            members.append(body.name)
        of_body[i] = classes[matched]
    table = np.zeros((len(members), len(members), 6))
    for i, first in enumerate(members):
        for j, second in enumerate(members):
            pair = world.scene.pairs(first, second)
            dynamic = pair.friction if pair.dynamic_friction is None else pair.dynamic_friction
            table[i, j] = (
                pair.friction,
                dynamic,
                pair.torsional_friction,
                pair.rolling_friction,
                pair.viscous_friction,
                pair.compliance,
            )
    return PairArrays(of_body, table, np.array([int(np.any(table[:, :, 2:5] > 0.0))], dtype=np.int64))
