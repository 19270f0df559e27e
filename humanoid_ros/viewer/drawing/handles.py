# SPDX-License-Identifier: Apache-2.0
"""Handles in the scene: for places of a robot, with the surfaces that they snap to, for tools, and to pull links."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import viser

from humanoid_model import Scene, Surface
from humanoid_model.contact import SurfaceForm
from humanoid_ros.viewer.drawing.shapes import wxyz

NEAR = 0.05
"""Distance from a surface up to which a handle is meant for it [m]."""
TILT = math.radians(30.0)
"""Angle between the normals up to which it is [rad]."""


@dataclass(frozen=True)
class Snap:
    """A place on a surface.

    Attributes:
        surface: The surface.
        x: Of the handle's origin in the surface frame [m].
        y: Likewise.
        theta: Angle of the handle's x axis from the surface's, about the normal [rad].
    """

    surface: Surface
    x: float
    y: float
    theta: float


def snap(placement: pin.SE3, scene: Scene) -> Snap | None:
    """Return the nearest surface below a handle, None if there is none near it.

    Args:
        placement: Of the handle in the world; z points out of the surface.
        scene: Whose surfaces they are, its bodies where they are at the start.
    """
    bodies = {body.name: body.placement_world_body for body in scene.bodies}
    best, found = NEAR, None
    for surface in scene.surfaces:
        if surface.body not in bodies:
            continue
        local = (bodies[surface.body] * surface.placement_body_surface).actInv(placement)
        x, y, theta = surface.coordinates(local.translation, local.rotation[:, 0])
        above = surface.place(x, y, theta).actInv(local)
        height = float(above.translation[2])
        if abs(height) > best or above.rotation[2, 2] < math.cos(TILT):
            continue
        if surface.polygon is not None and not _inside(np.array([x, y]), surface.polygon):
            continue
        best = abs(height)
        found = Snap(surface, x, y, theta)
    return found


def pointed_at(origin: np.ndarray, direction: np.ndarray, scene: Scene) -> np.ndarray | None:
    """(3,) place where a ray first meets the outer side of a surface; None where it meets none.

    Args:
        origin: (3,) of the ray in the world [m].
        direction: (3,) of the ray.
        scene: Whose surfaces they are, its bodies where they are at the start.
    """
    bodies = {body.name: body.placement_world_body for body in scene.bodies}
    nearest, found = np.inf, None
    for surface in scene.surfaces:
        if surface.body not in bodies:
            continue
        placement = bodies[surface.body] * surface.placement_body_surface
        eye, ray = placement.actInv(origin), placement.rotation.T @ direction
        way = _way_to(surface, eye, ray)
        if not 0.0 < way < nearest:
            continue
        place = eye + way * ray
        x, y, _ = surface.coordinates(place, np.array([1.0, 0.0, 0.0]))
        if surface.polygon is None or _inside(np.array([x, y]), surface.polygon):
            nearest, found = way, placement.act(place)
    return found


def _way_to(surface: Surface, eye: np.ndarray, ray: np.ndarray) -> float:
    """Return how many rays, in the surface's frame, lead from the eye to where it enters the whole surface, or inf."""
    if surface.form is SurfaceForm.PLANE:
        return float(-eye[2] / ray[2]) if ray[2] < 0.0 else np.inf
    round_ = slice(1 if surface.form is SurfaceForm.CYLINDER else 0, 3)  # across the axis, or all three coordinates
    from_centre, along = (eye + np.array([0.0, 0.0, surface.radius]))[round_], ray[round_]
    a, b, c = along @ along, from_centre @ along, from_centre @ from_centre - surface.radius**2
    inside = b * b - a * c
    return float((-b - math.sqrt(inside)) / a) if inside > 0.0 and a > 0.0 else np.inf


def _inside(point: np.ndarray, polygon: np.ndarray) -> bool:
    """Return whether a point is in a convex polygon given counter-clockwise."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    to_point = point - polygon
    return bool((edges[:, 0] * to_point[:, 1] - edges[:, 1] * to_point[:, 0] >= 0.0).all())


COLOUR = (20, 20, 20)


class PlaceHandles:
    """Handles that a person moves and turns; the z axis of each points out of the ground into the robot.

    Args:
        scene: Scene of the page.
        path: Path of the node above them.

    Attributes:
        moves: How often a person has moved a handle; only grows.
    """

    def __init__(self, scene: viser.SceneApi, path: str) -> None:
        self.moves = 0
        self._scene = scene
        self._path = path
        self._root = scene.add_frame(path, show_axes=False)
        self._handles: dict[str, viser.TransformControlsHandle] = {}

    @property
    def names(self) -> list[str]:
        """Names of the places that have a handle."""
        return list(self._handles)

    def add(self, name: str, placement: pin.SE3, patch: np.ndarray) -> None:
        """Add the handle of a place, or move the one that is there.

        Args:
            name: Name of the place.
            placement: Of the patch frame in the world.
            patch: (k, 2) vertices in the patch frame [m].
        """
        if name in self._handles:
            self._handles[name].position = placement.translation
            self._handles[name].wxyz = wxyz(placement)
            return
        path = f"{self._path}/{name}"
        handle = self._scene.add_transform_controls(
            path,
            scale=0.16,
            depth_test=False,
            opacity=0.8,
            position=placement.translation,
            wxyz=wxyz(placement),
        )
        corners = np.column_stack([patch, np.zeros(len(patch))])
        segments = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1).astype(np.float32)
        self._scene.add_line_segments(
            f"{path}/patch", points=segments, colors=COLOUR, thickness=3.0, thickness_units="screen"
        )
        self._handles[name] = handle
        handle.on_update(self._on_update)

    async def _on_update(self, event: viser.TransformControlsEvent) -> None:
        # Asynchronous, because viser keeps the order of moves only for such callbacks.
        self.moves += 1

    def remove(self, name: str) -> None:
        """Take a place's handle away; an unknown name is no error."""
        handle = self._handles.pop(name, None)
        if handle is not None:
            handle.remove()

    def clear(self) -> None:
        """Take all handles away."""
        for name in self.names:
            self.remove(name)

    def placement(self, name: str) -> pin.SE3:
        """Return where a place is wanted, in the world."""
        handle = self._handles[name]
        w, x, y, z = (float(value) for value in handle.wxyz)
        turn = pin.Quaternion(np.array([x, y, z, w])).normalized()
        return pin.SE3(turn.matrix(), np.array(handle.position, dtype=float))

    @property
    def visible(self) -> bool:
        """Whether the handles are shown."""
        return self._root.visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._root.visible = visible


