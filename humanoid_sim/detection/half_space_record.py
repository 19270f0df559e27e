# SPDX-License-Identifier: Apache-2.0
"""All arrays of the contacts with half-spaces as one object: handing thirty over takes longer than the work."""

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


@structref.register
class HalfSpaceRecordType(types.StructRef):
    """Numba's type of :class:`HalfSpaceRecord`."""

    def preprocess_fields(self, fields: Any) -> Any:
        """Field types without literal values, as numba asks for."""
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


class HalfSpaceRecord(structref.StructRefProxy):
    """The arrays, as a compiled function takes them; made by :func:`half_space_record`."""

    features: FeatureTable
    planes: PlaneTable
    pairs: PairTable
    points: PointTable


structref.define_boxing(HalfSpaceRecordType, HalfSpaceRecord)


def _field_types() -> list[tuple[str, types.Type]]:
    """Names and compiled types of the fields, read off the smallest arrays of each kind."""
    integers, floats, matrix = np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros((1, 1))
    square = np.zeros((1, 1), dtype=np.int64)
    examples = {
        "features": FeatureTable(integers, integers, matrix, floats, matrix, integers, integers, matrix, floats),
        "planes": PlaneTable(integers, integers, matrix, matrix),
        "pairs": PairTable(integers, integers, square, matrix, matrix),
        "points": PointTable.of_points(ContactPoints(1)),
    }
    return [(name, numba.typeof(example)) for name, example in examples.items()]


_RECORD_TYPE = HalfSpaceRecordType(_field_types())


@njit(cache=True)
def half_space_record(features: FeatureTable, planes: PlaneTable, pairs: PairTable, points: PointTable) -> Any:
    """Put the arrays together; they are shared, not copied."""
    record: Any = structref.new(_RECORD_TYPE)  # type: ignore[call-arg]
    record.features = features
    record.planes = planes
    record.pairs = pairs
    record.points = points
    return record


@njit(cache=True)
def recorded_half_space_contacts(
    record: HalfSpaceRecord, R: np.ndarray, p: np.ndarray, twists: np.ndarray, margin: float, dt: float
) -> int:
    """:func:`~humanoid_sim.detection.half_space.half_space_contacts` of a record."""
    pairs, points = record.pairs, record.points
    return half_space_contacts(
        record.features, record.planes, pairs.owner, pairs.body, pairs.method, pairs.friction, pairs.restitution, R, p,
        twists, margin, dt, points.positions, points.normals, points.gaps, points.friction, points.restitution,
        points.joint_a, points.joint_b, points.body_a, points.body_b, points.slots, points.corner,
    )  # fmt: skip
