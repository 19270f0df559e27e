# SPDX-License-Identifier: Apache-2.0
"""Pictures of a simulation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.arrays import Array
from humanoid_model.camera import Camera
from humanoid_model.description import Shape
from humanoid_sim.imaging.drawn_shapes import DrawnShapes
from humanoid_sim.imaging.picture import take_depth, take_picture
from humanoid_sim.world.world import World

Placements = tuple[Array, Array]
"""Rotations (n, 3, 3) and origins (n, 3) [m] in the world."""


class Pictures:
    """Takes pictures of a world; its shapes are gathered once."""

    def __init__(self, world: World) -> None:
        """Gather the shapes of all bodies.

        Raises:
            InputError: a mesh can't be read.
        """
        self._world = world
        self._joints = np.array([body.joint for body in world.bodies])
        self._fixed = np.array([body.placement_joint_body.homogeneous for body in world.bodies])
        self._shapes = DrawnShapes.of(self._seen())

    def _seen(self) -> Iterator[tuple[int, Shape, pin.SE3, Array]]:
        """Yield what of each body is seen: visual shapes of links, all shapes of other bodies."""
        scene = self._world.scene
        links = {
            f"{placed.name}/{name}": link.visuals
            for placed in scene.robots
            for name, link in placed.robot.description.links.items()
        }
        shapes = {**links, **{body.name: body.geometries for body in scene.bodies}}
        for number, body in enumerate(self._world.bodies):
            for geometry in shapes[body.name]:
                yield number, geometry.shape, geometry.placement, np.asarray(geometry.colour)

    def _bodies(self, joints: Placements) -> Placements:
        R, p = joints[0][self._joints], joints[1][self._joints]
        return R @ self._fixed[:, :3, :3], p + np.einsum("nij,nj->ni", R, self._fixed[:, :3, 3])

    def _camera(self, camera: Camera | None, body: str | None, bodies: Placements) -> Camera:
        camera = self._world.scene.camera if camera is None else camera
        if camera is None:
            return self._overview(bodies)
        if body is None:
            return camera
        carrier = self._world.index[self._world.find_body(body).name]
        return Camera(pin.SE3(bodies[0][carrier], bodies[1][carrier]) * camera.placement, camera.field_of_view)

    def _overview(self, bodies: Placements) -> Camera:
        """Return a camera that sees all of :meth:`_extent`."""
        low, high = self._extent(bodies)
        return Camera.framing(0.5 * (low + high), float((high - low).max()))

    def _extent(self, bodies: Placements) -> tuple[Array, Array]:
        """Return corners of a box around all that moves; where nothing is drawn of that, all but the ground; else it.

        Lowest and highest, (3,) each in the world [m].
        """
        shapes = self._shapes
        for chosen in (~shapes.ground & (self._joints[shapes.body] > 0), ~shapes.ground, shapes.ground):
            if chosen.any():
                break
        body = shapes.body[chosen]
        points = np.einsum("tij,tcj->tci", bodies[0][body], shapes.corners[chosen]) + bodies[1][body][:, None]
        return points.min(axis=(0, 1), initial=1e9), points.max(axis=(0, 1), initial=-1e9)

    def view(self, joints: Placements) -> tuple[Camera, Array]:
        """Return the scene's camera, or one that sees all, and the point that it looks at, (3,) in the world [m]."""
        bodies = self._bodies(joints)
        camera = self._camera(None, None, bodies)
        eye, ahead = camera.placement.translation, -camera.placement.rotation[:, 2]
        low, high = self._extent(bodies)
        return camera, eye + max(float(ahead @ (0.5 * (low + high) - eye)), 0.1) * ahead

    def image(
        self, joints: Placements, camera: Camera | None, size: tuple[int, int], body: str | None
    ) -> NDArray[np.uint8]:
        """See :meth:`~humanoid_sim.readings.Readings.image`; ``joints`` are the placements of the joint frames."""
        bodies = self._bodies(joints)
        colour = take_picture(
            self._shapes, *bodies, self._camera(camera, body, bodies), size, self._world.scene.lights
        )
        return np.round(255.0 * colour).astype(np.uint8)

    def depth(
        self, joints: Placements, camera: Camera | None, size: tuple[int, int], body: str | None
    ) -> tuple[Array, NDArray[np.int64]]:
        """See :meth:`~humanoid_sim.readings.Readings.depth_image`; ``joints`` as in :meth:`image`."""
        bodies = self._bodies(joints)
        return take_depth(self._shapes, *bodies, self._camera(camera, body, bodies), size)
