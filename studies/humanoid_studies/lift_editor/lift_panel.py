# SPDX-License-Identifier: Apache-2.0
"""Panel of the lift editor: what the lift does to its limits, playing, control points, undo, charts, files."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import viser

from humanoid_ros.viewer.controls import GREEN, RED, CoupledNumber, show_message
from humanoid_studies.lift_editor.limit_plots import LimitPlots
from humanoid_studies.lifting.judgement import Judgement
from humanoid_studies.lifting.planar_lifter import JOINT_WORDS, PlanarLifter
from humanoid_studies.lifting.weight_lift import SHORTEST, LiftMotion

TOLD = 6
"""Broken limits that are told one by one, the worst first."""
SLOWEST = 8.0
"""Longest duration of the slider [s]; the thesis' slow lift takes as long."""
BEYOND = 0.5
"""How far a control point's slider goes beyond the joint's limits [rad]: the curve reaches less far than its points."""
LIMIT_AT_FIRST = "moment at the hand"
"""What quick lifts are for."""
PACES = {"real time": 1.0, "half": 0.5, "a fifth": 0.2}


@dataclass(frozen=True)
class LiftCalls:
    """What a person asks for on the panel; called from viser's threads.

    Attributes:
        move: takes a control point of the chosen joint and its angle [rad].
        stretch: takes the duration [s].
        choose: takes the index of a joint.
        look: takes the name of the limit that has a chart of its own.
        seek: takes a share of the duration.
        play: takes whether the robot is to move.
        undo: takes a step back.
        redo: does it again.
        reset: goes back to the first motion.
        save: takes the path of the file, and whether one that is there is replaced.
        simulate: has the whole robot play the lift.
    """

    move: Callable[[int, float], None]
    stretch: Callable[[float], None]
    choose: Callable[[int], None]
    look: Callable[[str], None]
    seek: Callable[[float], None]
    play: Callable[[bool], None]
    undo: Callable[[], None]
    redo: Callable[[], None]
    reset: Callable[[], None]
    save: Callable[[str, bool], None]
    simulate: Callable[[], None]


