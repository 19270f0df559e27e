# SPDX-License-Identifier: Apache-2.0
"""Contacts as geometric constraints (specification 001 section 4.6)."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.contact import ContactKind
from humanoid_model.errors import InputError
from humanoid_planner.posture.geometric_rows import ANGLE, DOT, POINT
from humanoid_planner.posture.geometric_task import GeometricTask, Row
from humanoid_planner.posture.placed_contact import PlacedContact


class ContactTask(GeometricTask):
    """The geometry of one contact.

    * FIXED: a face of three points or more gives the eight constraints (3.28)-(3.35). An edge may turn about itself and
      a point about all axes, as long as the normals don't turn away from each other.
    * SLIDING: (3.36)-(3.39), with every vertex of the patch above the surface's polygon (6.5).
    * RELAXED: position and heading as FIXED, the normals within a tolerance of each other.
    * PRE_CONTACT: (3.40)-(3.43), not below the surface, and its origin above the polygon.
    * RELEASED: as FIXED.

    Attributes:
        placed: the contact.
    """

    def __init__(self, placed: PlacedContact) -> None:
        self.placed = placed
        kind = placed.contact.kind
        if kind == ContactKind.SLIDING and placed.ground != 0:
            raise InputError(
                "slides on a link of the robot itself",
                element=placed.label,
                remedy="Hold it fixed there, or use a pre-contact, which bears no force",
            )
        rows = {
            ContactKind.FIXED: _fixed_rows,
            ContactKind.RELEASED: _fixed_rows,
            ContactKind.RELAXED: _relaxed_rows,
            ContactKind.SLIDING: _sliding_rows,
            ContactKind.PRE_CONTACT: _pre_contact_rows,
        }[kind](placed)
        super().__init__(placed.label, rows)


def _point_row(
    placed: PlacedContact, label: str, w: NDArray[np.float64], Q: NDArray[np.float64], lower: float, upper: float,
    P: NDArray[np.float64] | None = None,
) -> Row:  # fmt: skip
    local = placed.placement_body_patch.translation if P is None else P
    return Row(POINT, label, lower, upper, a=placed.body, b=placed.ground, P=local, Q=Q, w=w)


def _dot_row(
    placed: PlacedContact, label: str, u: NDArray[np.float64], w: NDArray[np.float64], lower: float, upper: float
) -> Row:
    return Row(DOT, label, lower, upper, unit="", a=placed.body, b=placed.ground, u=u, w=w)


def _axes(placement: pin.SE3) -> tuple[NDArray[np.float64], ...]:
    return tuple(np.array(placement.rotation[:, i]) for i in range(3))


def _position_rows(placed: PlacedContact) -> list[Row]:
    E = placed.placement_ground_contact
    # World axes, as the thesis has it, when the surface is in the world; those of the link otherwise.
    return [_point_row(placed, label, np.eye(3)[i], E.translation, 0.0, 0.0) for i, label in enumerate("xyz")]


def _fixed_rows(placed: PlacedContact) -> list[Row]:
    patch = np.asarray(placed.contact.location.patch)
    d_P, b_P, n_P = _axes(placed.placement_body_patch)
    d_E, b_E, n_E = _axes(placed.placement_ground_contact)
    rows = _position_rows(placed)
    if len(patch) == 1:
        return [*rows, _dot_row(placed, "side", n_P, n_E, 0.0, math.inf)]
    if len(patch) == 2:
        along = (patch[1] - patch[0]) / np.linalg.norm(patch[1] - patch[0])
        e_P = along[0] * d_P + along[1] * b_P
        e_E, across = along[0] * d_E + along[1] * b_E, -along[1] * d_E + along[0] * b_E
        return [
            *rows,
            _dot_row(placed, "heading", e_P, across, 0.0, 0.0),
            _dot_row(placed, "tilt", e_P, n_E, 0.0, 0.0),
            _dot_row(placed, "sense", e_P, e_E, 0.0, math.inf),
            _dot_row(placed, "side", n_P, n_E, 0.0, math.inf),
        ]
    return [
        *rows,
        _dot_row(placed, "heading", b_P, d_E, 0.0, 0.0),
        _dot_row(placed, "pitch", n_P, d_E, 0.0, 0.0),
        _dot_row(placed, "roll", n_P, b_E, 0.0, 0.0),
        _dot_row(placed, "sense", d_P, d_E, 0.0, math.inf),
        _dot_row(placed, "side", b_P, b_E, 0.0, math.inf),
    ]


def _relaxed_rows(placed: PlacedContact) -> list[Row]:
    d_P, _, n_P = _axes(placed.placement_body_patch)
    d_E, b_E, n_E = _axes(placed.placement_ground_contact)
    tolerance = placed.contact.tolerance
    if tolerance <= 0:
        raise InputError(
            f"tolerance is {tolerance}",
            element=placed.label,
            remedy="Give the largest angle between the normals [rad], or the kind FIXED",
        )
    tilt = Row(ANGLE, "tilt", -math.inf, tolerance, unit="rad", a=placed.body, b=placed.ground, u=n_P, w=n_E)
    return [
        *_position_rows(placed),
        _dot_row(placed, "heading", d_P, b_E, 0.0, 0.0),
        _dot_row(placed, "sense", d_P, d_E, 0.0, math.inf),
        tilt,
    ]


def _parallel_rows(placed: PlacedContact, n_E: NDArray[np.float64]) -> list[Row]:
    """What keeps the patch parallel to the plane: (3.37)-(3.39) for a face."""
    d_P, b_P, n_P = _axes(placed.placement_body_patch)
    patch = np.asarray(placed.contact.location.patch)
    side = _dot_row(placed, "side", n_P, n_E, 0.0, math.inf)
    if len(patch) == 1:
        return [side]
    if len(patch) == 2:
        along = (patch[1] - patch[0]) / np.linalg.norm(patch[1] - patch[0])
        return [_dot_row(placed, "tilt", along[0] * d_P + along[1] * b_P, n_E, 0.0, 0.0), side]
    return [_dot_row(placed, "pitch", d_P, n_E, 0.0, 0.0), _dot_row(placed, "roll", b_P, n_E, 0.0, 0.0), side]


def _polygon_rows(placed: PlacedContact, vertices: NDArray[np.float64]) -> list[Row]:
    """Half-planes (6.5) of the surface's polygon for points of the patch (k, 2)."""
    polygon = placed.contact.surface.polygon
    if polygon is None:
        return []
    polygon = np.asarray(polygon, dtype=float)
    S = placed.placement_ground_surface
    rows = []
    for edge, (start, end) in enumerate(zip(polygon, np.roll(polygon, -1, axis=0), strict=True)):
        outward = np.array([end[1] - start[1], start[0] - end[0]]) / np.linalg.norm(end - start)
        w = S.rotation @ np.array([*outward, 0.0])
        Q = S.act(np.array([*start, 0.0]))
        for vertex, (x, y) in enumerate(vertices):
            P = placed.placement_body_patch.act(np.array([x, y, 0.0]))
            label = f"vertex {vertex} inside edge {edge}"
            rows.append(_point_row(placed, label, w, Q, -math.inf, 0.0, P))
    return rows


def _sliding_rows(placed: PlacedContact) -> list[Row]:
    S = placed.placement_ground_surface
    n_E = np.array(S.rotation[:, 2])
    return [
        _point_row(placed, "height", n_E, S.translation, 0.0, 0.0),
        *_parallel_rows(placed, n_E),
        *_polygon_rows(placed, np.asarray(placed.contact.location.patch, dtype=float)),
    ]


def _pre_contact_rows(placed: PlacedContact) -> list[Row]:
    S = placed.placement_ground_surface
    n_E = np.array(S.rotation[:, 2])
    return [
        _point_row(placed, "height", n_E, S.translation, 0.0, placed.contact.distance),
        *_parallel_rows(placed, n_E),
        *_polygon_rows(placed, np.zeros((1, 2))),
    ]
