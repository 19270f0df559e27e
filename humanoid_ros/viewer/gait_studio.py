# SPDX-License-Identifier: Apache-2.0
"""Gaits on the embedded view: what the panel asks for goes to the action `generate_gait`, a gait comes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import viser
from humanoid_stack.action import GenerateGait
from humanoid_stack.msg import Gait, GaitRequest
from rclpy.node import Node

from humanoid_model import Robot, load_robot
from humanoid_model.errors import HumanoidError
from humanoid_ros.gait_generator.gait_markers import footprints, sole_forces, times_of
from humanoid_ros.gait_generator.gait_replay import trajectory_posture
from humanoid_ros.messages.conversions import array, duration
from humanoid_ros.node.parameter_declaration import declare_number, number
from humanoid_ros.viewer.camera import Camera
from humanoid_ros.viewer.controls import FeaturePanel, Later, add_line_chart, show_folder, tells
from humanoid_ros.viewer.drawing.gait_drawing import GaitDrawing, GaitView
from humanoid_ros.viewer.drawing.posture_drawing import painted
from humanoid_ros.viewer.drawing.shapes import RobotDrawing
from humanoid_ros.viewer.feature import Feature, View
from humanoid_ros.viewer.planner_calls import AskedGoal

TORQUES, FORCES, BASE = "Torques [N m] over time [s]", "Normal forces on the soles [N]", "Base aside and up [m]"
Chart: TypeAlias = tuple[str, np.ndarray, Mapping[str, np.ndarray]]
"""Title, times (k,) [s], and series (k,) by name."""


class GaitPlots:
    """Charts in a folder of their own, which is there once there is a gait.

    Args:
        gui: GUI of the page.
    """

    def __init__(self, gui: viser.GuiApi) -> None:
        self._gui = gui
        self._folder = gui.add_folder("Gait over time", visible=False)
        self._parts: list[viser.GuiUplotHandle | viser.GuiMarkdownHandle] = []

    def show(self, charts: Iterable[Chart]) -> None:
        """Draw these charts in place of the last ones; one of less than two times, or without series, is left out."""
        for part in self._parts:
            part.remove()
        self._parts = []
        self._folder.visible = True
        with self._folder:
            for title, time, series in charts:
                if len(time) > 1 and series:
                    self._parts.append(self._gui.add_markdown(title))
                    self._parts.append(add_line_chart(self._gui, _increasing(time), series))


def _increasing(time: np.ndarray) -> np.ndarray:
    """Return times with those that are equal moved apart a little: a chart needs them to increase."""
    return np.asarray(time + 1e-9 * np.arange(len(time)))


PATH = "/gait"
PAUSE = 0.7
"""Between two rounds of the walking robot [s]."""
GHOST = np.array([0.45, 0.55, 0.68, 0.75])
"""Colour of the robot that walks."""
ROBOTS = ("hrp2", "bip")
"""Robots that are offered; others are typed into the node's parameters or sent by other clients."""
SLIDERS = (
    ("length", "Step length [m]", -0.4, 0.6, 0.01, 0.25, "Negative: backwards"),
    ("side", "Aside in two steps [m]", -0.3, 0.3, 0.01, 0.0, "To the left"),
    ("turn", "Turn in two steps [rad]", -0.8, 0.8, 0.05, 0.0, "To the left, on level ground"),
    ("slope", "Slope ahead [rad]", -0.3, 0.3, 0.01, 0.0, "Of the ground"),
    ("rise", "Rise of a stair [m]", -0.2, 0.2, 0.01, 0.0, "One for each step"),
    ("single_support", "Single support [s]", 0.3, 1.5, 0.05, 0.6, ""),
    ("double_support", "Double support [s]", 0.05, 0.6, 0.05, 0.15, ""),
)
"""Fields of a request: name, label, least, greatest, step, first value, hint."""


