# SPDX-License-Identifier: Apache-2.0
"""A contact that the posture generator places within a search volume (specification 001 (6.1)-(6.6))."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pinocchio as pin

from humanoid_model.contact import Contact, ContactKind, ContactLocation, Surface, SurfaceForm
from humanoid_model.scene import Scene
from humanoid_planner.contacts.stances.planned_stance import Hold
from humanoid_planner.contacts.stances.search_volume import SearchVolume
from humanoid_planner.contacts.stances.stance_set import wrapped
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.tasks.contact import PlacedContact, place_contact
from humanoid_planner.posture.tasks.geometric_rows import DOT, POINT
from humanoid_planner.posture.tasks.task import GeometricTask, Row


def light_contact(location: ContactLocation, surface: Surface, volume: SearchVolume, distance: float = 0.0) -> Contact:
    """Return a contact without force that slides with its origin in a volume's polygon: a pre-contact on the surface.

    Args:
        location: of the robot.
        surface: of the scene.
        volume: where it may be.
        distance: at most, above the surface [m].
    """
    return Contact(
        location,
        replace(surface, polygon=volume.polygon),
        0.0,
        0.0,
        0.0,
        ContactKind.PRE_CONTACT,
        distance=distance,
    )


def bounds_task(
    contact: Contact, surface: Surface, volume: SearchVolume, kinematics: RobotKinematics, scene: Scene
) -> GeometricTask | None:
    """Return what a light contact fulfils besides: its patch on the whole surface, its direction within the angles.

    The angles (6.6, E-17) are two half-planes, for half a turn at most: wider intervals are halved before.

    Args:
        contact: made by :func:`light_contact`.
        surface: the whole one.
        volume: where it may be.
        kinematics: of the robot.
        scene: of the surface.

    Returns:
        The task; None where an unbounded surface and all directions leave nothing to fulfil.
    """
    placed = place_contact(contact, kinematics, scene)
    rows = _vertex_rows(placed, surface)
    if not volume.whole:
        d = np.array(placed.placement_body_patch.rotation[:, 0])
        b, x_axis = np.array(placed.placement_body_patch.rotation[:, 1]), placed.placement_ground_surface.rotation[:, 0]
        for label, angle, sense in (("from", volume.low, 1.0), ("to", volume.high, -1.0)):
            side = sense * np.array([-math.sin(angle), math.cos(angle), 0.0])
            u, w = d, placed.placement_ground_surface.rotation @ side
            if surface.form is not SurfaceForm.PLANE:
                # The surface's y direction changes from place to place: d . y = -b . x, times the same positive number.
                u, w = side[0] * d - side[1] * b, np.array(x_axis)
            rows.append(Row(DOT, f"direction {label}", 0.0, math.inf, "", a=placed.body, b=placed.ground, u=u, w=w))
    return GeometricTask(f"{placed.label} in its volume", rows) if rows else None


def _vertex_rows(placed: PlacedContact, surface: Surface) -> list[Row]:
    """Every vertex of the patch within every edge of the surface (6.5)."""
    if surface.polygon is None or surface.form is not SurfaceForm.PLANE:
        return []
    S, rows = placed.placement_ground_surface, []
    polygon = np.asarray(surface.polygon, dtype=float)
    for edge, (start, end) in enumerate(zip(polygon, np.roll(polygon, -1, axis=0), strict=True)):
        outward = np.array([end[1] - start[1], start[0] - end[0], 0.0]) / np.linalg.norm(end - start)
        for vertex, (x, y) in enumerate(placed.contact.location.patch):
            P = placed.placement_body_patch.act(np.array([x, y, 0.0]))
            Q = S.act(np.array([*start, 0.0]))
            label = f"vertex {vertex} inside edge {edge}"
            rows.append(
                Row(POINT, label, -math.inf, 0.0, a=placed.body, b=placed.ground, P=P, Q=Q, w=S.rotation @ outward)
            )
    return rows


def hold_at(
    couple: int,
    location: ContactLocation,
    surface: Surface,
    placement_world_surface: pin.SE3,
    kinematics: RobotKinematics,
) -> Hold:
    """Return the strong contact at the place that a light one took in the kinematics' configuration.

    Args:
        couple: its number.
        location: that holds.
        surface: it holds on.
        placement_world_surface: of the surface.
        kinematics: at the posture that was found.
    """
    R, p = kinematics.placement(location.link)
    point = placement_world_surface.actInv(p + R @ location.placement_link_patch.translation)
    x_axis = R @ location.placement_link_patch.rotation[:, 0]
    x, y, theta = surface.coordinates(point, placement_world_surface.rotation.T @ x_axis)
    return Hold(couple, x, y, wrapped(theta))
