# SPDX-License-Identifier: Apache-2.0
"""The web page of the view: server, look, and the lights of a scene."""

from __future__ import annotations

import contextlib
import io
import logging
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import viser
import websockets.asyncio.server

from humanoid_model.errors import InputError
from humanoid_model.scene import Light
from humanoid_ros.viewer.camera import Camera
from humanoid_ros.viewer.entrance import LARGEST_MESSAGE, BrowserConnection, Entrance, page_address, page_token

FULL = np.pi
"""Intensity at which a white surface that faces a light is white, as in OpenGL: reflection divides by pi here."""
FAR = 100.0
"""Distance of a light that only has a direction [m]: it shines towards the origin. Shadows reach 500 m from it."""


class Lights:
    """The page's own light, or the lights of a scene with OpenGL's law: no loss over the distance.

    The first one casts shadows, as in pictures of the simulator; one that only has a direction does within 5 m of the
    origin. What the page's renderer has no place for: the specular colour (a surface reflects the diffuse one by its
    roughness) and the opacity of a light.

    Args:
        scene: Scene of the page.
    """

    def __init__(self, scene: viser.SceneApi) -> None:
        self._scene = scene
        self._drawn: list[viser.SceneNodeHandle] = []
        self.set(())

    def set(self, lights: Sequence[Light]) -> None:
        """Light the page with some lights, or with its own if there are none."""
        for handle in self._drawn:
            handle.remove()
        self._drawn = []
        own = not lights
        self._scene.configure_default_lights(enabled=own, cast_shadow=True)
        self._scene.configure_environment_map("studio" if own else None, environment_intensity=0.35)
        for number, light in enumerate(lights):
            ambient, ambient_intensity = colour_and_intensity(light.ambient)
            diffuse, diffuse_intensity = colour_and_intensity(light.diffuse)
            path = f"/light_{number}"  # of its own, so that nothing is left of it
            self._drawn.append(
                self._scene.add_light_ambient(f"{path}_ambient", color=ambient, intensity=ambient_intensity)
            )
            if light.position[3] == 0.0:
                direction = light.position[:3] / np.linalg.norm(light.position[:3])
                self._drawn.append(
                    self._scene.add_light_directional(
                        f"{path}_diffuse",
                        color=diffuse,
                        intensity=diffuse_intensity,
                        cast_shadow=number == 0,
                        position=tuple((FAR * direction).tolist()),
                    )
                )
            else:
                place = light.position[:3] / light.position[3]
                self._drawn.append(
                    self._scene.add_light_point(
                        f"{path}_diffuse",
                        color=diffuse,
                        intensity=diffuse_intensity,
                        decay=0.0,
                        cast_shadow=number == 0,
                        position=tuple(place.tolist()),
                    )
                )


def colour_and_intensity(rgba: np.ndarray) -> tuple[tuple[int, int, int], float]:
    """Return light's colour as bytes, the largest full, and its intensity; (4,) red, green, blue, a."""
    rgb = np.maximum(rgba[:3], 0.0)
    largest = float(rgb.max())
    if largest == 0.0:
        return (0, 0, 0), 0.0
    r, g, b = np.round(255.0 * rgb / largest).astype(int).tolist()
    return (r, g, b), FULL * largest


TITLE = "humanoid_stack"
GRID_LIFT = 1e-3
"""Height of the grid: over the top of a floor at height 0 that is drawn too [m]."""
PORT, LAST_PORT = 8080, 65535
"""Where a page listens unless it is told otherwise; the last port there is."""
BRAND = (33, 92, 168)
FLOOR_COLOUR = (226, 229, 233)
CELL_COLOUR = (203, 207, 212)
SECTION_COLOUR = (150, 156, 163)

_starting = threading.Lock()
_quiet = logging.getLogger(__name__)
# Who only knocks fills no log; the entrance tells of who is refused.
_quiet.addFilter(lambda record: record.getMessage() != "opening handshake failed")


class _LocalServer(viser.ViserServer):
    """Server that no page can ask to open a tunnel to the outside."""

    def request_share_url(self, verbose: bool = True) -> str | None:
        return None


