# SPDX-License-Identifier: Apache-2.0
"""Pictures of contact plans: the robot in each posture among the scene's bodies, its contacts marked."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pinocchio as pin
from matplotlib import pyplot
from matplotlib.patches import Polygon
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull

from humanoid_model import Robot, Scene, Stance
from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import HalfSpace

_CIRCLE = np.array([[math.cos(a), math.sin(a)] for a in np.linspace(0, 2 * math.pi, 13)[:-1]])
_COLOURS = {"FIXED": "#1a8f3c", "PRE_CONTACT": "#d08000", "RELEASED": "#d08000"}


def draw_plan(
    path: str | Path,
    robot: Robot,
    scene: Scene,
    stances: Sequence[Stance],
    postures: Sequence[ArrayLike],
    views: Sequence[tuple[float, float]] = ((-60.0, 12.0),),
    columns: int = 8,
    width: float = 1.0,
) -> None:
    """Draw postures in parallel projection, one cell each and one row for each view.

    Links and bodies are drawn from back to front, so that what is in front hides what is behind but for long bodies.

    Args:
        path: of the picture.
        robot: that has the postures.
        scene: around it.
        stances: whose contacts are marked, green where they bear, orange where they don't.
        postures: (nq,) each.
        views: (azimuth, elevation) of where it is seen from [deg].
        columns: cells in a row.
        width: half of what a cell shows about the robot [m].
    """
    rows = math.ceil(len(postures) / columns) * len(views)
    figure, axes = pyplot.subplots(rows, columns, figsize=(2.1 * columns, 2.4 * rows), squeeze=False)
    for axis in axes.flat:
        axis.set_axis_off()
        axis.set_aspect("equal")
    for index, (stance, q) in enumerate(zip(stances, postures, strict=True)):
        for row, view in enumerate(views):
            axis = axes[index // columns * len(views) + row, index % columns]
            draw_posture(axis, robot, scene, stance, np.asarray(q, dtype=float), view, width)
            axis.set_title(f"{index}", fontsize=8, pad=1)
    figure.tight_layout(pad=0.2)
    figure.savefig(path, dpi=75)
    pyplot.close(figure)


def draw_posture(
    axis: pyplot.Axes,
    robot: Robot,
    scene: Scene,
    stance: Stance,
    q: NDArray[np.float64],
    view: tuple[float, float],
    width: float,
) -> None:
    """Draw one posture and its contacts; arguments as of :func:`draw_plan`, ``view`` one of its views."""
    azimuth, elevation = np.radians(view)
    away = np.array(
        [math.cos(azimuth) * math.cos(elevation), math.sin(azimuth) * math.cos(elevation), math.sin(elevation)]
    )
    right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    screen = np.array([right, np.cross(away, right)])
    data, geometry = robot.model.createData(), robot.visual_model.createData()
    pin.updateGeometryPlacements(robot.model, data, robot.visual_model, geometry, q)
    parts = [
        (item.geometry, place, np.asarray(item.meshColor), 2)
        for item, place in zip(robot.visual_model.geometryObjects, geometry.oMg, strict=True)
    ]
    parts += [
        (coal_geometry(one.shape), body.placement_world_body * one.placement, one.colour, 1)
        for body in scene.bodies
        for one in body.geometries
        if not isinstance(one.shape, HalfSpace)
    ]
    drawn = []
    for shape, place, colour, kind in parts:
        points = np.array([place.act(point) for point in _corners(shape)])
        drawn.append((float((points @ away).mean()), points @ screen.T, colour, kind))
    for _, flat, colour, kind in sorted(drawn, key=lambda one: one[0]):
        outline = flat[ConvexHull(flat).vertices]
        alpha = 1.0 if kind == 2 else 0.55
        axis.add_patch(Polygon(outline, facecolor=(*colour[:3], alpha), edgecolor="black", linewidth=0.4))
    base = screen @ (data.oMi[1].translation if robot.base_joint is not None else np.zeros(3))
    ground = screen @ [data.oMi[1].translation[0], data.oMi[1].translation[1], 0.0]
    axis.axhline(ground[1], color="grey", linewidth=0.5, zorder=0)
    bodies = {body.name: body.placement_world_body for body in scene.bodies}
    for contact in stance.contacts:
        seat = bodies[contact.surface.body] * contact.surface.placement_body_surface * contact.placement_surface_patch
        patch = np.array([seat.act(np.array([x, y, 0.0])) for x, y in contact.location.patch]) @ screen.T
        axis.fill(*patch.T, facecolor="none", edgecolor=_COLOURS.get(contact.kind.name, "red"), linewidth=1.6)
    axis.set_xlim(base[0] - width, base[0] + width)
    axis.set_ylim(base[1] - width, base[1] + width)


def _corners(shape: object) -> Iterator[NDArray[np.float64]] | NDArray[np.float64]:
    """Points whose hull is a shape, round ones by twelve sides."""
    kind = type(shape).__name__
    if kind == "Box":
        return np.array(list(itertools.product((-1, 1), repeat=3))) * shape.halfSide  # type: ignore[attr-defined]
    if kind in ("Cylinder", "Capsule"):
        radius, half = shape.radius, shape.halfLength  # type: ignore[attr-defined]
        rings = [(half, radius), (-half, radius)]
        if kind == "Capsule":
            rings += [
                (sign * (half + radius * math.sin(a)), radius * math.cos(a)) for sign in (1, -1) for a in (0.6, 1.2)
            ]
        return np.array([[*(r * point), z] for z, r in rings for point in _CIRCLE])
    if kind == "Sphere":
        ball = [[*(math.cos(b) * point), math.sin(b)] for b in np.linspace(-1.4, 1.4, 7) for point in _CIRCLE]
        return shape.radius * np.array(ball)  # type: ignore[attr-defined]
    return np.asarray(shape.vertices() if hasattr(shape, "vertices") else shape.points())  # type: ignore[attr-defined]
