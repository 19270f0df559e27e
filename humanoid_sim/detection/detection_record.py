# SPDX-License-Identifier: Apache-2.0
"""All arrays of the compiled detection as one object: handing fifty over takes longer than the work."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numba import njit, types
from numba.experimental import structref
from numpy.typing import NDArray

from humanoid_sim.detection.contact_points import ContactPoints
from humanoid_sim.detection.half_space import FeatureTable, PlaneTable, half_space_contacts
from humanoid_sim.detection.pair_classes import PairClasses
from humanoid_sim.detection.shape_table import ShapeTable, shape_table
from humanoid_sim.detection.world_contacts import MORE_POINTS, WorldShapes, world_contacts
from humanoid_sim.world.borrowed_arrays import borrowed_words, record_of_words


class PairTable(NamedTuple):
    """What may touch and how: arrays of :class:`PairClasses`, and the owner of each body."""

    owner: NDArray[np.int64]
    body: NDArray[np.int64]
    method: NDArray[np.int64]
    friction: NDArray[np.float64]
    restitution: NDArray[np.float64]

    @classmethod
    def of_classes(cls, owner: NDArray[np.int64], classes: PairClasses) -> PairTable:
        """The arrays of ``classes`` beside the owners."""
        return cls(owner, classes.body, classes.method, classes.friction, classes.restitution)


class PointTable(NamedTuple):
    """Arrays of :class:`ContactPoints`, by the same names."""

    positions: NDArray[np.float64]
    normals: NDArray[np.float64]
    gaps: NDArray[np.float64]
    friction: NDArray[np.float64]
    restitution: NDArray[np.float64]
    joint_a: NDArray[np.int64]
    joint_b: NDArray[np.int64]
    body_a: NDArray[np.int64]
    body_b: NDArray[np.int64]
    slots: NDArray[np.int64]
    corner: NDArray[np.bool_]

    @classmethod
    def of_points(cls, points: ContactPoints) -> PointTable:
        """The arrays of contact points, shared."""
        return cls(
            points.positions, points.normals, points.gaps, points.friction, points.restitution, points.joint_a,
            points.joint_b, points.body_a, points.body_b, points.slots, points.corner,
        )  # fmt: skip


class DetectionRoom(NamedTuple):
    """Work space of :func:`~humanoid_sim.detection.world_contacts.world_contacts`, by its names.

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


@structref.register
class DetectionRecordType(types.StructRef):
    """Numba's type of :class:`DetectionRecord`."""

    def preprocess_fields(self, fields: Any) -> Any:
        """Field types without literal values, as numba asks for."""
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


class DetectionRecord(structref.StructRefProxy):
    """The arrays, as a compiled function takes them; made by :func:`detection_record`."""

    features: FeatureTable
    planes: PlaneTable
    pairs: PairTable
    points: PointTable
    table: ShapeTable
    shapes: WorldShapes
    room: DetectionRoom


structref.define_boxing(DetectionRecordType, DetectionRecord)


def _field_types() -> list[tuple[str, types.Type]]:
    """Names and compiled types of the fields, read off the smallest arrays of each kind."""
    integers, floats, matrix = np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros((1, 1))
    square, cube = np.zeros((1, 1), dtype=np.int64), np.zeros((1, 1, 1))
    flags = np.zeros(1, dtype=np.bool_)
    shapes: list[Any] = [1, integers, integers, cube, matrix, matrix, square, integers, integers, integers, square]
    shapes += [matrix, matrix, integers, integers, integers, flags]
    room: list[Any] = [cube, matrix, floats, matrix, integers, square] + [integers] * 7
    examples = {
        "features": FeatureTable(integers, integers, matrix, floats, matrix, integers, integers, matrix, floats),
        "planes": PlaneTable(integers, integers, matrix, matrix),
        "pairs": PairTable(integers, integers, square, matrix, matrix),
        "points": PointTable.of_points(ContactPoints(1)),
        "table": shape_table([]),
        "shapes": WorldShapes(*shapes),
        "room": DetectionRoom(*room),
    }
    return [(name, numba.typeof(example)) for name, example in examples.items()]


RECORD_TYPE = DetectionRecordType(_field_types())


@njit(cache=True)
def _record_of_words(words: np.ndarray) -> Any:
    return record_of_words(RECORD_TYPE, words)  # type: ignore[call-arg]


def detection_record(
    features: FeatureTable, planes: PlaneTable, pairs: PairTable, points: PointTable, table: ShapeTable,
    shapes: WorldShapes, room: DetectionRoom,
) -> Any:  # fmt: skip
    """Put the arrays together; they are shared, not copied, and whoever calls must keep them."""
    return _record_of_words(
        borrowed_words(RECORD_TYPE, (features, planes, pairs, points, table, shapes, room))
    )


@njit(cache=True)
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
    pairs, points, room = record.pairs, record.points, record.room
    count = half_space_contacts(
        record.features, record.planes, pairs.owner, pairs.body, pairs.method, pairs.friction, pairs.restitution, R, p,
        twists, margin, dt, points.positions, points.normals, points.gaps, points.friction, points.restitution,
        points.joint_a, points.joint_b, points.body_a, points.body_b, points.slots, points.corner,
    )  # fmt: skip
    if count < 0:
        return MORE_POINTS, 0
    if room.numbers[2] == 0:
        return count, 0
    return world_contacts(
        record.table, record.shapes, R, p, twists, margin, dt, room.rotations, room.origins, room.travels, room.boxes,
        room.order, room.candidates, room.found, room.near, room.special, room.block_keys, room.blocks, room.used,
        room.numbers[0], room.numbers[1], points.positions, points.normals, points.gaps, points.friction,
        points.restitution, points.joint_a, points.joint_b, points.body_a, points.body_b, points.slots, points.corner,
        count,
    )  # fmt: skip