class GaitPanel(FeaturePanel):
    """Folder of the panel.

    Args:
        gui: GUI of the page.

    Attributes:
        folder: All of it.
    """

    def __init__(self, gui: viser.GuiApi) -> None:
        self.folder = gui.add_folder("Gait", expand_by_default=False)
        with self.folder:
            self._robot = gui.add_dropdown("Walker", ROBOTS)
            self._sliders = {
                name: gui.add_slider(label, low, high, step, first, hint=hint or None)
                for name, label, low, high, step, first, hint in SLIDERS
            }
            self._steps = gui.add_slider("Steps", 1, 20, 1, 4)
            self._start = gui.add_checkbox("From rest", True)
            self._stop = gui.add_checkbox("To rest", True)
            self._proof = gui.add_checkbox("Prove optimality", False, hint="By Pontryagin's conditions: takes twice")
            self._generate = gui.add_button("Generate gait", icon=viser.Icon.RUN)
            self._asks = (self._generate,)
            self._cancel = gui.add_button("Cancel gait", icon=viser.Icon.X, color="red", visible=False)
            self._result = gui.add_html("", visible=False)
            self._shown = gui.add_checkbox("Show gait", True, visible=False)
            self._forces = gui.add_checkbox("Foot forces", True, visible=False)
            self._aside = gui.add_slider("Aside [m]", -2.0, 2.0, 0.1, 0.8, visible=False)
            self.plots = GaitPlots(gui)

    def connect(self, gaits: GaitStudio, later: Later) -> None:
        """Let what a person does be done later."""
        self._generate.on_click(lambda _: later(gaits.generate, self.wanted))
        self._cancel.on_click(lambda _: later(gaits.cancel))
        for control in (self._shown, self._forces, self._aside):
            control.on_update(lambda _: later(gaits.show, *self.look))

    @property
    def wanted(self) -> dict[str, Any]:
        """Fields of the request that a person has chosen."""
        numbers = {name: float(slider.value) for name, slider in self._sliders.items()}
        return {
            **{name: [value] if name.endswith("_support") else value for name, value in numbers.items()},
            "robot": self._robot.value,
            "steps": int(self._steps.value),
            **{name: bool(getattr(self, f"_{name}").value) for name in ("start", "stop", "proof")},
        }

    @property
    def look(self) -> tuple[bool, bool, float]:
        """How the gait is shown: whether at all, whether with forces, and how far to the left [m]."""
        return bool(self._shown.value), bool(self._forces.value), float(self._aside.value)

    def offer_figures(self) -> None:
        """Show how a gait can be looked at, now that there is one."""
        for control in (self._shown, self._forces, self._aside):
            control.visible = True


