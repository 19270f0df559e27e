# SPDX-License-Identifier: Apache-2.0
"""The steps of a simulation by an integrator instead of the simulator's own step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_sim.stepping.interface import Advance, Stepping, SteppingState, StepSetup
from humanoid_sim.stepping.stepper import Stepper
from humanoid_studies.integration.contact_step import ContactSolver
from humanoid_studies.integration.features import check_dry_friction, check_scheme
from humanoid_studies.integration.mechanical_system import MechanicalSystem, Step
from humanoid_studies.integration.world_system import WorldContactSet, WorldSystem


class SceneIntegrator(Protocol):
    """What the steps need of :class:`~humanoid_studies.integration.integrator.Integrator`, which says what it means."""

    solver: ContactSolver
    solves_contacts: bool

    def use_solver(self, solver: ContactSolver) -> None: ...  # noqa: D102
    def step(self, system: MechanicalSystem, q: Array, v: Array, dt: float, t: float) -> Step: ...  # noqa: D102
    def save(self) -> object: ...  # noqa: D102
    def restore(self, state: object) -> None: ...  # noqa: D102


class IntegratorStepping(Stepping):
    """Steps of a whole scene by one integrator, in plain Python."""

    def __init__(self, setup: StepSetup, integrator: SceneIntegrator) -> None:
        """Look at the scene as the integrator's mechanical system.

        Args:
            setup: what the steps are made of. An integrator that it names takes the contact solver of its options; one
                that is ready made brings its own.
            integrator: the scheme.

        Raises:
            InputError: something of the scene or of the options that the scheme doesn't know.
        """
        super().__init__(setup)
        options = setup.options
        name = str(options.as_text()["integrator"])
        if not setup.groups:
            raise InputError(
                f"groups is False, which the integrator '{name}' doesn't use: it has one operator for all bodies",
                element="groups",
                remedy="Leave groups or the integrator out",
            )
        if integrator.solves_contacts and isinstance(options.integrator, str):
            integrator.use_solver(ContactSolver(options.method, options.tolerance, options.max_iterations))
        check_scheme(integrator, name, self.world, self.servos)
        self.method = f"{name}/{integrator.solver.method}" if integrator.solves_contacts else name
        self._integrator = integrator
        self._system = WorldSystem(self.world, self.servos, self.detector)
        self._joints = np.array([body.joint for body in self.world.bodies], dtype=np.int64)

    def advance(self, q: Array, v: Array, step_count: int, steps: int) -> Advance:
        """Make one step, see :meth:`Stepping.advance`.

        Raises:
            InputError: a joint has got dry friction.
            SimulationError: the step has no solution.
        """
        check_dry_friction(self.method, self.world, self.servos)
        stepper, system, dt = self.stepper, self._system, self.settings.dt
        stepper.move(q, v)
        stepper.flight.mean[:] = v
        stepper.gather_wrenches()
        system.external[:] = _external_efforts(stepper)
        self.profile.end("dynamics")
        step = self._integrator.step(system, q, v, dt, step_count * dt)
        self.profile.end("integration")
        end = np.concatenate([step.v, step.q])
        if not np.all(np.isfinite(end)):
            stepper.state.v_new[:], stepper.state.q_new[:] = step.v, step.q
            failure = self._failure(int(np.argmax(~np.isfinite(end))), q, v, step_count)
            return Advance(q, v, q, v, 0, failure)
        contacts: Any = step.forces.contacts  # those of a world, with frames and bodies
        if len(contacts) == 0:  # a scheme that has seen none doesn't know of which kind they are
            contacts = WorldContactSet.none(len(step.v))
        limits = contacts.coordinates >= 0
        thrusts = contacts.rows[limits, 0].T @ step.forces.forces[limits, 0]
        contacts, forces = contacts.where(~limits), step.forces.forces[~limits]
        stepper.joints.efforts[:] = system.servo_efforts(step.q, step.v)
        if self.detector.points is not self._points:
            self._use_points(self.detector.points, self.detector.slot_count)
        self._write_contacts(contacts, forces, contacts.velocities(step.v).reshape(-1, 3), step.forces.converged)
        stepper.state.thrusts[:] = thrusts
        self._take_step(len(contacts.gaps), step_count)
        return Advance(step.q, step.v, q, v, 1)

    def _write_contacts(
        self, contacts: WorldContactSet, forces: Array, velocities: Array, converged: bool
    ) -> None:
        """Write a step's m contacts into the stepper's arrays, so that they read as those of its own steps.

        Forces [N] and velocities at the end of the step [m/s] are in the contact frames, shape (m, 3).
        """
        stepper, m = self.stepper, len(contacts.gaps)
        points, state, groups = stepper.points, stepper.state, stepper.groups
        frames, positions = contacts.frames, contacts.positions
        points.frames[:m], points.normals[:m], points.positions[:m] = frames, frames[:, 0], positions
        points.body_a[:m], points.body_b[:m] = contacts.bodies[:, 0], contacts.bodies[:, 1]
        points.gaps[:m], points.friction[:m] = contacts.gaps, contacts.friction
        points.forces[:m], points.torques[:m], points.velocities[:m] = forces, 0.0, velocities
        state.reactions[:] = 0.0
        pushes = np.einsum("irc,ir->ic", frames, forces)
        wrenches = np.hstack([pushes, np.cross(positions, pushes)])
        carriers = self._joints[contacts.bodies]
        np.add.at(state.reactions, carriers[:, 0], wrenches)
        np.subtract.at(state.reactions, carriers[:, 1], wrenches)
        groups.counts[0] = 1
        groups.residuals[0] = 0.0 if converged else np.inf
        groups.iterations[0] = 0

    def save(self) -> SteppingState:
        """See :meth:`Stepping.save`."""
        return replace(super().save(), scheme=self._integrator.save())

    def restore(self, state: SteppingState) -> None:
        """See :meth:`Stepping.restore`."""
        super().restore(state)
        self._integrator.restore(state.scheme)


def _external_efforts(stepper: Stepper) -> Array:
    """Generalised efforts of the known external wrenches at the present placement, shape (nv,)."""
    model, S = stepper.model, stepper.motion.S
    efforts = np.zeros(len(S))
    for j in np.flatnonzero(stepper.state.wrenches.any(axis=1)):
        k = int(model.joints["last_dof"][j])
        while k >= 0:
            efforts[k] += S[k] @ stepper.state.wrenches[j]
            k = int(model.dof_parent[k])
    return efforts
