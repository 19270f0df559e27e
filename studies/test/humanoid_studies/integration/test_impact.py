# SPDX-License-Identifier: Apache-2.0
"""Newton's and Poisson's impact laws (specification 000 §8.1, oracles N7 and N8)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_studies.integration.analytic_systems import PlanarBox
from humanoid_studies.integration.contact_step import DEFAULT_SOLVER
from humanoid_studies.integration.impact import newton_impact, poisson_impact
from humanoid_studies.integration.mechanical_system import ContactSet

LAWS = [newton_impact, poisson_impact]


def lower_corners(box: PlanarBox, q: np.ndarray) -> ContactSet:
    contacts = box.contacts(q, np.zeros(3), 0.0)
    return contacts.where(contacts.gaps < 1e-9)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
def test_flat_box(law, e: float) -> None:
    """Oracle N7: impulses sum to (1 + e) m v."""
    box, q = PlanarBox(), np.array([0.0, 0.05, 0.0])
    contacts = lower_corners(box, q)
    v, impulses, converged = law(box.mass(q), np.array([0.0, -2.0, 0.0]), contacts, np.full(2, e), DEFAULT_SOLVER)
    assert converged
    assert impulses[:, 0].sum() == pytest.approx((1 + e) * 2.0)
    assert_allclose(v, [0.0, 2.0 * e, 0.0], atol=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_rod_that_hits_with_one_end(law) -> None:
    """Oracle N8: the inverse of the inertia at the end is 4 / m, the impulse (1 + e) m v / 4."""
    rod = PlanarBox(width=1.0, height=1e-9, friction=0.0)
    q = np.array([0.0, 0.0, 1e-6])  # the left end is the lower one
    contacts = rod.contacts(q, np.zeros(3), 0.0)
    contacts = contacts.where(np.array([0]))
    v, impulses, _ = law(rod.mass(q), np.array([0.0, -3.0, 0.0]), contacts, np.array([0.5]), DEFAULT_SOLVER)
    assert impulses[0, 0] == pytest.approx(1.5 * 3.0 / 4.0, rel=1e-6)
    assert contacts.velocities(v)[0, 0] == pytest.approx(1.5, rel=1e-6)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("seed", range(20))
def test_impacts_with_friction_obey_their_laws(law, seed: int) -> None:
    """Nothing approaches afterwards, impulses are in their cones, no energy appears."""
    rng = np.random.default_rng(seed)
    box, q = PlanarBox(friction=float(rng.uniform(0.0, 1.0))), np.array([0.0, 0.05, 0.0])
    contacts, M = lower_corners(box, q), box.mass(q)
    before = np.array([rng.normal(), -abs(rng.normal()), rng.normal()])
    e = np.full(2, rng.uniform(0.0, 1.0))
    v, impulses, converged = law(M, before, contacts, e, DEFAULT_SOLVER)
    assert converged
    assert_allclose(M @ (v - before), np.einsum("irk,ir->k", contacts.rows, impulses), atol=1e-9)
    assert contacts.velocities(v)[:, 0].min() > -1e-8
    assert (np.linalg.norm(impulses[:, 1:], axis=1) - contacts.friction * impulses[:, 0]).max() < 1e-8
    if law is poisson_impact:
        assert v @ M @ v <= before @ M @ before + 1e-9


def test_poisson_gives_back_normal_impulse_where_newton_gives_back_velocity() -> None:
    """Decompression adds e times the normal impulse of compression at each contact that stays loaded."""
    box, q = PlanarBox(friction=0.3), np.array([0.0, 0.05, 0.0])
    contacts, M = lower_corners(box, q), box.mass(q)
    before, e = np.array([1.0, -1.5, 0.4]), np.array([0.6, 0.6])
    _, compression, _ = poisson_impact(M, before, contacts, np.zeros(2), DEFAULT_SOLVER)
    v, both, _ = poisson_impact(M, before, contacts, e, DEFAULT_SOLVER)
    returned = both[:, 0] - compression[:, 0]
    assert np.all(returned >= 0.6 * compression[:, 0] - 1e-10)
    leaves = contacts.velocities(v)[:, 0] > 1e-9
    assert leaves.any()
    assert_allclose(returned[leaves], 0.6 * compression[leaves, 0], atol=1e-9)
    newton, _, _ = newton_impact(M, before, contacts, e, DEFAULT_SOLVER)
    assert np.all(contacts.velocities(newton)[:, 0] >= -0.6 * contacts.velocities(before)[:, 0] - 1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_friction_of_decompression_stops_what_it_can(seed: int) -> None:
    """A contact whose friction in decompression is inside its cone doesn't slide; on the cone it opposes sliding."""
    rng = np.random.default_rng(100 + seed)
    box, q = PlanarBox(0.3, 0.6, friction=0.5), np.array([0.0, 0.3, 0.0])
    contacts, M = lower_corners(box, q).where(np.array([0])), box.mass(q)
    before = np.array([rng.normal(), -1.0 - abs(rng.normal()), rng.normal()])
    if contacts.velocities(before)[0, 0] > 0.0:
        before[2] = 0.0
    _, compression, _ = poisson_impact(M, before, contacts, np.zeros(1), DEFAULT_SOLVER)
    v, both, converged = poisson_impact(M, before, contacts, np.full(1, 0.7), DEFAULT_SOLVER)
    assert converged
    normal, tangential = (both - compression)[0, 0], (both - compression)[0, 1]
    slip = contacts.velocities(v)[0, 1]
    assert normal == pytest.approx(0.7 * compression[0, 0])
    if abs(tangential) < 0.5 * normal - 1e-9:
        assert abs(slip) < 1e-9
    else:
        assert tangential * slip <= 1e-9


def test_friction_of_decompression_follows_its_normal_impulse() -> None:
    """A point mass that keeps sliding: tangential impulse is mu times all of the normal one, (1 + e) m v."""
    rows = np.array([[[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]])
    contacts = ContactSet(np.zeros(1, dtype=np.int64), np.zeros(1), rows, np.array([0.2]), np.array([0.5]))
    v, impulses, _ = poisson_impact(np.eye(2), np.array([3.0, -2.0]), contacts, np.array([0.5]), DEFAULT_SOLVER)
    assert_allclose(impulses, [[3.0, -0.6, 0.0]], atol=1e-10)
    assert_allclose(v, [2.4, 1.0], atol=1e-10)
    v, impulses, _ = poisson_impact(np.eye(2), np.array([0.3, -2.0]), contacts, np.array([0.5]), DEFAULT_SOLVER)
    assert_allclose(v, [0.0, 1.0], atol=1e-10)  # stops in compression, stays so in decompression
