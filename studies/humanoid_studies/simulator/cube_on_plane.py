# SPDX-License-Identifier: Apache-2.0
"""Experiment E24: a cube on a plane, its contacts by distance and by triangles (specification 000 §27, F100-F106)."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.description import Box
from humanoid_model.scene import PairRule
from humanoid_sim.detection.backends import BACKENDS, MeshPair, distinct_points
from humanoid_sim.detection.special_pair import ShapeMotion, SpecialPair, surface_mesh
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import Curve, ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.made_scene import made_body, made_scene

_CUBE, _SLAB = Box(np.full(3, 0.2)), Box(np.array([1.0, 0.8, 0.1]))
_SUNK = 1e-3
"""How deep the cube is in the slab where triangles are asked for [m]."""
_ABOVE = 1e-3
"""How far the cube is above the slab where the distance is asked for [m]."""
_NEAR = 1e-9
_METHODS = ("patch", "distance", "penetration")


def run(yaw: float = 0.3, *, progress: bool = False) -> ExperimentResult:
    """Ask for the points by distance and by triangles, of both libraries, and let the cube rest by each method.

    Args:
        yaw: of the cube [rad].
        progress: not used, this takes no time.
    """
    turned = pin.rpy.rpyToMatrix(0.0, 0.0, yaw)
    touching = pin.SE3(turned, np.array([0.1, 0.05, 0.15]))
    above = pin.SE3(turned, np.array([0.1, 0.05, 0.15 + _ABOVE]))
    sunk = pin.SE3(turned, np.array([0.1, 0.05, 0.15 - _SUNK]))
    up = np.array([0.0, 0.0, 1.0])
    rows: list[Row] = []
    panels = []
    for backend in BACKENDS:
        pair, still = SpecialPair(_CUBE, _SLAB, backend), _at(pin.SE3.Identity())
        gap, _, nearest, _ = pair.distance(_at(above), still, 0.1)
        under = _off_the_bottom(above, nearest[None])
        rows.append(Row(f"{backend}: distance", f"{_ABOVE:g}", gap, "m", abs(gap - _ABOVE) < _NEAR))
        rows.append(Row(f"{backend}: nearest point off the bottom", "on the bottom", under, "m", under < 1e-6))
        on_it = pair.distance(_at(touching), still, 0.1)[2]
        rows.append(Row(f"{backend}: the same where they touch", "", _off_the_bottom(touching, on_it[None]), "m"))
        patch = pair.patch(_at(touching), still, 1e-3)
        found = np.zeros((0, 3)) if patch is None else patch.positions
        rows += _corner_rows(f"{backend}: face of the nearest points", touching, found)
        meshes = MeshPair(surface_mesh(_CUBE), surface_mesh(_SLAB), backend)
        pairs, segments = meshes.intersections(sunk, pin.SE3.Identity())
        rows.append(Row(f"{backend}: pairs of triangles that intersect", "redundant", len(pairs), "", len(pairs) > 4))
        filtered = distinct_points(segments, up, 8)
        rows += _corner_rows(f"{backend}: triangles, filtered", sunk, filtered)
        outline = _bottom(touching)
        panels.append(
            Panel(
                "x [m]",
                "y [m]",
                (
                    curve(outline[:, 0], outline[:, 1], "bottom of the cube", colour="grey"),
                    _points(segments.reshape(-1, 3), "ends of the segments of triangles", "C1"),
                    _points(filtered, "filtered", "C3"),
                    _points(nearest[None], "nearest point", "C0"),
                ),
                title=f"{backend}, from above",
                equal=True,
            )
        )
    for method in _METHODS:
        tilt, points = _rest(method)
        rows.append(Row(f"{method}: tilt after 1 s", "", tilt, "rad", tilt < 1e-3 if method == "patch" else None))
        rows.append(Row(f"{method}: contact points", "", points))
    return ExperimentResult("E24", "Contact points of a cube on a plane", tuple(rows), tuple(panels))


def _at(place: pin.SE3) -> ShapeMotion:
    """Return a solid that stands still."""
    return ShapeMotion(place.rotation, place.translation, place.translation, np.zeros(3), np.zeros(3))


def _rest(method: str) -> tuple[float, int]:
    """Tilt of a cube that rested on a slab for a second [rad], and its number of contacts, by a method of detection."""
    bodies = (
        made_body("slab", [(_SLAB, pin.SE3.Identity())], 0.0, pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.05]))),
        made_body("cube", [(_CUBE, pin.SE3.Identity())], 1.0, pin.SE3(np.eye(3), np.array([0.1, 0.05, 0.2]))),
    )
    simulation = Simulation(made_scene("cube", bodies, rules=(PairRule("cube", "slab", method=method),)))
    simulation.run(1.0)
    R = simulation.bodies["cube"].placement_world_body.rotation
    return float(np.arccos(min(R[2, 2], 1.0))), len(simulation.contacts)


def _off_the_bottom(cube: pin.SE3, points: NDArray[np.float64]) -> float:
    """Largest distance of points from the cube's bottom face [m]."""
    local = (points - cube.translation) @ cube.rotation
    half = 0.5 * _CUBE.size[0]
    beside = np.maximum(np.abs(local[:, :2]) - half, 0.0).max(initial=0.0)
    return float(max(beside, np.abs(local[:, 2] + half).max(initial=0.0)))


def _corner_rows(name: str, cube: pin.SE3, points: NDArray[np.float64]) -> list[Row]:
    """Return whether points are the four corners, seen from above."""
    local = np.abs((points - cube.translation) @ cube.rotation)[:, :2]
    off = float(np.abs(local - 0.5 * _CUBE.size[0]).max(initial=0.0))
    return [
        Row(f"{name}: points", "4", len(points), "", len(points) == 4),
        Row(f"{name}: off the corners", "0", off, "m", off < 1e-6),
    ]


def _bottom(cube: pin.SE3) -> NDArray[np.float64]:
    """Return the closed outline of the bottom in the world, shape (5, 3)."""
    half = 0.5 * _CUBE.size[0]
    corners = half * np.array([[1, 1, -1], [-1, 1, -1], [-1, -1, -1], [1, -1, -1], [1, 1, -1]])
    return np.asarray(corners @ cube.rotation.T + cube.translation)


def _points(points: NDArray[np.float64], label: str, colour: str) -> Curve:
    return curve(points[:, 0], points[:, 1], label, "points", colour)
