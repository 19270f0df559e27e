# SPDX-License-Identifier: Apache-2.0
"""Panel of mechanisms: file, joints, tools, links, loops, marks, values over time, recording."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import viser

from humanoid_kinematics.live.live_mechanism import PROFILES
from humanoid_ros.viewer.controls import CoupledNumber, FeaturePanel, Later, add_line_chart
from humanoid_ros.viewer.drawing.mechanism_drawing import PARTS
from humanoid_ros.viewer.link_panel import LinkPanel, LinkView, unit_of

FOLLOWS, POSITION, POSE = "follows", "position", "pose"
MODES = (FOLLOWS, POSITION, POSE)
"""How a tool is moved: it follows the joints (direct), or stays where its handle is, in any attitude or its own."""
SPHERES, MARGINS, ELLIPSOIDS = "speed spheres", "margin colours", "velocity ellipsoids"
DISTANCES, PATHS = "distance colours", "paths of tools"
SHOWN = {
    **dict.fromkeys(PARTS, True),
    **dict.fromkeys((SPHERES, MARGINS, DISTANCES, ELLIPSOIDS, PATHS), False),
}
"""What can be shown over the bodies, and whether it is at first."""
NO_PLOT = "nothing"
PLOTS = {
    "joint positions": ("position/",),
    "joint speeds": ("speed/",),
    "condition of tools": ("dexterity/",),
    "manipulability": ("manipulability",),
    "loop gaps": ("gap/",),
    "command gaps": ("command/",),
    "distance to obstacles": ("obstacle",),
    "time of a tick": ("solve_time",),
}
"""Groups of values that can be plotted, by the beginnings of their names in a recording."""
NOTHING = ("",)
"""Of a menu without a choice: the page's menus can't be empty."""
FRAMES = ("world", "tool", "view")
AXES = ("x", "y", "z", "about x", "about y", "about z")
ANGLES = ("roll", "pitch", "yaw")
STEPS = ("−10", "−1", "+1", "+10")
HELD_RATE = 20.0
"""A button that is held says so as often a second [Hz]."""
DRIVE_SPEED = 50.0
"""Of a tool while a button is held, in units of a step [1/s]."""
BASE_REACH, BASE_TURN = 1000.0, 180.0
"""The base's sliders go so far either way [mm, degrees]."""
RECORDING = "motion.csv"
OTHER = "another file"
"""What the list of files says when none of them runs."""


@dataclass(frozen=True)
class JointView:
    """A joint as the panel offers it.

    Attributes:
        name: of the joint.
        prismatic: whether it slides.
        position: now [rad or m].
        limits: lowest and highest, finite: of the slider where the joint has none.
    """

    name: str
    prismatic: bool
    position: float
    limits: tuple[float, float]