class ToolHandle:
    """Stays where a person or a step has put it.

    Args:
        scene: scene of the page.
        path: of its node.
        size: length of its arrows [m].
        turns: whether with rings.
        placement: of the tool in the world.

    Attributes:
        placement: where the tool is to be, in the world.
        moves: how often a person has moved it; only grows.
    """

    def __init__(self, scene: viser.SceneApi, path: str, size: float, turns: bool, placement: pin.SE3) -> None:
        self.placement = placement
        self.moves = 0
        self._handle = scene.add_transform_controls(
            path,
            scale=size,
            disable_rotations=not turns,
            depth_test=False,
            position=placement.translation,
            wxyz=wxyz(placement),
        )
        self._handle.on_update(self._on_update)

    async def _on_update(self, event: viser.TransformControlsEvent) -> None:
        # Asynchronous, because viser keeps the order of moves only for such callbacks.
        w, x, y, z = (float(value) for value in event.target.wxyz)
        turn = pin.Quaternion(np.array([x, y, z, w])).normalized()
        self.placement = pin.SE3(turn.matrix(), np.array(event.target.position, dtype=float))
        self.moves += 1

    def put(self, placement: pin.SE3) -> None:
        """Put it somewhere else."""
        self.placement = placement
        self._handle.position, self._handle.wxyz = placement.translation, wxyz(placement)

    def remove(self) -> None:
        """Take it off the page."""
        self._handle.remove()


LINE_COLOUR = (230, 60, 160)


@dataclass(frozen=True)
class Spring:
    """Damped spring between handle and link (specification 000 §15.2, eq. 3.63 of the thesis).

    The damping rule k_v = sqrt(2 m k_p) gives the damping ratio 1/sqrt(2).

    Attributes:
        stiffness: k_p [N/m].
        mass: Mass m of the pulled link [kg].
        max_force: Largest force that the handle exerts [N].
    """

    stiffness: float
    mass: float
    max_force: float

    @property
    def damping(self) -> float:
        """k_v [N s/m]."""
        return float(np.sqrt(2.0 * self.mass * self.stiffness))

    def force(self, handle: np.ndarray, link: np.ndarray, velocity_link: np.ndarray) -> np.ndarray:
        """Force on the link [N].

        Args:
            handle: (3,) position of the handle, which counts as at rest [m].
            link: (3,) position of the pulled point [m].
            velocity_link: (3,) its velocity [m/s].

        Returns:
            (3,) force in the world frame, shortened to `max_force`.
        """
        force = self.stiffness * (handle - link) - self.damping * velocity_link
        norm = float(np.linalg.norm(force))
        return force * (self.max_force / norm) if norm > self.max_force else force


class PullHandle:
    """Handle that rides on a link, and pulls it once a person drags it away.

    Args:
        scene: Scene of the page.

    Attributes:
        dragging: Whether a person holds the handle.
    """

    def __init__(self, scene: viser.SceneApi) -> None:
        self.dragging = False
        self._client: int | None = None
        self._handle = scene.add_transform_controls(
            "/pull/handle",
            scale=0.22,
            disable_rotations=True,
            depth_test=False,
            visible=False,
        )
        self._line = scene.add_line_segments(
            "/pull/line",
            points=np.zeros((1, 2, 3), dtype=np.float32),
            colors=np.tile(np.array(LINE_COLOUR, dtype=np.uint8), (1, 2, 1)),
            thickness=4.0,
            thickness_units="screen",
            visible=False,
        )
        self._handle.on_update(self._on_update)

    async def _on_update(self, event: viser.TransformControlsEvent) -> None:
        # Asynchronous, because viser keeps the order of the phases only for such callbacks.
        if event.phase == "start":
            self._client = event.client_id
            self.dragging = True
        elif event.phase == "end":
            self.release()

    def client_left(self, client_id: int) -> None:
        """Release the handle if the browser that was dragging it is gone."""
        if self.dragging and client_id == self._client:
            self.release()

    def release(self) -> None:
        """Let go: the handle goes back onto its link at the next update."""
        self.dragging = False

    @property
    def position(self) -> np.ndarray:
        """(3,) position of the handle, world frame [m]."""
        return np.array(self._handle.position)

    def update(self, link: np.ndarray | None) -> None:
        """Let the handle ride on the link, or draw the spring while it is dragged.

        Args:
            link: (3,) pulled point, world frame [m]; None hides the handle.
        """
        self._handle.visible = link is not None
        self._line.visible = link is not None and self.dragging
        if link is None:
            return
        if self.dragging:
            points = np.array([[link, self.position]], dtype=np.float32)
            if np.abs(points - self._line.points).max() > 5e-4:
                self._line.points = points
        elif np.abs(self._handle.position - link).max() > 5e-4:
            self._handle.position = link
