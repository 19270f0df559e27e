# SPDX-License-Identifier: Apache-2.0
"""Closed loops of the mechanisms of a world and of its scene, as the step takes them."""

from __future__ import annotations

import numpy as np

from humanoid_model.loop_closure import ROWS
from humanoid_sim.stepping.step_data import ClosureArrays
from humanoid_sim.world.world import World


def closures_of(world: World) -> ClosureArrays:
    """Return closures of a world: what of two frames on two bodies is held together."""
    loops = world.scene.closures()
    ends = [
        [
            (world.bodies[world.index[name]], placement)
            for name, placement in ((loop.link_a, loop.placement_a), (loop.link_b, loop.placement_b))
        ]
        for loop in loops
    ]
    frames = [[body.placement_joint_body * placement for body, placement in pair] for pair in ends]
    count = len(loops)
    joints = np.array([[body.joint for body, _ in pair] for pair in ends], dtype=np.int64).reshape(count, 2)
    rotations = np.array([[frame.rotation for frame in pair] for pair in frames]).reshape(count, 2, 3, 3)
    origins = np.array([[frame.translation for frame in pair] for pair in frames]).reshape(count, 2, 3)
    return ClosureArrays(
        joints[:, 0].copy(),
        joints[:, 1].copy(),
        rotations[:, 0].copy(),
        origins[:, 0].copy(),
        rotations[:, 1].copy(),
        origins[:, 1].copy(),
        np.array([[row in loop.rows for row in ROWS] for loop in loops], dtype=np.bool_).reshape(count, 6),
        np.zeros((count, 6)),
    )
