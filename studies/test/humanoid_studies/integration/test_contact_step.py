# SPDX-License-Identifier: Apache-2.0
"""The contact problem that all time-stepping schemes lead to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model.errors import SimulationError
from humanoid_studies.integration.contact_step import ContactSolver, solve_contact_step
from humanoid_studies.integration.integrator import ImpulseRecord
from humanoid_studies.integration.mechanical_system import ContactForces, ContactSet


def random_contacts(rng: np.random.Generator, m: int, nv: int, friction: float = 0.4) -> ContactSet:
    rows = rng.normal(size=(m, 3, nv))
    rows[:, :, 0] = [4.0, 0.0, 0.0]  # one motion opens all of them
    return ContactSet(np.arange(m), np.zeros(m), rows, np.full(m, friction), np.zeros(m))


@pytest.mark.parametrize("skewness", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_equation_and_contact_laws_hold(seed: int, skewness: float) -> None:
    """With the whole H, its antisymmetric part included; all laws recomputed here."""
    rng = np.random.default_rng(seed)
    nv, m = 8, 3
    A, B = rng.normal(size=(nv, nv)), rng.normal(size=(nv, nv))
    H = A @ A.T + nv * np.eye(nv) + skewness * (B - B.T)
    contacts, r, v = random_contacts(rng, m, nv), rng.normal(size=nv), rng.normal(size=nv)
    shifts = 0.1 * rng.normal(size=(m, 3))
    v_new, impulses, converged = solve_contact_step(H, r, v, contacts, shifts)
    assert converged
    assert_allclose(H @ (v_new - v), r + np.einsum("irk,ir->k", contacts.rows, impulses), atol=1e-9)
    u = contacts.rows @ v_new + shifts
    assert u[:, 0].min() > -1e-8
    assert np.abs(u[:, 0] * impulses[:, 0]).max() < 1e-8
    slip = np.linalg.norm(u[:, 1:], axis=1)
    assert (np.linalg.norm(impulses[:, 1:], axis=1) - 0.4 * impulses[:, 0]).max() < 1e-8
    assert_allclose(np.einsum("ij,ij->i", impulses[:, 1:], u[:, 1:]), -0.4 * impulses[:, 0] * slip, atol=1e-7)


def test_directions_in_which_nothing_moves_carry_nothing() -> None:
    """A problem in a plane: the result is that without the third direction."""
    rng = np.random.default_rng(0)
    contacts = random_contacts(rng, 2, 4)
    contacts.rows[:, 2] = 0.0
    v = np.array([-1.0, 0.5, -0.3, 0.2])
    v_new, impulses, _ = solve_contact_step(np.eye(4), np.zeros(4), v, contacts, np.zeros((2, 3)))
    assert_allclose(impulses[:, 2], 0.0, atol=0.0)
    assert (contacts.rows @ v_new)[:, 0].min() > -1e-10


def test_steps_without_a_solution_are_refused() -> None:
    none = ContactSet.none(2)
    with pytest.raises(SimulationError, match="not positive definite"):
        solve_contact_step(np.diag([1.0, -1.0]), np.zeros(2), np.zeros(2), none, np.zeros((0, 3)))
    with pytest.raises(SimulationError, match="not a number"):
        solve_contact_step(np.eye(2), np.array([np.nan, 0.0]), np.zeros(2), none, np.zeros((0, 3)))
    gyroscopic = np.eye(3)
    gyroscopic[1, 2], gyroscopic[2, 1] = 50.0, -50.0
    rows = np.zeros((1, 3, 3))
    rows[0, 0, 0] = 1.0
    contact = ContactSet(np.zeros(1, dtype=np.int64), np.zeros(1), rows, np.zeros(1), np.zeros(1))
    with pytest.raises(SimulationError, match="gyroscopic"):
        solve_contact_step(gyroscopic, np.ones(3), np.zeros(3), contact, np.zeros((1, 3)))


def test_solves_that_dont_converge_say_so() -> None:
    rng = np.random.default_rng(4)
    contacts = random_contacts(rng, 4, 6)
    lazy = ContactSolver(tolerance=1e-14, max_iterations=1)
    _, _, converged = solve_contact_step(np.eye(6), -5.0 * np.ones(6), np.zeros(6), contacts, np.zeros((4, 3)), lazy)
    assert not converged


def test_impulses_of_a_step_in_parts_add_up() -> None:
    """By contact; the mean force is their sum over the step."""
    rng = np.random.default_rng(0)
    contacts = random_contacts(rng, 3, 5)
    record = ImpulseRecord(5)
    record.add(contacts, np.ones((3, 3)))
    record.add(contacts.where(np.array([2])), np.full((1, 3), 2.0), converged=False)
    record.add_forces(ContactForces(contacts.matching(np.array([0])), np.full((1, 3), 10.0)), 0.5)
    forces = record.forces(2.0)
    assert forces.contacts.ids.tolist() == [0, 1, 2]
    assert_allclose(forces.forces[:, 0], [3.0, 0.5, 1.5])
    assert not forces.converged
    assert ImpulseRecord(5).forces(1.0).forces.shape == (0, 3)
