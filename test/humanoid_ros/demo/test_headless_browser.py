# SPDX-License-Identifier: Apache-2.0
"""The browser shows a page, says why it can't, and leaves nothing behind."""

import io
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from humanoid_ros.demo import headless_browser
from humanoid_ros.demo.headless_browser import BrowserError, HeadlessBrowser, find_browser

needs_browser = pytest.mark.skipif(find_browser() is None, reason="needs a browser: apt install chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[HeadlessBrowser]:
    with HeadlessBrowser(320, 240) as browser:
        yield browser


@needs_browser
def test_screenshot_has_the_size_and_colours_of_the_page(browser: HeadlessBrowser) -> None:
    browser.open("data:text/html,<body style='margin:0;background:rgb(10,200,30)'>")
    browser.wait_for_frames(2)
    picture = np.asarray(Image.open(io.BytesIO(browser.screenshot())).convert("RGB"))
    assert picture.shape == (240, 320, 3)
    assert (picture == (10, 200, 30)).all()


@needs_browser
def test_scripts_run_and_their_errors_are_raised(browser: HeadlessBrowser) -> None:
    browser.open("data:text/html,<p>hello")
    assert browser.evaluate("1 + 1") == 2
    assert browser.evaluate("Promise.resolve('later')") == "later"
    with pytest.raises(BrowserError):
        browser.evaluate("nothing.like.that")


@needs_browser
def test_waiting_in_vain_tells_what_the_page_says(browser: HeadlessBrowser) -> None:
    browser.open("data:text/html,<p>hello")
    with pytest.raises(BrowserError, match="hello"):
        browser.wait_for("false", timeout=0.3)


@needs_browser
def test_address_that_does_not_answer_is_refused(browser: HeadlessBrowser) -> None:
    with pytest.raises(BrowserError, match="can't be opened"):
        browser.open("http://127.0.0.1:9")


@needs_browser
def test_nothing_is_left_behind_even_if_the_browser_was_killed() -> None:
    with HeadlessBrowser(320, 240) as browser:
        group, profile = browser.process.pid, Path(browser._profile)
        assert profile.is_dir()
        os.killpg(group, signal.SIGKILL)
        with pytest.raises(BrowserError, match="doesn't answer"):
            browser.evaluate("1")
    assert not profile.exists()
    # Killed processes stay in the table until whoever adopted them takes notice.
    end = time.monotonic() + 60.0
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the browser's processes live on")


def test_without_a_browser_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headless_browser, "find_browser", lambda: None)
    with pytest.raises(BrowserError, match="no browser found"):
        HeadlessBrowser()
