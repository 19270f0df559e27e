# SPDX-License-Identifier: Apache-2.0
"""Gaits on the embedded view: what the panel asks for goes to the action `generate_gait`, a gait comes back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

import numpy as np
import viser
from humanoid_stack.action import GenerateGait
from humanoid_stack.msg import Gait, GaitPhase, GaitRequest, GaitSolverOptions
from rclpy.node import Node

from humanoid_model import Robot
from humanoid_model.errors import HumanoidError
from humanoid_ros.gait_generator.gait_markers import figure_forces, figure_points, footprints
from humanoid_ros.gait_generator.gait_replay import gait_robot, trajectory_posture
from humanoid_ros.messages.conversions import duration, seconds
from humanoid_ros.node.parameter_declaration import declare_number, number
from humanoid_ros.viewer.camera import Camera
from humanoid_ros.viewer.controls import FeaturePanel, Later, add_line_chart, show_folder, tells
from humanoid_ros.viewer.drawing.gait_drawing import BODY_COLOUR, LEFT_COLOUR, RIGHT_COLOUR, GaitDrawing, GaitView
from humanoid_ros.viewer.drawing.posture_drawing import painted
from humanoid_ros.viewer.drawing.shapes import RobotDrawing
from humanoid_ros.viewer.feature import Feature, View
from humanoid_ros.viewer.planner_calls import AskedGoal

TORQUES, FORCES, HAMILTONIAN = "Torques [N m] over time [s]", "Forces under the feet [N]", "Hamiltonian [1/s]"
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
INDIRECT, DIRECT, LIFT = "indirect", "direct", "lift: "
"""Words of the messages, as the library has them, which would bring its solvers into the page's memory."""
PAUSE = 0.7
"""Between two rounds of the walking figure [s]."""
GHOST = np.array([0.45, 0.55, 0.68, 0.75])
"""Colour of the robot that walks, where it is known."""
WORDS = {
    GaitPhase.CONTACT_VIOLATION: "contact forces that the ground can't give",
    GaitPhase.LIMIT_VIOLATION: "a limit is passed",
}

