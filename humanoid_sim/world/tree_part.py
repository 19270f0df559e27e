# SPDX-License-Identifier: Apache-2.0
"""The joints of one robot or free body as a Pinocchio model of their own.

Pinocchio's data grow with the cube of a model's coordinates (its derivatives of second order, which nothing here asks
for): 7 GB for a hundred free bodies in one model. What is computed of one robot is computed in its part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_sim.errors import SimulationError

_MAX_DATA_SIZE = 4e9
"""Bytes that Pinocchio's data of a whole world may take."""


@dataclass(frozen=True)
class TreePart:
    """Joints of a world that hang together in numbers, as a model.

    Attributes:
        model: of the joints; gravity is that of the world.
        q: their part of the world's configuration.
        v: their part of the world's velocity.
        before: number of the world's joints that come before them, the universe aside.
    """

    model: pin.Model
    q: slice
    v: slice
    before: int

    @classmethod
    def of(cls, world: pin.Model, q: slice, v: slice) -> TreePart:
        """Return the joints whose coordinates are in a range.

        Args:
            world: model of everything.
            q: range of the configuration.
            v: range of the velocity.
        """
        joints = [j for j in range(1, world.njoints) if v.start <= world.joints[j].idx_v < v.stop]
        before = joints[0] - 1 if joints else 0
        if len(joints) == world.njoints - 1:
            return cls(world, q, v, 0)
        model = pin.Model()
        model.gravity = world.gravity
        for j in joints:
            parent = max(world.parents[j] - before, 0)
            new = model.addJoint(parent, world.joints[j], world.jointPlacements[j], world.names[j])
            model.appendBodyToJoint(new, world.inertias[j], pin.SE3.Identity())
        model.armature = np.array(world.armature[v])
        return cls(model, q, v, before)

    def joint(self, of_world: int) -> int:
        """Return the number in the part of a joint of the world."""
        return of_world - self.before


def whole_world_data(model: pin.Model, user: str) -> pin.Data:
    """Pinocchio's data of a whole world.

    Args:
        model: of the world.
        user: what needs them, for the message.

    Raises:
        SimulationError: they would take more memory than a simulation may have.
    """
    size = 8.0 * (4.0 * model.nv**3 + 6.0 * model.nv**2)  # four tensors of second derivatives, one of Hessians
    if size > _MAX_DATA_SIZE:
        raise SimulationError(
            f"{user}: Pinocchio's matrices of {model.nv} velocity coordinates take {1e-9 * size:.0f} GB, more than "
            f"{1e-9 * _MAX_DATA_SIZE:.0f} GB. Simulate fewer bodies, or leave {user} out"
        )
    return model.createData()
