# SPDX-License-Identifier: Apache-2.0
"""Shapes on the page, each made once, then only moved; a robot is its visual shapes on links that move.

A browser computes in single precision, with squares and cubes of lengths: only some numbers can be drawn.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin
import viser
from numpy.typing import ArrayLike

from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, Geometry, RobotDescription, Shape, Sphere
from humanoid_model.errors import InputError
from humanoid_model.shape_triangles import Triangles, bounds, textured_mesh, triangles

LARGEST = 1e9
"""Largest number on the page, of whatever unit."""


def drawable(numbers: ArrayLike) -> bool:
    """Whether all numbers are finite, and none is beyond :data:`LARGEST`."""
    return bool(np.all(drawable_rows(np.reshape(numbers, (-1, 1)))))


def drawable_rows(numbers: np.ndarray) -> np.ndarray:
    """Return which rows of numbers (m, n) can be drawn (m,)."""
    return np.all(np.abs(numbers) <= LARGEST, axis=1)  # a number that is none isn't


def wxyz(placement: pin.SE3) -> np.ndarray:
    """Return the orientation of a placement as viser's quaternion (w, x, y, z)."""
    x, y, z, w = pin.SE3ToXYZQUAT(placement)[3:]
    return np.array([w, x, y, z])


def add_shape(
    scene: viser.SceneApi,
    name: str,
    shape: Shape | Triangles,
    placement: pin.SE3,
    colour: Sequence[float] | np.ndarray,
    cast_shadow: bool = True,
) -> viser.SceneNodeHandle:
    """Draw one shape.

    Args:
        scene: Scene of the page or of one of its clients.
        name: Path of the node, e.g. "/robots/hrp2/WAIST/0".
        shape: A shape of a robot description or of a scene; sizes in metres.
        placement: Placement of the shape in its parent node.
        colour: (4,) red, green, blue and opacity, each in [0, 1].
        cast_shadow: Whether it throws a shadow.

    Returns:
        The node, which the caller moves or removes.

    Raises:
        InputError: A mesh can't be read, or the shape is of an unknown kind.
    """
    red, green, blue, opacity = (float(c) for c in colour)
    common: dict[str, Any] = {
        "color": (red, green, blue),
        "opacity": None if opacity >= 1.0 else opacity,
        "position": placement.translation,
        "wxyz": wxyz(placement),
        "cast_shadow": cast_shadow,
    }
    if isinstance(shape, Box):
        return scene.add_box(name, dimensions=tuple(shape.size), **common)
    if isinstance(shape, Sphere):
        return scene.add_icosphere(name, radius=float(shape.radius), **common)
    if isinstance(shape, Cylinder):
        return scene.add_cylinder(name, radius=float(shape.radius), height=float(shape.length), **common)
    textured = textured_mesh(shape)
    if textured is not None:
        return scene.add_mesh_trimesh(
            name, textured, position=placement.translation, wxyz=wxyz(placement), cast_shadow=cast_shadow
        )
    mesh = triangles(shape)
    return scene.add_mesh_simple(
        name,
        mesh.vertices,
        mesh.faces,
        flat_shading=not isinstance(shape, (Capsule, Ellipsoid)),
        side="double" if isinstance(shape, Triangles) else "front",
        **common,
    )


MOVED = 1e-5
"""A node is sent its placement again once it has moved by so much [m], or so much of a quaternion."""


class MovingNode:
    """A node of the page that is sent its placement once it has moved, and hidden while it has none."""

    def __init__(self, node: viser.SceneNodeHandle) -> None:
        self.node = node
        self._sent: np.ndarray | None = None

    def move(self, placement: pin.SE3 | None) -> bool:
        """Put it to a placement in its parent, None for nowhere; whether it was sent there."""
        sent = False
        if placement is not None:
            pose = pin.SE3ToXYZQUAT(placement)
            sent = self._sent is None or bool(np.abs(pose - self._sent).max() > MOVED)
            if sent:
                self._sent = pose
                self.node.position, self.node.wxyz = placement.translation, wxyz(placement)
        self.node.visible = placement is not None
        return sent


class Drawing:
    """What is drawn below one node of the page, which hides all of it and takes it off.

    Args:
        scene: Scene of the page.
        path: Of the node.
    """

    def __init__(self, scene: viser.SceneApi, path: str) -> None:
        self._scene, self._path = scene, path
        self._root = scene.add_frame(path, show_axes=False)

    @property
    def visible(self) -> bool:
        """Whether it is shown, where there is something to show."""
        return self._root.visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._root.visible = visible

    def remove(self) -> None:
        """Take all of it off the page."""
        self._root.remove()


