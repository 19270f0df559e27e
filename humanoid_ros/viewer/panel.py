# SPDX-License-Identifier: Apache-2.0
"""Panel of the page: the simulation, push and pull, what is shown, plot; the other folders are features' own."""

from __future__ import annotations

import html
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import viser
from humanoid_stack.msg import SimulationStatus, SolverStatus
from viser import uplot

from humanoid_ros.viewer.controls import AMBER, COLOURS, FONT, GREEN, RED, Later, show_folder, show_message
from humanoid_ros.viewer.simulator_calls import SimulatorCalls

SOLVER_WORDS = {
    SolverStatus.CONVERGED: "converged",
    SolverStatus.MAX_ITERATIONS: "out of iterations",
    SolverStatus.TIME_BUDGET: "out of time",
    SolverStatus.NO_CONTACT: "no contact",
    SolverStatus.FAILED: "failed",
    SolverStatus.APPROXIMATE: "approximate law",
}


def status_html(status: SimulationStatus | None, normal_force: float, weight: float | None) -> str:
    """Return the table of the simulation's state.

    Args:
        status: The state, or None when no simulator is heard.
        normal_force: Sum of the normal contact forces [N].
        weight: Weight of the robots [N], None when unknown.

    Returns:
        HTML whose texts are escaped.
    """
    if status is None:
        return _badge("no simulator", RED) + _note(
            "Nothing is heard on <code>status</code>. The page goes on by itself when a simulator starts."
        )
    if status.paused:
        badge = _badge("paused", AMBER)
        if status.pause_reason:
            badge += _note(html.escape(status.pause_reason))
    else:
        badge = _badge("running", GREEN)
    forces = f"{normal_force:.1f} N"
    if weight is not None:
        forces += f" of {weight:.1f} N"
    rows = [
        ("scene", html.escape(status.scene)),
        ("simulated time", f"{status.time:.2f} s"),
        ("real-time factor", "–" if status.paused else f"{status.real_time_factor:.2f}"),
        ("time of a step", f"{1e6 * status.step_seconds:.0f} µs" if status.step_seconds else "–"),
        ("energy", f"{status.kinetic_energy:.3f} + {status.potential_energy:.1f} J"),
        ("contact solver", _solver_html(status.solver)),
        ("normal forces", forces),
    ]
    return badge + _table(rows)


def _solver_html(solver: SolverStatus) -> str:
    """Return the contact solver in a few words, e.g. "nsgs: converged, 12 iterations"; red where it ended badly."""
    words = SOLVER_WORDS.get(solver.status, f"status {solver.status}")
    if solver.iterations:
        words += f", {solver.iterations} iteration{'s' if solver.iterations > 1 else ''}"
    words = html.escape(f"{solver.method}: {words}" if solver.method else words)
    well = solver.status in (SolverStatus.CONVERGED, SolverStatus.NO_CONTACT)
    return words if well else f"<b style='color:{RED}'>{words}</b>"


def _badge(text: str, colour: str) -> str:
    return (
        f"<div style='display:inline-block;margin:0 0.6em 0.4em 0.6em;padding:0.1em 0.8em;"
        f"border-radius:1em;background:{colour};color:white;font-size:0.85em;font-weight:600'>"
        f"{text}</div>"
    )


def _note(text: str) -> str:
    return f"<div style='margin:0 0.8em 0.4em;font-size:0.82em;opacity:0.8'>{text}</div>"


def _table(rows: list[tuple[str, str]]) -> str:
    body = "".join(
        f"<tr><td style='padding:0.09em 0;opacity:0.65'>{name}</td>"
        f"<td style='padding:0.09em 0;text-align:right'>{value}</td></tr>"
        for name, value in rows
    )
    return (
        "<table style='width:calc(100% - 1.4em);margin:0 0.7em 0.5em;border-collapse:collapse;"
        f"font-size:0.85em;font-variant-numeric:tabular-nums'>{body}</table>"
    )


TOTAL_COLOUR = "#222222"
WEIGHT_COLOUR = "#999999"
SAMPLES = 400
"""Most samples kept over the window: more than a chart of this size can show."""


