# SPDX-License-Identifier: Apache-2.0
"""Where the view is seen from, and how the cameras of the browsers go with a robot."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
import viser

from humanoid_model.sensor import FIELD_OF_VIEW
from humanoid_model.sensor import Camera as SceneCamera

EYES = 1.0 / 30.0
"""Distance of the eyes over that of what is looked at, which photographers take for comfortable."""
UPRIGHT = 1e-6
"""A camera whose right is level up to this stands upright [-]."""


@dataclass(frozen=True)
class Camera:
    """A camera.

    Attributes:
        position: (3,) world frame [m].
        look_at: (3,) point in the middle of the picture [m].
        field_of_view: Vertical angle of the picture [rad].
        up: (3,) What is up in the picture, and what the view is turned about; the world's z axis for an upright one.
    """

    position: np.ndarray
    look_at: np.ndarray
    field_of_view: float = FIELD_OF_VIEW
    up: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))

    @classmethod
    def framing(cls, centre: np.ndarray, height: float) -> Camera:
        """Return a camera that sees the whole of something.

        Args:
            centre: (3,) middle of it [m].
            height: Its largest size [m].
        """
        return cls(np.array(SceneCamera.framing(centre, height).placement.translation), np.array(centre))

    @classmethod
    def placed(cls, placement: pin.SE3, centre: np.ndarray) -> Camera:
        """Return a camera at a place, which turns about the point of its view that is next to something.

        Args:
            placement: Of the camera in the world, looking along its -z, y up.
            centre: (3,) middle of what it looks at [m].
        """
        right, up, back = np.array(placement.rotation).T
        position = np.array(placement.translation)
        depth = float((position - centre) @ back)
        level = abs(right[2]) < UPRIGHT and up[2] > UPRIGHT
        return cls(
            position,
            position - (depth if depth > 0.1 else 1.0) * back,
            up=np.array([0.0, 0.0, 1.0]) if level else up,
        )

    @property
    def right_eye(self) -> Camera:
        """The camera of the right eye, if this is the left: beside it, looking in parallel."""
        forward = self.look_at - self.position
        right = np.cross(forward, self.up)
        shift = EYES * np.linalg.norm(forward) * right / np.linalg.norm(right)
        return Camera(self.position + shift, self.look_at + shift, self.field_of_view, self.up)

    @property
    def scene_camera(self) -> SceneCamera:
        """The same camera as a scene has it."""
        back = self.position - self.look_at
        back = back / np.linalg.norm(back)
        right = np.cross(self.up, back)
        right /= np.linalg.norm(right)
        placement = pin.SE3(np.column_stack([right, np.cross(back, right), back]), self.position)
        return SceneCamera(placement, self.field_of_view)

    def project(self, points: np.ndarray, width: int, height: int) -> np.ndarray:
        """Return pixels of points.

        Args:
            points: (..., 3) world frame [m].
            width: Of the picture [px].
            height: Of the picture [px].

        Returns:
            (..., 3) column, row and depth [m]; a depth of zero or less lies behind the camera.
        """
        axes = self.scene_camera.placement.rotation.T * np.array([[1.0], [-1.0], [-1.0]])
        local = (points - self.position) @ axes.T
        depth = local[..., 2:]
        focal = 0.5 * height / np.tan(0.5 * self.field_of_view)
        with np.errstate(divide="ignore", invalid="ignore"):
            pixels = focal * local[..., :2] / depth + 0.5 * np.array([width, height])
        return np.concatenate([pixels, depth], axis=-1)


SMOOTH = 0.3
"""Time in which the cameras come by two thirds to where the robot is [s]: steps don't shake the picture."""
LEAST = 1e-3
"""Cameras aren't told of shorter ways [m]."""
ECHO = 1e-4
"""A browser's camera that is so near to where it was put is there by that, not by its person [m]."""
ECHOES = 100
"""So many places are remembered: a browser tells where it is a few drawings later."""


class Following:
    """Moves each browser's camera as far as a robot moves; how it looks at the robot is its person's.

    Args:
        server: of the page.

    Attributes:
        on: whether cameras follow.
    """

    def __init__(self, server: viser.ViserServer) -> None:
        self.on = False
        self._server = server
        self._anchor: np.ndarray | None = None
        self._told = np.zeros(3)
        self._at = 0.0
        self._views: dict[int, _View] = {}

    def update(self, place: np.ndarray | None, now: float) -> None:
        """Go where the robot is.

        Args:
            place: (3,) of the robot in the world [m]; None where there is none.
            now: monotonic time [s].
        """
        elapsed, self._at = now - self._at, now
        if not self.on or place is None:
            self._anchor = None
            self._views.clear()
            return
        if self._anchor is None:
            self._anchor = self._told = place.copy()
        self._anchor = self._anchor + (1.0 - np.exp(-elapsed / SMOOTH)) * (place - self._anchor)
        clients = self._server.get_clients()
        self._views = {number: self._views.get(number) or _View() for number in clients}
        for number, client in clients.items():
            self._views[number].look(client.camera, self._told)
        if np.linalg.norm(self._anchor - self._told) < LEAST:
            return
        self._told = self._anchor
        for number, client in clients.items():
            with client.atomic():
                self._views[number].move(client.camera, self._told)


class _View:
    """Where one browser looks at the robot from.

    What a browser tells of its camera is older than what it was told: places are taken from the robot, and what comes
    back of them is left alone.
    """

    def __init__(self) -> None:
        self._away: np.ndarray | None = None
        self._told: deque[np.ndarray] = deque(maxlen=ECHOES)

    def look(self, camera: viser.CameraHandle, anchor: np.ndarray) -> None:
        """Take how the camera is placed, if its person has placed it."""
        both = np.array([camera.position, camera.look_at])
        # The two are told one after the other, and come back so.
        near = np.array([np.abs(both - told).max(axis=1) < ECHO for told in self._told]).reshape(-1, 2)
        if self._away is None or not near.any(axis=0).all():
            self._away = both - anchor
            self._told.append(both)

    def move(self, camera: viser.CameraHandle, anchor: np.ndarray) -> None:
        """Place the camera as it was to where the robot is."""
        assert self._away is not None
        both = self._away + anchor
        self._told.append(both)
        camera.position, camera.look_at = both
