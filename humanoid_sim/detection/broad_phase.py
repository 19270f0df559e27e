# SPDX-License-Identifier: Apache-2.0
"""Which shapes are near each other: sweep and prune among those that move, a tree for those that don't."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import counted, uncounted
from humanoid_sim.detection.shape_table import AttachedShapes, JointMotion, PlacedShapes, ShapeTable


@apart(error_model="numpy")
def place_shapes(
    table: ShapeTable,
    first: int,
    stop: int,
    joints: JointMotion,
    shapes: AttachedShapes,
    margin: float,
    dt: float,
    placed: PlacedShapes,
) -> None:
    """Places of shapes in the world, how far they can move in two steps, and boxes around both.

    A shape whose place is not finite gets a box that nothing meets.

    Args:
        table: the shapes.
        first: first shape to place.
        stop: the one after the last.
        joints: where the joint frames are and how they move.
        shapes: how the shapes are attached to them.
        margin: half of it is added on each side of the boxes [m].
        dt: time step [s].
        placed: receives the places.
    """
    R, p, twists = joints.R, joints.p, joints.twists
    shape_rotation, shape_origin = shapes.rotation, shapes.origin
    rotations, origins, boxes = placed.rotations, placed.origins, placed.boxes
    centre = np.empty(3)
    for s in range(first, stop):
        j = shapes.joint[s]
        for r in range(3):
            for c in range(3):
                rotations[s, r, c] = (
                    R[j, r, 0] * shape_rotation[s, 0, c]
                    + R[j, r, 1] * shape_rotation[s, 1, c]
                    + R[j, r, 2] * shape_rotation[s, 2, c]
                )
            origins[s, r] = (
                p[j, r]
                + R[j, r, 0] * shape_origin[s, 0]
                + R[j, r, 1] * shape_origin[s, 1]
                + R[j, r, 2] * shape_origin[s, 2]
            )
        for r in range(3):
            centre[r] = (
                origins[s, r]
                + rotations[s, r, 0] * table.centre[s, 0]
                + rotations[s, r, 1] * table.centre[s, 1]
                + rotations[s, r, 2] * table.centre[s, 2]
            )
        speed = 0.0
        spin = 0.0
        for r in range(3):
            c1 = (r + 1) % 3
            c2 = (r + 2) % 3
            v = twists[j, r] + twists[j, 3 + c1] * centre[c2] - twists[j, 3 + c2] * centre[c1]
            speed += v * v
            spin += twists[j, 3 + r] ** 2
        half = table.half[s]
        radius = math.sqrt(half[0] ** 2 + half[1] ** 2 + half[2] ** 2)
        travel = 2.0 * dt * (math.sqrt(speed) + math.sqrt(spin) * radius)
        placed.travels[s] = travel
        for r in range(3):
            reach = travel + 0.5 * margin
            for c in range(3):
                reach += abs(rotations[s, r, c]) * half[c]
            boxes[s, r] = centre[r] - reach
            boxes[s, 3 + r] = centre[r] + reach
        for r in range(6):
            if not math.isfinite(boxes[s, r]):
                for c in range(3):
                    boxes[s, c] = np.inf
                    boxes[s, 3 + c] = -np.inf
                break


@uncounted()
def widest_axis(boxes: np.ndarray) -> int:
    """Return axis of the world along which the centres of the boxes, shape (n, 6), spread most."""
    best = 0
    widest = -1.0
    for r in range(3):
        total = 0.0
        square = 0.0
        count = 0
        for s in range(boxes.shape[0]):
            if boxes[s, r] <= boxes[s, 3 + r]:
                middle = 0.5 * (boxes[s, r] + boxes[s, 3 + r])
                total += middle
                square += middle * middle
                count += 1
        spread = square - total * total / count if count > 0 else 0.0
        if spread > widest:
            widest = spread
            best = r
    return best


@uncounted()
def sweep(boxes: np.ndarray, order: np.ndarray, axis: int, pairs: np.ndarray) -> int:
    """Return pairs of boxes that overlap, by sweep and prune along one axis.

    The order of the last step is nearly right in the next, so that sorting it again takes one pass.

    Args:
        boxes: lower and upper corners [m], shape (n, 6).
        order: the boxes by their lower ends, as known from before; sorted anew in place, shape (n,).
        axis: along which to sweep.
        pairs: receives the pairs as far as there is room, smaller number first, shape (k, 2).

    Returns:
        The number of pairs, which may be larger than k.
    """
    n = order.size
    for i in range(1, n):
        moved = order[i]
        low = boxes[moved, axis]
        j = i
        while j > 0 and boxes[order[j - 1], axis] > low:
            order[j] = order[j - 1]
            j -= 1
        order[j] = moved
    u = (axis + 1) % 3
    v = (axis + 2) % 3
    count = 0
    for i in range(n):
        a = order[i]
        high = boxes[a, 3 + axis]
        for j in range(i + 1, n):
            b = order[j]
            if boxes[b, axis] > high:
                break
            if (
                boxes[a, u] <= boxes[b, 3 + u]
                and boxes[b, u] <= boxes[a, 3 + u]
                and boxes[a, v] <= boxes[b, 3 + v]
                and boxes[b, v] <= boxes[a, 3 + v]
            ):
                if count < pairs.shape[0]:
                    pairs[count, 0] = min(a, b)
                    pairs[count, 1] = max(a, b)
                count += 1
    return count


@counted()
def tree_overlaps(
    box: np.ndarray, node_box: np.ndarray, node_child: np.ndarray, first: int, found: np.ndarray
) -> int:
    """Return items of a tree (:func:`~humanoid_sim.detection.solids.bounding_tree`) in leaves that meet a box.

    Args:
        box: lower and upper corner [m], shape (6,).
        node_box: boxes of the nodes of all trees, shape (nnodes, 6).
        node_child: their children, counted within the tree.
        first: root of the tree.
        found: receives places in the tree's order as far as there is room, shape (k,).

    Returns:
        The number of items, which may be larger than k.
    """
    stack = np.empty(128, dtype=np.int64)
    stack[0] = first
    waiting = 1
    count = 0
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        apart = False
        for r in range(3):
            if not (node_box[node, r] <= box[3 + r] and box[r] <= node_box[node, 3 + r]):
                apart = True
        if apart:
            continue
        if node_child[node, 0] >= 0:
            stack[waiting] = first + node_child[node, 1]
            stack[waiting + 1] = first + node_child[node, 0]
            waiting += 2
            continue
        start = -1 - node_child[node, 0]
        for i in range(start, start + node_child[node, 1]):
            if count < found.size:
                found[count] = i
            count += 1
    return count
