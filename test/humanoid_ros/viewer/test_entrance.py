# SPDX-License-Identifier: Apache-2.0
"""Who comes in to the page, and what browsers may say."""

from __future__ import annotations

import functools
import http.server
import math
import os
import socket
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
import viser
from fixtures.page_client import PageClient, wait_for
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from humanoid_model.errors import InputError
from humanoid_ros.demo.headless_browser import HeadlessBrowser, find_browser
from humanoid_ros.viewer import entrance
from humanoid_ros.viewer.entrance import (
    LARGEST_MESSAGE,
    LONGEST_TEXT,
    UPDATE,
    VARIABLE,
    message_fault,
    page_address,
    page_token,
)
from humanoid_ros.viewer.page import Page

TOKEN = "a-token-of-this-test-0123"


@pytest.fixture
def told() -> list[str]:
    """What the log was told."""
    return []


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, told: list[str]) -> Iterator[Page]:
    monkeypatch.setenv(VARIABLE, TOKEN)
    monkeypatch.setattr(entrance, "QUIET", 0.0)
    page = Page(port=0, names=("robots.example",), log=told.append)
    yield page
    page.close()


def knock(address: str, **headers: str) -> tuple[int, str]:
    """Status and text of the answer to a websocket that wants to be opened."""
    try:
        with connect(
            address.replace("http", "ws"),
            subprotocols=[f"viser-v{viser.__version__}"],  # type: ignore[list-item]
            additional_headers=headers,
            compression=None,
        ):
            return 101, ""
    except InvalidStatus as refused:
        return refused.response.status_code, bytes(refused.response.body).decode()


def ask(port: int, path: str, host: str, to: str = "127.0.0.1") -> bytes:
    """Answer to a plain request, whatever its Host."""
    with socket.create_connection((to, port), timeout=10) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer


def test_who_opens_the_address_is_in(page: Page) -> None:
    assert page.address == f"http://127.0.0.1:{page.server.get_port()}/?token={TOKEN}"
    with urllib.request.urlopen(page.address, timeout=10) as answer:
        assert b"<html" in answer.read().lower()
        where = answer.url
    # The client opens its websocket where its page is, from its own Origin.
    assert knock(where.rstrip("/"), Origin=page.address.partition("/?")[0])[0] == 101
    assert knock(page.address)[0] == 101


@pytest.mark.feature("000-F019")
@pytest.mark.parametrize("token", ["", "?token=", "?token=a-token-of-this-test-0124", f"?token={TOKEN}x", f"{TOKEN}x/"])
def test_without_the_token_nobody_is_in(page: Page, told: list[str], token: str) -> None:
    address = f"http://127.0.0.1:{page.server.get_port()}/{token}"
    status, text = knock(address)
    assert status == 403
    assert "no token, or a wrong one" in text
    assert "?token=" in text
    assert "refused a connection from 127.0.0.1: There is no token" in told[-1]
    answer = ask(page.server.get_port(), f"/{token}", "localhost")
    assert answer.startswith(b"HTTP/1.1 403")
    assert b"<html" not in answer.lower()


@pytest.mark.parametrize("target", ["*", "anything", "//", "http://elsewhere/"])
def test_whatever_stands_for_a_path_is_answered(page: Page, target: str) -> None:
    assert ask(page.server.get_port(), target, "localhost").startswith(b"HTTP/1.1 403")


FOREIGN = {
    "another page": "http://evil.example",
    "another port of this machine": "http://127.0.0.1:9",
    "a file": "null",
    "the same name by its end": "http://evil.example//127.0.0.1",
    "none at all": "",
}


@pytest.mark.feature("000-F019")
@pytest.mark.parametrize("who", FOREIGN)
def test_another_page_is_not_let_in_even_with_the_token(page: Page, told: list[str], who: str) -> None:
    for address in (page.address, page.address.replace("?token=", "")):
        status, text = knock(address, Origin=FOREIGN[who])
        assert status == 403
        assert "is another page" in text
    assert "Origin" in told[-1]
    assert len(told) == 2


@pytest.mark.feature("000-F019")
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "localhost.evil.example", "10.0.0.1", "0.0.0.0", ""]
)
def test_a_name_that_somebody_else_makes_lead_here_is_refused(page: Page, told: list[str], host: str) -> None:
    port = page.server.get_port()
    for path in (f"/?token={TOKEN}", f"/{TOKEN}/"):
        assert ask(port, path, host).startswith(b"HTTP/1.1 403")
    assert "is none of this page" in told[-1]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:9090", "[::1]:8080", "LOCALHOST:1", "robots.example"])