class ForceHistory:
    """Normal force per body over the last seconds of simulated time.

    Args:
        window: Length of the history [s].
    """

    def __init__(self, window: float) -> None:
        self.window = window
        self._samples: deque[tuple[float, Mapping[str, float] | Callable[[], Mapping[str, float]]]] = deque()

    def append(self, time: float, forces: Mapping[str, float] | Callable[[], Mapping[str, float]]) -> None:
        """Add the normal force of each loaded body [N], or what finds it, at a simulated time [s].

        Time that goes backwards means that the simulation was reset: the history starts anew. Forces are found when
        somebody looks at them.
        """
        if self._samples and time < self._samples[-1][0]:
            self._samples.clear()
        if self._samples and time - self._samples[-1][0] < self.window / SAMPLES:
            return
        self._samples.append((time, forces))
        while time - self._samples[0][0] > self.window:
            self._samples.popleft()

    @property
    def bodies(self) -> list[str]:
        """Bodies that carried force within the window, in alphabetic order."""
        return sorted({body for forces in self._forces() for body in forces})

    def table(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return times (k,) and forces (k,) per body; zero where a body had no contact."""
        times, found = np.array([time for time, _ in self._samples]), self._forces()
        return times, {body: np.array([forces.get(body, 0.0) for forces in found]) for body in self.bodies}

    def _forces(self) -> list[Mapping[str, float]]:
        for index, (time, forces) in enumerate(self._samples):
            if callable(forces):
                self._samples[index] = time, forces()
        return [forces for _, forces in self._samples if not callable(forces)]


class ForcePlot:
    """Chart of a `ForceHistory` in the panel it is created in.

    Args:
        gui: GUI of the page.
        window: Length of the history [s].
    """

    def __init__(self, gui: viser.GuiApi, window: float) -> None:
        self.history = ForceHistory(window)
        self.weight: float | None = None
        self._gui = gui
        self._folder = gui.add_folder(None)
        self._chart: viser.GuiUplotHandle | None = None
        self._bodies: list[str] = []
        self._drawn_time: float | None = None

    def refresh(self) -> None:
        """Send the history to the browsers if it grew since the last time."""
        times, forces = self.history.table()
        if len(times) < 2 or times[-1] == self._drawn_time:
            return
        self._drawn_time = float(times[-1])
        columns = [times, *forces.values()]
        total = np.sum(list(forces.values()), axis=0) if forces else np.zeros(len(times))
        columns.append(total)
        if self.weight is not None:
            columns.append(np.full(len(times), self.weight))
        bodies = [*forces, *(["weight"] if self.weight is not None else [])]
        if self._chart is None or bodies != self._bodies:
            self._create_chart(tuple(columns), list(forces))
            self._bodies = bodies
            return
        self._chart.data = tuple(columns)

    def _create_chart(self, data: tuple[np.ndarray, ...], bodies: list[str]) -> None:
        if self._chart is not None:
            self._chart.remove()
        series: list[uplot.Series] = [{"label": "t [s]"}]
        for i, body in enumerate(bodies):
            name = body.rsplit("/", 1)[-1]
            line: uplot.Series = {"label": name, "stroke": COLOURS[i % len(COLOURS)], "width": 2}
            if i % 2:
                line["dash"] = (8, 8)  # feet that carry the same would hide each other
            series.append(line)
        series.append({"label": "sum", "stroke": TOTAL_COLOUR, "width": 1.5})
        if self.weight is not None:
            series.append({"label": "weight", "stroke": WEIGHT_COLOUR, "width": 1, "dash": (6, 4)})
        with self._folder:
            self._chart = self._gui.add_uplot(
                data,
                tuple(series),
                scales={"x": {"time": False}, "y": {"range": (0.0, None)}},
                axes=({"size": 34, "font": FONT}, {"size": 44, "font": FONT}),
                height=210,
                padding=(8, 8, 0, 0),
            )


NO_LINK = "no link"
SHOWN = {
    "robot": "Robot",
    "forces": "Contact forces",
    "cones": "Friction cones",
    "balance": "Centres of mass and pressure",
    "soles": "Deformed soles",
    "traces": "Traces",
    "floor": "Floor grid",
}
"""Parts of the drawing that can be hidden, and how the panel calls them."""
LAST = 1e9
"""Order of the folders that come after those of the features."""
FOLLOW = "follow"
"""What is no such part: the camera goes with the robot."""


class Panel:
    """Panel beside the scene.

    Args:
        gui: GUI of the page.
        scenes: Scenes to choose from.
        window: Length of the force plot [s].
    """

    def __init__(
        self,
        gui: viser.GuiApi,
        scenes: Sequence[str],
        window: float,
    ) -> None:
        self._paused = False
        self._html = gui.add_html(status_html(None, 0.0, None))
        self._message = gui.add_html("", visible=False)
        self._pause = gui.add_button("Pause", icon=viser.Icon.PLAYER_PAUSE)
        self._step = gui.add_button_group("Step", ("1", "10", "100"), visible=False)
        self._reset = gui.add_button("Reset", icon=viser.Icon.REFRESH, color="gray")
        self._forces = gui.add_folder("Normal forces [N] over time [s]", visible=False)
        with self._forces:
            self.plot = ForcePlot(gui, window)
        self._pushing = gui.add_folder("Push", visible=False)
        with self._pushing:
            self._push_body = gui.add_dropdown("Body", (NO_LINK,))
            self._direction = gui.add_slider(
                "Direction", 0, 355, 5, 0, hint="Degrees in the ground plane: 0 forward, 90 left"
            )
            self._force = gui.add_slider("Force [N]", 5, 500, 5, 90)
            self._duration = gui.add_slider("Duration [s]", 0.01, 1.0, 0.01, 0.15)
            self._push = gui.add_button("Push", icon=viser.Icon.HAND_MOVE, color="orange")
        self._pulling = gui.add_folder("Pull", expand_by_default=False, visible=False)
        with self._pulling:
            self._pull_link = gui.add_dropdown("Link", (NO_LINK,))
            gui.add_markdown("Drag the arrows on the link: a spring pulls it.")
        with gui.add_folder("Show", order=LAST, expand_by_default=False):
            self._boxes = {part: gui.add_checkbox(label, True) for part, label in SHOWN.items()}
            self._boxes[FOLLOW] = gui.add_checkbox("Camera follows robot", False)
        self._loading = gui.add_folder("Scene", order=LAST + 1, expand_by_default=False)
        with self._loading:
            self._scene = gui.add_dropdown("Name", tuple(scenes) or ("stand",))
            self._load = gui.add_button("Load", icon=viser.Icon.FOLDER_OPEN, color="gray")

    def connect(
        self,
        simulator: SimulatorCalls,
        pick: Callable[[str], None],
        show: Callable[[str, bool], None],
        later: Later,
    ) -> None:
        """Let what a person does be done later.

        Args:
            simulator: is paused, pushed, ...
            pick: puts the pulling handle on a link; an empty name takes it away.
            show: shows or hides a part of SHOWN; of FOLLOW, lets the camera go with the robot.
            later: lets it be done in the executor.
        """

        def push(_: viser.GuiEvent) -> None:
            if self._push_body.value == NO_LINK:
                self.say("There is no body to push yet.")
                return
            angle, force = np.deg2rad(self._direction.value), float(self._force.value)
            along = float(force * np.cos(angle)), float(force * np.sin(angle)), 0.0
            later(simulator.push, self._push_body.value, along, float(self._duration.value))

        self._pause.on_click(lambda _: later(simulator.pause, not self._paused))
        self._step.on_click(lambda event: later(simulator.step, int(event.target.value)))
        self._reset.on_click(lambda _: later(simulator.reset))
        self._push.on_click(push)
        self._pull_link.on_update(lambda event: later(pick, event.target.value.replace(NO_LINK, "")))
        self._load.on_click(lambda _: later(simulator.load_scene, self._scene.value))
        for part, box in self._boxes.items():
            box.on_update(partial(lambda part, event: later(show, part, bool(event.target.value)), part))

    def set_bodies(self, bodies: Sequence[str], preferred: str | None) -> None:
        """Offer these bodies for pushing and pulling; `preferred` is chosen for the push."""
        if tuple(self._pull_link.options) == (NO_LINK, *bodies):
            return
        self._push_body.options = tuple(bodies) or (NO_LINK,)
        if preferred is not None and preferred in bodies:
            self._push_body.value = preferred  # type: ignore[misc]  # viser's setter is real
        self._pull_link.options = (NO_LINK, *bodies)
        self._pull_link.value = NO_LINK  # type: ignore[misc]

    def offer_pushes(self, offered: bool) -> None:
        """Show the folders of pushes and pulls where somebody takes them, and that of forces where some are told."""
        for folder in (self._pushing, self._pulling):
            show_folder(folder, offered)
        show_folder(self._forces, bool(self.plot.history.bodies))

    def offer_robots(self, robots: bool) -> None:
        """Show what is about simulated and real robots; a mechanism alone has no use for it."""
        for part in (self._html, self._pause, self._reset, self._loading):
            show_folder(part, robots)

    def show_status(self, status: SimulationStatus | None, normal_force: float, weight: float | None) -> None:
        """Show the simulation's state; None means that no simulator is heard."""
        text = status_html(status, normal_force, weight)
        if text != self._html.content:
            self._html.content = text
        silent = status is None
        self._paused = status is not None and status.paused
        label = "Run" if self._paused else "Pause"
        if label != self._pause.label:
            self._pause.label = label
            self._pause.icon = viser.Icon.PLAYER_PLAY if self._paused else viser.Icon.PLAYER_PAUSE
        for control, disabled in (
            (self._pause, silent),
            (self._reset, silent),
            (self._push, silent),
        ):
            if control.disabled != disabled:
                control.disabled = disabled
        if self._step.visible != self._paused:
            self._step.visible = self._paused

    def say(self, message: str) -> None:
        """Show a message under the state, or nothing when it is empty."""
        show_message(self._message, message, False)
