# SPDX-License-Identifier: Apache-2.0
"""Contacts as geometric constraints (specification 001 section 4.6)."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.contact import ContactKind, SurfaceForm
from humanoid_model.errors import InputError
from humanoid_planner.posture.tasks.contact import PlacedContact
from humanoid_planner.posture.tasks.geometric_rows import ALIGN, ANGLE, DOT, POINT, ROTATION
from humanoid_planner.posture.tasks.task import GeometricTask, Row


class ContactTask(GeometricTask):
    """The geometry of one contact.

    * FIXED: a face of three points or more gives six equalities, position and rotation vector, which hold where the
      thesis' eight constraints (3.28)-(3.35) do. An edge may turn about itself and a point about all axes, as long as
      the normals don't turn away from each other.
    * SLIDING: (3.36)-(3.39), with every vertex of the patch above the surface's polygon (6.5).
    * RELAXED: position and heading as FIXED, the normals within a tolerance of each other.
    * PRE_CONTACT: (3.40)-(3.43), not below the surface, and its origin above the polygon. On a cylinder or a sphere the
      patch's centre of curvature, a radius below its origin, is at most a distance from the axis or the centre.
    * RELEASED: as FIXED.

    Orientations are measured by angles, not by the thesis' orthogonalities: see
    :mod:`humanoid_planner.posture.tasks.geometric_rows`.

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
        if kind == ContactKind.SLIDING and placed.contact.surface.form is not SurfaceForm.PLANE:
            raise InputError(
                "slides on a curved surface",
                element=placed.label,
                remedy="Hold it fixed there, or use a pre-contact of distance 0, which bears no force",
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


def _rotation_row(placed: PlacedContact, label: str, w: NDArray[np.float64]) -> Row:
    """Return the part about an axis of the turn that is left to the contact frame."""
    frame_a = np.array(placed.placement_body_patch.rotation)
    frame_b = np.array(placed.placement_ground_contact.rotation)
    return Row(ROTATION, label, 0.0, 0.0, "rad", a=placed.body, b=placed.ground, w=w, frame_a=frame_a, frame_b=frame_b)


def _align_rows(
    placed: PlacedContact,
    u: NDArray[np.float64],
    w: NDArray[np.float64],
    across: dict[str, NDArray[np.float64]],
) -> list[Row]:
    """Return a direction of the patch along one of the surface: angles about two axes across it, and its sense."""
    rows = [
        Row(ALIGN, label, 0.0, 0.0, unit="rad", a=placed.body, b=placed.ground, u=u, w=w, Q=axis)
        for label, axis in across.items()
    ]
    # Exactly opposite directions have no axis between them, and angles of zero.
    return [*rows, _dot_row(placed, "sense", u, w, 0.0, math.inf)]


def _edge_direction(placed: PlacedContact) -> NDArray[np.float64]:
    """(2,) unit vector along a patch of two points, in the patch frame."""
    patch = np.asarray(placed.contact.location.patch)
    return np.asarray((patch[1] - patch[0]) / np.linalg.norm(patch[1] - patch[0]))


def _fixed_rows(placed: PlacedContact) -> list[Row]:
    d_P, b_P, n_P = _axes(placed.placement_body_patch)
    d_E, b_E, n_E = _axes(placed.placement_ground_contact)
    rows = _position_rows(placed)
    corners = len(placed.contact.location.patch)
    if corners == 1:
        return [*rows, _dot_row(placed, "side", n_P, n_E, 0.0, math.inf)]
    if corners == 2:
        x, y = _edge_direction(placed)
        across = {"heading": -y * d_E + x * b_E, "tilt": n_E}
        return [
            *rows,
            *_align_rows(placed, x * d_P + y * b_P, x * d_E + y * b_E, across),
            _dot_row(placed, "side", n_P, n_E, 0.0, math.inf),
        ]
    return [
        *rows,
        *(_rotation_row(placed, label, w) for label, w in (("roll", d_E), ("pitch", b_E), ("heading", n_E))),
    ]


def _relaxed_rows(placed: PlacedContact) -> list[Row]:
    n_P, n_E = _axes(placed.placement_body_patch)[2], _axes(placed.placement_ground_contact)[2]
    tolerance = placed.contact.tolerance
    if tolerance <= 0:
        raise InputError(
            f"tolerance is {tolerance}",
            element=placed.label,
            remedy="Give the largest angle between the normals [rad], or the kind FIXED",
        )
    tilt = Row(ANGLE, "tilt", -math.inf, tolerance, unit="rad", a=placed.body, b=placed.ground, u=n_P, w=n_E)
    return [*_position_rows(placed), _rotation_row(placed, "heading", n_E), tilt]


def _parallel_rows(placed: PlacedContact, surface: pin.SE3) -> list[Row]:
    """Return what keeps the patch on its plane, the right side up: (3.37)-(3.39) for a face."""
    d_P, b_P, n_P = _axes(placed.placement_body_patch)
    d_E, b_E, n_E = _axes(surface)
    corners = len(placed.contact.location.patch)
    if corners > 2:
        return _align_rows(placed, n_P, n_E, {"roll": b_E, "pitch": d_E})
    side = _dot_row(placed, "side", n_P, n_E, 0.0, math.inf)
    if corners == 1:
        return [side]
    x, y = _edge_direction(placed)
    return [_dot_row(placed, "tilt", x * d_P + y * b_P, n_E, 0.0, 0.0), side]


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
        *_parallel_rows(placed, S),
        *_polygon_rows(placed, np.asarray(placed.contact.location.patch, dtype=float)),
    ]


