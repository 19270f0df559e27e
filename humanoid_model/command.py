# SPDX-License-Identifier: Apache-2.0
"""What a controller tells a plant in each tick."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_model.arrays import Array


@dataclass(frozen=True, eq=False)
class Command:
    """Efforts of the driven joints, and the motion that they are meant to make.

    A plant driven by efforts applies these. One driven by positions with feed-forward and gains adds
    stiffness (positions - q) + damping (velocities - v).

    Attributes:
        time: of the measurement that it answers [s].
        joints: names of the n driven joints.
        efforts: shape (n,) [N m or N].
        positions: where the joints should be a tick later, shape (n,) [rad or m].
        velocities: likewise [rad/s or m/s].
    """

    time: float
    joints: tuple[str, ...]
    efforts: Array
    positions: Array
    velocities: Array