MODELS = ("bip", "rabbit", "hrp2")
"""Models that are offered; others are typed into the node's parameters or sent by other clients."""
WALKS, STRIP, BOTH, HIDDEN = "walks", "all along", "walks, all along", "hidden"
FIGURES = (BOTH, WALKS, STRIP, HIDDEN)
"""How a gait is drawn: a figure that walks in real time, figures along the way, both, or not at all."""


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
            self._model = gui.add_dropdown("Walker", MODELS)
            self._whole = gui.add_checkbox("Whole robot", False, hint="All joints, in space, from rest to rest")
            self._speed = gui.add_slider("Speed [m/s]", 0.1, 1.5, 0.05, 0.75)
            self._length = gui.add_slider("Step length [m]", 0.0, 0.9, 0.05, 0.0, hint="0: as the optimum has it")
            self._steps = gui.add_slider("Steps", 1, 12, 1, 4)
            self._proof = gui.add_checkbox("Prove optimality", False, hint="By Pontryagin's conditions: slower")
            self._generate = gui.add_button("Generate gait", icon=viser.Icon.RUN)
            self._asks = (self._generate,)
            self._cancel = gui.add_button("Cancel gait", icon=viser.Icon.X, color="red", visible=False)
            self._result = gui.add_html("", visible=False)
            self._figure = gui.add_dropdown("Figure", FIGURES, visible=False)
            self._forces = gui.add_checkbox("Foot forces", True, visible=False)
            self._aside = gui.add_slider("Aside [m]", -2.0, 2.0, 0.1, 0.8, visible=False)
            self.plots = GaitPlots(gui)
        self._whole.on_update(lambda _: self._choose_whole())

    def connect(self, gaits: GaitStudio, later: Later) -> None:
        """Let what a person does be done later."""
        self._generate.on_click(lambda _: later(gaits.generate, *self.wanted))
        self._cancel.on_click(lambda _: later(gaits.cancel))
        for control in (self._figure, self._forces, self._aside):
            control.on_update(lambda _: later(gaits.show, *self.look))

    @property
    def wanted(self) -> tuple[str, bool, float, float, int, bool]:
        """What a person has chosen, see :meth:`GaitStudio.generate`."""
        return (
            self._model.value,
            bool(self._whole.value),
            float(self._speed.value),
            float(self._length.value),
            int(self._steps.value),
            bool(self._proof.value),
        )

    @property
    def look(self) -> tuple[str, bool, float]:
        """How the gait is shown: one of FIGURES, whether with forces, and how far to the left [m]."""
        return self._figure.value, bool(self._forces.value), float(self._aside.value)

    def _choose_whole(self) -> None:
        """Hide speed and step length for a whole robot's level walk, which has its own."""
        self._speed.visible = self._length.visible = not self._whole.value

    def offer_figures(self) -> None:
        """Show how a gait can be looked at, now that there is one."""
        for control in (self._figure, self._forces, self._aside):
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
        self._figure, self._forces, self._aside = panel.look
        self._view: GaitView | None = None
        self._began = 0.0
        self._gait: Gait | None = None
        self._point_times: np.ndarray = np.zeros(0)
        self._robot: Robot | None = None
        self._loaded = ("", "")
        self._ghost: RobotDrawing | None = None
        panel.connect(self, view.later)
        self._apply()

    def offer(self, alone: bool) -> None:
        """Show the folder where there may be a robot, or a node generates gaits."""
        show_folder(self._panel.folder, not alone or self._asked.offered)

    def update(self, now: float) -> None:
        """Let the figure walk on.

        Args:
            now: monotonic time [s].
        """
        self._asked.watch()
        if self._view is None or self._figure in (HIDDEN, STRIP):
            return
        time = now - self._began
        if time > self._view.duration + PAUSE:
            self._began, time = now, 0.0
        self._drawing.update(time)
        self._move_ghost(time)

    # Requests and answers -----------------------------------------------------------------------------------------

    @tells
    def generate(self, model: str, whole: bool, speed: float, step_length: float, steps: int, proof: bool) -> None:
        """Ask for a gait, unless one is being generated.

        Args:
            model: that walks.
            whole: whether all joints move, in space; such a level walk has a speed and step length of its own.
            speed: mean [m/s].
            step_length: [m]; 0 as the optimum has it.
            steps: their number.
            proof: whether optimality is proven.
        """
        if self._asked.working:
            return
        options = GaitSolverOptions(method=INDIRECT if proof else DIRECT, time_limit=duration(self._time_limit))
        request = GaitRequest(model=model, cycles=steps, lift=whole, options=options)
        if not whole:
            request.speed, request.step_length = speed, step_length
        self._asked.ask(GenerateGait.Goal(request=request))
        self._panel.show_working(True)
        self._panel.say("Asked for.")

    def cancel(self) -> None:
        """Give up the gait that is being generated."""
        self._asked.cancel()

    def show(self, figure: str, forces: bool, aside: float) -> None:
        """Show the gait as a figure of FIGURES, with forces or without, so far from the middle to the left [m]."""
        self._figure, self._forces, self._aside = figure, forces, aside
        self._apply()

    def _on_feedback(self, feedback: GenerateGait.Feedback) -> None:
        figures = [f"cost {feedback.cost:.4g}"] if np.isfinite(feedback.cost) else []
        figures += [f"{feedback.nodes} nodes"] if feedback.nodes else []
        figures += [f"residual {feedback.residual:.1e}"] if np.isfinite(feedback.residual) else []
        stage = f"Phase {feedback.phase + 1}: {feedback.stage}"
        if feedback.stage.startswith(LIFT):
            stage, figures = feedback.stage, []
            if np.isfinite(feedback.residual):
                figures = [f"zero-moment point off by {1e3 * feedback.residual:.1f} mm"]
        self._panel.say(f"{stage}\n{', '.join(figures)}")

    def _on_end(self, result: GenerateGait.Result | None, why: str) -> None:
        self._panel.show_working(False)
        if result is None or not (result.success or result.gait.trajectory.joints.points):
            self._panel.say(why if result is None else result.message, False)
            return
        self._panel.say(_summary(result.gait, result.message), not result.message)
        if result.gait.figure.times:
            self._take(result.gait)

    # Drawing ------------------------------------------------------------------------------------------------------

    def _take(self, gait: Gait) -> None:
        self._gait = gait
        self._view = gait_view(gait)
        self._drawing.set(self._view)
        self._began = float("-inf")
        self._point_times = np.array([seconds(point.time_from_start) for point in gait.trajectory.joints.points])
        self._take_robot(gait)
        self._panel.plots.show(gait_charts(gait))
        self._panel.offer_figures()
        self._apply()
        extent = self._drawing.extent()
        if extent is not None:
            centre = extent.mean(axis=0) + np.array([0.0, self._aside, 0.0])
            height = float(max(1.3 * np.ptp(extent[:, 2]), 0.75 * np.ptp(extent[:, 0])))
            self._page.look_through(Camera.framing(centre, height))

    def _take_robot(self, gait: Gait) -> None:
        name = gait.trajectory.robot, gait.model
        if self._robot is not None and self._loaded == name:
            return
        if self._ghost is not None:
            self._ghost.remove()
        self._robot = self._ghost = None
        if not gait.trajectory.robot:
            return
        try:
            self._robot, self._loaded = gait_robot(gait), name
        except HumanoidError:
            return  # a stick figure walks where only the generator knows the robot's file
        self._ghost = RobotDrawing(self._page.server.scene, "robot", painted(self._robot.description, GHOST), PATH)

    def _move_ghost(self, time: float) -> None:
        if self._ghost is None or self._robot is None or self._gait is None or not len(self._point_times):
            return
        index = min(int(np.searchsorted(self._point_times, time)), len(self._point_times) - 1)
        q = trajectory_posture(self._gait.trajectory, self._robot, index)
        self._ghost.update(self._robot.link_placements(q))

    def _apply(self) -> None:
        """Show what is to be shown, where it is to be shown."""
        self._root.position = (0.0, self._aside, 0.0)
        self._drawing.walks = self._figure in (WALKS, BOTH)
        self._drawing.sticks = self._ghost is None
        self._drawing.strip = self._figure in (STRIP, BOTH)
        self._drawing.forces = self._forces
        self._drawing.update(0.0)
        if self._ghost is not None:
            self._ghost.visible = self._drawing.walks


