# SPDX-License-Identifier: Apache-2.0
"""A whole simulated scene as a mechanical system for any integrator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.arrays import Array
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_model.tree.tree_motion import mass_matrix
from humanoid_sim.delassus.constraint_rows import tangents
from humanoid_sim.detection.detector import ContactDetector
from humanoid_sim.stepping.constraints import LIMIT_MARGIN
from humanoid_sim.stepping.world_arrays import Servos
from humanoid_sim.world.world import World, whole_world_data
from humanoid_studies.integration.mechanical_system import ContactSet, MechanicalSystem


@dataclass(frozen=True)
class WorldContactSet(ContactSet):
    """Contacts of a world, and the limits of its joints: inelastic contacts without friction, along a coordinate.

    Attributes:
        positions: in the world [m], shape (m, 3); zero for a limit.
        frames: (n, t1, t2) as rows, in the world; n points from body b into body a, shape (m, 3, 3); zero for a limit.
        bodies: indices of bodies a and b in the world, shape (m, 2); zero for a limit.
        coordinates: velocity coordinate that a limit bounds, -1 for a contact point, shape (m,).
    """

    positions: Array
    frames: Array
    bodies: NDArray[np.int64]
    coordinates: NDArray[np.int64]

    @classmethod
    def none(cls, nv: int) -> WorldContactSet:
        """No contact of a world with ``nv`` velocity coordinates."""
        whole, no_pair = np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
        scalars, vectors = np.zeros(0), np.zeros((0, 3))
        return cls(
            whole, scalars, np.zeros((0, 3, nv)), scalars, scalars, vectors, np.zeros((0, 3, 3)), no_pair, whole
        )


class WorldSystem(MechanicalSystem):
    r"""Mass matrix by our own recursion, the other dynamics by Pinocchio, contacts by the detector, servos as springs.

    Efforts are gravity, Coriolis and centrifugal ones, passive joint damping, servos within their limits, and known
    external ones. Time-stepping schemes take servos and joint damping implicitly; smooth schemes evaluate them
    where they are, and are then stable only while the step is short beside the servos' own time constants. An actuator
    counts as saturated for a whole step if it is so where the step evaluates it. Joint limits are contacts. What the
    simulator's own step solves along with these, such as dry joint friction and loops, is not part of it
    (:mod:`humanoid_studies.integration.features`).

    Attributes:
        world: the scene as one mechanism.
        servos: targets and gains.
        external: generalised efforts of known external forces, held over a step [N, N m], shape (nv,).
    """

    def __init__(self, world: World, servos: Servos | None = None, detector: ContactDetector | None = None) -> None:
        """Look at a world.

        Args:
            world: the scene as one mechanism.
            servos: targets and gains; those of the robots' actuators, holding the start, if not given.
            detector: finds the contacts; a new one if not given.

        Raises:
            InputError: a mesh file can't be read.
        """
        self.world = world
        self.nv = world.model.nv
        self.servos = Servos.of_world(world) if servos is None else servos
        self.external = np.zeros(self.nv)
        self._model = world.model
        self._flat = KinematicTree.from_pinocchio(world.model)
        self._data = whole_world_data(world.model, "an integrator")
        self._detector = ContactDetector(world) if detector is None else detector
        joints = self.servos.joint_arrays(world)
        self._lower, self._upper, self._idx_q = joints.lower, joints.upper, joints.idx_q
        njoints = world.model.njoints
        self._R, self._p, self._twists = np.zeros((njoints, 3, 3)), np.zeros((njoints, 3)), np.zeros((njoints, 6))
        self._R[0] = np.eye(3)

    def integrate(self, q: Array, displacement: Array) -> Array:
        """See :meth:`MechanicalSystem.integrate`."""
        return np.asarray(pin.integrate(self._model, q, displacement))

    def difference(self, q_from: Array, q_to: Array) -> Array:
        """See :meth:`MechanicalSystem.difference`."""
        return np.asarray(pin.difference(self._model, q_from, q_to))

    def chart_rate(self, q_from: Array, q: Array, v: Array) -> Array:
        """See :meth:`MechanicalSystem.chart_rate`."""
        return np.asarray(pin.dDifference(self._model, q_from, q)[1] @ v)

    def mass(self, q: Array) -> Array:
        """See :meth:`MechanicalSystem.mass`."""
        M: Array = mass_matrix(self._flat, q)
        return M

    def efforts(self, t: float, q: Array, v: Array) -> Array:
        """See :meth:`MechanicalSystem.efforts`."""
        bias = pin.nonLinearEffects(self._model, self._data, q, v)
        return self.external + self.servo_efforts(q, v) - self.servos.passive_damping * v - bias

    def servo_efforts(self, q: Array, v: Array) -> Array:
        """Return what the servos give, within their limits [N m or N], shape (nv,)."""
        return np.clip(self._asked(q, v), self.servos.lowest, self.servos.highest)

    def derivatives(self, t: float, q: Array, v: Array, a: Array | None = None) -> tuple[Array, Array]:
        """See :meth:`MechanicalSystem.derivatives`."""
        acceleration = np.zeros(self.nv) if a is None else a
        by_q, by_v, _ = pin.computeRNEADerivatives(self._model, self._data, q, v, acceleration)
        servos, working = self.servos, self._working(q, v)
        moves = pin.dDifference(self._model, q, servos.q_target)[0]
        stiffness = (working * servos.stiffness)[:, None] * moves
        return stiffness - by_q, -np.diag(working * servos.damping + servos.passive_damping) - by_v

    def impedance(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """See :meth:`MechanicalSystem.impedance`."""
        servos, working = self.servos, self._working(q, v)
        return np.diag(working * servos.stiffness), np.diag(working * servos.damping + servos.passive_damping)

    def contacts(self, q: Array, v: Array, horizon: float) -> WorldContactSet:
        """See :meth:`MechanicalSystem.contacts`; the numbers are the detector's slots, those of limits negative."""
        model, data = self._model, self._data
        pin.forwardKinematics(model, data, q, v)
        for j in range(1, model.njoints):
            self._R[j], self._p[j] = data.oMi[j].rotation, data.oMi[j].translation
            self._twists[j] = pin.getVelocity(model, data, j, pin.WORLD).vector
        points = self._detector.detect(self._R, self._p, self._twists, horizon)
        m = points.size
        frames, rows = np.zeros((m, 3, 3)), np.zeros((m, 3, self.nv))
        if m > 0:
            pin.computeJointJacobians(model, data, q)
        jacobians: dict[int, Array] = {0: np.zeros((6, self.nv))}
        for i in range(m):
            frames[i, 0] = points.normals[i]
            tangents(frames[i, 0], frames[i, 1], frames[i, 2])
            for joint, sign in ((int(points.joint_a[i]), 1.0), (int(points.joint_b[i]), -1.0)):
                if joint not in jacobians:
                    jacobians[joint] = pin.getJointJacobian(model, data, joint, pin.WORLD).reshape(6, self.nv)
                J = jacobians[joint]
                rows[i] += sign * frames[i] @ (J[:3] + np.cross(J[3:].T, points.positions[i]).T)
        touching = WorldContactSet(
            points.slots[:m].copy(),
            points.gaps[:m].copy(),
            rows,
            points.friction[:m].copy(),
            points.restitution[:m].copy(),
            points.positions[:m].copy(),
            frames,
            np.column_stack([points.body_a[:m], points.body_b[:m]]),
            np.full(m, -1),
        )
        limits = self._limits(q, v, horizon)
        return touching if len(limits) == 0 else WorldContactSet.joined([touching, limits])

    def _limits(self, q: Array, v: Array, horizon: float) -> WorldContactSet:
        """Return limits of joints that are near, as near as the simulator's own step looks."""
        place = q[self._idx_q]
        reach = LIMIT_MARGIN + 2.0 * horizon * np.abs(v)
        below, above = np.flatnonzero(place - self._lower < reach), np.flatnonzero(self._upper - place < reach)
        coordinates = np.concatenate([below, above])
        if coordinates.size == 0:
            return WorldContactSet.none(self.nv)
        n = coordinates.size
        rows = np.zeros((n, 3, self.nv))
        rows[np.arange(n), 0, coordinates] = np.where(np.arange(n) < below.size, 1.0, -1.0)
        gaps = np.concatenate([place[below] - self._lower[below], self._upper[above] - place[above]])
        return WorldContactSet(
            np.concatenate([-1 - 2 * below, -2 - 2 * above]),
            gaps,
            rows,
            np.zeros(n),
            np.zeros(n),
            np.zeros((n, 3)),
            np.zeros((n, 3, 3)),
            np.zeros((n, 2), dtype=np.int64),
            coordinates,
        )

    def energy(self, q: Array, v: Array) -> float:
        """Kinetic energy, and the potential one in gravity [J]."""
        potential = pin.computePotentialEnergy(self._model, self._data, q)
        return float(0.5 * v @ self.mass(q) @ v + potential)

    def _asked(self, q: Array, v: Array) -> Array:
        """Return efforts that the servos ask for, before their limits, shape (nv,)."""
        servos = self.servos
        error = servos.error(self._model, q)
        return servos.feedforward + servos.stiffness * error + servos.damping * (servos.v_target - v)

    def _working(self, q: Array, v: Array) -> Array:
        """1 where an actuator can give what its servo asks for, 0 where it is saturated, shape (nv,)."""
        asked = self._asked(q, v)
        return ((asked > self.servos.lowest) & (asked < self.servos.highest)).astype(float)
