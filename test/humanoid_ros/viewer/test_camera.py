# SPDX-License-Identifier: Apache-2.0
"""The place that the view is seen from, and cameras that go with a robot."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pinocchio as pin
import pytest
from fixtures.page_client import PageClient, wait_for
from numpy.typing import ArrayLike

from humanoid_ros.viewer.camera import Camera, Following
from humanoid_ros.viewer.page import Page


def test_projection_of_a_camera_along_x() -> None:
    camera = Camera(np.array([-2.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]), np.pi / 2)
    points = np.array([[0.0, 0.0, 1.0], [0.0, 2.0, 1.0], [0.0, 0.0, 2.0], [-4.0, 0.0, 1.0]])
    pixels = camera.project(points, 400, 200)
    # 90 degrees over 200 rows: at 2 m depth 1 m is 50 px; left is +y, up is +z.
    np.testing.assert_allclose(pixels[0], [200, 100, 2])
    np.testing.assert_allclose(pixels[1], [100, 100, 2])
    np.testing.assert_allclose(pixels[2], [200, 50, 2])
    assert pixels[3, 2] < 0


def test_framing_shows_top_and_bottom_with_a_margin() -> None:
    centre = np.array([3.0, -1.0, 0.8])
    ends = centre + np.array([[0.0, 0.0, -0.8], [0.0, 0.0, 0.8]])
    rows = Camera.framing(centre, 1.6).project(ends, 1600, 900)[:, 1]
    assert 60 < rows.min() < 200
    assert 700 < rows.max() < 840


def test_a_placed_camera_turns_about_what_is_next_to_its_view() -> None:
    """It looks along +x from the origin; what lies behind it leaves the point a metre ahead."""
    along_x = pin.SE3(np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), np.zeros(3))
    for centre, at in (([3.0, 0.5, 1.0], 3.0), ([-2.0, 0.0, 0.0], 1.0)):
        camera = Camera.placed(along_x, np.array(centre))
        np.testing.assert_allclose(camera.look_at, [at, 0.0, 0.0], atol=1e-12)
        np.testing.assert_array_equal(camera.up, [0.0, 0.0, 1.0])
    upside_down = Camera.placed(along_x * pin.SE3(pin.utils.rotate("z", np.pi), np.zeros(3)), np.array([3.0, 0.0, 0.0]))
    np.testing.assert_allclose(upside_down.up, [0.0, 0.0, -1.0], atol=1e-12)
    ((column, row, _),) = upside_down.project(np.array([[3.0, 0.0, 0.5]]), 400, 200)
    assert column == 200.0
    assert row > 100.0  # what is up is below


@pytest.mark.feature("002-F143")
def test_the_right_eye_is_beside_the_left_and_looks_the_same_way() -> None:
    left = Camera(np.array([3.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0]))
    right = left.right_eye
    np.testing.assert_allclose(right.position - left.position, [0.0, 0.1, 0.0], atol=1e-12)  # seen from +x, y is right
    np.testing.assert_allclose(right.look_at - right.position, left.look_at - left.position)
    # What is nearer than what is looked at is further left for the right eye: a larger disparity.
    near, far = (left.project(p, 100, 100)[0] - right.project(p, 100, 100)[0] for p in ([1.0, 0, 1], [-3.0, 0, 1]))
    assert near > far > 0.0


WAY = np.array([1.0, 0.5, 0.1])
POSITION, LOOK_AT = np.array([2.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0])
"""Of the browser's camera at first [m]."""
LONG = 100.0
"""A time in which the camera has come to where the robot is [s]."""


@pytest.fixture
def browser(page: Page) -> Iterator[PageClient]:
    """A browser."""
    client = PageClient(page.address)
    wait_for(page.server.get_clients, "it is there")
    look(page, client, POSITION, LOOK_AT)
    yield client
    client.close()


