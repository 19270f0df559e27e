# SPDX-License-Identifier: Apache-2.0
"""The cameras of the browsers go with a robot."""

from __future__ import annotations

from collections import deque

import numpy as np
import viser

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
