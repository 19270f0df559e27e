# SPDX-License-Identifier: Apache-2.0
"""Pictures and films of a simulation, and who looks on while it runs."""

from __future__ import annotations

import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.arrays import Array
from humanoid_model.description import Shape
from humanoid_model.errors import InputError
from humanoid_model.sensor import Camera
from humanoid_sim.imaging.picture import DrawnShapes, take_depth, take_picture
from humanoid_sim.world.world import World

if TYPE_CHECKING:
    from PIL.Image import Image
    from typing_extensions import Self


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


class Viewer(ABC):
    """Looks at a simulation every so many steps, until it is closed; a ``with`` block closes it at its end.

    Attributes:
        left: steps until it looks again, 1 or more.
    """

    def __init__(self, viewers: list[Viewer], period: int) -> None:
        """Begin to look.

        Args:
            viewers: of the simulation; it is among them until it is closed.
            period: steps from one look to the next, 1 or more.
        """
        self._viewers, self._period = viewers, period
        self.left = period
        viewers.append(self)

    def passed(self, steps: int, time: float, joints: Callable[[], Placements]) -> None:
        """Look if it is time to, after some steps were made: at a simulated time [s], with the joint frames then."""
        self.left -= steps
        if self.left <= 0:
            self.left = self._period
            self.look(time, joints())

    @abstractmethod
    def look(self, time: float, joints: Placements) -> None:
        """Look at the present; the arrays hold only now."""

    def close(self) -> None:
        """Look no more. Once more does nothing."""
        if self in self._viewers:
            self._viewers.remove(self)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it, whatever happened."""
        self.close()


FORMATS = (".gif", ".webp")
"""Moving pictures that browsers show."""
COLOURS = 256


class Film(Viewer):
    """Pictures of a run at equal times, written when it is closed: see ``Simulation.film``.

    Attributes:
        path: of the file.
        count: of pictures taken so far.
    """

    def __init__(
        self,
        viewers: list[Viewer],
        picture: Callable[[Placements], NDArray[np.uint8]],
        path: str | Path,
        period: int,
        duration: float,
    ) -> None:
        """Check where it goes, before the run is made.

        Args:
            viewers: of the simulation.
            picture: draws the bodies with the joint frames where they are told, (height, width, 3).
            path: of the file.
            period: steps from one picture to the next, 1 or more.
            duration: how long each is shown [s].

        Raises:
            InputError: the file can't be written, or its ending is none of :data:`FORMATS`.
        """
        self.path = check_film(path)
        self._picture, self._duration = picture, duration
        self.count = 0
        self._pictures: list[tuple[bytes, tuple[int, ...]]] = []
        super().__init__(viewers, period)

    def look(self, time: float, joints: Placements) -> None:
        """Take a picture; it is kept packed, as a minute of them would fill the memory."""
        picture = self._picture(joints)
        self.count += 1
        self._pictures.append((zlib.compress(picture.tobytes(), 1), picture.shape))

    def close(self) -> None:
        """Write what was taken.

        Raises:
            InputError: the file can't be written any more.
        """
        super().close()
        if not self._pictures:
            return
        frames = self._frames()
        first = next(frames)
        # Browsers know hundredths of a second in GIF, and slow down what is shown for less than two.
        milliseconds = max(20, 10 * round(100.0 * self._duration))
        try:
            first.save(self.path, save_all=True, append_images=frames, duration=milliseconds, loop=0)
        except OSError as problem:
            raise InputError(
                f"the film can't be written: {problem}", source=self.path, remedy="Give a place with room for it"
            ) from problem
        self._pictures.clear()

    def _frames(self) -> Iterator[Image]:
        from PIL import Image

        def unpack(number: int) -> Image.Image:
            packed, shape = self._pictures[number]
            return Image.fromarray(np.frombuffer(zlib.decompress(packed), np.uint8).reshape(shape))

        if self.path.suffix.lower() != ".gif":
            yield from map(unpack, range(self.count))
            return
        # One palette for all, so that what stands still stays the same and takes no room.
        palette = unpack(self.count // 2).quantize(COLOURS, Image.Quantize.FASTOCTREE)
        for number in range(self.count):
            yield unpack(number).quantize(palette=palette, dither=Image.Dither.NONE)


def check_film(path: str | Path) -> Path:
    """Return the path of a film.

    Raises:
        InputError: its ending is none of :data:`FORMATS`, or it can't be written.
    """
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"is '{path}'", element="path", remedy=f"Give a file that ends in {', '.join(FORMATS)}")
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError("can't be written", source=path, element="path", remedy="Give a file in a folder that exists")
    return path
