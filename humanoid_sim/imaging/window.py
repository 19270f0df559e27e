# SPDX-License-Identifier: Apache-2.0
"""A window in the browser on a running simulation: no ROS, no graphics card; see ``Simulation.show``."""

from __future__ import annotations

import io
import math
import os
import secrets
import sys
import threading
import time
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_model.sensor import Camera
from humanoid_sim.imaging.film import Pictures, Placements, Viewer

NEWS = 0.5
"""A browser that has seen the present is answered after so long at the latest [s]."""
SHOWN = 25.0
"""How often the present is new, of a second at the pace that was asked for [Hz]."""
LATE = 0.2
"""A simulation that is later than this doesn't try to catch up [s]."""
STEEPEST = 1.5
"""Elevation of the camera, up or down [rad]."""
MAX_SIDE = 2000
"""Of a picture [px]."""


class Window(Viewer):
    """A page on this machine that draws the present from where each browser wants to see it.

    Attributes:
        address: where to point a browser; who doesn't know it sees nothing.
    """

    def __init__(
        self,
        viewers: list[Viewer],
        pictures: Pictures,
        joints: Placements,
        time: float,
        period: tuple[int, float],
        pace: float,
        port: int,
    ) -> None:
        """Open it on the present.

        Args:
            viewers: of the simulation.
            pictures: draws.
            joints: placements of the joint frames.
            time: simulated [s].
            period: steps from one look to the next, and what time that is [s].
            pace: simulated seconds per second; 0: as fast as possible.
            port: TCP port; 0 takes any free one.

        Raises:
            InputError: the port can't be listened on.
        """
        self._pictures, self._pace, self._seconds = pictures, pace, period[1]
        self._camera, self._target = pictures.view(joints)
        self._present, self._version = (joints[0].copy(), joints[1].copy(), time), 0
        self._news, self._closed = threading.Condition(), threading.Event()
        self._last = (math.nan, math.nan)
        word = secrets.token_urlsafe(16)
        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), _answering(self, word))
        except (OSError, OverflowError) as problem:
            raise InputError(
                f"port {port} can't be listened on: {problem}", element="port", remedy="Give another one, or 0 for any"
            ) from problem
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/{word}/"
        threading.Thread(target=self._server.serve_forever, name="window", daemon=True).start()
        super().__init__(viewers, period[0])

    def look(self, time: float, joints: Placements) -> None:
        """Show the present, and wait until it is time for it."""
        with self._news:
            self._present = joints[0].copy(), joints[1].copy(), time
            self._version += 1
            self._news.notify_all()
        if self._pace > 0.0:
            self._wait(time)

    def _wait(self, simulated: float) -> None:
        """Keep pace; a simulation that was slow, stood still or went back goes on from here."""
        now = time.monotonic()
        begun, at = self._last
        due = begun + (simulated - at) / self._pace
        # After a reset or a pause nothing is caught up with; what came a little late is.
        if now < due <= now + 2.0 * self._seconds / self._pace:
            time.sleep(due - now)
        elif not due > now - LATE:
            due = now
        self._last = due, simulated

    def wait(self) -> None:
        """Keep it open until Ctrl-C, at the end of a program."""
        try:
            while not self._closed.wait(0.2):
                pass
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Close it; the simulation runs at its own pace again."""
        super().close()
        if not self._closed.is_set():
            self._closed.set()
            self._server.shutdown()
            self._server.server_close()

    def picture(self, asked: dict[str, float]) -> tuple[bytes, float, int]:
        """Draw the present as JPEG, once there is something new to draw.

        Args:
            asked: ``width`` and ``height`` [px]; ``turn`` and ``rise`` of the camera about what it looks at [rad];
                ``away``, by what factor it is farther; ``right`` and ``up``, by which share of the distance what it
                looks at is moved; ``seen``, the number of the last picture.

        Returns:
            The file, the simulated time [s] and its number.
        """
        from PIL import Image

        with self._news:
            self._news.wait_for(lambda: self._version != asked.get("seen", -1.0), NEWS)
            (R, p, simulated), version = self._present, self._version
        size = tuple(int(min(max(asked.get(side, 480.0), 16.0), MAX_SIDE)) for side in ("width", "height"))
        image = self._pictures.image((R, p), self._seen_from(asked), (size[0], size[1]), None)
        file = io.BytesIO()
        Image.fromarray(image).save(file, "JPEG", quality=85)
        return file.getvalue(), simulated, version

    def _seen_from(self, asked: dict[str, float]) -> Camera:
        """Return the camera after what a person has turned and moved."""
        away: Array = self._camera.placement.translation - self._target
        distance = float(np.linalg.norm(away)) * min(max(asked.get("away", 1.0), 0.05), 20.0)
        turn = math.atan2(away[1], away[0]) + asked.get("turn", 0.0)
        rise = math.atan2(away[2], math.hypot(away[0], away[1])) + asked.get("rise", 0.0)
        rise = min(max(rise, -STEEPEST), STEEPEST)
        back = np.array([math.cos(rise) * math.cos(turn), math.cos(rise) * math.sin(turn), math.sin(rise)])
        right = np.array([-math.sin(turn), math.cos(turn), 0.0])
        moved = distance * (asked.get("right", 0.0) * right + asked.get("up", 0.0) * np.cross(back, right))
        target = self._target + moved
        return Camera.looking_at(target + distance * back, target, self._camera.field_of_view)


def open_browser(address: str) -> None:
    """Say where a page is, and open it where there is a screen: browsers of a terminal would take it over."""
    print(f"The window is at {address}", flush=True)
    if sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)


def _answering(window: Window, word: str) -> type[BaseHTTPRequestHandler]:
    """Return what answers browsers that know a word."""
    page = Path(__file__).with_name("window.html").read_bytes()

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            if asked.path == f"/{word}/":
                self._send(page, "text/html; charset=utf-8")
            elif asked.path == f"/{word}/picture":
                try:
                    given = {name: float(values[0]) for name, values in parse_qs(asked.query).items()}
                    if not all(map(math.isfinite, given.values())):
                        raise ValueError
                except ValueError:
                    self.send_error(400)
                    return
                file, simulated, version = window.picture(given)
                self._send(file, "image/jpeg", time=f"{simulated:.2f}", version=str(version))
            else:
                self.send_error(404)

        def _send(self, content: bytes, kind: str, **more: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Cache-Control", "no-store")
            for name, value in more.items():
                self.send_header(f"X-{name}", value)
            self.end_headers()
            try:
                self.wfile.write(content)
            except OSError:
                self.close_connection = True  # the browser has gone

        def log_message(self, format: str, *arguments: Any) -> None:
            """Fill no terminal with every picture."""

    return Answering