def test_a_forwarded_port_and_a_proxy_are_own_names(page: Page, host: str) -> None:
    assert b"200 OK" in ask(page.server.get_port(), f"/{TOKEN}/", host)


def test_a_proxy_may_change_the_host(page: Page) -> None:
    assert knock(page.address, Origin="https://robots.example")[0] == 101


def test_a_page_for_the_network_needs_the_token_too_and_knows_where_it_was_reached(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, TOKEN)
    page = Page("0.0.0.0", 0, log=lambda _: None)
    try:
        port = page.server.get_port()
        assert page.address == f"http://localhost:{port}/?token={TOKEN}"
        assert ask(port, "/", "localhost").startswith(b"HTTP/1.1 403")
        for host in ("localhost", socket.gethostname(), f"127.0.0.2:{port}"):
            assert b"200 OK" in ask(port, f"/{TOKEN}/", host, "127.0.0.2"), host
        for host in ("10.0.0.1", "evil.example"):
            assert ask(port, f"/{TOKEN}/", host, "127.0.0.2").startswith(b"HTTP/1.1 403"), host
    finally:
        page.close()


def test_the_token_is_random_unless_it_is_given_and_then_long_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for _ in range(3):
        monkeypatch.setenv(VARIABLE, "")
        found.add(page_token())
        assert page_token() in found, "what is started later lets the same browsers in"
        assert os.environ[VARIABLE] in found
    assert len(found) == 3
    assert all(len(token) == 32 for token in found)
    for wrong in ("short", "a/b-of-sixteen-letters", "sixteen letters ?"):
        monkeypatch.setenv(VARIABLE, wrong)
        with pytest.raises(InputError, match=VARIABLE):
            page_token()


def test_addresses_can_be_opened(page: Page) -> None:
    assert page_address("::1", 8080, TOKEN) == f"http://[::1]:8080/?token={TOKEN}"
    assert page_address("::", 8080, TOKEN) == f"http://localhost:8080/?token={TOKEN}"


