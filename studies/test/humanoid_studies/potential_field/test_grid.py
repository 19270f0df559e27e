# SPDX-License-Identifier: Apache-2.0
import heapq
import itertools
import math

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_planner.contacts.best_first import End
from humanoid_studies.potential_field.grid import (
    ball_neighbours,
    cone_neighbours,
    m_neighbours,
    plan_on_grid,
    variable_neighbours,
)

START, GOAL = (0, 4), (12, 4)


def hill(p):
    away = np.linalg.norm(p[:2] - GOAL) + 6 * math.exp(-((p[0] - 7) ** 2 / 2 + (p[1] - 4) ** 2 / 8))
    return away + 10 * np.abs(p[2:]).sum()


@pytest.mark.feature("001-F150", "001-F184")
@pytest.mark.parametrize(
    ("method", "dimension", "counts"),
    [("bfp", 2, (23, 38)), ("bfp", 3, (23, 84)), ("bfp", 4, (23, 130))]
    + [("vbfp", dimension, (23, 22)) for dimension in (2, 3, 4)],
)
def test_trees_have_the_nodes_of_the_reference_instance(method, dimension, counts):
    rest = (0,) * (dimension - 2)
    plan = plan_on_grid(START + rest, GOAL + rest, hill, method=method, max_nodes=400)
    assert plan.success
    assert (plan.internal, plan.leaves, len(plan.points)) == (*counts, 21)
    flat = plan_on_grid(START, GOAL, hill, max_nodes=400)
    assert (plan.points[:, :2] == flat.points).all()
    assert not plan.points[:, 2:].any()


def plain_best_first(start, goal, potential):
    """Alg. 1 as it is printed, on one coordinate steps; expanded cells in their order."""
    waiting, known, order = [(potential(np.array(start, float)), start)], {start}, []
    while True:
        _, cell = heapq.heappop(waiting)
        order.append(cell)
        for axis, step in itertools.product(range(len(cell)), (-1, 1)):
            other = tuple(k + step * (axis == i) for i, k in enumerate(cell))
            if other not in known:
                known.add(other)
                heapq.heappush(waiting, (potential(np.array(other, float)), other))
                if other == goal:
                    return order, known


@pytest.mark.feature("001-F150")
@pytest.mark.parametrize("seed", range(6))
def test_any_potential_leads_through_as_many_cells_as_the_printed_algorithm(seed):
    rng = np.random.default_rng(seed)
    centres, heights = rng.uniform(-2, 10, size=(4, 2)), rng.uniform(1, 5, size=4)

    def potential(p):
        return np.linalg.norm(p - [8, 3]) + heights @ np.exp(-((centres - p) ** 2).sum(axis=1) / 2)

    plan = plan_on_grid((0, 0), (8, 3), potential, max_nodes=2000)
    order, _ = plain_best_first((0, 0), (8, 3), potential)
    assert plan.internal == len(order)
    assert {tuple(p) for p in plan.points[:-1].astype(int)} <= set(order)
    assert (np.abs(np.diff(plan.points, axis=0)).sum(axis=1) == 1).all()


@pytest.mark.feature("001-F154")
def test_a_minimum_beside_the_goal_is_filled():
    def wells(p):
        return np.linalg.norm(p - [10, 0]) - 8 * math.exp(-(np.linalg.norm(p - [4, 0]) ** 2) / 4)

    assert wells(np.array([4.0, 0])) < wells(np.array([10.0, 0]))
    plan = plan_on_grid((0, 0), (10, 0), wells)
    assert plan.success
    assert len(plan.points) == 11


@pytest.mark.feature("001-F155")
def test_a_threshold_ends_a_hopeless_search():
    walled = {"free_path": lambda p, q: max(abs(q)) < 20 and q[0] != 5}
    whole = plan_on_grid((0, 0), (9, 0), lambda p: float(np.linalg.norm(p - [9, 0])), **walled)
    cut = plan_on_grid((0, 0), (9, 0), lambda p: float(np.linalg.norm(p - [9, 0])), threshold=15.0, **walled)
    assert whole.end is cut.end is End.EMPTY
    assert cut.internal < 0.5 * whole.internal


@pytest.mark.feature("001-F156")
def test_a_thin_wall_between_cells_is_gone_around():
    def free(p, q):
        return not (min(p[0], q[0]) < 2.5 < max(p[0], q[0]) and abs(p[1]) < 3)

    plan = plan_on_grid((0, 0), (5, 0), lambda p: float(np.linalg.norm(p - [5, 0])), free_path=free)
    assert plan.success
    assert np.abs(plan.points[:, 1]).max() == 3
    assert len(plan_on_grid((0, 0), (5, 0), lambda p: float(np.linalg.norm(p - [5, 0]))).points) == 6