class RobotDrawing(Drawing):
    """Visual shapes of a robot, created once; `update` moves the links that moved.

    Each link with shapes is one node `<parent>/<name>/<link>` with its shapes below it. Until the
    first placements come, nothing is shown: a robot in a pile at the origin would be a lie.

    Args:
        scene: Scene of the page.
        name: Name of the robot, unique below the parent.
        description: The robot, as read from `robot_description`.
        parent: Path of the parent node.
        opacity: Of all shapes, times their own.

    Attributes:
        problems: One message per shape that couldn't be drawn (a missing mesh file, say).
    """

    def __init__(
        self,
        scene: viser.SceneApi,
        name: str,
        description: RobotDescription,
        parent: str = "/robots",
        opacity: float = 1.0,
    ) -> None:
        self.name = name
        self.description = description
        self.problems: list[str] = []
        super().__init__(scene, f"{parent}/{name}")
        self._root.visible = self._placed = False
        self._visible = True
        self._nodes: dict[str, MovingNode] = {}
        self._corners: dict[str, list[np.ndarray]] = {}
        self._shapes: dict[str, list[tuple[Any, np.ndarray]]] = {}
        for link in description.links.values():
            if not link.visuals:
                continue
            path = f"{self._path}/{link.name}"
            self._nodes[link.name] = MovingNode(scene.add_frame(path, show_axes=False))
            for i, visual in enumerate(link.visuals):
                try:
                    colour = np.asarray(visual.colour) * [1.0, 1.0, 1.0, opacity]
                    shape = add_shape(scene, f"{path}/{i}", visual.shape, visual.placement, colour)
                    self._shapes.setdefault(link.name, []).append((shape, colour))
                    self._corners.setdefault(link.name, []).extend(_corners(visual))
                except InputError as error:
                    self.problems.append(str(error))

    @property
    def links(self) -> list[str]:
        """Names of the links that have shapes."""
        return list(self._nodes)

    def update(self, placements_world_link: Mapping[str, pin.SE3]) -> int:
        """Move links to their placements in the world.

        Args:
            placements_world_link: Placement per link name; others stay where they are.

        Returns:
            Number of links that were sent to the browsers.
        """
        known = [link for link in placements_world_link if link in self._nodes]
        moved = sum(self._nodes[link].move(placements_world_link[link]) for link in known)
        if known and not self._placed:
            self._placed = True
            self._root.visible = self._visible
        return moved

    def extent(self, placements_world_link: Mapping[str, pin.SE3]) -> np.ndarray | None:
        """Box around the robot's shapes in the world.

        Returns:
            (2, 3) lowest and highest corner [m], or None while a link with shapes isn't placed.
        """
        if not self._corners or not self._corners.keys() <= placements_world_link.keys():
            return None
        points = np.array(
            [placements_world_link[link].act(corner) for link, corners in self._corners.items() for corner in corners]
        )
        return np.array([points.min(axis=0), points.max(axis=0)])

    def on_drag(self, call: Callable[[str, viser.SceneNodeDragEvent], None]) -> None:
        """Call with its name when a person drags a link with the left button, in order, from viser's event loop.

        Elsewhere the button turns the view.
        """
        for link, shapes in self._shapes.items():

            async def dragged(event: viser.SceneNodeDragEvent, link: str = link) -> None:
                call(link, event)

            for shape, _ in shapes:
                shape.on_drag("left")(dragged)

    def on_click(self, call: Callable[[str], None]) -> None:
        """Call with its name when a person clicks at a link; from viser's threads."""
        for link, shapes in self._shapes.items():
            for shape, _ in shapes:
                shape.on_click(lambda _, link=link: call(link))

    def paint(
        self, link: str, colour: np.ndarray | None, opacity: float | None = None, *, wire: bool = False
    ) -> None:
        """Give a link's shapes a look; without arguments they have their own again. Textured meshes keep theirs.

        Args:
            link: name.
            colour: (3,) red, green, blue in [0, 1]; None: their own.
            opacity: None: their own.
            wire: whether the edges alone are drawn.
        """
        for shape, own in self._shapes.get(link, ()):
            solid = float(own[3]) if opacity is None else opacity
            look = {
                "color": tuple(int(255.0 * float(part)) for part in (own[:3] if colour is None else colour)),
                "opacity": None if solid >= 1.0 else solid,
                "wireframe": wire,
            }
            for name, value in look.items():
                if not isinstance(shape, viser.GlbHandle) and getattr(shape, name) != value:
                    setattr(shape, name, value)

    @property
    def visible(self) -> bool:
        """Whether the robot is shown, once its links have been placed."""
        return self._visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._visible = visible
        self._root.visible = visible and self._placed


def _corners(visual: Geometry) -> list[np.ndarray]:
    """Eight corners of the box around a shape, in the frame of its link."""
    low_high = bounds(visual.shape)
    return [
        visual.placement.act(np.array([low_high[i, 0], low_high[j, 1], low_high[k, 2]]))
        for i, j, k in itertools.product((0, 1), repeat=3)
    ]