class MechanismPanel(FeaturePanel):
    """Folder of the panel.

    Args:
        gui: GUI of the page.
        files: mechanisms that are offered by name.

    Attributes:
        files: mechanisms that are offered.
        said: what it told last.
    """

    def __init__(self, gui: viser.GuiApi, files: Sequence[str]) -> None:
        self._gui, self.files = gui, tuple(files)
        self._recording = self._replaying = False
        self.said = ""
        self._joints: dict[str, CoupledNumber] = {}
        self._scales: dict[str, float] = {}
        self._sliders: list[tuple[str, bool, tuple[float, float]]] = []
        self._tools: list[viser.GuiDropdownHandle[str] | viser.GuiFolderHandle] = []
        self._held: list[viser.GuiButtonHandle] = []
        self._loops: dict[str, viser.GuiCheckboxHandle] = {}
        self._links: dict[str, LinkPanel] = {}
        self._chart: viser.GuiUplotHandle | None = None
        self._plotted: tuple[str, ...] = ()
        with gui.add_folder("Mechanism", expand_by_default=False):
            self._file = gui.add_dropdown("File", (*files, OTHER))
            self._path = gui.add_text("or path", "", hint="MAD, URDF with loops, MJCF")
            self._load = gui.add_button("Load mechanism", icon=viser.Icon.FOLDER_OPEN)
            self._name = gui.add_dropdown("Mechanism", ("",), visible=False)
            self._result = gui.add_html("", visible=False)
            self._body = gui.add_folder(None, visible=False)
        with self._body:
            self._joint_folder = gui.add_folder("Joints")
            self._tool_folder = gui.add_folder("Tools", expand_by_default=False)
            with self._tool_folder:
                self._tool = gui.add_dropdown("Step", NOTHING)
                self._frame = gui.add_dropdown("in axes of", FRAMES)
                self._scale = gui.add_slider("Sensitivity", 0.1, 10.0, 0.1, 1.0, hint="1: steps of 1 mm and 1°")
                self._steps = [gui.add_button_group(axis, STEPS) for axis in AXES]
                with gui.add_folder("Drive while held", expand_by_default=False):
                    self._speed = gui.add_slider("Speed", 1.0, 200.0, 1.0, DRIVE_SPEED, hint="[mm/s, °/s]")
                    for name in AXES:
                        for sign in ("−", "+"):
                            button = gui.add_button(f"{sign} {name}", color="gray")
                            self._held.append(button)
            self._link_folder = gui.add_folder("Links", expand_by_default=False)
            with self._link_folder:
                self._link = gui.add_dropdown("Link to edit", NOTHING, hint="or click at it")
                self._open = gui.add_button("Edit link", icon=viser.Icon.EDIT, color="gray")
            with gui.add_folder("Base", expand_by_default=False):
                self._base = [self._base_number(axis, name) for axis, name in enumerate(("x", "y", "z", *ANGLES))]
            self._solver = gui.add_dropdown("Solver", PROFILES)
            self._loop_folder = gui.add_folder("Loops", expand_by_default=False)
            with gui.add_folder("Shown", expand_by_default=False):
                self._boxes = {part: gui.add_checkbox(part.capitalize(), on) for part, on in SHOWN.items()}
                self._channels = gui.add_text("Channels", "", hint="YAML file: which value shows how")
                self._stereo = gui.add_checkbox("Stereo", False, hint="A second browser is the right eye")
                self._sounds = gui.add_checkbox("Sounds", False, hint="Of limits, loops and obstacles in the way")
            with gui.add_folder("Over time", expand_by_default=False):
                self._plot = gui.add_dropdown("Plot", (NO_PLOT, *PLOTS))
                self._charts = gui.add_folder(None)
            with gui.add_folder("Record", expand_by_default=False):
                self._csv = gui.add_text("Recording", RECORDING, hint="CSV or MCAP file")
                self._overwrite = gui.add_checkbox("Overwrite", False, hint="Replace a recording that is there")
                self._record = gui.add_button("Record", icon=viser.Icon.PLAYER_RECORD, color="red")
                self._replay = gui.add_button("Replay", icon=viser.Icon.PLAYER_PLAY, color="gray")

    def connect(self, mechanisms: Any, later: Later) -> None:
        """Let what a person does be done later by the feature, which knows this panel."""
        self._mechanisms, self._later = mechanisms, later
        do = mechanisms
        self._load.on_click(lambda _: self._load_file())
        self._name.on_update(lambda event: self._by_person(event, do.choose, event.target.value))
        for axis, steps in enumerate(self._steps):
            steps.on_click(partial(self._step_tool, axis))
        for index, button in enumerate(self._held):
            button.on_hold(partial(self._drive_tool, index // 2, 1.0 if index % 2 else -1.0), HELD_RATE)
        self._open.on_click(lambda _: later(do.open_link, self._link.value))
        for part, box in self._boxes.items():
            box.on_update(partial(lambda part, event: later(do.show, part, bool(event.target.value)), part))
        self._channels.on_update(lambda event: later(do.read_channels, event.target.value.strip()))
        self._stereo.on_update(lambda event: self._by_person(event, do.show_stereo, bool(event.target.value)))
        self._sounds.on_update(lambda event: self._by_person(event, do.play_sounds, bool(event.target.value)))
        self._plot.on_update(lambda event: later(do.plot, event.target.value))
        self._solver.on_update(lambda event: later(do.choose_solver, event.target.value))
        self._record.on_click(
            lambda _: later(do.recording.record, not self._recording, self._csv.value, bool(self._overwrite.value))
        )
        self._replay.on_click(lambda _: later(do.recording.replay, not self._replaying, self._csv.value))

    def _by_person(self, event: viser.GuiEvent, method: Callable[..., None], *arguments: Any) -> None:
        if event.client_id is not None:
            self._later(method, *arguments)

    def _choose(self, method: Callable[..., None], name: str, event: viser.GuiEvent) -> None:
        self._by_person(event, method, name, event.target.value)

    def _load_file(self) -> None:
        path = self._path.value.strip() or self._file.value
        if path == OTHER:
            self.say("Choose a file, or give a path.", False)
        else:
            self._later(self._mechanisms.load, path)

    def _step_tool(self, axis: int, event: viser.GuiEvent) -> None:
        steps = float(event.target.value.replace("−", "-")) * float(self._scale.value)
        motion = [0.0] * 6
        motion[axis] = steps * unit_of(axis > 2)[1]
        self._later(self._mechanisms.step, self._tool.value, tuple(motion), self._frame.value, event.client_id)

    def _drive_tool(self, axis: int, sign: float, event: viser.GuiEvent) -> None:
        velocity = [0.0] * 6
        velocity[axis] = sign * float(self._speed.value) * unit_of(axis > 2)[1]
        self._later(self._mechanisms.drive, self._tool.value, tuple(velocity), self._frame.value, event.client_id)

    def _base_number(self, axis: int, name: str) -> CoupledNumber:
        unit, _ = unit_of(axis > 2)
        reach = BASE_TURN if axis > 2 else BASE_REACH
        return CoupledNumber(self._gui, f"base {name} [{unit}]", (-reach, reach), 0.0, lambda _: self._move_base())

    def _move_base(self) -> None:
        pose = [number.value * unit_of(axis > 2)[1] for axis, number in enumerate(self._base)]
        self._later(self._mechanisms.move_base, tuple(pose))

    # ---- what there is ----

    def set_file(self, file: str | None) -> None:
        """Show which of the files runs; None: another one. A path that was typed would go before it."""
        self._file.value = OTHER if file is None else file  # type: ignore[misc]  # viser's setter is real
        if file is not None:
            self._path.value = ""  # type: ignore[misc]

    def set_names(self, names: Sequence[str], name: str) -> None:
        """Offer the mechanisms of a file, even a single one, which may have another name; the panel is about one."""
        self._name.options = tuple(names)
        self._name.value = name  # type: ignore[misc]  # viser's setter is real
        self._name.visible = True

    def set_mechanism(
        self, joints: Sequence[JointView], tools: Sequence[str], links: Sequence[str], loops: Sequence[str]
    ) -> None:
        """Offer what a mechanism has in the place of what the last one had: joints by sliders, tools, links, loops."""
        self._body.visible = True
        for control in (*self._tools, *self._loops.values(), *self._links.values()):
            control.remove()
        self._links.clear()
        self.set_joints(joints)
        with self._tool_folder:
            self._tools = []
            for tool in tools:
                mode = self._gui.add_dropdown(tool, MODES, hint="How it is moved")
                mode.on_update(partial(self._choose, self._mechanisms.set_mode, tool))
                self._tools.append(mode)
        movable = (*tools, *(link for link in links if link not in tools))
        self._tool.options, self._link.options = movable or NOTHING, tuple(links) or NOTHING
        for folder, there in ((self._joint_folder, joints), (self._tool_folder, movable), (self._link_folder, links)):
            folder.visible = bool(there)
        with self._loop_folder:
            self._loops = {loop: self._gui.add_checkbox(loop, True, hint="Held closed") for loop in loops}
        for loop, box in self._loops.items():
            box.on_update(partial(self._choose, self._mechanisms.hold_loop, loop))
        self._loop_folder.visible = bool(loops)

    def set_joints(self, joints: Sequence[JointView]) -> None:
        """Give each joint a slider within its limits; those that are there stay if nothing has changed."""
        shown = [(joint.name, joint.prismatic, joint.limits) for joint in joints]
        if shown == self._sliders:
            return
        self._sliders = shown
        for number in self._joints.values():
            number.remove()
        with self._joint_folder:
            self._scales = {joint.name: unit_of(not joint.prismatic)[1] for joint in joints}
            self._joints = {joint.name: self._slider(joint) for joint in joints}

    def _slider(self, joint: JointView) -> CoupledNumber:
        unit, size = unit_of(not joint.prismatic)
        bounds = joint.limits[0] / size, joint.limits[1] / size
        return CoupledNumber(
            self._gui, f"{joint.name.replace('_', ' ')} [{unit}]", bounds, joint.position / size,
            lambda value: self._later(self._mechanisms.move_joint, joint.name, value * size),
        )  # fmt: skip

    # ---- how it is ----

    def update(self, positions: Mapping[str, float], links: Sequence[LinkView], open_loops: Sequence[str]) -> None:
        """Show where joints are [rad, m], links that are edited, and loops that are let go of."""
        for name, number in self._joints.items():
            if name in positions:
                number.show(positions[name] / self._scales[name])
        for view in links:
            if view.link in self._links:
                self._links[view.link].update(view)
        for loop, box in self._loops.items():
            if box.value == (loop in open_loops):
                box.value = loop not in open_loops  # type: ignore[misc]  # viser's setter is real

    def show_base(self, pose: Sequence[float]) -> None:
        """Show where the base is: position [m] and roll, pitch, yaw [rad]."""
        for axis, (number, value) in enumerate(zip(self._base, pose, strict=True)):
            number.show(float(value) / unit_of(axis > 2)[1])

    def open_link(self, view: LinkView) -> None:
        """Open the panel of a link, beside those that are open."""
        if view.link in self._links:
            return
        with self._link_folder:
            self._links[view.link] = LinkPanel(self._gui, view, self._mechanisms, self._later)

    def close_link(self, link: str) -> None:
        """Close the panel of a link."""
        panel = self._links.pop(link, None)
        if panel is not None:
            panel.remove()

    @property
    def open_links(self) -> tuple[str, ...]:
        """Links whose panels are open."""
        return tuple(self._links)

    def plot(self, times: np.ndarray, series: Mapping[str, np.ndarray]) -> None:
        """Draw values (k,) by name over times (k,) [s]; none take the chart away."""
        names = tuple(series)
        if self._chart is not None and (names != self._plotted or len(times) < 2):
            self._chart.remove()
            self._chart = None
        if len(times) < 2 or not names:
            return
        shown = [np.where(np.isfinite(values), values, math.nan) for values in series.values()]
        if self._chart is None:
            with self._charts:
                self._chart = add_line_chart(self._gui, times, dict(zip(names, shown, strict=True)))
            self._plotted = names
        else:
            self._chart.data = (times, *shown)

    @property
    def recording(self) -> bool:
        """Whether a motion is being recorded."""
        return self._recording

    @recording.setter
    def recording(self, recording: bool) -> None:
        self._recording = recording
        self._record.label = "Stop recording" if recording else "Record"

    @property
    def replaying(self) -> bool:
        """Whether a recording is being replayed."""
        return self._replaying

    @replaying.setter
    def replaying(self, replaying: bool) -> None:
        self._replaying = replaying
        self._replay.label = "Stop replay" if replaying else "Replay"

    def say(self, message: str, good: bool | None = None) -> None:
        """Tell what came of it, or what hinders a command."""
        self.said = message
        super().say(message, good)
