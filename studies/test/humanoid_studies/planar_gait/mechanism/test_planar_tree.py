# SPDX-License-Identifier: Apache-2.0
"""Planar trees against Pinocchio, finite differences and the spec's structural oracles U-02 to U-05, U-07 and U-09."""

import dataclasses
import re

import numpy as np
import pinocchio as pin
import pytest
from fixtures.planar_trees import random_state, random_tree, with_rotors
from scipy.integrate import solve_ivp

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.pinocchio_tree import (
    jacobian_of_relative,
    relative_coordinates,
    to_pinocchio,
)
from humanoid_studies.planar_gait.mechanism.planar_body import PlanarBody
from humanoid_studies.planar_gait.mechanism.planar_tree import PlanarTree

TREES = [random_tree(np.random.default_rng(seed), 3 + seed, floating=seed % 2 == 1) for seed in range(4)]
TREES += [with_rotors(tree, np.random.default_rng(9)) for tree in TREES[2:]]


def central_difference(function, q, k, step=1e-6):
    shift = np.zeros_like(q)
    shift[k] = step
    return (function(q + shift) - function(q - shift)) / (2.0 * step)


@pytest.mark.feature("003-F008")
@pytest.mark.parametrize("tree", TREES)
def test_pinocchio_tells_the_same(tree):  # U-09 on random trees
    rng = np.random.default_rng(5)
    model = to_pinocchio(tree)
    data = model.createData()
    T = jacobian_of_relative(tree, model)
    for _ in range(5):
        q, v = random_state(rng, tree.n)
        phi, rate = relative_coordinates(tree, model, q), T @ v
        M = pin.crba(model, data, phi)
        M = np.triu(M) + np.triu(M, 1).T
        np.testing.assert_allclose(tree.mass_matrix(q), T.T @ M @ T, atol=1e-12)
        np.testing.assert_allclose(
            tree.potential_gradient(q), T.T @ pin.computeGeneralizedGravity(model, data, phi), atol=1e-12
        )
        assert tree.potential(q) == pytest.approx(pin.computePotentialEnergy(model, data, phi), abs=1e-11)
        efforts = rng.normal(size=tree.n)
        acceleration = tree.acceleration(q, v, tree.momentum_rate(q, v) + efforts)
        torque = pin.rnea(model, data, phi, rate, T @ acceleration)
        np.testing.assert_allclose(T.T @ torque, efforts, atol=1e-10)
        np.testing.assert_allclose(tree.centre.position(q), pin.centerOfMass(model, data, phi)[:2], atol=1e-13)


@pytest.mark.parametrize("tree", TREES)
def test_points_are_pinocchios_frames(tree):
    rng = np.random.default_rng(6)
    model = to_pinocchio(tree)
    data = model.createData()
    T = jacobian_of_relative(tree, model)
    q, v = random_state(rng, tree.n)
    phi = relative_coordinates(tree, model, q)
    pin.computeJointJacobians(model, data, phi)
    pin.forwardKinematics(model, data, phi, T @ v, np.zeros(model.nv))
    pin.updateFramePlacements(model, data)
    for body in tree.bodies:
        point = tree.point(body.name)
        frame = model.getFrameId(body.name)
        np.testing.assert_allclose(point.position(q), data.oMf[frame].translation[:2], atol=1e-13)
        J = pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(point.jacobian(q), (J @ T)[:2], atol=1e-13)
        bias = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL_WORLD_ALIGNED).linear[:2]
        np.testing.assert_allclose(point.bias(q, v), bias, atol=1e-11)
        tip = tree.point(body.name, 0.3 - 0.2j)
        placed = data.oMf[frame].act(np.array([0.3, -0.2, 0.0]))
        np.testing.assert_allclose(tip.position(q), placed[:2], atol=1e-13)
        for k in range(tree.n):
            difference = central_difference(lambda at, tip=tip, k=k: tip.jacobian(at)[:, k], q, k)
            np.testing.assert_allclose(tip.hessian(q)[:, k], difference, atol=1e-8)


@pytest.mark.feature("003-F019")
@pytest.mark.parametrize("tree", TREES)
def test_mass_derivatives(tree):  # U-02
    q, _ = random_state(np.random.default_rng(7), tree.n)
    for k in range(tree.n):
        derivative = tree.mass_derivative(q, k)
        np.testing.assert_allclose(derivative, central_difference(tree.mass_matrix, q, k), atol=1e-7)
        outside = np.delete(np.delete(derivative, k, 0), k, 1)
        assert np.all(outside == 0.0)
        assert derivative[k, k] == 0.0
        for i in range(tree.n):
            second = central_difference(lambda at, i=i: tree.mass_derivative(at, i), q, k)
            np.testing.assert_allclose(tree.mass_second_derivative(q, i, k), second, atol=1e-7)


