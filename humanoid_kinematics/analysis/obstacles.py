# SPDX-License-Identifier: Apache-2.0
"""How near a mechanism's links are to obstacles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import coal
import numpy as np
import pinocchio as pin

from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
from humanoid_model.arrays import Array
from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Shape


@dataclass(frozen=True, eq=False)
class Nearest:
    """The two nearest points of a mechanism and an obstacle.

    Attributes:
        distance: between them; negative where they overlap [m].
        part: geometry of the mechanism, ``link/name``.
        obstacle: name.
        point_on_part: (3,) in the world [m].
        point_on_obstacle: (3,) in the world [m].
    """

    distance: float
    part: str
    obstacle: str
    point_on_part: Array
    point_on_obstacle: Array


class Obstacles:
    """Obstacles that stand in the world, and how far a mechanism is from each.

    Distances are coal's, between the mechanism's collision shapes, or what is drawn of it where it has none.
    """

    def __init__(self, solver: MechanismSolver, obstacles: Mapping[str, tuple[Shape, pin.SE3]]) -> None:
        """Take a mechanism, and shapes with their placements in the world by name.

        Raises:
            InputError: a mesh that can't be read.
        """
        robot = solver.mechanism.robot
        self._solver = solver
        parts = robot.collision_model if robot.collision_model.ngeoms else robot.visual_model
        self._parts = list(parts.geometryObjects)
        self._obstacles = {name: (coal_geometry(shape), place) for name, (shape, place) in obstacles.items()}
        self._data = robot.model.createData()

    def nearest(self) -> dict[str, Nearest]:
        """Nearest points to each obstacle, by its name; none for a mechanism without shapes."""
        pin.forwardKinematics(self._solver.mechanism.model, self._data, self._solver.q)
        answers: dict[str, Nearest] = {}
        request = coal.DistanceRequest(True, True)
        for name, (shape, place) in self._obstacles.items():
            at = coal.Transform3s(place.rotation, place.translation)
            for part in self._parts:
                world = self._solver.base * self._data.oMi[part.parentJoint] * part.placement
                result = coal.DistanceResult()
                distance = coal.distance(
                    part.geometry, coal.Transform3s(world.rotation, world.translation), shape, at, request, result
                )
                if name not in answers or distance < answers[name].distance:
                    answers[name] = Nearest(
                        float(distance), part.name, name, np.array(result.getNearestPoint1()),
                        np.array(result.getNearestPoint2()),
                    )  # fmt: skip
        return answers