@pytest.mark.feature("000-F019")
def test_who_knocks_again_and_again_fills_no_log(
    page: Page, told: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    port = page.server.get_port()
    monkeypatch.setattr(entrance, "QUIET", 1e6)
    for _ in range(20):
        ask(port, "/", "évil.example")
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(b"what is this?\r\n\r\n")
            connection.recv(100)
    monkeypatch.setattr(entrance, "QUIET", 0.0)
    ask(port, f"/{'x' * 5000}", "e" * 5000)
    assert len(told) == 2
    assert "19 more" in told[1]
    assert all(line.isprintable() and len(line) < 300 for line in told)
    assert capfd.readouterr().err == ""


@pytest.mark.feature("000-F019")
def test_a_message_of_any_length_ends_its_own_connection_alone(page: Page) -> None:
    box = page.server.gui.add_text("Path", "nothing")
    flood = PageClient(page.address)
    flood.send("GuiUpdateMessage", uuid="x", updates={"value": "x" * LARGEST_MESSAGE})
    wait_for(lambda: not flood.connected, "it is thrown out")
    client = PageClient(page.address)
    try:
        client.set("Path", "x" * 4096)
        wait_for(lambda: box.value == "x" * 4096, "a path as long as any is taken from somebody else")
    finally:
        client.close()


@pytest.fixture
def foreign_page(tmp_path: Path) -> Iterator[str]:
    """Address of a page that another user of this machine serves."""
    (tmp_path / "index.html").write_text("<html><body>evil</body></html>")
    handler = functools.partial(_Silent, directory=str(tmp_path))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()
    server.server_close()


class _Silent(http.server.SimpleHTTPRequestHandler):
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(f"{self.path} {self.headers}")
        super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


OPEN = """new Promise((done) => {{
  const socket = new WebSocket("{address}", ["viser-v{version}"]);
  socket.onopen = () => done("open"); socket.onerror = () => done("refused");
}})"""


@pytest.mark.feature("000-F019")
@pytest.mark.skipif(find_browser() is None, reason="needs a browser: apt install chromium")
def test_in_a_browser_the_page_opens_and_another_port_neither_gets_in_nor_hears_the_token(
    page: Page, told: list[str], foreign_page: str
) -> None:
    """The other port's page is of the same site for a browser, which sends it the cookies of this machine's name."""
    with HeadlessBrowser(320, 240) as browser:
        browser.open(page.address)
        browser.wait_for("document.querySelector('canvas') !== null")
        wait_for(lambda: page.watched, "the page is connected")
        assert told == []
        browser.open(foreign_page)
        wait_for(lambda: not page.watched, "its browser has left")
        for path in (f"/?token={TOKEN}", f"/{TOKEN}", "/"):
            address = f"ws://127.0.0.1:{page.server.get_port()}{path}"
            assert browser.evaluate(OPEN.format(address=address, version=viser.__version__)) == "refused"
        assert browser.evaluate(f"fetch('{page.address}').then((a) => a.text(), () => 'refused')") == "refused"
    assert "is another page" in told[0]
    assert _Silent.asked
    assert not any(TOKEN in asked for asked in _Silent.asked)


@pytest.mark.feature("000-F019")
def test_one_browser_s_number_does_not_leave_the_others_without_a_page(page: Page) -> None:
    """The slider makes an integer of it, of 300 figures, which no message can carry to anybody."""
    slider, ready = page.server.gui.add_slider("Direction", 0, 355, 5, 0), page.server.gui.add_checkbox("Ready", False)
    first = PageClient(page.address)
    first.set("Direction", 1e300)
    first.set("Direction", math.nan)
    first.set("Ready", True)
    wait_for(lambda: ready.value, "all that is heard")
    second = PageClient(page.address)
    wait_for(lambda: second.controls["Direction"]["value"] == 0, "another one finds the page as it was")
    first.set("Direction", 90)
    wait_for(lambda: slider.value == 90, "what can be used is taken, from the same browser")
    wait_for(lambda: second.controls["Direction"]["value"] == 90, "the other one sees it")
    first.close()
    second.close()


@pytest.mark.feature("000-F019")
def test_a_browser_sets_values_and_nothing_else_of_a_control(page: Page) -> None:
    box = page.server.gui.add_text("Path", "before")
    client = PageClient(page.address)
    uuid = wait_for(lambda: client.controls["Path"]["uuid"], "it is there")
    for name, value in (("removed", True), ("update_cb", "x"), ("value", "x" * (LONGEST_TEXT + 1))):
        client.send(UPDATE, uuid=uuid, updates={name: value})
    client.set("Path", "after")
    wait_for(lambda: box.value == "after", "the control is as it was, but for its value")
    assert box._impl.update_cb == []
    client.close()


CAMERA: dict[str, Any] = {
    "type": "ViewerCameraMessage", "wxyz": (1, 0.5, 0, 0), "position": (1e6, 0, -3), "fov": 1.0, "near": 0.1, "far": 10,
    "image_height": 10, "image_width": 10, "look_at": (1, 0, 0), "up_direction": (0, 0, 1),
}  # fmt: skip
BOX: dict[str, Any] = {"type": UPDATE, "uuid": "x"}
FILE = {"type": "FileTransferStartUpload", "source_component_uuid": "x", "transfer_uuid": "y", "filename": "z",
        "mime_type": "text/plain", "part_count": 1, "size_bytes": 10}  # fmt: skip
FAULTS: dict[str, tuple[Any, str]] = {
    "infinite": ({**CAMERA, "position": (0.0, math.inf, 0.0)}, "the number inf in ViewerCameraMessage"),
    "a number that is none": ({**BOX, "updates": {"value": {"x": [[math.nan]]}}}, f"the number nan in {UPDATE}"),
    "too large": ({**CAMERA, "fov": -1e300}, "-1e+300 in ViewerCameraMessage, beyond 1e+09"),
    "an integer": ({**BOX, "updates": {"value": 1 << 62}}, "beyond"),
    "a long key": ({**BOX, "updates": {"value": {"x" * 5000: 1}}}, f"a text of 5000 letters in {UPDATE}"),
    "a file": (FILE, "takes no files"),
    "no value": ({**BOX, "updates": {}}, "its value alone"),
    "no updates": ({**BOX, "updates": 3}, "its value alone"),
    "no type": ([1, 2], "it can't be read"),
    "an unknown type": ({"type": "Nothing"}, "it can't be read"),
    "too little": ({"type": "ViewerCameraMessage"}, "it can't be read"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_can_not_be_used_is_named(name: str) -> None:
    message, fault = FAULTS[name]
    found = message_fault(msgspec.msgpack.encode(message))
    assert found is not None
    assert fault in found


@pytest.mark.parametrize("raw", ["a text", b"", b"\xc1", b"\x91" * 60000])
def test_what_can_not_be_read_is_left_out(raw: str | bytes) -> None:
    assert message_fault(raw) == "it can't be read"


def test_what_browsers_say_is_taken() -> None:
    assert message_fault(msgspec.msgpack.encode(CAMERA)) is None
    assert message_fault(msgspec.msgpack.encode({**BOX, "updates": {"value": "x" * LONGEST_TEXT}})) is None
