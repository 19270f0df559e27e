# SPDX-License-Identifier: Apache-2.0
"""A browser without a window, driven over the DevTools protocol: it looks at the page for us."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from PIL import Image
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from humanoid_model.errors import HumanoidError

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless=new",
    "--no-sandbox",  # needed where everything runs as root; the only page it opens is ours
    "--disable-gpu",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",  # WebGL drawn by the processor
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)
SETTLED = 0.25
"""Mean difference of grey values, of 255, between pictures of a page that has settled."""


class BrowserError(HumanoidError):
    """The browser is missing, died, or the page didn't become what was waited for."""


def find_browser() -> str | None:
    """Return the path of an installed Chromium or Chrome, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class HeadlessBrowser:
    """One page in a browser without a window; a context manager that leaves nothing behind.

    Args:
        width: Width of the page [px].
        height: Height of the page [px].
        timeout: Longest wait for the browser to start and for each answer of it [s]; without a GPU and beside other
            work one may take a minute.

    Raises:
        BrowserError: No browser is installed, or it doesn't start.
    """

    def __init__(self, width: int = 1600, height: int = 900, timeout: float = 180.0) -> None:
        browser = find_browser()
        if browser is None:
            raise BrowserError(f"no browser found (looked for {', '.join(NAMES)})")
        self._timeout = timeout
        self._count = 0
        self._profile = tempfile.mkdtemp(prefix="humanoid_browser_")
        self.process = subprocess.Popen(
            [
                # Drawing by the processor takes all it can get: what is looked at goes first.
                *("nice", "-n", "10"),
                browser,
                *FLAGS,
                f"--window-size={width},{height}",
                f"--user-data-dir={self._profile}",
                "about:blank",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            self._socket = connect(self._page_address(), max_size=None, open_timeout=timeout, compression=None)
            self._call("Page.enable")
            self._call("Runtime.enable")
            self._call(
                "Emulation.setDeviceMetricsOverride",
                {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
            )
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> HeadlessBrowser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def open(self, url: str) -> None:
        """Go to an address and wait until its document is loaded."""
        answer = self._call("Page.navigate", {"url": url})
        if "errorText" in answer:
            raise BrowserError(f"{url} can't be opened: {answer['errorText']}")
        self.wait_for("document.readyState === 'complete'")

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; promises are awaited."""
        answer = self._call(
            "Runtime.evaluate",
            {"expression": expression, "returnByValue": True, "awaitPromise": True},
        )
        if "exceptionDetails" in answer:
            raise BrowserError(f"{expression}: {answer['exceptionDetails'].get('text')}")
        return answer["result"].get("value")

    def wait_for(self, condition: str, timeout: float | None = None) -> None:
        """Wait until a JavaScript expression is true.

        Raises:
            BrowserError: It didn't become true in time; the message shows the page's text.
        """
        end = time.monotonic() + (self._timeout if timeout is None else timeout)
        while not self.evaluate(condition):
            if time.monotonic() > end:
                text = str(self.evaluate("document.body.innerText"))[:300]
                raise BrowserError(f"timed out waiting for {condition}; the page says: {text!r}")
            time.sleep(0.2)

    def wait_for_frames(self, count: int) -> None:
        """Wait until the page was drawn this many times more."""
        self.evaluate(
            "new Promise(done => {let n = 0; const next = () => "
            f"{{ ++n >= {int(count)} ? done(n) : requestAnimationFrame(next); }}; next(); }})"
        )

    def drag(self, start: ArrayLike, end: ArrayLike, steps: int = 6) -> None:
        """Press the left button of the mouse at one place, move, and let go at another.

        Args:
            start: (2,) column and row [px].
            end: (2,) likewise.
            steps: Places on the way that the page is told.
        """
        start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
        way = [start + share * (end - start) for share in np.linspace(0.0, 1.0, steps + 1)]
        kinds = [("mouseMoved", start, 0), ("mousePressed", start, 1)]
        kinds += [*(("mouseMoved", at, 1) for at in way[1:]), ("mouseReleased", end, 0)]
        for kind, (x, y), buttons in kinds:
            place = {"x": x, "y": y, "button": "none" if kind == "mouseMoved" else "left", "buttons": buttons}
            self._call("Input.dispatchMouseEvent", {"type": kind, "clickCount": 1, **place})
            self.wait_for_frames(2)

    def screenshot(self) -> bytes:
        """Return the page as it looks now, as a PNG."""
        return base64.b64decode(self._call("Page.captureScreenshot", {"format": "png"})["data"])

    def settled_screenshot(self, timeout: float = 40.0) -> bytes:
        """Return the page once it no longer changes much: scenes fade in, textures come late.

        Returns:
            A PNG; the last one if the page never settles.
        """
        end = time.monotonic() + timeout
        last = None
        while True:
            self.wait_for_frames(3)
            png = self.screenshot()
            picture = np.asarray(Image.open(io.BytesIO(png)).convert("L"), dtype=float)
            if last is not None and np.abs(picture - last).mean() < SETTLED:
                return png
            if time.monotonic() > end:
                return png
            last = picture

    def close(self) -> None:
        """End the browser and remove its profile."""
        if hasattr(self, "_socket"):
            with contextlib.suppress(OSError, WebSocketException):
                self._socket.close()
        # The browser is a family of processes in a session of its own: they end together.
        for end in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, end)
                self.process.wait(timeout=5.0)
            except subprocess.TimeoutExpired:
                continue
            except ProcessLookupError:
                break
        self.process.wait()
        shutil.rmtree(self._profile, ignore_errors=True)

    def _page_address(self) -> str:
        """WebSocket address of the page, from what the browser prints when it starts."""
        found: list[str] = []
        started = threading.Event()

        def read() -> None:
            # Read to the end: a full pipe would stop the browser.
            assert self.process.stderr is not None
            with self.process.stderr as lines:
                for line in lines:
                    match = re.search(r"DevTools listening on ws://([^/]+)/", line)
                    if match and not found:
                        found.append(match.group(1))
                        started.set()
            started.set()

        threading.Thread(target=read, name="browser output", daemon=True).start()
        started.wait(self._timeout)
        if not found:
            raise BrowserError(f"{find_browser()} doesn't start")
        with urllib.request.urlopen(f"http://{found[0]}/json", timeout=self._timeout) as answer:
            pages = [target for target in json.load(answer) if target["type"] == "page"]
        return str(pages[0]["webSocketDebuggerUrl"])

    def _call(self, method: str, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
        self._count += 1
        try:
            self._socket.send(json.dumps({"id": self._count, "method": method, "params": parameters or {}}))
            while True:
                answer = json.loads(self._socket.recv(timeout=self._timeout))
                if answer.get("id") == self._count:
                    break
        except (OSError, TimeoutError, WebSocketException) as error:
            raise BrowserError(f"the browser doesn't answer {method}: {error}") from error
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error'].get('message')}")
        return dict(answer["result"])
