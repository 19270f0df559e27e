# SPDX-License-Identifier: Apache-2.0
r"""Springs, dampers, drives and limits of a scene's tendons.

A tendon of length :math:`l(q)` with the force :math:`f` along its growth does :math:`J^T f` to the joints, with
:math:`J = \partial l/\partial q`. The force is that
of the start of the step, which neither feeds nor brakes the motion of joints; free bodies, whose steps are of second
order, need for that the spring of the middle of the step, :math:`l + \tfrac{\delta t}{2} \dot l`. It isn't implicit, as
joint servos are: a tendon too stiff for the time step is refused.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.actuator import Tendon, TendonDrive, TendonPoint
from humanoid_model.arrays import Array
from humanoid_model.checks import check_known
from humanoid_model.errors import InputError
from humanoid_model.tree.tree_motion import TreeMotion, move_tree

LIMIT_TIME = 0.02
"""A limit is a spring and damper, critical with the inertia that the tendon moves, of this time constant [s].

MuJoCo's limits have it by default (``solref``). A tendon that is pulled beyond its limit with the acceleration a by
all else yields by a times its square."""
_POINT = 1e-9
"""A straight piece shorter than this has no direction [m]."""
_NO_DRIVE = TendonDrive(0.0, 0.0, 0.0)


class TendonForces:
    """Applies the forces of the tendons before each step, as a module that comes with the scene.

    Attributes:
        lengths: of the tendons at the start of the last step, in the scene's order [m], shape (n,).
        forces: along their growth, in the last step [N], shape (n,).
    """

    name = "tendons"
    requires: tuple[str, ...] = ()

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

    def attach(self, simulation: Any) -> None:
        """Find bodies and joints.

        Raises:
            InputError: an unknown body or joint, or one of several coordinates; a tendon too stiff for the time step.
        """
        world = simulation.world
        self._model, self._data = world.model, world.model.createData()
        self._motion = TreeMotion.of_size(world.model.njoints, world.model.nv)
        nv, n = world.model.nv, len(self._tendons)
        self._moved = np.zeros((nv, world.model.njoints))  # whether a coordinate moves a joint
        for j in range(1, world.model.njoints):
            for k in list(world.model.supports[j])[1:]:
                joint = world.model.joints[k]
                self._moved[joint.idx_v : joint.idx_v + joint.nv, j] = 1.0
        terms: list[tuple[int, int, float]] = []
        pieces: list[tuple[int, float, tuple[int, Array], tuple[int, Array]]] = []
        for i, tendon in enumerate(self._tendons.values()):
            terms += [(i, self._joint(simulation, tendon, joint), coefficient) for joint, coefficient in tendon.joints]
            for divisor, points in tendon.branches:
                places = [self._point(simulation, tendon, point) for point in points]
                pieces += [(i, divisor, a, b) for a, b in itertools.pairwise(places)]
        joints = [world.model.joints[j] for _, j, _ in terms]
        self._term_tendon = np.array([i for i, _, _ in terms], dtype=np.int64)
        self._term_joint = np.array([j for _, j, _ in terms], dtype=np.int64)
        self._term_parent = np.array([world.model.parents[j] for _, j, _ in terms], dtype=np.int64)
        self._coefficient = np.array([coefficient for _, _, coefficient in terms], dtype=float)
        self._term_q = np.array([joint.idx_q for joint in joints], dtype=np.int64)
        self._term_v = np.array([joint.idx_v for joint in joints], dtype=np.int64)
        self._piece_tendon = np.array([i for i, _, _, _ in pieces], dtype=np.int64)
        self._divisor = np.array([divisor for _, divisor, _, _ in pieces], dtype=float)
        self._ends = np.array([[a[0], b[0]] for _, _, a, b in pieces], dtype=np.int64).reshape(-1, 2)
        self._points = np.array([[a[1], b[1]] for _, _, a, b in pieces], dtype=float).reshape(-1, 2, 3)
        self._wrenches = np.zeros((n, world.model.njoints, 6))
        touched = np.unique(np.concatenate([self._term_joint, self._term_parent, self._ends.reshape(-1)]))
        self._touched: list[int] = touched[touched > 0].tolist()
        free = [
            any(point.body in world.free_bodies for _, points in tendon.branches for point in points)
            for tendon in self._tendons.values()
        ]
        self._ahead = np.where(free, 0.5 * simulation.dt, 0.0)
        self._measure(simulation)
        self._target[:] = self.lengths
        self._start_mobility = self._mobility(simulation.q)
        self._check_time_step(simulation)

    def _joint(self, simulation: Any, tendon: Tendon, name: str) -> int:
        robot, _, joint = name.partition("/")
        places = simulation.world.robots.get(robot)
        found = 0 if places is None else places.joints.get(joint, 0)
        if found == 0 or self._model.joints[found].nv != 1 or self._model.joints[found].nq != 1:
            raise InputError(
                f"'{name}' is no joint of one coordinate", element=f"tendon '{tendon.name}'",
                remedy="Name a hinge or a slide as robot/joint",
            )  # fmt: skip
        return found

    def _point(self, simulation: Any, tendon: Tendon, point: TendonPoint) -> tuple[int, Array]:
        if not point.body:
            return 0, np.array(point.point, dtype=float)
        if point.body not in simulation.world.index:
            raise InputError(
                f"names the unknown body '{point.body}'", element=f"tendon '{tendon.name}'",
                remedy="Name a body, or a link as robot/link",
            )  # fmt: skip
        body = simulation.world.find_body(point.body)
        return body.joint, np.asarray(body.placement_joint_body.act(np.array(point.point, dtype=float)))

    def _check_time_step(self, simulation: Any) -> None:
        r"""Refuse :math:`(\delta t^2 K + \delta t D) J M^{-1} J^T \ge 2` at the start: such steps are unstable."""
        dt, mobility = simulation.dt, self._start_mobility
        stiffness, damping = self._stiffness + self._gains[:, 0], self._damping + self._gains[:, 1]
        for i, tendon in enumerate(self._tendons.values()):
            a, b = 0.5 * stiffness[i] * mobility[i], 0.5 * damping[i] * mobility[i]
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
        drive = self._tendons[check_known(name, self._tendons, "tendon", "tendon")].drive
        if drive is None or (servo and drive.stiffness == 0.0):
            raise InputError(
                f"has no {'position servo' if servo else 'drive'}", element=f"tendon '{name}'",
                remedy="Give it an actuator in the scene",
            )  # fmt: skip
        if not math.isfinite(value):
            raise InputError(f"is {value}", element=f"tendon '{name}'", remedy="Give a finite number")
        return self._index[name]

    # Each step ------------------------------------------------------------------------------------------------

    def before_step(self, simulation: Any) -> None:
        """Apply the forces for the step that comes."""
        self._measure(simulation)
        rates = np.asarray(np.tensordot(self._wrenches, self._motion.twists, 2), dtype=float)
        middle = self.lengths + self._ahead * rates
        short, long = (self._rest - middle[:, None]).T
        stretch = np.where(short > 0.0, short, np.minimum(long, 0.0))
        driven = self._given + self._gains[:, 0] * (self._target - middle) - self._gains[:, 1] * rates
        self.forces[:] = np.clip(driven, -self._effort, self._effort)
        self.forces += self._stiffness * stretch - self._damping * rates
        low = self.lengths < self._limits[:, 0]
        if low.any() or (self.lengths > self._limits[:, 1]).any():
            self._limit(simulation, rates, low)
        total = np.tensordot(self.forces, self._wrenches, 1)
        for j in self._touched:
            origin = self._motion.rotations[j].T @ -self._motion.origins[j]
            simulation.stepping.wrenches.add_to_joint(j, origin.tolist(), total[j].tolist(), simulation.step_count)

    def _limit(self, simulation: Any, rates: Array, low: NDArray[np.bool_]) -> None:
        """Add what pushes tendons back that are beyond their limits."""
        time = max(LIMIT_TIME, 2.0 * simulation.dt)
        side, limit = np.where(low, 1.0, -1.0), np.where(low, self._limits[:, 0], self._limits[:, 1])
        depth = np.maximum(side * (limit - self.lengths), 0.0)
        # where a tendon can hardly change its length, the inertia behind it has no bound: at most that of the start
        mobility = np.maximum(self._mobility(simulation.q), self._start_mobility)
        inertia = np.divide(1.0, mobility, out=np.zeros_like(mobility), where=mobility > 0.0)
        push = inertia * (depth / time**2 - 2.0 * side * rates / time)
        self.forces += np.where(depth > 0.0, side * np.maximum(push, 0.0), 0.0)

    def _measure(self, simulation: Any) -> None:
        """Find the lengths and the wrenches at the world origin, by joint, of a unit force along each tendon."""
        motion, wrenches, n = self._motion, self._wrenches, len(self._tendons)
        move_tree(simulation.stepping.stepper.model, simulation.q, simulation.v, motion)
        places = motion.origins[self._ends] + np.einsum("kerc,kec->ker", motion.rotations[self._ends], self._points)
        ways = places[:, 1] - places[:, 0]
        distances = np.sqrt(np.einsum("kr,kr->k", ways, ways))
        units = ways / (np.maximum(distances, _POINT) * self._divisor)[:, None]
        pulls = np.hstack([units, np.cross(places[:, 0], units)])
        axes = motion.S[self._term_v]  # of a hinge (p x a, a), of a slide (a, 0): a torque a, or a force a through p
        slides = ~axes[:, 3:].any(axis=1)
        turns = np.hstack([np.zeros_like(axes[:, :3]), axes[:, 3:]])
        origins = motion.origins[self._term_joint[slides]]
        turns[slides] = np.hstack([axes[slides, :3], np.cross(origins, axes[slides, :3])])
        turns *= self._coefficient[:, None]
        wrenches[:] = 0.0
        np.add.at(wrenches, (self._piece_tendon, self._ends[:, 1]), pulls)
        np.add.at(wrenches, (self._piece_tendon, self._ends[:, 0]), -pulls)
        np.add.at(wrenches, (self._term_tendon, self._term_joint), turns)
        np.add.at(wrenches, (self._term_tendon, self._term_parent), -turns)
        self.lengths[:] = np.bincount(self._piece_tendon, distances / self._divisor, n) + np.bincount(
            self._term_tendon, self._coefficient * simulation.q[self._term_q], n
        )

    def _mobility(self, q: Array) -> Array:
        r"""Acceleration of each length by a unit of force along it, :math:`J M^{-1} J^T`, shape (n,)."""
        J = np.einsum("kr,kj,njr->nk", self._motion.S, self._moved, self._wrenches, optimize=True)
        M = pin.crba(self._model, self._data, q)
        return np.einsum("nk,kn->n", J, np.linalg.solve(np.triu(M) + np.triu(M, 1).T, J.T))

    def after_step(self, simulation: Any) -> None:
        """Nothing."""

    def detach(self, simulation: Any) -> None:
        """Nothing."""

    def save(self) -> object:
        """Return the commands."""
        return self._target.copy(), self._given.copy()

    def restore(self, state: Any) -> None:
        """Go back to the commands that :meth:`save` returned."""
        self._target, self._given = (values.copy() for values in state)
