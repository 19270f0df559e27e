# SPDX-License-Identifier: Apache-2.0
"""Mechanisms on the page, driven by the kinematics node: what a person drags, slides and edits goes there."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import viser
from geometry_msgs.msg import PoseStamped
from humanoid_stack.msg import MechanismState
from humanoid_stack.srv import LoadMechanism, SetMechanismParameters
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from humanoid_kinematics import LinkChange, MechanismSolver, ToolMotion
from humanoid_kinematics.analysis.recording import read_channels
from humanoid_kinematics.solver.commands import POSITION as POSITION_ROWS
from humanoid_model.compiling import follower
from humanoid_model.errors import HumanoidError
from humanoid_model.files import list_resources
from humanoid_model.loop_closure import ROWS
from humanoid_ros.messages.conversions import fill_pose
from humanoid_ros.node.qos import LATCHED, NEWEST
from humanoid_ros.node.requested_files import check_requested
from humanoid_ros.viewer.camera import Camera
from humanoid_ros.viewer.controls import tells
from humanoid_ros.viewer.drawing.handles import ToolHandle
from humanoid_ros.viewer.drawing.mechanism_drawing import Phantom
from humanoid_ros.viewer.drawing.shapes import RobotDrawing, drawable
from humanoid_ros.viewer.event_sounds import EventSounds
from humanoid_ros.viewer.feature import Feature, View
from humanoid_ros.viewer.inbox import Inbox
from humanoid_ros.viewer.mechanism_calls import (
    MechanismCalls,
    MechanismRecording,
    drag_target,
    drive_target,
    read_mechanisms,
    take_state,
    target,
)
from humanoid_ros.viewer.mechanism_panel import FOLLOWS, HELD_RATE, NO_PLOT, PLOTS, POSE, MechanismPanel
from humanoid_ros.viewer.shown_mechanism import ShownMechanism
from humanoid_ros.viewer.shown_robots import ShownRobot

PATH = "/mechanisms"
PANEL_PERIOD, PLOT_PERIOD = 0.1, 0.2
"""Of sliders and of charts [s]: more is not readable."""
PATIENCE = 1.5
"""What hinders a joint or step that a person has asked for is told for so long [s]."""
LONG = 2.0
"""What takes longer is explained [s]."""
IN_THE_WAY = "As near as it comes. In the way: "
"""How it begins."""
ROOM = 1.25
"""Size of what is looked at over the mechanism's at first."""
EDITED = 2
"""After so many states the bodies are where an edit has brought them: the first may have been sent before it."""
GROWN, SHRUNK = 0.1, 0.6
"""A mechanism is framed again when it reaches further by this share of its size, or has become smaller by the other."""
FOLLOW = 0.05
"""Time in which a held point comes by two thirds to the pointer, of which a browser tells 20 times a second [s]."""
HANDLE = 0.6
"""Length of a handle's arrows over the characteristic length."""


@dataclass
class _Drag:
    """A part that a person holds.

    Attributes:
        part: link.
        point: (3,) where it is held, in its frame [m].
        at: (3,) where that point is asked to be now, in the world [m].
        to: (3,) where the pointer is [m].
        eye: (3,) where it is seen from [m].
    """

    part: str
    point: np.ndarray
    at: np.ndarray
    to: np.ndarray
    eye: np.ndarray

    def follow(self, dt: float) -> None:
        """Go on towards the pointer for a time [s]."""
        self.at = self.at + (1.0 - np.exp(-dt / FOLLOW)) * (self.to - self.at)


