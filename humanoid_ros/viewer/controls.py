# SPDX-License-Identifier: Apache-2.0
"""What the panels share: what they tell, a chart of lines, a number in three controls, calls that wait."""

from __future__ import annotations

import functools
import html
import math
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import viser
from viser import uplot

from humanoid_model.errors import HumanoidError

GREEN, AMBER, RED = "#1f8a4c", "#b87400", "#c62828"
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


def show_folder(folder: viser.GuiFolderHandle | viser.GuiHtmlHandle | viser.GuiButtonHandle, visible: bool) -> None:
    """Show or hide a part of the panel; the browsers are told of what changes."""
    if folder.visible != visible:
        folder.visible = visible


class FeaturePanel:
    """The panel of a feature: what can be asked for, and a line that tells how far it is or what came of it."""

    _result: viser.GuiHtmlHandle
    _asks: Sequence[viser.GuiButtonHandle] = ()
    _cancel: viser.GuiButtonHandle

    def say(self, message: str, good: bool | None = None) -> None:
        """Tell how far it is, or what came of it, see :func:`show_message`."""
        show_message(self._result, message, good)

    def show_working(self, working: bool) -> None:
        """Let what is under way be cancelled, and nothing else be asked for meanwhile."""
        for button in self._asks:
            button.disabled = working
        self._cancel.visible = working


def tells(method: Callable[..., None]) -> Callable[..., None]:
    """Let a method of a feature tell on its panel why it couldn't be done."""

    @functools.wraps(method)
    def told(self: Any, *arguments: Any) -> None:
        try:
            method(self, *arguments)
        except HumanoidError as error:
            self._panel.say(str(error), False)

    return told


COLOURS = ("#d62828", "#1e6fd9", "#2a9d4a", "#e08a00", "#8e44ad", "#0a9396", "#b5651d", "#555555")
FONT = "11px sans-serif"


LIMIT: uplot.Series = {"stroke": "#555555", "width": 1.0, "dash": (3, 3)}


def add_line_chart(
    gui: viser.GuiApi,
    time: np.ndarray,
    series: Mapping[str, np.ndarray],
    limits: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> viser.GuiUplotHandle:
    """Add a chart of series (k,) by name over times (k,) [s], which rise, and of their limits, dotted in grey."""
    lines: list[uplot.Series] = [{"label": "t"}]
    for i, name in enumerate(series):
        line: uplot.Series = {"label": name.replace("_", " "), "stroke": COLOURS[i % len(COLOURS)], "width": 1.5}
        if i % 2:
            line["dash"] = (6, 3)
        lines.append(line)
    lines += [{"label": name, **LIMIT} for name in limits]
    return gui.add_uplot(
        (time, *series.values(), *limits.values()),
        tuple(lines),
        scales={"x": {"time": False}},
        axes=({"size": 34, "font": FONT}, {"size": 48, "font": FONT}),
        height=210,
        padding=(8, 8, 0, 0),
    )


HELD = 0.6
"""What a person has set is not overwritten by what the model tells for so long [s]: the echo comes later."""


class CoupledNumber:
    """Shows a number of the model, and sends what a person makes of it.

    Args:
        gui: GUI of the page.
        label: of the number, with its unit.
        bounds: lowest and highest value of the slider; the field takes no other ones.
        value: at first.
        send: takes a new value at once; called from viser's event loop, never for what :meth:`show` shows.
        field: whether there is a field with its − and + above the slider, which has a small one of its own.
    """

    def __init__(
        self,
        gui: viser.GuiApi,
        label: str,
        bounds: tuple[float, float],
        value: float,
        send: Callable[[float], None],
        *,
        field: bool = True,
    ) -> None:
        lower, upper = bounds
        self._lower, self._upper, self._send = lower, upper, send
        step = _step(upper - lower)
        self._digits = max(0, 1 - math.floor(math.log10(step)))
        self._value = self._rounded(value)
        self._touched = -math.inf
        self._lock, self._removed = threading.Lock(), False
        number = gui.add_number(label, self._value, min=lower, max=upper, step=step) if field else None
        self._slider = gui.add_slider("" if field else label, lower, upper, step, self._value)
        self._controls = (self._slider,) if number is None else (number, self._slider)
        self._field = self._controls[0]
        for control in self._controls:
            control.on_update(self._on_update)

    @property
    def value(self) -> float:
        """The number that all three show."""
        return self._value

    async def _on_update(self, event: viser.GuiEvent) -> None:
        # Asynchronous, because viser keeps the order of updates only for such callbacks.
        if event.client_id is None:
            return  # told by the program, not by a person
        self._touched = time.monotonic()
        # The control that a person holds is told nothing: what it was would come back after what it is by then.
        if self._set(float(event.target.value), event.target):
            self._send(self._value)

    def show(self, value: float) -> None:
        """Show what the model says, unless a person has just said otherwise."""
        value = self._rounded(value)
        if time.monotonic() - self._touched > HELD and abs(value - self._value) > 1e-3 * (self._upper - self._lower):
            self._set(value)

    def _rounded(self, value: float) -> float:
        """Return a value as it is shown: rounded, and within the bounds, which have more digits maybe."""
        return min(max(round(value, self._digits), self._lower), self._upper)

    def _set(self, value: float, held: object = None) -> bool:
        """Show a value, unless the number was taken off while a person's was on its way; whether it wasn't."""
        with self._lock:
            if self._removed:
                return False
            self._value = value
            for control in self._controls:
                if control is not held:
                    control.value = value  # type: ignore[misc]  # viser's setter is real
        return True

    @property
    def label(self) -> str:
        """What the number is called."""
        return self._field.label

    @label.setter
    def label(self, label: str) -> None:
        if label != self._field.label:
            self._field.label = label

    @property
    def visible(self) -> bool:
        """Whether it is shown."""
        return self._field.visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        for control in self._controls:
            control.visible = visible

    def remove(self) -> None:
        """Take it off the panel."""
        with self._lock:
            self._removed = True
            for control in self._controls:
                control.remove()


def _step(span: float) -> float:
    """Return a thousandth of a span or less, as 1, 2 or 5 of a decimal place; 1 for none: nothing is moved by it."""
    if span <= 0.0:
        return 1.0
    scale = 10.0 ** math.floor(math.log10(span / 1000.0))
    return next(factor * scale for factor in (5.0, 2.0, 1.0) if factor * scale <= span / 1000.0 * (1.0 + 1e-9))


class Later:
    """Calls that wait until the executor makes them, in the order in which they came."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[partial[None]] = queue.SimpleQueue()

    def __call__(self, method: Callable[..., None], *arguments: Any) -> None:
        """Let a method be called; any thread may say so."""
        self._waiting.put(partial(method, *arguments))

    def due(self) -> Iterator[partial[None]]:
        """Take the calls that wait, and those that come meanwhile; the executor makes them."""
        while True:
            try:
                yield self._waiting.get_nowait()
            except queue.Empty:
                return
