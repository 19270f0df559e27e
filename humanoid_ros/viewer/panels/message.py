# SPDX-License-Identifier: Apache-2.0
"""What a panel tells in words: how far it is, what came of it, what is wrong."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable
from typing import Any

import viser

from humanoid_model.errors import HumanoidError
from humanoid_ros.viewer.panels.status_text import GREEN, RED

GREY = "#667"


def show_message(place: viser.GuiHtmlHandle, message: str, good: bool | None = None) -> None:
    """Show a message in its colour, sent to the browsers only when it has changed.

    Args:
        place: where it is shown; hidden when the message is empty.
        message: one line or several.
        good: whether something was found, or failed; None where that isn't known yet.
    """
    colour = GREY if good is None else GREEN if good else RED
    lines = "<br>".join(html.escape(line) for line in message.splitlines())
    content = f"<div style='margin:0.3em 0.8em;color:{colour};font-size:0.85em'>{lines}</div>" if message else ""
    if content != place.content:
        place.content = content
    if place.visible != bool(content):
        place.visible = bool(content)


def tells(method: Callable[..., None]) -> Callable[..., None]:
    """Let a method of a feature tell on its panel why it couldn't be done."""

    @functools.wraps(method)
    def told(self: Any, *arguments: Any) -> None:
        try:
            method(self, *arguments)
        except HumanoidError as error:
            self._panel.say(str(error), False)

    return told
