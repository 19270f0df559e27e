# SPDX-License-Identifier: Apache-2.0
"""Whether a robot has fallen past everything that could catch it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import HalfSpace
from humanoid_sim.simulation import Simulation
from humanoid_sim.world.simulated_robot import SimulatedRobot

DEPTH = 100.0
"""So far below where it began, and below all that is fixed, nothing will catch a robot any more [m]."""


class EndlessFall:
    """Looks for robots with a floating base that fall for ever.

    A robot has fallen out of its scene when it is :data:`DEPTH` below the lowest start, below the lowest point of each
    fixed body with an end, and inside each half-space, whose slope it may slide down as far as it likes.
    """

    def __init__(self, simulation: Simulation) -> None:
        """Take the places of what is fixed.

        Args:
            simulation: to look at; at its start, or wherever its robots may be.
        """
        self._robots = [robot for robot in simulation.robots.values() if robot.robot.base_joint is not None]
        self._planes: list[pin.SE3] = []
        floor = min((_base(robot)[2] for robot in self._robots), default=0.0)
        for body in simulation.world.bodies:
            if body.name not in simulation.bodies or not simulation.bodies[body.name].fixed:
                continue
            for shape, placement_body_shape in body.shapes:
                placement = simulation.placement(body.name) * placement_body_shape
                if isinstance(shape, HalfSpace):
                    self._planes.append(placement)
                else:
                    geometry = coal_geometry(shape)
                    geometry.computeLocalAABB()
                    floor = min(floor, placement.act(geometry.aabb_center)[2] - geometry.aabb_radius)
        self._lowest = floor - DEPTH

    def problem(self) -> str:
        """Return which robot has fallen, and what may help; empty: none."""
        for robot in self._robots:
            place = _base(robot)
            if place[2] < self._lowest and all(plane.actInv(place)[2] < -DEPTH for plane in self._planes):
                shapes = robot.robot.collision_model.ngeoms
                remedy = "Put something under it" if shapes else "Give its links <collision>, or fix its base"
                return f"robot '{robot.name}' has fallen to {place[2]:.4g} m, where nothing will catch it. {remedy}."
        return ""


def _base(robot: SimulatedRobot) -> NDArray[np.float64]:
    return np.asarray(robot.robot.placement_base(robot.q).translation)
