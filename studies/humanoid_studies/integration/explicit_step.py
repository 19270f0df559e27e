# SPDX-License-Identifier: Apache-2.0
"""Contacts for schemes that know smooth motion only (specification 000 §8.2)."""

from __future__ import annotations

import numpy as np

from humanoid_model.arrays import Array
from humanoid_studies.integration.contact_step import ContactSolver, normal_shifts, solve_contact_step
from humanoid_studies.integration.integrator import TOUCHING_GAP
from humanoid_studies.integration.mechanical_system import ContactForces, MechanicalSystem, Step


def step_with_contacts(
    system: MechanicalSystem,
    v: Array,
    dt: float,
    q_free: Array,
    v_free: Array,
    share: float,
    solver: ContactSolver,
) -> Step:
    r"""Add to a smooth step the contact forces that it needs.

    They are constant over the step and obey Signorini's and Coulomb's laws at the velocity at its end (thesis
    equations 3.17 to 3.20). A contact acts where the step without it would end closed; with Newton's restitution,
    :math:`v_n^+ \ge -e v_n^-`. There is no drift correction: an impact leaves a penetration of up to what the
    mechanism moves in one step.

    Args:
        system: the mechanism.
        v: velocity at the start of the step, shape (nv,).
        dt: time step [s].
        q_free: configuration at the end of the step without contact forces.
        v_free: velocity at its end without contact forces, shape (nv,).
        share: part of ``dt`` times the velocity change by contacts that the position gets: 1/2 for a constant force;
            0 where the position moves with the old velocity.
        solver: how the contact problem is solved.
    """
    contacts = system.contacts(q_free, v_free, dt)
    contacts = contacts.where(contacts.gaps <= TOUCHING_GAP)
    if len(contacts) == 0:
        return Step(q_free, v_free, ContactForces(contacts, np.zeros((0, 3))))
    bounce = contacts.restitution * np.minimum(contacts.velocities(v)[:, 0], 0.0)
    v_new, impulses, converged = solve_contact_step(
        system.mass(q_free), np.zeros_like(v), v_free, contacts, normal_shifts(bounce), solver
    )
    q_new = system.integrate(q_free, share * dt * (v_new - v_free)) if share > 0.0 else q_free
    return Step(q_new, v_new, ContactForces(contacts, impulses / dt, converged))
