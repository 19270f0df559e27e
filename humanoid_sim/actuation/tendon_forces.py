# SPDX-License-Identifier: Apache-2.0
r"""Springs, dampers, drives and limits of a scene's tendons.

A tendon of length :math:`l(q)` with the force :math:`f` along its growth does :math:`J^T f` to the joints, with
:math:`J = \partial l/\partial q`. The force is that of the start of the step, as joint servos' isn't: a tendon too
stiff for the time step is refused.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_model.tendon import Tendon, TendonDrive, TendonPoint
from humanoid_sim.dynamics.tree_motion import TreeMotion, move_tree
from humanoid_sim.module import Module

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation

LIMIT_TIME = 0.02
"""A limit is a spring and damper, critical with the inertia that the tendon moves, of this time constant [s].

MuJoCo's limits have it by default (``solref``). A tendon that is pulled beyond its limit with the acceleration a by
all else yields by a times its square."""
_NO_DRIVE = TendonDrive(0.0, 0.0, 0.0)


class TendonForces(Module):
    """Applies the forces of the tendons before each step.

    Attributes:
        lengths: of the tendons at the start of the last step, in the scene's order [m], shape (n,).
        forces: along their growth, in the last step [N], shape (n,).
    """

    name = "tendons"

    def __init__(self, tendons: tuple[Tendon, ...]) -> None:
        """Hold tendons of a scene; those with a position servo stay as long as they are at the start."""
        self._tendons = {tendon.name: tendon for tendon in tendons}
        self._index = {name: i for i, name in enumerate(self._tendons)}
        self.lengths, self.forces = np.zeros(len(tendons)), np.zeros(len(tendons))
        drives = [tendon.drive or _NO_DRIVE for tendon in tendons]
        self._stiffness = np.array([tendon.stiffness for tendon in tendons])
        self._damping = np.array([tendon.damping for tendon in tendons])
        self._rest = np.array([tendon.rest for tendon in tendons]).reshape(-1, 2)
        self._limits = np.array([tendon.limits for tendon in tendons]).reshape(-1, 2)
        self._gains = np.array([(drive.stiffness, drive.damping) for drive in drives]).reshape(-1, 2)
        self._effort = np.array([drive.effort for drive in drives])
        self._target, self._given = np.zeros(len(tendons)), np.zeros(len(tendons))

    def attach(self, simulation: Simulation) -> None:
        """Find bodies and joints.

        Raises:
            InputError: an unknown body or joint, or one of several coordinates; a tendon too stiff for the time step.
        """
        world = simulation.world
        self._model, self._data = world.model, world.model.createData()
        self._motion = TreeMotion.of_size(world.model.njoints, world.model.nv)
        self._joints: list[list[tuple[int, float]]] = []
        self._points: list[list[tuple[float, list[tuple[int, NDArray[np.float64]]]]]] = []
        for tendon in self._tendons.values():
            self._joints.append([(self._joint(simulation, tendon, joint), own) for joint, own in tendon.joints])
            self._points.append(
                [
                    (divisor, [self._point(simulation, tendon, point) for point in points])
                    for divisor, points in tendon.branches
                ]
            )
        wrenches = self._measure(simulation)
        self._target[:] = self.lengths
        self._check_time_step(simulation, wrenches)

    def _joint(self, simulation: Simulation, tendon: Tendon, name: str) -> int:
        robot, _, joint = name.partition("/")
        places = simulation.world.robots.get(robot)
        found = 0 if places is None else places.joints.get(joint, 0)
        if found == 0 or self._model.joints[found].nv != 1 or self._model.joints[found].nq != 1:
            raise InputError(
                f"'{name}' is no joint of one coordinate", element=f"tendon '{tendon.name}'",
                remedy="Name a hinge or a slide as robot/joint",
            )  # fmt: skip
        return found

    def _point(self, simulation: Simulation, tendon: Tendon, point: TendonPoint) -> tuple[int, NDArray[np.float64]]:
        if not point.body:
            return 0, np.array(point.point, dtype=float)
        if point.body not in simulation.world.index:
            raise InputError(
                f"names the unknown body '{point.body}'", element=f"tendon '{tendon.name}'",
                remedy="Name a body, or a link as robot/link",
            )  # fmt: skip
        body = simulation.world.find_body(point.body)
        return body.joint, np.asarray(body.placement_joint_body.act(np.array(point.point, dtype=float)))

    def _check_time_step(self, simulation: Simulation, wrenches: list[dict[int, NDArray[np.float64]]]) -> None:
        r"""Refuse what explicit steps make unstable at the start: :math:`(\delta t^2 K/4 + \delta t D/2) J M^{-1} J^T >= 1`."""
        dt, J = simulation.dt, self._jacobian(wrenches)
        mobility = J @ np.linalg.solve(self._inertia(simulation.q), J.T)
        stiffness, damping = self._stiffness + self._gains[:, 0], self._damping + self._gains[:, 1]
        for i, tendon in enumerate(self._tendons.values()):
            a, b = 0.25 * stiffness[i] * mobility[i, i], 0.5 * damping[i] * mobility[i, i]
            if dt * dt * a + dt * b >= 1.0:
                largest = 1.0 / b if a == 0.0 else (math.sqrt(b * b + 4.0 * a) - b) / (2.0 * a)
                raise InputError(
                    f"is too stiff for steps of {dt:g} s", element=f"tendon '{tendon.name}'",
                    remedy=f"Take steps below {largest:.2g} s, or less stiffness and damping",
                )  # fmt: skip

    # What drives them -----------------------------------------------------------------------------------------

    def set_length(self, name: str, length: float) -> None:
        """Let the position servo of a tendon go to a length [m].

        Raises:
            InputError: there is no such tendon, it has no position servo, or the length is not finite.
        """
        self._target[self._driven(name, length, servo=True)] = length

    def set_force(self, name: str, force: float) -> None:
        """Let the drive of a tendon push with a force along its growth, beside what its gains give [N].

        Raises:
            InputError: there is no such tendon, it has no drive, or the force is not finite.
        """
        self._given[self._driven(name, force, servo=False)] = force

    def _driven(self, name: str, value: float, servo: bool) -> int:
        if name not in self._tendons:
            raise InputError(
                f"there is no tendon '{name}'", element="tendon", remedy=f"There are {', '.join(self._tendons)}"
            )
        drive = self._tendons[name].drive
        if drive is None or (servo and drive.stiffness == 0.0):
            raise InputError(
                f"has no {'position servo' if servo else 'drive'}", element=f"tendon '{name}'",
                remedy="Give it an actuator in the scene",
            )  # fmt: skip
        if not math.isfinite(value):
            raise InputError(f"is {value}", element=f"tendon '{name}'", remedy="Give a finite number")
        return self._index[name]

    # Each step ------------------------------------------------------------------------------------------------

    def before_step(self, simulation: Simulation) -> None:
        """Apply the forces for the step that comes."""
        wrenches, twists = self._measure(simulation), self._motion.twists
        rates = np.array([sum(wrench @ twists[j] for j, wrench in own.items()) for own in wrenches])
        short, long = (self._rest - self.lengths[:, None]).T
        stretch = np.where(short > 0.0, short, np.minimum(long, 0.0))
        driven = self._given + self._gains[:, 0] * (self._target - self.lengths) - self._gains[:, 1] * rates
        self.forces[:] = np.clip(driven, -self._effort, self._effort)
        self.forces += self._stiffness * stretch - self._damping * rates
        beyond = np.flatnonzero((self.lengths < self._limits[:, 0]) | (self.lengths > self._limits[:, 1]))
        if len(beyond):
            self._limit(simulation, wrenches, rates, beyond)
        total: dict[int, NDArray[np.float64]] = {}
        for force, own in zip(self.forces, wrenches, strict=True):
            for j, wrench in own.items():
                total[j] = total.get(j, 0.0) + force * wrench
        for j, wrench in total.items():
            if j > 0:
                simulation.stepping.wrenches.add_to_joint(
                    j, (self._motion.R[j].T @ -self._motion.p[j]).tolist(), wrench.tolist(), simulation.step_count
                )

    def _limit(
        self, simulation: Simulation, wrenches: list[dict[int, NDArray[np.float64]]], rates: NDArray[np.float64],
        beyond: NDArray[np.int64],
    ) -> None:  # fmt: skip
        """Add what pushes tendons back that are beyond their limits."""
        J, time = self._jacobian([wrenches[i] for i in beyond]), max(LIMIT_TIME, 2.0 * simulation.dt)
        inertia = 1.0 / np.diag(J @ np.linalg.solve(self._inertia(simulation.q), J.T))
        low = self.lengths[beyond] < self._limits[beyond, 0]
        side = np.where(low, 1.0, -1.0)
        depth = side * (np.where(low, self._limits[beyond, 0], self._limits[beyond, 1]) - self.lengths[beyond])
        push = inertia * (depth / time**2 - 2.0 * side * rates[beyond] / time)
        self.forces[beyond] += side * np.maximum(push, 0.0)

    def _measure(self, simulation: Simulation) -> list[dict[int, NDArray[np.float64]]]:
        """Find the lengths; return the wrenches at the world origin, by joint, of a unit force along each tendon."""
        motion = self._motion
        move_tree(simulation.stepping.stepper.model, simulation.q, simulation.v, motion)
        found = []
        for i in range(len(self._tendons)):
            own: dict[int, NDArray[np.float64]] = {}
            length = 0.0
            for j, coefficient in self._joints[i]:
                joint = self._model.joints[j]
                length += coefficient * simulation.q[joint.idx_q]
                axis = motion.S[joint.idx_v]
                wrench = coefficient * np.concatenate([np.zeros(3), axis[3:]])
                if not axis[3:].any():  # a slide: a force through its frame
                    wrench = coefficient * np.concatenate([axis[:3], np.cross(motion.p[j], axis[:3])])
                own[j] = own.get(j, 0.0) + wrench
                own[self._model.parents[j]] = own.get(self._model.parents[j], 0.0) - wrench
            for divisor, points in self._points[i]:
                places = [(j, motion.p[j] + motion.R[j] @ point) for j, point in points]
                for (a, x_a), (b, x_b) in zip(places, places[1:], strict=False):
                    way = x_b - x_a
                    distance = math.sqrt(way @ way)
                    length += distance / divisor
                    if a == b or distance < 1e-12:
                        continue
                    way = way / (distance * divisor)
                    own[b] = own.get(b, 0.0) + np.concatenate([way, np.cross(x_b, way)])
                    own[a] = own.get(a, 0.0) - np.concatenate([way, np.cross(x_a, way)])
            self.lengths[i] = length
            found.append(own)
        return found

    def _jacobian(self, wrenches: list[dict[int, NDArray[np.float64]]]) -> NDArray[np.float64]:
        """Rates of the lengths for a unit of each velocity coordinate, shape (n, nv)."""
        J = np.zeros((len(wrenches), self._model.nv))
        for row, own in zip(J, wrenches, strict=True):
            for j, wrench in own.items():
                for k in self._model.supports[j]:
                    if k > 0:
                        joint = self._model.joints[k]
                        dofs = slice(joint.idx_v, joint.idx_v + joint.nv)
                        row[dofs] += self._motion.S[dofs] @ wrench
        return J

    def _inertia(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        M = pin.crba(self._model, self._data, q)
        return np.triu(M) + np.triu(M, 1).T

    def save(self) -> object:
        """Return the commands."""
        return self._target.copy(), self._given.copy()

    def restore(self, state: object) -> None:
        """Go back to the commands that :meth:`save` returned."""
        self._target, self._given = (values.copy() for values in state)  # type: ignore[attr-defined]
