# SPDX-License-Identifier: Apache-2.0
"""Panel of one link: Kleinfinger-Khalil parameters, type of its joint, limits, lock (specification 002 §5.2)."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import viser

from humanoid_kinematics import KleinfingerKhalil, LinkChange
from humanoid_ros.viewer.controls import CoupledNumber, Later

KINDS = ("prismatic", "revolute")
"""Types of joints, in the order of their numbers from 1."""
NAMES = {"theta": "θ", "r": "r", "alpha": "α", "d": "d", "gamma": "γ", "epsilon": "ε"}
ANGLES = {"theta", "alpha", "gamma"}
BRANCH = ("gamma", "epsilon")
NO_LIMITS, ABSOLUTE, RELATIVE = "no limits", "absolute", "from here"
LIMITS = (NO_LIMITS, ABSOLUTE, RELATIVE)
VARIABLE_MARK = "● "
"""Before the name of the parameter that is the joint's variable."""


@dataclass(frozen=True)
class LinkView:
    """A link as its panel shows it.

    Attributes:
        link: name.
        joint: name of its joint.
        prismatic: whether the joint slides.
        parameters: its geometry, the variable included; None where the source has no such parameters.
        position: of the joint [rad or m].
        limits: of the joint; infinite where there are none.
        locked: whether the joint is held.
        length: lengths go up to twice this [m].
    """

    link: str
    joint: str
    prismatic: bool
    parameters: KleinfingerKhalil | None
    position: float
    limits: tuple[float, float]
    locked: bool
    length: float

    @property
    def variable(self) -> str:
        """Name of the parameter that is the joint's variable."""
        return "r" if self.prismatic else "theta"


def unit_of(angle: bool) -> tuple[str, float]:
    """Return the unit in which the panel shows an angle or a length, and the radians or metres in it."""
    return ("°", math.pi / 180.0) if angle else ("mm", 1e-3)


