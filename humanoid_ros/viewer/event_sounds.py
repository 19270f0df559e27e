# SPDX-License-Identifier: Apache-2.0
"""Sounds of what comes into the way, from where it is as each browser sees it (specification 002, F-154)."""

from __future__ import annotations

import base64
import io
import time
import wave

import numpy as np
import viser

RATE = 22050
"""Samples per second [Hz]."""
LENGTH, PITCH, DECAY = 0.16, 520.0, 0.05
"""Of a sound [s], [Hz], time in which it falls to a third [s]."""
LOUDEST = 0.5
PAUSE = 0.3
"""Sounds are so far apart at least [s]."""


def event_sound(place: np.ndarray, position: np.ndarray, right: np.ndarray, reach: float) -> np.ndarray:
    """Return a short sound as heard from a camera: louder on the side where it comes from, softer from afar.

    Args:
        place: (3,) of what sounds, in the world [m].
        position: (3,) of the camera [m].
        right: (3,) the camera's right, of length 1.
        reach: distance at which it is half as loud [m].

    Returns:
        (n, 2) samples of the left and right ear, in [-1, 1].
    """
    away = place - position
    distance = float(np.linalg.norm(away))
    side = float(away @ right) / max(distance, 1e-9)
    angle = 0.25 * np.pi * (1.0 + side)  # of equal power: 0 is left, a quarter of a turn right
    t = np.arange(round(LENGTH * RATE)) / RATE
    tone = LOUDEST / (1.0 + distance / reach) * np.exp(-t / DECAY) * np.sin(2.0 * np.pi * PITCH * t)
    return np.outer(tone, [np.cos(angle), np.sin(angle)])


class EventSounds:
    """Plays sounds in all browsers of a page, once a person has asked for them.

    Args:
        server: of the page.

    Attributes:
        heard: whether sounds are played.
    """

    def __init__(self, server: viser.ViserServer) -> None:
        self.heard = False
        self._server = server
        self._players: dict[int, viser.GuiHtmlHandle] = {}
        self._played_at = -np.inf
        self._count = 0

    def play(self, place: np.ndarray) -> None:
        """Play the sound of an event at a place (3,) of the world [m], unless another has just been played."""
        now = time.monotonic()
        if not self.heard or now - self._played_at < PAUSE:
            return
        self._played_at = now
        self._count += 1
        clients = self._server.get_clients()
        self._players = {number: player for number, player in self._players.items() if number in clients}
        for number, client in clients.items():
            forward = client.camera.look_at - client.camera.position
            right = np.cross(forward, client.camera.up_direction)
            size = float(np.linalg.norm(right))
            right = right / size if size > 0.0 else np.zeros(3)
            samples = event_sound(place, client.camera.position, right, max(float(np.linalg.norm(forward)), 1e-3))
            # A count, so that the same sound is another element, which begins to play.
            content = f'<audio autoplay data-count="{self._count}" src="data:audio/wav;base64,{_wav(samples)}"></audio>'
            if number in self._players:
                self._players[number].content = content
            else:
                self._players[number] = client.gui.add_html(content)


def _wav(samples: np.ndarray) -> str:
    """Return samples as a WAV file in base 64."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(2)
        writer.setsampwidth(2)
        writer.setframerate(RATE)
        writer.writeframes(np.round(32767.0 * samples).astype("<i2").tobytes())
    return base64.b64encode(file.getvalue()).decode()
