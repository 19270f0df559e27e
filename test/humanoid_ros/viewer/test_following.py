# SPDX-License-Identifier: Apache-2.0
"""Cameras go as far as the robot goes, and stay their persons' own."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest
from fixtures.page_client import PageClient, wait_for
from numpy.typing import ArrayLike

from humanoid_ros.viewer.following import Following
from humanoid_ros.viewer.page import Page

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
