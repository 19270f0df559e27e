# SPDX-License-Identifier: Apache-2.0
"""A robot's joints and its placement in flat arrays, as the kernels of kinematics and statics read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Records

REVOLUTE, PRISMATIC = 0, 1

#: A joint and the body that it moves: kind, parent body; rotation (3, 3) and translation (3,) [m] of the joint's fixed
#: frame in the parent body, axis (3,) in that frame; mass [kg] and centre of mass (3,) in the body frame [m]; variable
#: that the joint's coordinate follows, coordinate = factor * variable + offset; where the body's chain begins in
#: ``TreeTable.chains``, and where it ends. Index 0 is the world.
JOINT = np.dtype(
    [
        ("kind", np.int64),
        ("parent", np.int64),
        ("rotation", np.float64, (3, 3)),
        ("translation", np.float64, (3,)),
        ("axis", np.float64, (3,)),
        ("mass", np.float64),
        ("com", np.float64, (3,)),
        ("column", np.int64),
        ("factor", np.float64),
        ("offset", np.float64),
        ("chain_begin", np.int64),
        ("chain_end", np.int64),
    ]
)


class TreeTable(NamedTuple):
    """Joints and the chains to the bodies that they move.

    Attributes:
        joints: records of JOINT, shape (nb,).
        chains: bodies from the one at the root to the body itself, body after body, shape (any,).
    """

    joints: Records
    chains: NDArray[np.int64]


class Placements(NamedTuple):
    """Where the bodies are; body 0 is the world.

    Attributes:
        rotations: orientations in the world, shape (nb, 3, 3).
        origins: in the world, shape (nb, 3) [m].
        axes: joint axes in the world, shape (nb, 3).
    """

    rotations: NDArray[np.float64]
    origins: NDArray[np.float64]
    axes: NDArray[np.float64]
