# SPDX-License-Identifier: Apache-2.0
"""What all integrators have in common: one step of a mechanical system, with its contact forces."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_sim.stepping.interface import StepSetup
from humanoid_studies.integration.contact_step import DEFAULT_SOLVER, ContactSolver
from humanoid_studies.integration.integrator_stepping import IntegratorStepping
from humanoid_studies.integration.mechanical_system import ContactForces, ContactSet, MechanicalSystem, Step

TOUCHING_GAP = 1e-9
"""Gaps below this count as closed: rounding must not open contacts at rest [m]."""


class Integrator(ABC):
    """One step of a scheme. Integrators keep nothing between steps unless :meth:`save` gives it.

    Attributes:
        solver: how contact problems are solved.
        solves_contacts: whether the scheme poses contact problems, so that the solver matters.
        has_restitution: whether it obeys the restitution of contacts.
        has_joint_limits: whether it obeys joint limits, which a world gives it as contacts without friction.
    """

    solves_contacts: bool = True
    has_restitution: bool = True
    has_joint_limits: bool = True

    def __init__(self, solver: ContactSolver = DEFAULT_SOLVER) -> None:
        self.solver = solver

    def use_solver(self, solver: ContactSolver) -> None:
        """Solve contact problems another way."""
        self.solver = solver

    def make_stepping(self, setup: StepSetup) -> IntegratorStepping:
        """Make the steps of a simulation by this scheme.

        Raises:
            InputError: something of the scene or of the options that it doesn't know.
        """
        return IntegratorStepping(setup, self)

    @abstractmethod
    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float = 0.0) -> Step:
        """Advance a system by one time step.

        Args:
            system: the mechanism.
            q: configuration at the start.
            v: velocity at the start, shape (nv,).
            dt: time step [s].
            t: time at the start [s].

        Returns:
            Configuration and velocity at the end, and the contact forces.

        Raises:
            SimulationError: the step has no solution; the time step is too large.
        """

    def save(self) -> object:
        """Return the state of the integrator besides that of the system; None for most."""
        return None

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` gave."""
        return None


class ImpulseRecord:
    """Impulses of a step that is done in several parts."""

    def __init__(self, nv: int) -> None:
        """Start with none, for a mechanism of ``nv`` velocity coordinates."""
        self._nv = nv
        self._contacts: dict[int, ContactSet] = {}
        self._impulses: dict[int, Array] = {}
        self._converged = True

    def add(self, contacts: ContactSet, impulses: Array, converged: bool = True) -> None:
        """Add impulses [N s], shape (m, 3); those of one contact add up."""
        self._converged &= converged
        for i, number in enumerate(contacts.ids.tolist()):
            self._contacts[number] = contacts.where(np.array([i]))
            self._impulses[number] = self._impulses.get(number, np.zeros(3)) + impulses[i]

    def add_forces(self, forces: ContactForces, dt: float) -> None:
        """Add the impulses of forces that act for dt seconds."""
        self.add(forces.contacts, forces.forces * dt, forces.converged)

    def forces(self, dt: float) -> ContactForces:
        """Mean forces over dt seconds."""
        if not self._contacts:
            return ContactForces(ContactSet.none(self._nv), np.zeros((0, 3)), self._converged)
        parts = list(self._contacts.values())
        merged = type(parts[0]).joined(parts)
        return ContactForces(merged, np.array(list(self._impulses.values())) / dt, self._converged)


def linear_impedance(
    system: MechanicalSystem, t: float, q: Array, v: Array, dt: float, ahead: float
) -> tuple[Array, Array]:
    r"""Matrix and impulse of :math:`H (v^+ - v) = r` for efforts at a configuration ``ahead`` of the start.

    Springs and dampers that the system asks to be taken implicitly are taken at the end of the step, where
    :math:`q^+ = q^t \oplus \delta t\,v^+`: they add :math:`\delta t D + \delta t^2 K` to the inertia, and the part of
    the way that the efforts don't see yet to the impulse. Without any, H = M and r = B dt.

    Args:
        system: the mechanism.
        t: time at which efforts are evaluated [s].
        q: configuration at which M and B are evaluated.
        v: velocity at the start of the step, shape (nv,).
        dt: time step [s].
        ahead: which part of the way ``dt v`` from the start lies behind q: 0, 1/2 or 1.
    """
    H = system.mass(q)
    r = dt * system.efforts(t, q, v)
    impedance = system.impedance(t, q, v)
    if impedance is not None:
        stiffness, damping = impedance
        H = H + dt * damping + dt * dt * stiffness
        r = r - dt * dt * (1.0 - ahead) * (stiffness @ v)
    return H, r


def check_fraction(name: str, value: float, *, zero: bool = True) -> float:
    """Return a parameter of a scheme that must be in 0..1.

    Args:
        name: of the parameter.
        value: what was given.
        zero: whether 0 is allowed.

    Raises:
        InputError: it is out of range.
    """
    if not (0.0 <= value <= 1.0) or (value == 0.0 and not zero):
        raise InputError(
            f"{name} is {value}",
            element=name,
            remedy=f"Give a number from 0 to 1{'' if zero else ', above 0'}",
        )
    return float(value)


def check_positive(name: str, value: float, *, zero: bool = False) -> float:
    """Return a parameter of a scheme that must be positive and finite.

    Args:
        name: of the parameter.
        value: what was given.
        zero: whether 0 is allowed.

    Raises:
        InputError: it is out of range.
    """
    if not np.isfinite(value) or value < 0.0 or (value == 0.0 and not zero):
        raise InputError(
            f"{name} is {value}", element=name, remedy=f"Give a finite number {'of 0 or more' if zero else 'above 0'}"
        )
    return float(value)
