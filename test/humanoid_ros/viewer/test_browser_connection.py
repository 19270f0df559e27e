# SPDX-License-Identifier: Apache-2.0
"""What a browser says is checked before any control keeps it."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from fixtures.page_client import PageClient, wait_for

from humanoid_ros.viewer.browser_connection import LONGEST_TEXT, UPDATE, message_fault
from humanoid_ros.viewer.page import Page


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