def gait_view(gait: Gait) -> GaitView:
    """Return what the page draws of a gait."""
    figure = gait.figure
    names = list(figure.point_names)
    lines = np.array(figure.lines, dtype=int).reshape(-1, 2)
    sides = {"left": LEFT_COLOUR, "right": RIGHT_COLOUR}
    colours = [sides.get(names[end].partition("_")[0], BODY_COLOUR) for end in lines[:, 1]]
    at, forces = figure_forces(figure)
    prints = [corners for _, corners in footprints(figure)]
    times, points = np.array(figure.times), figure_points(figure)
    return GaitView(times, points, lines, np.array(colours), at, forces, prints)


def gait_charts(gait: Gait) -> tuple[Chart, ...]:
    """Return what the page plots of a gait: torques, forces, the Hamiltonian, constant in each phase of an optimum."""
    points = gait.trajectory.joints.points
    times = np.array([seconds(point.time_from_start) for point in points])
    efforts = np.array([point.effort for point in points]).reshape(len(points), -1)
    torques = {name: efforts[:, j] for j, name in enumerate(gait.trajectory.joints.joint_names)}
    _, forces = figure_forces(gait.figure)
    feet = {
        f"{foot} {word}": forces[:, i, axis]
        for i, foot in enumerate(gait.figure.foot_names)
        for axis, word in ((2, "normal"), (0, "along"))
    }
    phases = [phase for phase in gait.phases if len(phase.hamiltonian)]
    along = [np.array(phase.times) + phase.start for phase in phases] or [np.zeros(0)]
    hamiltonian = [np.array(phase.hamiltonian) for phase in phases] or [np.zeros(0)]
    loaded = {name: torque for name, torque in torques.items() if np.any(torque)}
    return (
        (TORQUES, times, loaded),
        (FORCES, np.array(gait.figure.times), feet),
        (HAMILTONIAN, np.concatenate(along), {"H": np.concatenate(hamiltonian)}),
    )


def _summary(gait: Gait, message: str) -> str:
    """Return what was found, in a few lines."""
    way = f"{gait.distance:.2f} m in {gait.duration:.2f} s"
    lines = [
        f"{gait.speed:.2f} m/s, {way if gait.margin else f'steps of {way}'}",
        f"cost {gait.cost:.4g}, cost of transport {gait.cost_of_transport:.3f}",
    ]
    if gait.margin:
        lines.append(f"zero-moment point {1e3 * gait.margin:.0f} mm or more inside the support")
    worst = max((phase.report.required_friction for phase in gait.phases), default=0.0)
    lines.append(f"needs a friction of {worst:.2f}")
    broken = sorted({WORDS.get(phase.status, "") for phase in gait.phases} - {""})
    if broken:
        lines.append(f"Not kept: {'; '.join(broken)}.")
        lines.append(message)
    return "\n".join(lines)
