# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from fixtures.random_urdf import random_urdf

from humanoid_codegen.dynamics.forward_kinematics import body_placements, centre_of_mass
from humanoid_codegen.dynamics.inertial_parameters import find_base_set, group_inertias
from humanoid_codegen.dynamics.mechanism import JointKind, Mechanism
from humanoid_model import load_robot


@pytest.mark.parametrize("name", ["hrp2", "tree4", "bip"])
def test_what_the_parent_can_have_is_gone(name):
    grouped = group_inertias(Mechanism.from_robot(load_robot(name)))
    for body in grouped.bodies:
        if body.parent < 0:
            continue
        if body.kind is JointKind.REVOLUTE:
            assert body.inertia.mass == 0.0
            assert body.inertia.first[body.axis] == 0.0
            assert body.inertia.second[(0, 3, 5)[body.axis]] == 0.0
        elif body.kind is JointKind.PRISMATIC:
            assert body.inertia.second == (0.0,) * 6


@pytest.mark.parametrize("seed", range(6))
def test_mass_and_its_centre_stay(seed):
    rng = np.random.default_rng(seed)
    robot = load_robot(random_urdf(rng, 8, ("revolute", "prismatic", "planar", "floating")), floating_base=True)
    mechanism = Mechanism.from_robot(robot)
    grouped = group_inertias(mechanism)
    assert sum(body.inertia.mass for body in grouped.bodies) == pytest.approx(mechanism.total_mass, rel=1e-12)
    q = np.concatenate([np.zeros(3), [0, 0, 0, 1], rng.normal(size=mechanism.nq - 7)])
    for body in mechanism.bodies[1:]:
        if body.kind is JointKind.FREE_FLYER:
            q[body.first_q + 3 : body.first_q + 7] = [0.5, 0.5, 0.5, 0.5]
        elif body.kind is JointKind.PLANAR:
            q[body.first_q + 2 : body.first_q + 4] = [0.6, 0.8]
    bodies = body_placements(mechanism, q)
    before, after = (np.array(centre_of_mass(one, bodies), dtype=float) for one in (mechanism, grouped))
    np.testing.assert_allclose(after, before, atol=1e-12)


def test_base_set_of_a_known_regressor():
    # Third column is twice the first plus the second; the fourth is never excited.
    rng = np.random.default_rng(0)
    A = rng.normal(size=(50, 2))
    Y = np.column_stack([A[:, 0], A[:, 1], 2 * A[:, 0] + A[:, 1], np.zeros(50)])
    base = find_base_set(Y)
    assert base.columns == (0, 1)
    np.testing.assert_allclose(base.combination, [[1, 0, 2, 0], [0, 1, 1, 0]], atol=1e-12)
    parameters = rng.normal(size=4)
    np.testing.assert_allclose(Y[:, list(base.columns)] @ (base.combination @ parameters), Y @ parameters, atol=1e-12)


def test_nothing_excited_needs_no_parameter():
    assert find_base_set(np.zeros((5, 3))).columns == ()
