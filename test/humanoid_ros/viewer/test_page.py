# SPDX-License-Identifier: Apache-2.0
"""The page listens where it is told, or says why it can't."""

import socket
import urllib.request

import numpy as np
import pytest
from fixtures.page_client import PageClient, wait_for

from humanoid_model.errors import InputError
from humanoid_ros.demo.headless_browser import HeadlessBrowser, find_browser
from humanoid_ros.viewer.camera import Camera
from humanoid_ros.viewer.entrance import page_token
from humanoid_ros.viewer.page import Page


def test_page_is_served_on_this_machine_only(page: Page) -> None:
    assert page.address.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(page.address, timeout=10) as answer:
        assert b"<html" in answer.read().lower()
    listening = page.server._websock_server._host
    assert listening == "127.0.0.1"


def test_port_in_use_is_refused_by_number() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"can't listen on 127.0.0.1:{port}"):
            Page(port=port)


def test_foreign_host_is_refused() -> None:
    with pytest.raises(InputError, match=r"can't listen on 192\.0\.2\.1"):
        Page(host="192.0.2.1", port=0)


def test_nobody_can_ask_for_a_tunnel_to_the_outside(page: Page) -> None:
    assert page.server.request_share_url() is None


@pytest.mark.skipif(find_browser() is None, reason="needs a browser: apt install chromium")
def test_a_browser_asks_nobody_else_for_anything(page: Page) -> None:
    page.lights.set(())
    with HeadlessBrowser(320, 240) as browser:
        browser.open(page.address)
        browser.wait_for("document.querySelector('canvas') !== null")
        browser.wait_for_frames(5)
        asked = browser.evaluate("performance.getEntriesByType('resource').map((entry) => entry.name)")
    own = page.address.partition("?")[0]
    foreign = [address for address in asked if not address.startswith((own, "blob:", "data:"))]
    assert foreign == []


def test_nothing_beside_the_page_is_served(page: Page) -> None:
    port, token = page.server.get_port(), page_token()
    for path in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/etc/passwd"):
        path = f"/{token}{path}"
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
            answer = b""
            while part := connection.recv(65536):
                answer += part
        assert answer.startswith(b"HTTP/1.1 404"), path
        assert b"root:" not in answer, path


def test_camera_sees_the_whole_of_what_it_looks_at(page: Page) -> None:
    centre, height = np.array([1.0, 2.0, 0.8]), 1.6
    page.look_through(Camera.framing(centre, height))
    camera = page.server.initial_camera
    distance = np.linalg.norm(np.array(camera.position) - centre)
    assert 2.0 * distance * np.tan(0.5 * camera.fov) > 1.1 * height
    assert camera.position[2] > centre[2]


def test_closed_page_frees_its_port() -> None:
    page = Page(port=0)
    port = page.server.get_port()
    page.close()
    again = Page(port=port)
    again.close()


def look(browser: PageClient, position: tuple[float, ...], at: tuple[float, ...]) -> None:
    browser.send(
        "ViewerCameraMessage", wxyz=(1, 0, 0, 0), position=position, fov=1.0, near=0.1, far=10.0, image_height=10,
        image_width=10, look_at=at, up_direction=(0, 0, 1),
    )  # fmt: skip


@pytest.mark.feature("002-F141", "002-F142", "002-F143")
def test_browsers_have_views_of_their_own_unless_one_is_the_right_eye_of_the_other(page: Page) -> None:
    first, second = PageClient(page.address), PageClient(page.address)
    try:
        wait_for(lambda: len(page.server.get_clients()) == 2, "both are there")
        left, right = (client for _, client in sorted(page.server.get_clients().items()))
        told = {"SetCameraPositionMessage", "SetCameraLookAtMessage"}
        wait_for(lambda: told <= {*first.settings} & {*second.settings}, "both are told where the camera begins")
        first.settings.clear()
        second.settings.clear()
        look(first, (3.0, 0.0, 1.0), (0.0, 0.0, 1.0))
        look(second, (0.0, 0.0, 6.0), (1.0, 0.0, 0.0))
        wait_for(lambda: left.camera.position[0] == 3.0 and right.camera.position[2] == 6.0, "both looked elsewhere")
        assert not {*first.settings, *second.settings} & told
        page.stereo = True
        wait_for(lambda: "SetCameraLookAtMessage" in second.settings, "the right eye is told")
        # The eyes are 3 m / 30 apart: seen from +x, right is +y.
        np.testing.assert_allclose(right.camera.position, [3.0, 0.1, 1.0], atol=1e-9)
        look(first, (0.0, -6.0, 1.0), (0.0, 0.0, 1.0))
        wait_for(lambda: np.allclose(right.camera.position, [0.2, -6.0, 1.0]), "it follows the left one")
        page.stereo = False
        look(first, (3.0, 0.0, 1.0), (0.0, 0.0, 1.0))
        wait_for(lambda: left.camera.position[0] == 3.0, "the left eye looks elsewhere")
        np.testing.assert_allclose(right.camera.position, [0.2, -6.0, 1.0])
    finally:
        first.close()
        second.close()
