# SPDX-License-Identifier: Apache-2.0
"""Double description against qhull and linear programs."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.double_description import (
    cone_halfspaces,
    extreme_rays,
    polytope_halfspaces,
)

pytestmark = pytest.mark.feature("001-F201")


def made_of(generators, vector):
    """Whether a vector is a sum of non-negative multiples of generators."""
    return linprog(np.zeros(len(generators)), A_eq=generators.T, b_eq=vector / np.linalg.norm(vector)).status == 0


def sorted_rows(rows):
    return rows[np.lexsort(rows.T[::-1].round(6))]


@pytest.mark.parametrize("dimension", [2, 3, 4, 5, 6])
def test_hulls_of_points_are_those_of_qhull(dimension):
    random = np.random.default_rng(dimension)
    for count in (dimension + 1, 2 * dimension, 25):
        points = random.normal(size=(count, dimension)) * 3 + 10
        A, b, C, _ = polytope_halfspaces(points)
        assert len(C) == 0
        expected = ConvexHull(points).equations
        np.testing.assert_allclose(
            sorted_rows(np.column_stack([A, -b])), sorted_rows(np.unique(expected.round(9), axis=0)), atol=1e-7
        )


def test_cubes_have_their_facets_although_many_points_are_coplanar():
    for dimension in (2, 3, 4, 5):
        grid = np.array(np.meshgrid(*[[0.0, 1.0, 2.0]] * dimension)).reshape(dimension, -1).T
        A, b, C, _ = polytope_halfspaces(grid)
        assert (A.shape, C.shape) == ((2 * dimension, dimension), (0, dimension))
        np.testing.assert_allclose(np.sort(np.abs(A), axis=1)[:, :-1], 0.0, atol=1e-12)
        np.testing.assert_allclose(np.sort(b), [0.0] * dimension + [2.0] * dimension, atol=1e-9)


@pytest.mark.parametrize("count", [12, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("dimension", [3, 5, 6])
def test_membership_agrees_with_linear_programs(dimension, count):
    random = np.random.default_rng(10 + dimension)
    decided = {True: 0, False: 0}
    for _ in range(count):
        generators = random.normal(size=(random.integers(2, 3 * dimension), dimension)) + 0.5
        facets, equalities = cone_halfspaces(generators)
        samples = np.concatenate(
            [
                random.normal(size=(20, dimension)),
                random.exponential(size=(20, len(generators))) @ generators + 0.1 * random.normal(size=dimension),
            ]
        )
        for sample in samples:
            value = max(
                (facets @ sample).max(initial=-np.inf), np.abs(equalities @ sample).max(initial=-np.inf)
            ) / np.linalg.norm(sample)
            if abs(value) > 1e-5:
                inside = made_of(generators, sample)
                assert inside == (value < 0)
                decided[inside] += 1
    assert min(decided.values()) > 3 * count


def test_both_ways_give_the_generators_back():
    random = np.random.default_rng(3)
    for _ in range(30):
        generators = random.normal(size=(9, 4)) + np.array([5.0, 0, 0, 0])
        generators /= np.linalg.norm(generators, axis=1)[:, None]
        facets, equalities = cone_halfspaces(generators)
        assert len(equalities) == 0
        rays, lines = extreme_rays(facets)
        assert len(lines) == 0
        # Those generators that no others make up.
        needed = [i for i in range(9) if not made_of(np.delete(generators, i, axis=0), generators[i])]
        np.testing.assert_allclose(sorted_rows(rays), sorted_rows(generators[needed]), atol=1e-9)


def test_cones_without_inside_and_with_lines():
    # A wedge in a plane of space: one equality, two facets.
    facets, equalities = cone_halfspaces([[1.0, 0, 1], [1, 0, -1]])
    np.testing.assert_allclose(np.abs(equalities), [[0, 1, 0]], atol=1e-12)
    np.testing.assert_allclose(
        sorted_rows(facets), sorted_rows(np.array([[-1, 0, 1], [-1, 0, -1]]) / np.sqrt(2)), atol=1e-12
    )
    # A half-space has lines; everything has no half-space at all.
    facets, equalities = cone_halfspaces([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]])
    np.testing.assert_allclose(facets, [[0, 0, -1]], atol=1e-12)
    assert len(equalities) == 0
    facets, equalities = cone_halfspaces(np.vstack([np.eye(3), -np.eye(3)]))
    assert (len(facets), len(equalities)) == (0, 0)
    # A ray, and nothing.
    facets, equalities = cone_halfspaces([[0, 0, 2.0]])
    assert (len(facets), len(equalities)) == (1, 2)
    facets, equalities = cone_halfspaces(np.zeros((0, 3)))
    assert (len(facets), len(equalities)) == (0, 3)


def test_repeated_and_redundant_generators_change_nothing():
    random = np.random.default_rng(4)
    generators = random.normal(size=(8, 5)) + np.array([4.0, 0, 0, 0, 0])
    facets, _ = cone_halfspaces(generators)
    inside = random.exponential(size=(30, 8)) @ generators
    on_a_face = random.exponential(size=(30, 2)) @ generators[:2]
    more, _ = cone_halfspaces(np.concatenate([inside, generators, on_a_face, 3 * generators, generators + 1e-13]))
    np.testing.assert_allclose(sorted_rows(more), sorted_rows(facets), atol=1e-7)


def test_unbounded_hulls():
    A, b, _, _ = polytope_halfspaces([[0.0, 0.0], [0.0, 1.0]], rays=[[1.0, 0.0]])
    order = np.lexsort(A.T)
    np.testing.assert_allclose(A[order], [[0, -1], [-1, 0], [0, 1]], atol=1e-12)
    np.testing.assert_allclose(b[order], [0, 0, 1], atol=1e-12)


def test_flat_hulls_have_equalities():
    random = np.random.default_rng(5)
    points = random.normal(size=(10, 2)) @ random.normal(size=(2, 4)) + 5
    A, b, C, c = polytope_halfspaces(points)
    assert C.shape == (2, 4)
    np.testing.assert_allclose(points @ C.T, np.tile(c, (10, 1)), atol=1e-9)
    assert (points @ A.T - b).max() < 1e-9
    bound = linprog(-A[0], A_ub=A, b_ub=b, A_eq=C, b_eq=c, bounds=(None, None))
    assert -bound.fun == pytest.approx(b[0])


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="finite"):
        extreme_rays([[np.nan, 1.0]])
    with pytest.raises(InputError, match="shape"):
        extreme_rays([1.0, 2.0])
