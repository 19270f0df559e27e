# SPDX-License-Identifier: Apache-2.0
"""Contact points of all pairs of shapes of a world, in one compiled call.

All arrays of the detection are one object for it: handing fifty over takes longer than the work.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_sim.detection.broad_phase import place_shapes, sweep, tree_overlaps, widest_axis
from humanoid_sim.detection.contact_points import ContactPoints, PairTable, PointTable
from humanoid_sim.detection.convex_pair import contact_patch, convex_distance
from humanoid_sim.detection.face_contact import MAX_POINTS, VERTICES
from humanoid_sim.detection.half_space import FeatureTable, PlaneTable, half_space_contacts
from humanoid_sim.detection.shape_table import (
    AttachedShapes,
    JointMotion,
    Nearest,
    PatchPoints,
    PlacedShapes,
    Pose,
    ShapeTable,
    shape_table,
)
from humanoid_sim.world.borrowed_arrays import BorrowedRecord, BorrowedType, smallest

PATCH, DISTANCE = 0, 1
"""Places in ``CONTACT_METHODS`` of the methods that are compiled; the others are left to the caller."""
BLOCK = 16
"""A pair of convex shapes has so many slots, twice as many as points, so that most of them keep theirs."""

_HASH = 0x9E3779B97F4A7C1
MORE_PAIRS, MORE_POINTS, MORE_SLOTS = -1, -2, -3
"""What :func:`world_contacts` lacked room for."""


class WorldShapes(NamedTuple):
    """Shapes of a world, those that move first.

    Attributes:
        moving: number of shapes on joints that move, shape ().
        joint: joint that moves each shape, shape (n,).
        body: body of each shape, shape (n,).
        rotation: from the shape's frame to the joint frame, shape (n, 3, 3).
        origin: of the shape's frame in the joint frame [m], shape (n, 3).
        node_box: tree of the shapes that don't move, see :func:`~humanoid_sim.detection.solids.bounding_tree`.
        node_child: same.
        leaf: shape at each place of the tree's order.
        owner: robot or body that each body is of, shape (nbodies,).
        body_class: class of each body, shape (nbodies,).
        method: of two classes, negative where they don't touch, shape (k, k).
        friction: of two classes, shape (k, k).
        restitution: of two classes, shape (k, k).
        link: number of each body among the links of its robot, shape (nbodies,).
        links: number of links of each owner that may touch itself, 0 for others, shape (nowners,).
        link_start: where the owner's square begins in ``link_pairs``, shape (nowners,).
        link_pairs: whether two links of a robot may touch, squares one after the other.
    """

    moving: int
    joint: NDArray[np.int64]
    body: NDArray[np.int64]
    rotation: NDArray[np.float64]
    origin: NDArray[np.float64]
    node_box: NDArray[np.float64]
    node_child: NDArray[np.int64]
    leaf: NDArray[np.int64]
    owner: NDArray[np.int64]
    body_class: NDArray[np.int64]
    method: NDArray[np.int64]
    friction: NDArray[np.float64]
    restitution: NDArray[np.float64]
    link: NDArray[np.int64]
    links: NDArray[np.int64]
    link_start: NDArray[np.int64]
    link_pairs: NDArray[np.bool_]


class DetectionRoom(NamedTuple):
    """Work space of :func:`world_contacts`, and what it keeps from step to step.

    Attributes:
        rotations: rotations of the shapes in the world, shape (n, 3, 3).
        origins: their origins [m], shape (n, 3).
        travels: how far they can move in two steps [m], shape (n,).
        boxes: boxes around them [m], shape (n, 6).
        order: order along the sweep, shape (moving,).
        candidates: pairs, shape (k, 2).
        found: shapes, shape (n - moving,).
        near: pairs, shape (l,).
        special: pairs of other methods, shape (l,).
        block_keys: table of the pairs that have slots, shape (a power of 2,).
        blocks: their first blocks, shape like ``block_keys``.
        used: number of blocks given away and of pairs that have some, shape (2,).
        numbers: number of blocks, slot where they begin, and whether there can be pairs at all, shape (3,).
    """

    rotations: NDArray[np.float64]
    origins: NDArray[np.float64]
    travels: NDArray[np.float64]
    boxes: NDArray[np.float64]
    order: NDArray[np.int64]
    candidates: NDArray[np.int64]
    found: NDArray[np.int64]
    near: NDArray[np.int64]
    special: NDArray[np.int64]
    block_keys: NDArray[np.int64]
    blocks: NDArray[np.int64]
    used: NDArray[np.int64]
    numbers: NDArray[np.int64]


@uncounted()
def pair_method(shapes: WorldShapes, i: int, j: int) -> int:
    """Return the method of a pair of shapes, negative where they may not touch."""
    a = shapes.body[i]
    b = shapes.body[j]
    if a == b or shapes.joint[i] == shapes.joint[j]:
        return -1
    owner = shapes.owner[a]
    if owner == shapes.owner[b]:
        size = shapes.links[owner]
        if size == 0 or not shapes.link_pairs[shapes.link_start[owner] + shapes.link[a] * size + shapes.link[b]]:
            return -1
    return int(shapes.method[shapes.body_class[a], shapes.body_class[b]])


@apart(error_model="numpy")
def near_shapes(
    shapes: WorldShapes,
    boxes: np.ndarray,
    order: np.ndarray,
    candidates: np.ndarray,
    found: np.ndarray,
    near: np.ndarray,
) -> int:
    """Return pairs of shapes that may touch and whose boxes overlap, sorted.

    Args:
        shapes: the shapes.
        boxes: their boxes, see :func:`~humanoid_sim.detection.broad_phase.place_shapes`, shape (n, 6).
        order: order of those that move, kept from step to step, shape (moving,).
        candidates: room for pairs of them, shape (k, 2).
        found: room for shapes that stand still, shape (n - moving,).
        near: receives first * n + second of each pair, shape (l,).

    Returns:
        The number of pairs, or ``MORE_PAIRS``.
    """
    n = shapes.joint.size
    count = 0
    size = sweep(boxes, order, widest_axis(boxes[: shapes.moving]), candidates)
    if size > candidates.shape[0]:
        return MORE_PAIRS
    for k in range(size):
        i = candidates[k, 0]
        j = candidates[k, 1]
        if pair_method(shapes, i, j) >= 0:
            if count == near.size:
                return MORE_PAIRS
            near[count] = i * n + j
            count += 1
    if shapes.node_child.shape[0] > 0:
        for i in range(shapes.moving):
            if not boxes[i, 0] <= boxes[i, 3]:
                continue
            size = tree_overlaps(boxes[i], shapes.node_box, shapes.node_child, 0, found)
            for k in range(size):
                j = shapes.leaf[found[k]]
                apart = False
                for r in range(3):
                    if boxes[i, r] > boxes[j, 3 + r] or boxes[j, r] > boxes[i, 3 + r]:
                        apart = True
                if not apart and pair_method(shapes, i, j) >= 0:
                    if count == near.size:
                        return MORE_PAIRS
                    near[count] = i * n + j
                    count += 1
    near[:count].sort()
    return count


@uncounted()
def slot_block(key: int, width: int, keys: np.ndarray, blocks: np.ndarray, used: np.ndarray, most: int) -> int:
    """First block of a pair, given at its first contact and never taken back; -1 where none is left."""
    mask = keys.size - 1
    place = ((key * _HASH) >> 17) & mask
    while keys[place] != key:
        if keys[place] < 0:
            if used[0] + width > most or 2 * used[1] >= keys.size:
                return -1
            keys[place] = key
            blocks[place] = used[0]
            used[0] += width
            used[1] += 1
            break
        place = (place + 1) & mask
    return int(blocks[place])


@uncounted()
def keep_blocks(old_keys: np.ndarray, old_blocks: np.ndarray, keys: np.ndarray, blocks: np.ndarray) -> None:
    """Copy the pairs that have blocks to a larger table."""
    mask = keys.size - 1
    for k in range(old_keys.size):
        if old_keys[k] >= 0:
            place = ((old_keys[k] * _HASH) >> 17) & mask
            while keys[place] >= 0:
                place = (place + 1) & mask
            keys[place] = old_keys[k]
            blocks[place] = old_blocks[k]


@apart(error_model="numpy")
def spread_slots(features: np.ndarray, count: int, room: int, slots: np.ndarray) -> None:
    """Give each feature a place of its own among ``room``, the same whatever order they come in.

    Args:
        features: of the points, shape (count,) or more.
        count: number of points, at most ``room``.
        room: a power of two.
        slots: receives the places, shape (count,) or more.
    """
    taken = np.zeros(room, dtype=np.bool_)
    order = np.argsort(features[:count])
    for k in range(count):
        i = order[k]
        place = ((features[i] * _HASH) >> 23) & (room - 1)
        while taken[place]:
            place = (place + 1) & (room - 1)
        taken[place] = True
        slots[i] = place


@apart(error_model="numpy")
def world_contacts(
    table: ShapeTable,
    shapes: WorldShapes,
    joints: JointMotion,
    margin: float,
    dt: float,
    room: DetectionRoom,
    points: PointTable,
    start: int,
) -> tuple[int, int]:
    """Contact points of all pairs of convex shapes whose method is compiled.

    Args:
        table: the shapes.
        shapes: where they are and what may touch.
        joints: where the joint frames are and how they move.
        margin: points up to this far apart are kept [m], and those that could arrive in two steps.
        dt: time step [s].
        room: places of the shapes, of which those that move are overwritten; work space; slots of pairs; receives in
            ``special`` the pairs with a mesh or of other methods, first * n + second.
        points: receives the contact points.
        start: number of contact points written already.

    Returns:
        The number of contact points, or what there was no room for; and the number of pairs left over.
    """
    n = shapes.joint.size
    rotations, origins, travels, near = room.rotations, room.origins, room.travels, room.near
    max_blocks, first_slot = room.numbers[0], room.numbers[1]
    positions, normals, gaps = points.positions, points.normals, points.gaps
    friction, restitution, slots, corner = points.friction, points.restitution, points.slots, points.corner
    joint_a, joint_b, body_a, body_b = points.joint_a, points.joint_b, points.body_a, points.body_b
    place_shapes(
        table, 0, shapes.moving, joints, AttachedShapes(shapes.joint, shapes.rotation, shapes.origin), margin, dt,
        PlacedShapes(rotations, origins, travels, room.boxes),
    )  # fmt: skip
    pairs = near_shapes(shapes, room.boxes, room.order, room.candidates, room.found, near)
    if pairs < 0:
        return MORE_PAIRS, 0
    normal = np.empty(3)
    on_a = np.empty(3)
    on_b = np.empty(3)
    nearest = Nearest(normal, on_a, on_b)
    patch = PatchPoints(np.empty((MAX_POINTS, 3)), np.empty(MAX_POINTS), np.empty(MAX_POINTS, dtype=np.int64))
    features = patch.features
    places = np.empty(MAX_POINTS, dtype=np.int64)
    count = start
    specials = 0
    for k in range(pairs):
        i = near[k] // n
        j = near[k] % n
        method = pair_method(shapes, i, j)
        if method > DISTANCE or table.mesh[i] >= 0 or table.mesh[j] >= 0:
            room.special[specials] = near[k]
            specials += 1
            continue
        reach = margin + travels[i] + travels[j]
        pose_i, pose_j = Pose(rotations[i], origins[i]), Pose(rotations[j], origins[j])
        distance = convex_distance(table, i, j, pose_i, pose_j, reach, nearest)
        if distance == np.inf:
            continue
        if method == DISTANCE:
            size = 1
            patch.gaps[0] = distance
            features[0] = 4 * VERTICES * VERTICES
            for r in range(3):
                patch.positions[0, r] = 0.5 * (on_a[r] + on_b[r])
        else:
            size = contact_patch(table, i, j, pose_i, pose_j, distance, reach, nearest, patch)
        if count + size > gaps.size:
            return MORE_POINTS, 0
        block = slot_block(near[k], 1, room.block_keys, room.blocks, room.used, max_blocks)
        if block < 0:
            return MORE_SLOTS, 0
        spread_slots(features, size, BLOCK, places)
        a = shapes.body[i]
        b = shapes.body[j]
        mu = shapes.friction[shapes.body_class[a], shapes.body_class[b]]
        e = shapes.restitution[shapes.body_class[a], shapes.body_class[b]]
        for c in range(size):
            for r in range(3):
                positions[count, r] = patch.positions[c, r]
                normals[count, r] = normal[r]
            gaps[count] = patch.gaps[c]
            friction[count] = mu
            restitution[count] = e
            joint_a[count] = shapes.joint[i]
            joint_b[count] = shapes.joint[j]
            body_a[count] = a
            body_b[count] = b
            corner[count] = features[c] < 2 * VERTICES
            slots[count] = first_slot + BLOCK * block + places[c]
            count += 1
    return count, specials


class DetectionRecord(BorrowedRecord):
    """The arrays, as a compiled function takes them; made by :func:`detection_record`."""

    features: FeatureTable
    planes: PlaneTable
    pairs: PairTable
    points: PointTable
    table: ShapeTable
    shapes: WorldShapes
    room: DetectionRoom


RECORD_TYPE = BorrowedType(
    "DetectionRecord",
    {
        "features": smallest(FeatureTable, centre=2, axis=2, ellipsoid=3, group_centre=2, group_half=2),
        "planes": smallest(PlaneTable, normal=2, point=2),
        "pairs": smallest(PairTable, method=2, friction=2, restitution=2),
        "points": PointTable.of_points(ContactPoints(1)),
        "table": shape_table([]),
        "shapes": smallest(
            WorldShapes, rotation=3, origin=2, node_box=2, node_child=2, method=2, friction=2, restitution=2
        ),
        "room": smallest(DetectionRoom, rotations=3, origins=2, boxes=2, candidates=2),
    },
)


def detection_record(
    features: FeatureTable, planes: PlaneTable, pairs: PairTable, points: PointTable, table: ShapeTable,
    shapes: WorldShapes, room: DetectionRoom,
) -> DetectionRecord:  # fmt: skip
    """Put the arrays together; they are shared, not copied, and whoever calls must keep them."""
    records = {
        "features": features, "planes": planes, "pairs": pairs, "points": points, "table": table, "shapes": shapes,
        "room": room,
    }  # fmt: skip
    return DetectionRecord(RECORD_TYPE, records)


@uncounted()
def recorded_contacts(
    record: DetectionRecord, R: np.ndarray, p: np.ndarray, twists: np.ndarray, margin: float, dt: float
) -> tuple[int, int]:
    """Contact points of all half-spaces and of all pairs whose method is compiled.

    Args:
        record: the arrays; the contact points are written.
        R: rotations of the joint frames, shape (njoints, 3, 3).
        p: origins of the joint frames in the world [m], shape (njoints, 3).
        twists: world twists of the joints at the world origin, linear part first, shape (njoints, 6).
        margin: points up to this far apart are kept [m], and those that could arrive in two steps.
        dt: time step [s].

    Returns:
        The number of contact points, or what there was no room for (``MORE_PAIRS``, ``MORE_POINTS``, ``MORE_SLOTS``);
        and the number of pairs left over in ``room.special``.
    """
    joints = JointMotion(R, p, twists)
    count = half_space_contacts(record.features, record.planes, record.pairs, joints, margin, dt, record.points)
    if count < 0:
        return MORE_POINTS, 0
    if record.room.numbers[2] == 0:
        return count, 0
    return world_contacts(record.table, record.shapes, joints, margin, dt, record.room, record.points, count)