@pytest.mark.feature("001-F157")
@pytest.mark.parametrize("method", ["bfp", "vbfp"])
@pytest.mark.parametrize(
    "goal", [lambda p: np.linalg.norm(p - [6, 2]) <= 1.5, lambda p: p[0] + p[1] >= 7, lambda p: hill(p) <= 8.0]
)
def test_a_region_a_half_space_or_a_level_will_do_as_goal(method, goal):
    plan = plan_on_grid((0, 0), goal, hill, method=method, max_nodes=400)
    assert goal(plan.points[-1])
    assert not any(goal(p) for p in plan.points[:-1])


@pytest.mark.feature("001-F158")
def test_steps_scale_the_grid():
    plan = plan_on_grid((0, 0), lambda p: p[0] >= 1.0, lambda p: -p[0], origin=[0.5, 3.0], steps=[0.1, 1.0])
    assert plan.points[:, 0] == pytest.approx(0.5 + 0.1 * np.arange(6))
    assert (plan.points[:, 1] == 3.0).all()


@pytest.mark.feature("001-F158")
def test_numbers_of_neighbours():
    assert len(list(m_neighbours(3)((0, 0, 0)))) == 6
    assert len(list(m_neighbours(3, 2)((0, 0, 0)))) == 6 + 12
    assert len(list(m_neighbours(3, 3)((0, 0, 0)))) == 26
    assert len(list(ball_neighbours(2, 2)((5, 5)))) == 12
    ahead = set(cone_neighbours(m_neighbours(2, 2), (9, 0), math.radians(50))((0, 0)))
    assert ahead == {(1, 0), (1, 1), (1, -1)}


def slit(p, q):
    """Whether the way between two points misses a wall at x = 20.5 with a slit at y = 3."""
    return (p[0] - 20.5) * (q[0] - 20.5) > 0 or (p[1] == 3 and q[1] == 3)


@pytest.mark.feature("001-F158")
def test_a_grid_that_is_fine_at_the_slit_alone_passes_it_with_fewer_cells():
    """Strides of 4 alone can't pass; single steps everywhere take half as many cells again."""

    def stride(cell):
        return 1 if abs(cell[0] - 20) <= 4 or cell[0] >= 38 else 4

    def plan(neighbours):
        return plan_on_grid((0, 8), (40, 8), lambda p: float(np.abs(p - [40, 8]).sum()), neighbours=neighbours,
                            free_path=slit, max_nodes=5000)  # fmt: skip

    fine, variable = m_neighbours(2), variable_neighbours(m_neighbours(2), stride)
    found = plan(variable)
    assert found.success
    moves = np.abs(np.diff(found.points, axis=0))
    coarse = np.array([stride(tuple(int(k) for k in point)) for point in found.points]) == 4
    assert (found.points[coarse] % 4 == 0).all()
    assert moves[coarse[:-1] & coarse[1:]].max() == 4
    assert moves[~coarse[:-1] & ~coarse[1:]].max() == 1
    assert found.internal < 0.7 * plan(fine).internal
    assert not plan_on_grid(
        (0, 8), (40, 8), lambda p: float(np.abs(p - [40, 8]).sum()), free_path=slit, max_nodes=500,
        neighbours=variable_neighbours(fine, lambda _: 4),
    ).success  # fmt: skip
    with pytest.raises(InputError, match="stride: is 0"):
        plan(variable_neighbours(fine, lambda _: 0))


@pytest.mark.feature("001-F158")
def test_diagonal_steps_shorten_the_path():
    plan = plan_on_grid((0, 0), (5, 5), lambda p: float(np.linalg.norm(p - 5)), neighbours=m_neighbours(2, 2))
    assert len(plan.points) == 6


def test_bad_input_is_named():
    with pytest.raises(InputError, match="steps"):
        plan_on_grid((0, 0), (1, 1), hill, steps=0.0)
    with pytest.raises(InputError, match="method: is 'dfs'"):
        plan_on_grid((0, 0), (1, 1), hill, method="dfs")
    with pytest.raises(InputError, match="potential"):
        plan_on_grid((0, 0), (1, 1), lambda p: math.nan)
    with pytest.raises(InputError, match="time_limit: is NaN"):
        plan_on_grid((0, 0), (1, 1), hill, time_limit=math.nan)
    with pytest.raises(InputError, match="m: is 3"):
        m_neighbours(2, 3)