def _pre_contact_rows(placed: PlacedContact) -> list[Row]:
    if placed.contact.surface.form is not SurfaceForm.PLANE:
        return [*_round_rows(placed), *_round_edge_rows(placed)]
    S = placed.placement_ground_surface
    n_E = np.array(S.rotation[:, 2])
    return [
        _point_row(placed, "height", n_E, S.translation, 0.0, placed.contact.distance),
        *_parallel_rows(placed, S),
        *_polygon_rows(placed, np.zeros((1, 2))),
    ]


def _round_rows(placed: PlacedContact) -> list[Row]:
    """Light contact with a cylinder or a sphere: its normal is radial where the centres of curvature coincide."""
    S, surface, distance = placed.placement_ground_surface, placed.contact.surface, placed.contact.distance
    below = np.array([0.0, 0.0, -surface.radius])
    centre, own = S.act(below), placed.placement_body_patch.act(below)
    sphere = surface.form is SurfaceForm.SPHERE
    rows = [
        _point_row(placed, f"centre {'xyz'[i]}", np.array(S.rotation[:, i]), centre, -distance, distance, own)
        for i in ((0, 1, 2) if sphere else (1, 2))
    ]
    n_P = np.array(placed.placement_body_patch.rotation[:, 2])
    if not sphere:
        rows.append(_dot_row(placed, "tilt", n_P, np.array(S.rotation[:, 0]), 0.0, 0.0))
    if distance > 0.0:
        # The way from the patch to the centre along the patch's normal, which moves: bodies change places.
        point, most = np.array(placed.placement_body_patch.translation), -surface.radius
        rows.append(Row(POINT, "not below", -math.inf, most, a=placed.ground, b=placed.body, P=centre, Q=point, w=n_P))
    return rows


def _round_edge_rows(placed: PlacedContact) -> list[Row]:
    """Return what keeps a light contact with a cylinder or a sphere within the surface's rectangle."""
    S, surface = placed.placement_ground_surface, placed.contact.surface
    assert surface.polygon is not None
    (x0, y0), (x1, y1) = np.min(surface.polygon, axis=0), np.max(surface.polygon, axis=0)
    n_P, axis = np.array(placed.placement_body_patch.rotation[:, 2]), np.array(S.rotation[:, 0])
    rows = []
    for side, y, sense in (("low", y0, 1.0), ("high", y1, -1.0)):
        # The normal is ahead of one edge's plane through the axis, and behind the other's.
        ahead = sense * S.rotation @ surface.place(0.0, y, 0.0).rotation[:, 1]
        rows.append(_dot_row(placed, f"inside {side} y", n_P, ahead, 0.0, math.inf))
    if surface.form is SurfaceForm.SPHERE:
        low, high = math.sin(x0 / surface.radius), math.sin(x1 / surface.radius)
        return [*rows, _dot_row(placed, "inside in x", n_P, axis, low, high)]
    return [*rows, _point_row(placed, "inside in x", axis, S.translation, float(x0), float(x1))]
