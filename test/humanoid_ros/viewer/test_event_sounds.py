# SPDX-License-Identifier: Apache-2.0
"""What comes into the way is heard from where it is."""

from __future__ import annotations

import base64
import io
import re
import wave

import numpy as np
import pytest
from fixtures.page_client import PageClient, wait_for

from humanoid_ros.viewer.event_sounds import EventSounds, event_sound
from humanoid_ros.viewer.page import Page

AHEAD, RIGHT = np.array([2.0, 0.0, 0.0]), np.array([0.0, -1.0, 0.0])


def loudness(samples: np.ndarray) -> np.ndarray:
    return np.sqrt((samples**2).sum(axis=0))


@pytest.mark.feature("002-F154")
def test_a_sound_comes_from_its_side_and_is_softer_from_afar() -> None:
    eye = np.zeros(3)
    left, right = (loudness(event_sound(AHEAD + side, eye, RIGHT, 1.0)) for side in (-RIGHT, RIGHT))
    np.testing.assert_allclose(left, right[::-1])
    assert left[0] > 1.3 * left[1]
    middle = loudness(event_sound(AHEAD, eye, RIGHT, 1.0))
    np.testing.assert_allclose(middle[0], middle[1])
    np.testing.assert_allclose(loudness(event_sound(5.0 * AHEAD, eye, RIGHT, 1.0)), middle * 3.0 / 11.0)


@pytest.mark.feature("002-F154")
def test_a_browser_is_sent_a_sound_when_a_person_has_asked_for_them(page: Page) -> None:
    browser = PageClient(page.address)  # at the origin, looking along x, z up
    try:
        wait_for(lambda: page.server.get_clients(), "the browser is there")
        sounds = EventSounds(page.server)
        sounds.play(AHEAD - RIGHT)
        sounds.heard = True
        sounds.play(AHEAD - RIGHT)
        wait_for(lambda: "<audio autoplay" in browser.texts, "it is sent")
        assert browser.texts.count("<audio") == 1
        data = re.search(r"base64,([^\"]+)", browser.texts)[1]
        with wave.open(io.BytesIO(base64.b64decode(data))) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2).astype(float)
        assert loudness(samples)[0] > 1.3 * loudness(samples)[1]
    finally:
        browser.close()
