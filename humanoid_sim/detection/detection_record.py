# SPDX-License-Identifier: Apache-2.0
"""All arrays of the compiled detection as one object: handing fifty over takes longer than the work."""

from __future__ import annotations

import numpy as np

from humanoid_model.compiling import uncounted
from humanoid_sim.detection.contact_points import ContactPoints, PointTable
from humanoid_sim.detection.half_space import FeatureTable, PlaneTable, half_space_contacts
from humanoid_sim.detection.pair_classes import PairTable
from humanoid_sim.detection.placed_shapes import JointMotion
from humanoid_sim.detection.shape_table import ShapeTable, shape_table
from humanoid_sim.detection.world_contacts import MORE_POINTS, DetectionRoom, WorldShapes, world_contacts
from humanoid_sim.world.borrowed_arrays import BorrowedRecord, BorrowedType
from humanoid_sim.world.smallest_record import smallest


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