class GaitStudio(Feature):
    """Asks for gaits, tells how far they are, and draws and plots them; all of it in the node's executor."""

    name = "gait"

    @staticmethod
    def declare_parameters(node: Node) -> None:
        """Declare times and sizes."""
        for name, default, low, high, meaning in (
            ("gait_arrow_scale", 0.0006, 1e-6, 1.0, "Length of an arrow under a gait's feet per force [m/N]"),
            ("gait_time_limit", 120.0, 0.1, 86400.0, "Wall-clock time that the search of a gait may take [s]"),
        ):
            declare_number(node, name, default, low, high, meaning, read_only=True)

    def __init__(self, view: View) -> None:
        """Add the folder."""
        node, panel = view.node, GaitPanel(view.gui)
        self._page, self._panel = view.page, panel
        self._time_limit = number(node, "gait_time_limit")
        self._asked = AskedGoal(
            node, (GenerateGait, "generate_gait"), "gait_generator", self._on_feedback, self._on_end
        )
        self._root = view.scene.add_frame(PATH, show_axes=False)
        self._drawing = GaitDrawing(view.scene, PATH, number(node, "gait_arrow_scale"))
        self._shown, self._forces, self._aside = panel.look
        self._view: GaitView | None = None
        self._began = 0.0
        self._gait: Gait | None = None
        self._robot: tuple[str, Robot] | None = None
        self._ghost: RobotDrawing | None = None
        panel.connect(self, view.later)
        self._apply()

    def offer(self, alone: bool) -> None:
        """Show the folder where there may be a robot, or a node generates gaits."""
        show_folder(self._panel.folder, not alone or self._asked.offered)

    def update(self, now: float) -> None:
        """Let the robot walk on.

        Args:
            now: monotonic time [s].
        """
        self._asked.watch()
        if self._view is None or not self._shown:
            return
        time = now - self._began
        if time > self._view.duration + PAUSE:
            self._began, time = now, 0.0
        self._drawing.update(time)
        self._move_ghost(time)

    # Requests and answers -----------------------------------------------------------------------------------------

    @tells
    def generate(self, wanted: Mapping[str, Any]) -> None:
        """Ask for a gait, of which these fields of the request are given, unless one is being generated."""
        if self._asked.working:
            return
        request = GaitRequest(**wanted, time_limit=duration(self._time_limit))
        self._asked.ask(GenerateGait.Goal(request=request))
        self._panel.show_working(True)
        self._panel.say("Asked for.")

    def cancel(self) -> None:
        """Give up the gait that is being generated."""
        self._asked.cancel()

    def show(self, shown: bool, forces: bool, aside: float) -> None:
        """Show the gait or not, with forces or without, so far from the middle to the left [m]."""
        self._shown, self._forces, self._aside = shown, forces, aside
        self._apply()

    def _on_feedback(self, feedback: GenerateGait.Feedback) -> None:
        figures = [f"iteration {feedback.iteration}"]
        figures += [f"cost {feedback.cost:.4g}"] if np.isfinite(feedback.cost) else []
        figures += [f"residual {feedback.residual:.1e}"] if np.isfinite(feedback.residual) else []
        self._panel.say(f"{feedback.stage}\n{', '.join(figures)}")

    def _on_end(self, result: GenerateGait.Result | None, why: str) -> None:
        self._panel.show_working(False)
        if result is None or not result.success:
            self._panel.say(why if result is None else result.message, False)
            return
        self._panel.say(_summary(result.gait), True)
        self._take(result.gait)

    # Drawing ------------------------------------------------------------------------------------------------------

    def _take(self, gait: Gait) -> None:
        robot = self._robot
        if robot is None or robot[0] != gait.robot:
            try:
                robot = gait.robot, load_robot(gait.robot)
            except HumanoidError as error:
                self._panel.say(f"{_summary(gait)}\nIt can't be drawn: {error}", False)
                return
            if self._ghost is not None:
                self._ghost.remove()
            look = painted(robot[1].description, GHOST)
            self._robot, self._ghost = robot, RobotDrawing(self._page.server.scene, "robot", look, PATH)
        self._gait, self._view = gait, gait_view(gait, robot[1])
        self._drawing.set(self._view)
        self._began = float("-inf")
        self._panel.plots.show(gait_charts(gait, self._view))
        self._panel.offer_figures()
        self._apply()
        extent = self._view.extent
        centre = extent.mean(axis=0) + np.array([0.0, self._aside, 0.0])
        height = float(max(1.3 * np.ptp(extent[:, 2]), 0.75 * np.ptp(extent[:, 0])))
        self._page.look_through(Camera.framing(centre, height))

    def _move_ghost(self, time: float) -> None:
        if self._ghost is None or self._robot is None or self._gait is None or self._view is None:
            return
        q = trajectory_posture(self._gait.trajectory, self._robot[1], self._view.sample(time))
        self._ghost.update(self._robot[1].link_placements(q))

    def _apply(self) -> None:
        """Show what is to be shown, where it is to be shown."""
        self._root.position = (0.0, self._aside, 0.0)
        self._drawing.visible, self._drawing.forces = self._shown, self._forces
        self._drawing.update(0.0)
        if self._ghost is not None:
            self._ghost.visible = self._shown


def gait_view(gait: Gait, robot: Robot) -> GaitView:
    """Return what the page draws of a gait."""
    trajectory = gait.trajectory
    way = np.array([array(pose.position) for pose in trajectory.base])
    _, at, forces = sole_forces(trajectory)
    return GaitView(times_of(trajectory), way, at, forces, footprints(trajectory, robot))


def gait_charts(gait: Gait, view: GaitView) -> tuple[Chart, ...]:
    """Return what the page plots of a gait: torques, forces, the way of the base."""
    points = gait.trajectory.joints.points
    efforts = np.array([point.effort for point in points]).reshape(len(points), -1)
    torques = {name: efforts[:, j] for j, name in enumerate(gait.trajectory.joints.joint_names)}
    links, _, forces = sole_forces(gait.trajectory)
    loaded = {name: torque for name, torque in torques.items() if np.any(torque)}
    soles = {link: forces[:, i, 2] for i, link in enumerate(links)}
    return (
        (TORQUES, view.times, loaded),
        (FORCES, view.times, soles),
        (BASE, view.times, {"y": view.way[:, 1], "z": view.way[:, 2]}),
    )


def _summary(gait: Gait) -> str:
    """Return what was found, in a few lines."""
    lines = [
        f"{gait.speed:.2f} m/s, {gait.distance:.2f} m in {gait.duration:.2f} s",
        f"cost {gait.cost:.4g}, cost of transport {gait.cost_of_transport:.3f}",
    ]
    for part in gait.parts:
        proof = f", H_a {part.maximum:.0e}, adjoint equations {part.adjoint:.0e}" if part.proven else ""
        lines.append(f"{part.name}: {part.iterations} iterations, {part.time:.1f} s{proof}")
    return "\n".join(lines)
