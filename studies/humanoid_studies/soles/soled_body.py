# SPDX-License-Identifier: Apache-2.0
"""One rigid body on deformable soles (specification 000 §§17 to 19): the smallest simulation with soles in it.

Soles are judged with it before a robot walks on them: how hard a drop is felt, how far the body leans.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_number, check_positive
from humanoid_model.errors import InputError, SimulationError
from humanoid_sim.contact.nsgs import nsgs
from humanoid_sim.flexibility.deformable_sole import DeformableSole
from humanoid_sim.flexibility.sole_kernels import (
    ContactsOfSole,
    FoundContacts,
    add_body_motion,
    add_compliance,
    deform,
    half_space_nodes,
    place_vertices,
)

_FLOOR = np.array([0.0, 0.0, 1.0])
_FLOOR_FRAME = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # rows n, t1, t2


@dataclass(frozen=True)
class SoledStep:
    """What a step of a :class:`SoledBody` gave.

    Attributes:
        contacts: number of nodes near the floor.
        force: of the floor on the body [N], shape (3,).
        iterations: of the contact solver.
        residual: natural-map residual of the contact solver.
    """

    contacts: int
    force: NDArray[np.float64]
    iterations: int
    residual: float


class SoledBody:
    r"""A rigid body that moves freely and touches the floor z = 0 only with its soles.

    Each step solves thesis equation (4.21) for the forces, moves the body with its new velocity and deforms the soles
    by (4.22). There is no impact law (§4.3.5): the elasticity brings the velocity down over several steps.

    The thesis asks at velocity level that a touching node doesn't go deeper, so what a node went past the floor in the
    step of its first touch remains. With ``exact_positions`` the nodes are asked to be on or above the floor at the end
    of the step instead: :math:`v_n + \phi/\delta t \ge 0` with the signed distance :math:`\phi` of the deformed node.

    Attributes:
        placement: frame at the body's centre of mass in the world.
        velocity: of the centre of mass in the world [m/s], shape (3,).
        angular_velocity: in the world [rad/s], shape (3,).
        acceleration: mean acceleration of the centre of mass in the last step [m/s^2], shape (3,).
        time: simulated [s].
    """

    def __init__(
        self,
        soles: Sequence[DeformableSole],
        mass: float,
        inertia: ArrayLike,
        placement: pin.SE3,
        *,
        friction: float = 0.4,
        gravity: ArrayLike = (0.0, 0.0, -9.8),
        dt: float = 1e-3,
        exact_positions: bool = True,
    ) -> None:
        """Set a body up at rest.

        Args:
            soles: in the frame at the body's centre of mass.
            mass: of the body; soles have none [kg].
            inertia: about the centre of mass [kg m^2], shape (3, 3).
            placement: of that frame in the world.
            friction: coefficient between soles and floor.
            gravity: [m/s^2], shape (3,).
            dt: time step [s].
            exact_positions: see above.

        Raises:
            InputError: no sole, a mass, inertia or time step that is not positive, negative friction.
        """
        self.inertia = np.array(inertia, dtype=float)
        self.gravity = np.array(gravity, dtype=float)
        check_positive(mass, "mass")
        check_positive(dt, "dt")
        check_number(friction, "friction")
        if self.inertia.shape != (3, 3) or not np.all(np.linalg.eigvalsh(self.inertia) > 0.0):
            raise InputError(
                f"inertia is {self.inertia.tolist()}", element="inertia", remedy="Give a positive definite matrix"
            )
        if not soles:
            raise InputError("there is no sole", element="soles", remedy="Give at least one")
        self.soles = list(soles)
        self.mass, self.friction, self.dt, self.exact_positions = mass, friction, dt, exact_positions
        self.placement = placement
        self.velocity: NDArray[np.float64] = np.zeros(3)
        self.angular_velocity: NDArray[np.float64] = np.zeros(3)
        self.acceleration: NDArray[np.float64] = np.zeros(3)
        self.time = 0.0
        free = sum(sole.free for sole in self.soles)
        self._world = [np.empty_like(sole.vertices) for sole in self.soles]
        self._found = FoundContacts.of_size(free)
        self._warm = np.zeros((free, 3))

    def step(self) -> SoledStep:
        """Advance by one time step.

        Raises:
            SimulationError: the contact problem was not solved.
        """
        R, p, dt = self.placement.rotation, self.placement.translation, self.dt
        I_world = R @ self.inertia @ R.T
        spin = self.angular_velocity
        v = self.velocity + dt * self.gravity
        w = spin - dt * np.linalg.solve(I_world, np.cross(spin, I_world @ spin))

        reach = 2.0 * dt * max(-self.velocity[2], 0.0) + 1e-4 if self.exact_positions else 0.0
        first, count = [0], 0
        for sole, world in zip(self.soles, self._world, strict=True):
            place_vertices(R, p, sole.vertices, sole.U, world)
            count = half_space_nodes(R, world, sole.U, _FLOOR, 0.0, reach, count, self._found)
            first.append(count)
        forces, iterations, residual = np.zeros(3 * count), 0, 0.0
        frames = np.broadcast_to(_FLOOR_FRAME, (count, 3, 3)).copy()
        slots = self._slots(first)
        if count:
            arms = self._found.positions[:count] - p
            operator = np.zeros((1, 1, 6, 6))
            operator[0, 0, :3, :3] = np.eye(3) / self.mass
            operator[0, 0, 3:, 3:] = np.linalg.inv(I_world)
            W = np.zeros((3 * count, 3 * count))
            add_body_motion(operator, np.zeros(count, dtype=np.int64), arms, frames, dt, W)
            v_free = (frames[0] @ (v + np.cross(w, arms)).T).T.reshape(-1).copy()
            if self.exact_positions:
                v_free[::3] += self._found.gaps[:count] / dt
            for sole, contacts in zip(self.soles, self._contacts(first), strict=True):
                add_compliance(R, sole.S, sole.U, self._of_sole(contacts, frames), dt, W, v_free)
            forces = self._warm[slots].reshape(-1)
            residuals = np.zeros(5)
            mu = np.full(count, self.friction)
            iterations = nsgs(W, v_free, mu, forces, 1e-9, 5000, np.empty(3 * count), residuals)
            residual = float(residuals[0])
            if not residual <= 1e-6:
                raise SimulationError(f"contact forces were not found at t = {self.time:.6g} s: residual {residual:g}")
            on_body = forces.reshape(-1, 3) @ frames[0]
            v = v + dt / self.mass * on_body.sum(axis=0)
            w = w + dt * np.linalg.solve(I_world, np.cross(arms, on_body).sum(axis=0))
        self._warm[:] = 0.0
        self._warm[slots] = forces.reshape(-1, 3)
        for sole, contacts in zip(self.soles, self._contacts(first), strict=True):
            deform(R, sole.S, self._of_sole(contacts, frames), forces, sole.U)
        self.acceleration = (v - self.velocity) / dt
        self.velocity, self.angular_velocity = v, w
        self.placement = pin.SE3(pin.exp3(dt * w) @ R, p + dt * v)
        self.time += dt
        force = forces.reshape(-1, 3).sum(axis=0) @ _FLOOR_FRAME
        return SoledStep(count, force, int(iterations), residual)

    @property
    def kinetic_energy(self) -> float:
        """Of the body's motion [J]."""
        spin = self.placement.rotation.T @ self.angular_velocity
        return 0.5 * float(self.mass * self.velocity @ self.velocity + spin @ self.inertia @ spin)

    @staticmethod
    def _contacts(first: list[int]) -> list[NDArray[np.int64]]:
        return [np.arange(a, b) for a, b in itertools.pairwise(first)]

    def _of_sole(self, contacts: NDArray[np.int64], frames: NDArray[np.float64]) -> ContactsOfSole:
        """Return contacts of one sole, three rows of the problem each."""
        found = self._found
        return ContactsOfSole(
            contacts, 3 * contacts, np.ones(contacts.size), found.vertices[contacts], found.weights[contacts], frames
        )

    def _slots(self, first: list[int]) -> NDArray[np.int64]:
        """Return the number of each contact's node among the free nodes of all soles."""
        slots, before = [], 0
        for sole, contacts in zip(self.soles, self._contacts(first), strict=True):
            slots.append(before + self._found.vertices[contacts, 0])
            before += sole.free
        return np.concatenate(slots)
