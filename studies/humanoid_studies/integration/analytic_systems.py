# SPDX-License-Identifier: Apache-2.0
"""Small mechanisms whose motion is known in closed form, to try integrators on."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.arrays import Array
from humanoid_studies.integration.integrator import check_positive
from humanoid_studies.integration.mechanical_system import ContactSet, MechanicalSystem

GRAVITY = 9.8
"""Gravity of the thesis' numbers [m/s^2]."""


class FallingBall(MechanicalSystem):
    """A point mass on a vertical line above the floor: one coordinate, its height [m]."""

    def __init__(self, mass: float = 1.0, restitution: float = 0.0, gravity: float = GRAVITY) -> None:
        """Make the ball.

        Raises:
            InputError: a mass that is not positive.
        """
        self.nv = 1
        self._M = np.array([[check_positive("mass", mass)]])
        self._weight = np.array([-mass * gravity])
        self._restitution = restitution

    def mass(self, q: Array) -> Array:
        """See :meth:`MechanicalSystem.mass`."""
        return self._M

    def efforts(self, t: float, q: Array, v: Array) -> Array:
        """See :meth:`MechanicalSystem.efforts`."""
        return self._weight

    def derivatives(self, t: float, q: Array, v: Array, a: Array | None = None) -> tuple[Array, Array]:
        """See :meth:`MechanicalSystem.derivatives`."""
        return np.zeros((self.nv, self.nv)), np.zeros((self.nv, self.nv))

    def contacts(self, q: Array, v: Array, horizon: float) -> ContactSet:
        """Return the ball on the floor."""
        rows = np.array([[[1.0], [0.0], [0.0]]])
        return ContactSet(np.zeros(1, dtype=np.int64), q.copy(), rows, np.zeros(1), np.full(1, self._restitution))


class Pendulum(MechanicalSystem):
    """A point mass on a rod, with a damper in the joint: one coordinate, the angle from hanging [rad]."""

    def __init__(self, length: float = 1.0, damping: float = 0.0, gravity: float = GRAVITY) -> None:
        """Make a pendulum of 1 kg.

        Args:
            length: of the rod [m].
            damping: of the joint [N m s/rad].
            gravity: [m/s^2].

        Raises:
            InputError: a length that is not positive.
        """
        self.nv = 1
        self.length = check_positive("length", length)
        self._damping, self._gravity = damping, gravity
        self._M = np.array([[length**2]])

    def mass(self, q: Array) -> Array:
        """See :meth:`MechanicalSystem.mass`."""
        return self._M

    def efforts(self, t: float, q: Array, v: Array) -> Array:
        """See :meth:`MechanicalSystem.efforts`."""
        return -self._gravity * self.length * np.sin(q) - self._damping * v

    def derivatives(self, t: float, q: Array, v: Array, a: Array | None = None) -> tuple[Array, Array]:
        """See :meth:`MechanicalSystem.derivatives`."""
        return -self._gravity * self.length * np.diag(np.cos(q)), np.array([[-self._damping]])


class Spring(MechanicalSystem):
    """A mass on a linear spring and damper: one coordinate [m]."""

    def __init__(self, stiffness: float, damping: float = 0.0, mass: float = 1.0) -> None:
        """Make the spring.

        Args:
            stiffness: [N/m].
            damping: [N s/m].
            mass: [kg].

        Raises:
            InputError: a mass that is not positive.
        """
        self.nv = 1
        self._M = np.array([[check_positive("mass", mass)]])
        self._K, self._D = np.array([[stiffness]]), np.array([[damping]])

    def mass(self, q: Array) -> Array:
        """See :meth:`MechanicalSystem.mass`."""
        return self._M

    def efforts(self, t: float, q: Array, v: Array) -> Array:
        """See :meth:`MechanicalSystem.efforts`."""
        return -self._K @ q - self._D @ v

    def derivatives(self, t: float, q: Array, v: Array, a: Array | None = None) -> tuple[Array, Array]:
        """See :meth:`MechanicalSystem.derivatives`."""
        return -self._K, -self._D