@pytest.mark.feature("003-F019")
@pytest.mark.parametrize("tree", TREES)
def test_contractions_of_the_docstring(tree):
    rng = np.random.default_rng(8)
    q, v = random_state(rng, tree.n)
    N = tree.turning_matrix(q)
    np.testing.assert_allclose(N, -N.T, atol=1e-14)
    derivatives = np.array([tree.mass_derivative(q, k) for k in range(tree.n)])
    half = np.where(tree.turning, v * (N @ v), 0.0)
    np.testing.assert_allclose(half, 0.5 * np.einsum("kij,i,j->k", derivatives, v, v), atol=1e-12)
    np.testing.assert_allclose(tree.mass_rate(q, v), np.einsum("kij,k->ij", derivatives, v), atol=1e-12)


@pytest.mark.feature("003-F020")
@pytest.mark.parametrize("tree", TREES)
def test_potential(tree):  # U-03
    q, _ = random_state(np.random.default_rng(9), tree.n)
    gradient = [central_difference(tree.potential, q, k) for k in range(tree.n)]
    np.testing.assert_allclose(tree.potential_gradient(q), gradient, atol=1e-7)
    curvature = np.array([central_difference(tree.potential_gradient, q, k) for k in range(tree.n)])
    np.testing.assert_allclose(np.diag(tree.potential_curvature(q)), curvature, atol=1e-7)


@pytest.mark.feature("003-F011")
def test_derivative_of_the_inverse_mass_matrix():  # U-04, erratum ER-01
    tree = TREES[2]
    q, _ = random_state(np.random.default_rng(10), tree.n)
    inverse = np.linalg.inv(tree.mass_matrix(q))
    for k in range(tree.n):
        difference = central_difference(lambda at: np.linalg.inv(tree.mass_matrix(at)), q, k, 1e-5)
        np.testing.assert_allclose(
            -inverse @ tree.mass_derivative(q, k) @ inverse,
            difference,
            atol=1e-8 * max(1.0, np.abs(inverse).max() ** 2),
        )


@pytest.mark.feature("003-F011")
@pytest.mark.parametrize("tree", TREES)
def test_hamilton_rates_follow_from_the_hamiltonian(tree):
    rng = np.random.default_rng(11)
    q, v = random_state(rng, tree.n)
    p = tree.momentum(q, v)
    np.testing.assert_allclose(tree.velocity(q, p), v, atol=1e-10)
    rate_q, rate_p = tree.free_rates(q, p)
    for k in range(tree.n):
        by_p = central_difference(lambda at: tree.hamiltonian(q, at), p, k, 1e-5)
        by_q = central_difference(lambda at: tree.hamiltonian(at, p), q, k, 1e-6)
        assert rate_q[k] == pytest.approx(by_p, abs=1e-6)
        assert rate_p[k] == pytest.approx(-by_q, abs=2e-5)


@pytest.mark.feature("003-F010")
def test_free_motion_conserves_energy():  # U-07
    tree = PlanarTree.from_bodies(
        [
            PlanarBody("a", None, 0.0, 2.0, 0.2 + 0.05j, 0.1),
            PlanarBody("b", "a", 0.4, 3.0, 0.15 - 0.1j, 0.2),
            PlanarBody("c", "b", 0.3 + 0.1j, 1.0, 0.1, 0.05),
        ]
    )
    q, v = random_state(np.random.default_rng(12), tree.n)
    start = np.concatenate([q, tree.momentum(q, v)])

    def rate(_, x):
        return np.concatenate(tree.free_rates(x[:3], x[3:]))

    motion = solve_ivp(rate, (0.0, 1.0), start, rtol=1e-11, atol=1e-12)
    energy = tree.hamiltonian(motion.y[:3].T, motion.y[3:].T)
    assert np.ptp(energy) < 1e-8 * abs(energy[0])