class MechanismStudio(Feature):
    """Loads mechanisms, shows them, and passes on what a person does to them; all of it in the node's executor.

    The mechanism's bodies are one of the robots on the page.

    Attributes:
        below_ground: whether the mechanism reaches below height 0.
        recording: of its motion.
    """

    name = "mechanism"

    def __init__(self, view: View) -> None:
        """Add the folder, with the names of the stack's mechanisms: those of their own files, and robots with loops."""
        node, page, later = view.node, view.page, view.later
        panel = MechanismPanel(view.gui, [*list_resources("urdf/mechanisms", (".mad",)), "bip_ankle"])
        self._node, self._page, self._panel, self._robots, self._later = node, page, panel, view.robots, later
        self._calls = MechanismCalls(node, panel.say)
        self.below_ground = False
        self.recording = MechanismRecording(node, panel, self._calls, lambda: self._name)
        node.create_subscription(String, "mechanism_description", self._on_text, LATCHED)
        self._camera = node.create_publisher(PoseStamped, "view", NEWEST)
        self._all: dict[str, ShownMechanism] = {}
        self._text = self._path = ""
        self._fresh = False
        self._worker = ThreadPoolExecutor(1, "mechanisms")
        self._reading: Future[tuple[dict[str, MechanismSolver], str | None]] | None = None
        self._file: str | None = None
        self._changes: dict[str, LinkChange] = {}
        self._changing = False
        self._name = ""
        self._states: Inbox | None = None
        self._phantoms: Inbox | None = None
        self._bodies: RobotDrawing | None = None
        self._framed: np.ndarray | None = None
        self._states_seen = 0.0
        self._drag: _Drag | None = None
        self._handles: dict[str, tuple[ToolHandle, tuple[str, ...], int]] = {}
        self._commanded_at, self._asked_at = -np.inf, np.inf
        self._loaded: tuple[str, bool | None] = "", None
        self._waited = False
        self._in_the_way: tuple[str, ...] = ()
        self._sounds = EventSounds(page.server)
        self._phantom: Phantom | None = None
        self._browser: int | None = None
        self._group = NO_PLOT
        self._shown_at = self._plotted_at = self._drawn_at = -np.inf
        panel.connect(self, later)

    @property
    def shows(self) -> bool:
        """Whether there is a mechanism."""
        return bool(self._all)

    def __contains__(self, name: object) -> bool:
        """Whether a robot on the page is one of the mechanisms."""
        return name in self._all

    @property
    def _mechanism(self) -> ShownMechanism:
        if self._name not in self._all:
            raise HumanoidError("Load a mechanism first.")
        return self._all[self._name]

    # ---- what a person asks for ----

    @tells
    def load(self, path: str) -> None:
        """Put the mechanisms of a file in the place of those that are there; given by name or path."""
        self._path = ",".join(check_requested(part, "path") for part in path.split(","))
        self._panel.say(f"Loading {path}.")
        asked = self._calls.load(path, self._on_loaded)
        self._asked_at = clock.monotonic() if asked else np.inf

    @tells
    def choose(self, name: str) -> None:
        """Let the panel be about one of the mechanisms of the file."""
        self._choose(name)

    @tells
    def move_joint(self, joint: str, position: float) -> None:
        """Bring a joint of the mechanism to a position [rad or m]: direct operation."""
        self._commanded_at = clock.monotonic()
        self._calls.command(self._name, joint=joint, position=position)

    @tells
    def move_base(self, pose: Sequence[float]) -> None:
        """Bring the base of the mechanism elsewhere: (6,) position [m] and roll, pitch, yaw [rad] in the world."""
        self._calls.move_base(self._name, pin.SE3(pin.rpy.rpyToMatrix(*pose[3:]), np.array(pose[:3])))

    def show_stereo(self, shown: bool) -> None:
        """Let a second browser show what the right eye sees of the first one's view, or end that."""
        self._page.stereo = shown

    def play_sounds(self, heard: bool) -> None:
        """Let browsers hear limits, loops and obstacles that come into the way, or end that."""
        self._sounds.heard = heard

    @tells
    def open_link(self, link: str) -> None:
        """Open the panel of a link."""
        if link in self._mechanism.links:
            self._panel.open_link(self._mechanism.link_view(link))

    def close_link(self, link: str) -> None:
        """Close the panel of a link."""
        self._panel.close_link(link)

    def change_link(self, change: LinkChange) -> None:
        """Change a link of the mechanism while it moves: geometry, type of joint, limits, lock."""
        self._changes[change.link] = change

    @tells
    def show(self, part: str, visible: bool) -> None:
        """Show or hide axes, loops, tools or a preset of marks, one of `mechanism_panel.SHOWN`."""
        self._mechanism.show(part, visible)

    @tells
    def plot(self, group: str) -> None:
        """Plot a group of values over time, one of `mechanism_panel.PLOTS`."""
        self._group = group
        self._mechanism.plotted = group != NO_PLOT
        self._panel.plot(np.zeros(0), {})

    @tells
    def read_channels(self, path: str) -> None:
        """Show values of the mechanism as a YAML file says; an empty path ends that."""
        path = check_requested(path, "channels")
        self._mechanism.show_channels(read_channels(path) if path else None)

    @tells
    def choose_solver(self, profile: str) -> None:
        """Move the mechanism by a solver, one of its profiles."""
        self._calls.switch(lambda _: None, profile=profile)

    # ---- loading ----

    def _on_loaded(self, answer: LoadMechanism.Response) -> None:
        self._asked_at = np.inf
        loops = f", {answer.loops} loops closed to {answer.closure:.1g}" if answer.loops else ""
        found = f"{', '.join(answer.names)}: {answer.mobility} freedoms{loops}."
        self._loaded = found if answer.success else answer.message, answer.success
        self._panel.say(*self._loaded)

    def _tell_wait(self, now: float) -> None:
        """Say what a person waits for: compilation, the first time on a machine."""
        if self._reading is not None and follower.kernel:
            self._waited = True
            self._panel.say(f"The solver is compiled for this machine, once: {follower.kernel}.")
        elif now - self._asked_at > LONG:
            waited = now - self._asked_at
            self._panel.say(f"Loading for {waited:.0f} s. The first time on a machine the node compiles its solver.")

    def _on_text(self, message: String) -> None:
        self._text, self._fresh = message.data, True

    def _read(self) -> None:
        """Take what the node says that its mechanisms are: others than before, or the same after a change.

        A worker reads: the first time on a machine the solver is compiled, and the page goes on meanwhile.
        """
        if self._reading is None and self._fresh:
            self._fresh = False
            self._reading = self._worker.submit(read_mechanisms, self._text, self._path, self._panel.files)
        if self._reading is None or not self._reading.done():
            return
        reading, self._reading = self._reading, None
        if self._waited:
            self._waited = False
            self._panel.say(*self._loaded)
        try:
            new, file = reading.result()
        except HumanoidError as error:
            self._panel.say(f"A mechanism can't be read here: {error}", False)
            return
        if file != self._file or not self._all:
            self._file = file
            self._panel.set_file(file)
        same = new.keys() == self._all.keys() and all(
            solver.mechanism.robot.joint_names == self._all[name].solver.mechanism.robot.joint_names
            for name, solver in new.items()
        )
        if same:
            for name, solver in new.items():
                self._all[name].replace(solver)
            self._panel.set_joints(self._mechanism.joint_views())
            return
        for name, shown in self._all.items():
            shown.remove()
            if name not in new and name in self._robots:
                self._robots.remove(name)
        self._drop_handles()
        self._calls.forget()
        page = self._page.server.scene
        self._all = {name: ShownMechanism(page, f"{PATH}/{name}", solver) for name, solver in new.items()}
        for shown in self._all.values():
            shown.plotted = self._group != NO_PLOT
        self._choose(next(iter(new)))
        self._panel.set_names([*new], self._name)

    def _choose(self, name: str) -> None:
        for tool in [*self._handles]:
            self.set_mode(tool, FOLLOWS)
        self._name, self._drag, self._bodies, self._framed = name, None, None, None
        # What is in the way now, and what is to be changed, is another one's.
        self._in_the_way, self._commanded_at, self._changes = (), -np.inf, {}
        shown = self._mechanism
        if self._phantom is not None:
            self._phantom.remove()
            self._phantom = None
        for inbox in filter(None, (self._states, self._phantoms)):
            inbox.close(self._node)
        # Of the states that come between two drawings, one is decoded.
        self._states = Inbox(self._node, MechanismState, f"{name}/state", NEWEST)
        self._phantoms = Inbox(self._node, JointState, f"{name}/phantom", NEWEST)
        mechanism = shown.solver.mechanism
        self._panel.set_mechanism(
            shown.joint_views(), [tool.name for tool in mechanism.tools], shown.links,
            [loop.name for loop in mechanism.loops],
        )  # fmt: skip

    def _change(self) -> None:
        """Ask for the newest changes, one question at a time: a slider that is moved asks no more than is answered."""
        if self._changing or not self._changes:
            return
        changes, self._changes, shown = list(self._changes.values()), {}, self._mechanism

        def on_answer(answer: SetMechanismParameters.Response) -> None:
            self._changing = False
            for change in changes:
                if answer.success and change.type is None:
                    shown.limit(change)  # the text doesn't change, nor does what is drawn
            self._panel.say("Changed." if answer.success else answer.message, answer.success)

        self._changing = self._calls.change(self._name, changes, on_answer)

    # ---- motion ----

    @tells
    def drag(
        self, part: str, hold: Sequence[float], to: Sequence[float], eye: Sequence[float], phase: str
    ) -> None:
        """Bring the point at which a person holds a part under the pointer.

        Args:
            part: link of the mechanism.
            hold: (3,) where the point is held, world frame [m].
            to: (3,) where the pointer is [m].
            eye: (3,) where it is seen from [m].
            phase: ``start``, ``update`` or ``end``.
        """
        if part not in self._mechanism.solver.mechanism.robot.description.links:
            return  # of a mechanism that was there before
        if phase == "end":
            self._drag = None
            if part not in self._handles:
                self._calls.command(self._name, [target(part, None)])
            return
        pointer, seen = np.array(to), np.array(eye)
        if self._drag is None or self._drag.part != part or phase == "start":
            robot = self._robots.get(self._name)
            if robot is None or part not in robot.placements:
                return  # it is being drawn anew
            held = np.array(hold)
            self._drag = _Drag(part, robot.placements[part].actInv(held), held, pointer, seen)
        self._drag.to, self._drag.eye = pointer, seen

    @tells
    def set_mode(self, tool: str, mode: str) -> None:
        """Let a tool follow the joints, or a handle by its position or pose: one of `mechanism_panel.MODES`."""
        old = self._handles.pop(tool, None)
        if old is not None:
            old[0].remove()
        if mode == FOLLOWS:
            self._calls.command(self._name, [target(tool, None)])
            return
        size = HANDLE * self._mechanism.solver.length
        place = self._mechanism.solver.placement(tool)
        handle = ToolHandle(self._page.server.scene, f"{PATH}/handle_{tool}", size, mode == POSE, place)
        rows = ROWS if mode == POSE else POSITION_ROWS
        self._handles[tool] = handle, rows, -1

    def _drop_handles(self) -> None:
        for handle, _, _ in self._handles.values():
            handle.remove()
        self._handles.clear()

    @tells
    def step(self, tool: str, motion: tuple[float, ...], axes: str, browser: int | None) -> None:
        """Move a tool by a step along an axis or about it.

        Args:
            tool: name.
            motion: (6,) translation [m] and rotation vector [rad].
            axes: of the motion: ``world``, ``tool`` or ``view``.
            browser: whose view it is; None for the first.
        """
        shown = self._mechanism
        frame: str | pin.SE3 = "centred" if axes == "world" else axes
        if frame == "view":
            frame = self._view(browser)
        handle = self._handles.get(tool)
        start = shown.solver.placement(tool) if handle is None else handle[0].placement
        goal = ToolMotion(tool, motion[:3], motion[3:], frame).goal_from(start)
        if handle is not None:
            handle[0].put(goal.goal)
            self._handles[tool] = handle[0], handle[1], -1
        else:
            self._calls.command(self._name, [target(tool, goal.goal)])
        self._commanded_at = clock.monotonic()

    @tells
    def drive(self, tool: str, velocity: tuple[float, ...], axes: str, browser: int | None) -> None:
        """Move a tool at a velocity (6,) [m/s], [rad/s] until the button is let go of; with a handle, the handle.

        Axes and browser are as of :meth:`step`.
        """
        if tool in self._handles:
            self.step(tool, tuple(speed / HELD_RATE for speed in velocity), axes, browser)
            return
        turn = {"world": np.eye(3), "tool": None, "view": self._view(browser).rotation}[axes]
        self._calls.command(self._name, [drive_target(tool, velocity, turn)])
        self._commanded_at = clock.monotonic()

    def _view(self, browser: int | None = None) -> pin.SE3:
        """Return the placement of a browser's camera in the world; of the last one that asked for it, or the first."""
        self._browser = self._browser if browser is None else browser
        clients = self._page.server.get_clients()
        for client in (clients[self._browser],) if self._browser in clients else clients.values():
            w, x, y, z = (float(value) for value in client.camera.wxyz)
            return pin.SE3(pin.Quaternion(np.array([x, y, z, w])).matrix(), np.array(client.camera.position))
        return pin.SE3.Identity()

    def _tell_view(self) -> None:
        """Tell the node where a browser looks from, for devices in its axes."""
        if self._page.server.get_clients():
            message = PoseStamped()
            message.header.frame_id = "world"
            view = self._view()
            if drawable(view.homogeneous):
                fill_pose(message.pose, view)
                self._camera.publish(message)

    @tells
    def hold_loop(self, loop: str, held: bool) -> None:
        """Hold a loop of the mechanism closed, or let go of it."""
        shown = self._mechanism
        wanted = shown.open_loops - {loop} if held else shown.open_loops | {loop}
        several = len(self._all) > 1
        names = [f"{self._name}/{one}" if several else one for one in sorted(wanted)]
        for name, other in self._all.items():
            if other is not shown:
                names += [f"{name}/{one}" for one in sorted(other.open_loops)]

        def on_answer(taken: bool) -> None:
            if taken:
                self._panel.say(f"{loop} is {'held' if held else 'let go of'}.", True)

        self._calls.switch(on_answer, open_loops=[*names])

    def _tell(self, hindrances: tuple[str, ...]) -> None:
        """Say what is in the way of a command, or no longer."""
        if hindrances == self._in_the_way:
            return
        self._in_the_way = hindrances
        if hindrances:
            self._panel.say(f"{IN_THE_WAY}{', '.join(hindrances)}.", False)
            self._sounds.play(self._mechanism.place_of(hindrances[0]))
        elif self._panel.said.startswith(IN_THE_WAY):  # else it says something newer
            self._panel.say("")

    # ---- drawing ----

    def update(self, now: float) -> None:
        """Draw where the mechanism is, and send what handles and pointer say.

        Args:
            now: monotonic time [s].
        """
        self.recording.watch()
        self._tell_wait(now)
        self._read()
        if self._name not in self._all:
            return
        self._change()
        shown, robot = self._all[self._name], self._robots.get(self._name)
        newest = None if self._states is None else self._states.newest()
        if newest is not None:
            state = deserialize_message(newest, MechanismState)
            take_state(shown, state)
            self._states_seen += 1
            asked = self._drag is not None or self._handles or now - self._commanded_at < PATIENCE
            self._tell(tuple(state.in_the_way) if asked else ())
        if robot is not None:
            if robot.drawing is not self._bodies:
                self._bodies = robot.drawing
                self._states_seen = 0
                self._greet(robot)
            self._frame(robot)
            shown.draw(robot.placements, robot.drawing)
        self._draw_phantom(shown)
        self._command(now)
        if now - self._shown_at > PANEL_PERIOD:
            self._shown_at = now
            self._tell_view()
            views = [shown.link_view(link) for link in self._panel.open_links]
            self._panel.update(shown.joints, views, sorted(shown.open_loops))
            base = shown.solver.base
            self._panel.show_base((*base.translation, *pin.rpy.matrixToRpy(base.rotation)))
        if now - self._plotted_at > PLOT_PERIOD and self._group != NO_PLOT:
            self._plotted_at = now
            self._panel.plot(*shown.curves(PLOTS[self._group]))

    def _draw_phantom(self, shown: ShownMechanism) -> None:
        newest = None if self._phantoms is None else self._phantoms.newest()
        if newest is not None:
            joints = deserialize_message(newest, JointState)
            if self._phantom is None:
                path = f"{PATH}/{self._name}"
                self._phantom = Phantom(self._page.server.scene, path, shown.solver.mechanism)
            self._phantom.tell(dict(zip(joints.name, joints.position, strict=False)))
            self._phantom.draw(shown.q, shown.solver.base)

    def _greet(self, robot: ShownRobot) -> None:
        """Let a person drag and click at bodies that are new on the page."""
        robot.balance.visible = False
        robot.drawing.on_drag(self._on_drag)
        robot.drawing.on_click(lambda link: self._later(self.open_link, link))

    def _frame(self, robot: ShownRobot) -> None:
        """Look at the whole mechanism once its bodies are placed, and again when an edit has changed its size.

        An edit that leaves it in the picture leaves the view to its person: a slider makes many of them.
        """
        if self._framed is not None and self._states_seen < EDITED:
            return
        extent = robot.drawing.extent(robot.placements)
        if extent is None:
            return
        self._states_seen = -np.inf  # until the next edit
        if self._framed is not None and not _outgrown(extent, self._framed):
            return
        self._framed = extent
        self.below_ground = bool(extent[0, 2] < 0.0)
        size = ROOM * float(np.linalg.norm(np.ptp(extent, axis=0)))
        self._page.look_through(Camera.framing(extent.mean(axis=0), size))

    def close(self) -> None:
        """Read no more."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    def _on_drag(self, link: str, event: viser.SceneNodeDragEvent) -> None:
        x, y, z = (float(value) for value in event.client.camera.position)
        self._later(self.drag, link, event.start_position, event.end_position, (x, y, z), event.phase)

    def _command(self, now: float) -> None:
        targets = []
        for tool, (handle, rows, sent) in self._handles.items():
            if handle.moves != sent:
                self._handles[tool] = handle, rows, handle.moves
                targets.append(target(tool, handle.placement, rows))
        if self._drag is not None:
            drag = self._drag
            drag.follow(now - self._drawn_at)
            targets.append(drag_target(drag.part, drag.point, drag.at, drag.eye))
        self._drawn_at = now
        if targets:
            self._calls.command(self._name, targets)


def _outgrown(extent: np.ndarray, framed: np.ndarray) -> bool:
    """Return whether a box, (2, 3) corners [m], is no longer well in the picture of another one."""
    size, before = np.linalg.norm(np.ptp(extent, axis=0)), np.linalg.norm(np.ptp(framed, axis=0))
    room = GROWN * before
    return bool(np.any(extent[0] < framed[0] - room) or np.any(extent[1] > framed[1] + room) or size < SHRUNK * before)