class SlidingBlock(MechanicalSystem):
    """A block without rotation on a slope: x downhill, y across, z above the slope [m]; 1 kg."""

    def __init__(self, slope: float = 0.0, friction: float = 0.4, gravity: float = GRAVITY) -> None:
        """Make the block.

        Args:
            slope: angle of the slope [rad].
            friction: Coulomb coefficient.
            gravity: [m/s^2].
        """
        self.nv = 3
        self._weight = gravity * np.array([math.sin(slope), 0.0, -math.cos(slope)])
        self._friction = friction

    def mass(self, q: Array) -> Array:
        """See :meth:`MechanicalSystem.mass`."""
        return np.eye(3)

    def efforts(self, t: float, q: Array, v: Array) -> Array:
        """See :meth:`MechanicalSystem.efforts`."""
        return self._weight

    def derivatives(self, t: float, q: Array, v: Array, a: Array | None = None) -> tuple[Array, Array]:
        """See :meth:`MechanicalSystem.derivatives`."""
        return np.zeros((self.nv, self.nv)), np.zeros((self.nv, self.nv))

    def contacts(self, q: Array, v: Array, horizon: float) -> ContactSet:
        """Return the block on the slope."""
        rows = np.array([[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        return ContactSet(np.zeros(1, dtype=np.int64), q[2:], rows, np.full(1, self._friction), np.zeros(1))


class PlanarBox(MechanicalSystem):
    """A uniform box in a vertical plane: x, z of its centre [m] and its angle [rad]; four corners above the floor.

    The angle turns x towards z.
    """

    def __init__(
        self,
        width: float = 0.5,
        height: float = 0.1,
        friction: float = 0.4,
        restitution: float = 0.0,
        slope: float = 0.0,
        gravity: float = GRAVITY,
    ) -> None:
        """Make a box of 1 kg.

        Args:
            width: along x [m].
            height: along z [m].
            friction: Coulomb coefficient of the corners.
            restitution: of the corners.
            slope: angle by which the floor goes down towards x [rad].
            gravity: [m/s^2].

        Raises:
            InputError: a size that is not positive.
        """
        self.nv = 3
        w, h = check_positive("width", width), check_positive("height", height)
        self._M = np.diag([1.0, 1.0, (w * w + h * h) / 12.0])
        self._weight = gravity * np.array([math.sin(slope), -math.cos(slope), 0.0])
        self._corners = 0.5 * np.array([[-w, -h], [w, -h], [w, h], [-w, h]])
        self._friction, self._restitution = np.full(4, friction), np.full(4, restitution)

    def mass(self, q: Array) -> Array:
        """See :meth:`MechanicalSystem.mass`."""
        return self._M

    def efforts(self, t: float, q: Array, v: Array) -> Array:
        """See :meth:`MechanicalSystem.efforts`."""
        return self._weight

    def derivatives(self, t: float, q: Array, v: Array, a: Array | None = None) -> tuple[Array, Array]:
        """See :meth:`MechanicalSystem.derivatives`."""
        return np.zeros((self.nv, self.nv)), np.zeros((self.nv, self.nv))

    def contacts(self, q: Array, v: Array, horizon: float) -> ContactSet:
        """All four corners."""
        c, s = math.cos(q[2]), math.sin(q[2])
        arms = self._corners @ np.array([[c, s], [-s, c]])
        rows = np.zeros((4, 3, 3))
        rows[:, 0, 1] = 1.0
        rows[:, 0, 2] = arms[:, 0]
        rows[:, 1, 0] = 1.0
        rows[:, 1, 2] = -arms[:, 1]
        return ContactSet(np.arange(4), q[1] + arms[:, 1], rows, self._friction, self._restitution)


class SpringChain(MechanicalSystem):
    """Masses above each other, neighbours joined by springs and dampers; the lowest can touch the floor.

    Coordinates are the heights [m] above the places at which the springs are unloaded, from the floor upwards.
    """

    def __init__(
        self,
        links: int = 5,
        stiffness: float = 1e4,
        damping: float = 10.0,
        mass: float = 1.0,
        gravity: float = GRAVITY,
    ) -> None:
        """Make the chain.

        Args:
            links: number of masses.
            stiffness: of each spring [N/m].
            damping: of each damper [N s/m].
            mass: of each mass [kg].
            gravity: [m/s^2].

        Raises:
            InputError: a number of masses or a mass that is not positive.
        """
        self.nv = int(check_positive("links", links))
        self._M = check_positive("mass", mass) * np.eye(links)
        ends = np.diff(np.eye(links), axis=0)  # rows: stretch of each spring
        self._K, self._D = stiffness * ends.T @ ends, damping * ends.T @ ends
        self._weight = np.full(links, -mass * gravity)

    def mass(self, q: Array) -> Array:
        """See :meth:`MechanicalSystem.mass`."""
        return self._M

    def efforts(self, t: float, q: Array, v: Array) -> Array:
        """See :meth:`MechanicalSystem.efforts`."""
        return self._weight - self._K @ q - self._D @ v

    def derivatives(self, t: float, q: Array, v: Array, a: Array | None = None) -> tuple[Array, Array]:
        """See :meth:`MechanicalSystem.derivatives`."""
        return -self._K, -self._D

    def impedance(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """See :meth:`MechanicalSystem.impedance`."""
        return self._K, self._D

    def contacts(self, q: Array, v: Array, horizon: float) -> ContactSet:
        """Return the lowest mass on the floor."""
        rows = np.zeros((1, 3, self.nv))
        rows[0, 0, 0] = 1.0
        return ContactSet(np.zeros(1, dtype=np.int64), q[:1], rows, np.zeros(1), np.zeros(1))

    def energy(self, q: Array, v: Array) -> float:
        """Kinetic energy, and that of springs and weight [J]."""
        return float(0.5 * v @ self._M @ v + 0.5 * q @ self._K @ q - self._weight @ q)