def test_leading_axes_vectorise():
    tree = TREES[1]
    q, v = random_state(np.random.default_rng(13), tree.n, 4)
    p = tree.momentum(q, v)
    tip = tree.point(tree.bodies[-1].name, 0.1j)
    for one in range(4):
        for function in (
            tree.mass_matrix,
            tree.turning_matrix,
            tree.potential,
            tree.potential_gradient,
            tree.potential_curvature,
            tip.position,
            tip.jacobian,
            tip.hessian,
            tree.relative_angles,
        ):
            np.testing.assert_allclose(function(q)[one], function(q[one]), atol=1e-14)
        for function in (tree.momentum, tree.momentum_rate, tree.mass_rate, tip.bias):
            np.testing.assert_allclose(function(q, v)[one], function(q[one], v[one]), atol=1e-12)
        np.testing.assert_allclose(tree.hamiltonian(q, p)[one], tree.hamiltonian(q[one], p[one]), atol=1e-12)
        np.testing.assert_allclose(
            tree.acceleration(q, v, p)[one], tree.acceleration(q[one], v[one], p[one]), atol=1e-9
        )


@pytest.mark.feature("003-F008")
def test_relative_and_absolute_angles():
    tree = TREES[2]
    q, _ = random_state(np.random.default_rng(14), tree.n, 3)
    np.testing.assert_allclose(tree.absolute_angles(tree.relative_angles(q)), q, atol=1e-15)
    chain = PlanarTree.from_bodies(
        [PlanarBody(f"b{i}", f"b{i - 1}" if i else None, 0.1, 1.0, 0.0, 1.0) for i in range(3)]
    )
    np.testing.assert_allclose(chain.relative_angles([0.5, 0.7, 0.4]), [0.5, 0.2, -0.3], atol=1e-15)
    np.testing.assert_array_equal(chain.ancestors(), np.tril(np.ones((3, 3))))


@pytest.mark.feature("003-F015")
def test_no_gravity_no_potential():
    tree = PlanarTree.from_bodies(TREES[0].bodies, gravity=0.0)
    q, _ = random_state(np.random.default_rng(15), tree.n)
    assert tree.potential(q) == 0.0
    assert np.all(tree.potential_gradient(q) == 0.0)


def test_a_floating_root_carries_the_whole_mass():
    tree = TREES[1]
    q, v = random_state(np.random.default_rng(16), tree.n)
    assert tree.coordinates[:2] == ("x", "y")
    np.testing.assert_allclose(tree.mass_matrix(q)[:2, :2], tree.mass * np.eye(2), atol=1e-12)
    np.testing.assert_allclose(tree.potential_gradient(q)[:2], [0.0, tree.mass * 9.81], atol=1e-12)
    np.testing.assert_allclose(tree.momentum(q, v)[:2], tree.mass * tree.centre.jacobian(q) @ v, atol=1e-12)


GOOD = PlanarBody("a", None, 0.0, 1.0, 0.1, 0.1)


@pytest.mark.parametrize(
    ("bodies", "message"),
    [
        ([], "no body"),
        ([GOOD, GOOD], "two bodies named 'a'"),
        ([GOOD, dataclasses.replace(GOOD, name="b", parent="c")], "b: unknown parent 'c'"),
        (
            [dataclasses.replace(GOOD, name="b", parent="c"), dataclasses.replace(GOOD, name="c", parent="b")],
            "b: is carried by itself",
        ),
        ([dataclasses.replace(GOOD, mass=0.0, inertia=0.0)], "a: carries no mass"),
    ],
)
def test_bodies_that_form_no_tree(bodies, message):
    with pytest.raises(InputError, match=re.escape(message)):
        PlanarTree.from_bodies(bodies)


def test_floating_needs_one_root_and_gravity_is_a_number():
    other = dataclasses.replace(GOOD, name="b")
    with pytest.raises(InputError, match="several roots"):
        PlanarTree.from_bodies([GOOD, other], floating=True)
    with pytest.raises(InputError, match="gravity: is nan"):
        PlanarTree.from_bodies([GOOD], gravity=float("nan"))


def test_rotors_that_are_none():
    n = TREES[0].n
    for wrong, message in (
        (np.eye(2), "shape"),
        (np.full((n, n), np.nan), "finite"),
        (-np.eye(n), "take kinetic energy away"),
        (np.triu(np.ones((n, n))), "take kinetic energy away"),
    ):
        with pytest.raises(InputError, match=message):
            TREES[0].with_rotors(wrong)
    across = np.zeros((n, n))
    across[:2, :2] = 0.5  # of a joint that isn't the tree's own
    with pytest.raises(InputError, match="couple joints"):
        to_pinocchio(TREES[0].with_rotors(across + 0.1 * np.eye(n)))


def test_unknown_names():
    with pytest.raises(InputError, match="unknown body 'z'"):
        TREES[0].point("z")
    with pytest.raises(InputError, match="unknown coordinate 'z'"):
        TREES[0].index("z")
    with pytest.raises(InputError, match="finite lengths"):
        TREES[0].point("b0", complex("nan"))