class LinkPanel:
    """A folder that edits one link.

    Args:
        gui: GUI of the page.
        view: the link as it is.
        mechanisms: the feature that has the link; it knows this panel.
        later: lets what a person does be done in the executor.
    """

    def __init__(
        self,
        gui: viser.GuiApi,
        view: LinkView,
        mechanisms: Any,
        later: Later,
    ) -> None:
        self._view, self._mechanisms, self._later = view, mechanisms, later
        self._lock, self._removed = threading.Lock(), False
        self._numbers: dict[str, CoupledNumber] = {}
        self._folder = gui.add_folder(f"{view.link}: {view.joint}")
        with self._folder:
            self._kind = gui.add_dropdown("Joint", KINDS, initial_value=KINDS[0] if view.prismatic else KINDS[1])
            self._branch = gui.add_checkbox("Branch γ, ε", self._has_branch(), hint="Off: both are zero")
            for name, value in self._values().items():
                unit, size = unit_of(name in ANGLES)
                bound = 180.0 if name in ANGLES else 2.0 * view.length / size
                bound = max(bound, abs(value / size))
                edit = partial(self._edit, name)
                self._numbers[name] = CoupledNumber(gui, f"{NAMES[name]} [{unit}]", (-bound, bound), value / size, edit)
            self._limits = gui.add_dropdown("Limits", LIMITS, initial_value=ABSOLUTE if self._limited() else NO_LIMITS)
            self._lower, self._upper = (gui.add_number(word, 0.0) for word in ("Lower", "Upper"))
            self._locked = gui.add_checkbox("Locked", view.locked)
            self._close = gui.add_button("Close", icon=viser.Icon.X, color="gray")
        if view.parameters is None:
            self._kind.visible = self._branch.visible = False
        self._show_limits()
        self._show_variable()
        self._kind.on_update(lambda event: self._by_person(event, self._choose_kind))
        self._branch.on_update(lambda event: self._by_person(event, self._choose_branch))
        self._limits.on_update(lambda event: self._by_person(event, self._choose_limits))
        for control in (self._lower, self._upper, self._locked):
            control.on_update(lambda event: self._by_person(event, self._change))
        self._close.on_click(lambda _: later(mechanisms.close_link, view.link))

    def update(self, view: LinkView) -> None:
        """Show the link as it is now: what a person has just changed comes back in its own time."""
        with self._lock:
            self._view = view
            for name, value in self._values().items():
                self._numbers[name].show(value / unit_of(name in ANGLES)[1])
            if self._locked.value != view.locked:
                self._locked.value = view.locked  # type: ignore[misc]  # viser's setter is real

    def remove(self) -> None:
        """Take the folder off the panel."""
        with self._lock:
            self._removed = True
            for number in self._numbers.values():
                number.remove()
            self._folder.remove()

    # ---- what a person does; viser's threads say so, also of a panel that is taken off meanwhile ----

    def _by_person(self, event: viser.GuiEvent, do: Callable[[], None]) -> None:
        if event.client_id is not None:
            with self._lock:
                if not self._removed:
                    do()

    def _edit(self, name: str, value: float) -> None:
        with self._lock:
            if not self._removed:
                self._edit_parameter(name, value)

    def _edit_parameter(self, name: str, value: float) -> None:
        value *= unit_of(name in ANGLES)[1]
        if name == self._view.variable:
            self._later(self._mechanisms.move_joint, self._view.joint, value)
            return
        assert self._view.parameters is not None
        self._view = replace(self._view, parameters=replace(self._view.parameters, **{name: value}))
        self._change()

    def _choose_kind(self) -> None:
        self._view = replace(self._view, prismatic=self._kind.value == "prismatic", limits=(-math.inf, math.inf))
        self._limits.value = NO_LIMITS  # type: ignore[misc]  # viser's setter is real
        self._show_limits()
        self._show_variable()
        self._change()

    def _choose_branch(self) -> None:
        assert self._view.parameters is not None
        if not self._branch.value:
            straight = replace(self._view.parameters, gamma=0.0, epsilon=0.0)
            self._view = replace(self._view, parameters=straight)
            for name in BRANCH:
                self._numbers[name].show(0.0)
        self._show_variable()
        self._change()

    def _choose_limits(self) -> None:
        self._show_limits()
        self._change()

    def _change(self) -> None:
        view = self._view
        limits = None
        if self._limits.value != NO_LIMITS:
            size, start = self._unit()[1], view.position if self._limits.value == RELATIVE else 0.0
            limits = start + size * float(self._lower.value), start + size * float(self._upper.value)
        kind = None if view.parameters is None else 1 if view.prismatic else 2
        parameters = view.parameters if view.parameters is not None else KleinfingerKhalil()
        change = LinkChange(view.link, kind, parameters, limits, bool(self._locked.value))
        self._later(self._mechanisms.change_link, change)

    # ---- what is shown ----

    def _values(self) -> dict[str, float]:
        """Return the parameters that are shown, the variable where the joint is; it alone without the others."""
        view = self._view
        if view.parameters is None:
            return {view.variable: view.position}
        shown = {field.name: getattr(view.parameters, field.name) for field in fields(view.parameters)}
        return shown | {view.variable: view.position}

    def _has_branch(self) -> bool:
        kk = self._view.parameters
        return kk is not None and (kk.gamma != 0.0 or kk.epsilon != 0.0)

    def _limited(self) -> bool:
        return all(math.isfinite(limit) for limit in self._view.limits)

    def _unit(self) -> tuple[str, float]:
        return unit_of(not self._view.prismatic)

    def _show_limits(self) -> None:
        """Show limits in their unit, counted from zero or from where the joint is."""
        unit, size = self._unit()
        start = self._view.position if self._limits.value == RELATIVE else 0.0
        usual = (-90.0, 90.0) if not self._view.prismatic else (-1e3 * self._view.length, 1e3 * self._view.length)
        for control, word, limit, other in zip(
            (self._lower, self._upper), ("Lower", "Upper"), self._view.limits, usual, strict=True
        ):
            control.label = f"{word} [{unit}]"
            value = (limit - start) / size if math.isfinite(limit) else other
            control.value = value  # type: ignore[misc]  # viser's setter is real
            control.visible = self._limits.value != NO_LIMITS

    def _show_variable(self) -> None:
        """Mark the parameter that is the joint's variable, and hide those of a branch that there isn't."""
        for name, number in self._numbers.items():
            mark = VARIABLE_MARK if name == self._view.variable else ""
            number.label = f"{mark}{NAMES[name]} [{unit_of(name in ANGLES)[0]}]"
            number.visible = name not in BRANCH or bool(self._branch.value)
