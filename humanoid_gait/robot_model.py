# SPDX-License-Identifier: Apache-2.0
"""Dynamics and kinematics of a robot as CasADi functions of generated code."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import lru_cache

import casadi as ca
import numpy as np

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.languages.symbolic import casadi_function
from humanoid_gait.coordinates import Coordinates
from humanoid_model import InputError, Robot
from humanoid_model.arrays import Array


class RobotModel:
    """Dynamics and kinematics of a robot as CasADi functions, for all phases of a problem.

    Attributes:
        coordinates: charts.
        n: coordinates.
        weight: of the robot [N].
        driven: (m,) coordinates of driven joints.
        free: coordinates that nothing drives.
        limit: (m,) greatest efforts [N m or N], infinite where there is none.
    """

    def __init__(self, coordinates: Coordinates, gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> None:
        """Prepare; functions are made as contacts ask for them.

        Raises:
            InputError: a joint has a spring, or joints close loops.
        """
        robot = coordinates.robot
        if robot.loops:
            raise InputError(
                f"has loops, closed by {', '.join(loop.name for loop in robot.loops)}",
                element=f"robot '{robot.name}'",
                remedy="Leave the loops out of its file and hold what they join, or give it as a cut of a phase",
            )
        if robot.springs:
            raise InputError(
                f"has springs in {', '.join(robot.springs)}",
                element=f"robot '{robot.name}'",
                remedy="Gaits take robots without passive joints",
            )
        self.coordinates, self.n, self.gravity = coordinates, coordinates.size, tuple(gravity)
        self.weight = robot.total_mass * max(float(np.linalg.norm(gravity)), 1.0)
        driven = [robot.index_v(name) for name in robot.joint_names if name in robot.actuators]
        self.driven = np.array(driven, dtype=int)
        self.free = np.setdiff1d(np.arange(self.n), self.driven)
        self.limit: Array = np.array(robot.limits.effort[self.driven])

    def struck(self) -> RobotModel:
        """Return what impulses meet: no gravity, and nothing that drives, since efforts are finite."""
        found = copy.copy(self)
        found.gravity, found.free = (0.0, 0.0, 0.0), np.arange(self.n)
        found.driven, found.limit = np.zeros(0, dtype=int), np.zeros(0)
        return found

    def dynamics(self, links: tuple[str, ...]) -> ca.Function:
        """Return inverse dynamics with wrenches on links: (q, v, a, (links, 6)) to efforts (nv,)."""
        return _dynamics(self.coordinates.robot, self.gravity, links)

    @property
    def links(self) -> list[str]:
        """Names of links that have placements."""
        return _kinematics(self.coordinates.robot)[1]

    def placement(self, link: str, q: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Return rotation (3, 3) and origin (3,) of a link in the world [m]."""
        kinematics, links = _kinematics(self.coordinates.robot)
        R, p, _ = kinematics(q)
        i = links.index(link)
        return R[3 * i : 3 * i + 3, :], p[i, :].T

    def corners(self, location: str, q: ca.SX) -> ca.SX:
        """(k, 3) corners of a contact location in the world [m]."""
        own = self.coordinates.robot.contacts[location]
        R, p = self.placement(own.link, q)
        return ca.horzcat(*[p + R @ ca.DM(corner) for corner in own.vertices_link]).T

    def configuration(self, y: ca.SX) -> ca.SX:
        """(nq,) of coordinates."""
        return self.coordinates.configuration(y)


@lru_cache(maxsize=16)
def _dynamics(robot: Robot, gravity: tuple[float, ...], links: tuple[str, ...]) -> ca.Function:
    model = DynamicModel(robot, gravity=gravity, wrench_links=links)
    return casadi_function(model.function("inverse_dynamics"))


@lru_cache(maxsize=4)
def _kinematics(robot: Robot) -> tuple[ca.Function, list[str]]:
    model = DynamicModel(robot)
    return casadi_function(model.function("kinematics")), [own.name for own in model.links]