class Page:
    """A page on this machine that browsers open, with a floor, light and a camera.

    Args:
        host: Address to listen on; the default is reachable from this machine only.
        port: TCP port; 0 takes any free one.
        names: Further names of this machine that browsers may come by.
        log: Takes a line for the log about who was refused; None: to the standard error.

    Attributes:
        server: The viser server; its `scene` and `gui` are what the drawings draw on.
        address: Where to point a browser, with the token that lets it in.
        watched: Whether a browser is there.
        lights: What lights it.

    Raises:
        InputError: The address or port can't be listened on, or the token that is given can't be used.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = PORT,
        names: Iterable[str] = (),
        log: Callable[[str], None] | None = None,
    ) -> None:
        token = page_token()
        _check_free(host, port)
        entrance = Entrance(host, token, names, log or (lambda line: print(line, file=sys.stderr, flush=True)))
        # viser prints a box with its address; the node says it itself.
        with contextlib.redirect_stdout(io.StringIO()), _guarded(entrance) as guarded:
            self.server = _LocalServer(host=host, port=port, label=TITLE, verbose=False)
        if not guarded:
            self.server.stop()
            raise RuntimeError("viser serves its page without asking who may come in")
        self.address = page_address(host, self.server.get_port(), token)
        self.watched = False
        self.server.gui.configure_theme(
            show_logo=False, show_share_button=False, brand_color=BRAND, control_width="medium"
        )
        self.lights = Lights(self.server.scene)
        self._floor = self.server.scene.add_grid(
            "/floor",
            width=30.0,
            height=30.0,
            cell_size=0.1,
            cell_color=CELL_COLOUR,
            cell_thickness=0.6,
            section_size=1.0,
            section_color=SECTION_COLOUR,
            section_thickness=1.0,
            plane_color=FLOOR_COLOUR,
            plane_opacity=1.0,
            shadow_opacity=0.4,
            position=(0.0, 0.0, GRID_LIFT),
        )
        self._stereo = False
        self.server.on_client_connect(self._count)
        self.server.on_client_disconnect(self._count)
        self.server.on_client_connect(self._watch)
        self.look_through(Camera.framing(np.array([0.0, 0.0, 0.75]), 1.6))

    def look_through(self, view: Camera) -> None:
        """Put the camera of present and future clients somewhere."""
        # What is looked at is never in the fog, however large it is.
        clear = max(6.0, 1.5 * float(np.linalg.norm(view.look_at - view.position)))
        self.server.scene.configure_fog(clear, 2.2 * clear, color=(255, 255, 255))
        camera = self.server.initial_camera
        camera.position, camera.look_at, camera.up = view.position, view.look_at, view.up
        camera.fov = view.field_of_view
        for client in self.server.get_clients().values():
            _look(client, view)

    @property
    def stereo(self) -> bool:
        """Whether the second browser shows what the right eye sees, and the first what the left one does."""
        return self._stereo

    @stereo.setter
    def stereo(self, stereo: bool) -> None:
        self._stereo = stereo
        for client in self.server.get_clients().values():
            self._show_right_eye(client.camera)

    async def _count(self, _: viser.ClientHandle) -> None:
        self.watched = bool(self.server.get_clients())

    def _watch(self, client: viser.ClientHandle) -> None:
        client.camera.on_update(self._show_right_eye)

    def _show_right_eye(self, camera: viser.CameraHandle) -> None:
        clients = [client for _, client in sorted(self.server.get_clients().items())]
        if self._stereo and len(clients) > 1 and camera.client is clients[0]:
            left = Camera(camera.position, camera.look_at, float(camera.fov), np.asarray(camera.up_direction))
            _look(clients[1], left.right_eye)

    @property
    def show_floor(self) -> bool:
        """Whether the grid at height 0 is shown."""
        return self._floor.visible

    @show_floor.setter
    def show_floor(self, visible: bool) -> None:
        self._floor.visible = visible

    def close(self) -> None:
        """Stop serving; browsers show that they lost the connection."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.server.stop()


def _look(client: viser.ClientHandle, view: Camera) -> None:
    """Put the camera of a client somewhere."""
    with client.atomic():
        client.camera.up_direction = view.up
        client.camera.position = view.position
        client.camera.look_at = view.look_at
        client.camera.fov = view.field_of_view


@contextlib.contextmanager
def _guarded(entrance: Entrance) -> Iterator[list[str]]:
    """Let a server that starts meanwhile ask the entrance about each request, and hear only what browsers may say.

    viser says itself to websockets what answers requests, and has no word for either.

    Yields:
        Addresses of servers that do.
    """
    serve = websockets.asyncio.server.serve
    guarded: list[str] = []

    def serve_guarded(handler: Any, host: str, port: int, *, process_request: Any = None, **options: Any) -> Any:
        if process_request is not None:  # else it is somebody else's
            guarded.append(f"{host}:{port}")
            process_request = entrance.guard(process_request)
            connection = partial(BrowserConnection, entrance.tell)
            options |= {"max_size": LARGEST_MESSAGE, "create_connection": connection, "logger": _quiet}
        return serve(handler, host, port, process_request=process_request, **options)

    with _starting:
        websockets.asyncio.server.serve = serve_guarded  # type: ignore[assignment,misc]
        try:
            yield guarded
        finally:
            websockets.asyncio.server.serve = serve  # type: ignore[misc]


def _check_free(host: str, port: int) -> None:
    """Raise an InputError unless a server can listen there.

    viser takes the next free port by itself, and waits for ever on an address that isn't ours.
    """
    if not 0 <= port <= LAST_PORT:  # the resolver would take its last 16 bits
        raise InputError(f"port is {port}", element="port", remedy=f"Give 0 to {LAST_PORT}; 0 takes any free one")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise InputError(
            f"can't listen on {host}:{port}: {error.strerror or error}",
            element="host, port",
            remedy="Use host 127.0.0.1 and a free port, or port 0 for any free one",
        ) from error