def look(page: Page, browser: PageClient, position: ArrayLike, look_at: ArrayLike) -> None:
    """Let the browser's person look from a place at another one."""
    at, point = (np.asarray(each, dtype=float).tolist() for each in (position, look_at))
    browser.send(
        "ViewerCameraMessage", wxyz=(1, 0, 0, 0), position=at, fov=1.0, near=0.1, far=10.0, image_height=10,
        image_width=10, look_at=point, up_direction=(0, 0, 1),
    )  # fmt: skip
    (client,) = page.server.get_clients().values()
    wait_for(lambda: np.allclose(client.camera.position, position), "the page knows")


def camera(browser: PageClient) -> tuple[list[float], list[float]]:
    settings = browser.settings
    return settings["SetCameraPositionMessage"]["position"], settings["SetCameraLookAtMessage"]["look_at"]


def wait_until_at(browser: PageClient, position: ArrayLike, look_at: ArrayLike) -> None:
    asked = np.array([position, look_at])
    wait_for(lambda: np.allclose(camera(browser), asked, rtol=0.0, atol=1e-6), f"the camera is at {asked}")


def test_the_camera_comes_smoothly_to_where_the_robot_is(page: Page, browser: PageClient) -> None:
    following = Following(page.server)
    following.on = True
    browser.settings.clear()
    following.update(np.zeros(3), 0.0)
    following.update(WAY, 0.3)
    share = 1.0 - np.exp(-1.0)
    wait_until_at(browser, POSITION + share * WAY, LOOK_AT + share * WAY)
    following.update(WAY, LONG)
    wait_until_at(browser, POSITION + WAY, LOOK_AT + WAY)


@pytest.mark.feature("000-F019")
def test_what_a_person_does_to_the_camera_meanwhile_stays(page: Page, browser: PageClient) -> None:
    following = Following(page.server)
    following.on = True
    following.update(np.zeros(3), 0.0)
    following.update(WAY, LONG)
    look(page, browser, [1.0, 3.0, 2.0], [1.0, 0.5, 1.0])
    following.update(2.0 * WAY, 2.0 * LONG)
    wait_until_at(browser, np.array([1.0, 3.0, 2.0]) + WAY, np.array([1.0, 0.5, 1.0]) + WAY)


@pytest.mark.feature("000-F019")
def test_what_comes_back_late_of_where_the_camera_was_put_is_no_persons(page: Page, browser: PageClient) -> None:
    """Taken for a person's, each would leave the camera behind by as much as the robot has moved meanwhile."""
    following = Following(page.server)
    following.on = True
    following.update(np.zeros(3), 0.0)
    for step in range(1, 4):
        following.update(step * WAY, step * LONG)
    # Of the first step, and of one whose point looked at is later than its place.
    look(page, browser, POSITION + WAY, LOOK_AT + WAY)
    following.update(4.0 * WAY, 4.0 * LONG)
    look(page, browser, POSITION + 3.0 * WAY, LOOK_AT + 4.0 * WAY)
    following.update(5.0 * WAY, 5.0 * LONG)
    wait_until_at(browser, POSITION + 5.0 * WAY, LOOK_AT + 5.0 * WAY)


def test_off_the_camera_stays_and_on_again_it_does_not_jump(page: Page, browser: PageClient) -> None:
    following = Following(page.server)
    following.update(np.zeros(3), 0.0)
    following.update(WAY, LONG)
    following.on = True
    following.update(WAY, 2.0 * LONG)
    following.update(None, 3.0 * LONG)
    following.update(3.0 * WAY, 4.0 * LONG)
    browser.settings.clear()
    following.update(3.0 * WAY + [0.0, 0.0, 0.2], 5.0 * LONG)
    wait_until_at(browser, [2.0, 0.0, 1.2], [0.0, 0.0, 1.2])
    browser.settings.clear()
    following.on = False
    following.update(np.zeros(3), 6.0 * LONG)
    time.sleep(0.3)
    assert not browser.settings
