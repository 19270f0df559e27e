# SPDX-License-Identifier: Apache-2.0
"""Near pairs against all pairs tried one by one."""

import numpy as np

from humanoid_sim.detection.broad_phase import sweep, tree_overlaps, widest_axis
from humanoid_sim.detection.solids import bounding_tree


def random_boxes(rng: np.random.Generator, n: int) -> np.ndarray:
    lower = rng.uniform(-2, 2, (n, 3))
    return np.hstack([lower, lower + rng.uniform(0.05, 1.0, (n, 3))])


def overlap(a: np.ndarray, b: np.ndarray) -> bool:
    return bool((a[:3] <= b[3:]).all() and (b[:3] <= a[3:]).all())


def test_sweep_finds_the_same_pairs_as_brute_force_as_boxes_move() -> None:
    rng = np.random.default_rng(0)
    boxes = random_boxes(rng, 60)
    order = np.arange(60)
    room = np.zeros((60 * 60, 2), dtype=np.int64)
    for _ in range(20):
        step = rng.normal(scale=0.1, size=(60, 3))
        boxes += np.hstack([step, step])
        expected = {(i, j) for i in range(60) for j in range(i + 1, 60) if overlap(boxes[i], boxes[j])}
        for axis in range(3):
            count = sweep(boxes, order, axis, room)
            assert {(int(i), int(j)) for i, j in room[:count]} == expected
            assert len(expected) == count > 0


def test_box_that_is_nowhere_meets_nothing_and_hides_nothing() -> None:
    boxes = random_boxes(np.random.default_rng(1), 30)
    boxes[7] = [np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf]
    room = np.zeros((900, 2), dtype=np.int64)
    count = sweep(boxes, np.arange(30), widest_axis(boxes), room)
    expected = {(i, j) for i in range(30) for j in range(i + 1, 30) if overlap(boxes[i], boxes[j])}
    assert {(int(i), int(j)) for i, j in room[:count]} == expected
    assert 7 not in room[:count]


def test_sweep_says_how_much_room_it_lacks() -> None:
    boxes = np.tile([0.0, 0, 0, 1, 1, 1], (10, 1))
    assert sweep(boxes, np.arange(10), 0, np.zeros((3, 2), dtype=np.int64)) == 45


def test_sweep_goes_along_the_axis_of_widest_spread() -> None:
    boxes = np.zeros((10, 6))
    boxes[:, 1] = boxes[:, 4] = np.arange(10)
    assert widest_axis(boxes) == 1


def test_tree_finds_every_item_that_meets_a_box() -> None:
    rng = np.random.default_rng(2)
    boxes = random_boxes(rng, 200)
    order, node_box, node_child = bounding_tree(boxes[:, :3], boxes[:, 3:])
    assert sorted(order) == list(range(200))
    found = np.zeros(200, dtype=np.int64)
    for probe in random_boxes(rng, 50):
        count = tree_overlaps(probe, node_box, node_child, 0, found)
        reported = set(order[found[:count]].tolist())
        expected = {i for i in range(200) if overlap(boxes[i], probe)}
        assert expected <= reported
        assert len(reported) < 200