class LiftPanel:
    """Controls of one lift.

    Args:
        gui: GUI of the page.
        lifter: Says the joints' limits.
        limits: Names of all limits.
        calls: Take what a person asks for.
        path: File that is offered for saving.
    """

    def __init__(
        self, gui: viser.GuiApi, lifter: PlanarLifter, limits: tuple[str, ...], calls: LiftCalls, path: str
    ) -> None:
        self._gui, self._lifter, self._calls = gui, lifter, calls
        self._joint, self._playing = -1, False
        self._numbers: dict[int, CoupledNumber] = {}
        self._verdict = gui.add_html("")
        self._play = gui.add_button("Play", icon=viser.Icon.PLAYER_PLAY)
        self._pace = gui.add_dropdown("Pace", tuple(PACES))
        self._along = gui.add_slider("Along the lift [%]", 0.0, 100.0, 0.5, 0.0)
        self._joints = gui.add_dropdown("Joint", JOINT_WORDS)
        self._undo = gui.add_button("Undo", icon=viser.Icon.ARROW_BACK_UP, disabled=True)
        self._redo = gui.add_button("Redo", icon=viser.Icon.ARROW_FORWARD_UP, disabled=True)
        self._reset = gui.add_button("Reset", icon=viser.Icon.REFRESH, color="gray", disabled=True)
        self._points = gui.add_folder("Control points")
        self._duration = CoupledNumber(gui, "Duration [s]", (SHORTEST, SLOWEST), 1.0, calls.stretch, field=False)
        with gui.add_folder("Limits over time"):
            self._limit = gui.add_dropdown("Limit", limits, initial_value=LIMIT_AT_FIRST)
            self._plots = LimitPlots(gui, 4)
        with gui.add_folder("File and simulator"):
            self._path = gui.add_text("File", path)
            self._overwrite = gui.add_checkbox("Overwrite", False, hint="Replace files that are there")
            self._save = gui.add_button("Save", icon=viser.Icon.DEVICE_FLOPPY)
            self._simulate = gui.add_button("Simulate", icon=viser.Icon.ROBOT)
            self._message = gui.add_html("", visible=False)
        self._play.on_click(lambda _: calls.play(not self._playing))
        self._along.on_update(self._seek)
        self._joints.on_update(self._choose)
        self._limit.on_update(lambda _: calls.look(self._limit.value))
        self._undo.on_click(lambda _: calls.undo())
        self._redo.on_click(lambda _: calls.redo())
        self._reset.on_click(lambda _: calls.reset())
        self._save.on_click(lambda _: calls.save(self._path.value, self._overwrite.value))
        self._simulate.on_click(lambda _: calls.simulate())

    async def _seek(self, event: viser.GuiEvent) -> None:
        if event.client_id is not None:  # a person's, not the player's
            self._calls.seek(0.01 * float(event.target.value))

    async def _choose(self, event: viser.GuiEvent) -> None:
        if event.client_id is not None:
            self._calls.choose(JOINT_WORDS.index(event.target.value))

    @property
    def pace(self) -> float:
        """Time of the lift per second."""
        return PACES[self._pace.value]

    @property
    def limit(self) -> str:
        """The limit that has a chart of its own."""
        return str(self._limit.value)

    def show(self, judgement: Judgement, energy: float, seconds: float, *, can_undo: bool, can_redo: bool) -> None:
        """Tell what a motion does to its limits.

        Args:
            judgement: Of the motion.
            energy: Of the actuators [J].
            seconds: What judging took [s].
            can_undo: Whether there is a step to take back.
            can_redo: Whether there is one to do again.
        """
        self._verdict.content = verdict_html(judgement, energy, seconds)
        self._undo.disabled, self._redo.disabled, self._reset.disabled = not can_undo, not can_redo, not can_undo
        self.plot(judgement)

    def plot(self, judgement: Judgement) -> None:
        """Draw torque and speed of the chosen joint, balance, and the chosen limit."""
        joint = JOINT_WORDS[self._joint]
        self._plots.show(judgement, (f"torque of {joint}", f"speed of {joint}", "zero-moment point", self.limit))

    def choose(self, joint: int, motion: LiftMotion) -> None:
        """Offer the control points of a joint."""
        self._joint = joint
        self._joints.value = JOINT_WORDS[joint]  # type: ignore[misc]  # viser's setter is real
        for number in self._numbers.values():
            number.remove()
        low, high = (
            round(float(np.rad2deg(angle)), 1)
            for angle in (self._lifter.lower[joint] - BEYOND, self._lifter.upper[joint] + BEYOND)
        )
        with self._points:
            self._numbers = {
                point: CoupledNumber(
                    self._gui,
                    _point_label(point, motion),
                    (low, high),
                    float(np.rad2deg(motion.points[point, joint])),
                    partial(self._move, point),
                    field=False,
                )
                for point in motion.movable
            }

    def _move(self, point: int, degrees: float) -> None:
        self._calls.move(point, float(np.deg2rad(degrees)))

    def follow(self, motion: LiftMotion) -> None:
        """Show where the points are by now, but for what a person has just set."""
        self._duration.show(motion.duration)
        for point, number in self._numbers.items():
            number.show(float(np.rad2deg(motion.points[point, self._joint])))
            number.label = _point_label(point, motion)

    def point_at(self, share: float) -> None:
        """Show how far along the lift the robot is."""
        self._along.value = round(200.0 * share) / 2.0  # type: ignore[misc]  # viser's setter is real

    @property
    def playing(self) -> bool:
        """Whether the robot moves."""
        return self._playing

    @playing.setter
    def playing(self, playing: bool) -> None:
        self._playing = playing
        self._play.label = "Pause" if playing else "Play"
        self._play.icon = viser.Icon.PLAYER_PAUSE if playing else viser.Icon.PLAYER_PLAY

    @property
    def simulating(self) -> bool:
        """Whether the simulator is at work: no other run is asked for."""
        return self._simulate.disabled

    @simulating.setter
    def simulating(self, simulating: bool) -> None:
        self._simulate.disabled = simulating

    def say(self, message: str, good: bool | None = None) -> None:
        """Tell what came of saving or simulating; None where it isn't known yet."""
        show_message(self._message, message, good)


def _point_label(point: int, motion: LiftMotion) -> str:
    return f"At {motion.times[point]:.2f} s [°]"


def verdict_html(judgement: Judgement, energy: float, seconds: float) -> str:
    """Return whether a lift is feasible, and what it breaks, as HTML.

    Args:
        judgement: of the lift.
        energy: of its actuators [J].
        seconds: what judging took [s].
    """
    told = list(judgement.violations.values())
    if told:
        count = "1 limit is broken" if len(told) == 1 else f"{len(told)} limits are broken"
        head, colour = f"Not feasible: {count}", RED
    else:
        head, colour = "Feasible: every limit is kept", GREEN
    items = [f"<li>{html.escape(one.sentence())}</li>" for one in told[:TOLD]]
    if len(told) > TOLD:
        names = ", ".join(one.name for one in told[TOLD:])
        items.append(f"<li>{html.escape(f'also: {names}')}</li>")
    duration = judgement.series.time[-1]
    return (
        "<div style='margin:0 0.8em;font-size:0.85em'>"
        f"<b style='color:{colour}'>{head}</b>"
        f"<ul style='margin:0.2em 0;padding-left:1.3em'>{''.join(items)}</ul>"
        f"{energy:.4g} J in {duration:.2f} s. Judged in {1e3 * seconds:.0f} ms.</div>"
    )
