# SPDX-License-Identifier: Apache-2.0
"""What the page asks of the kinematics node, and reads of what that says.

It asks by services, parameters and commands, also to record and replay a mechanism. It reads the mechanisms' text,
which the node sends anew after each edit, and their states.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import PoseStamped
from humanoid_stack import action
from humanoid_stack.msg import MechanismCommand, MechanismLink, MechanismState, MechanismTarget
from humanoid_stack.srv import LoadMechanism, SetMechanismParameters
from rcl_interfaces.srv import SetParameters
from rclpy.client import Client
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher

from humanoid_kinematics import LinkChange, MechanismSolver, load_scene
from humanoid_kinematics.mad.load import Scene, read_scene
from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.loop_closure import ROWS
from humanoid_ros.kinematics.mechanism_topics import topic_name
from humanoid_ros.messages.conversions import fill_pose, fill_vector, seconds
from humanoid_ros.node.clients import WatchedCalls
from humanoid_ros.node.qos import COMMAND
from humanoid_ros.node.requested_files import check_requested, check_written
from humanoid_ros.viewer.controls import tells
from humanoid_ros.viewer.mechanism_panel import MechanismPanel
from humanoid_ros.viewer.planner_calls import AskedGoal
from humanoid_ros.viewer.shown_mechanism import ShownMechanism

KINEMATICS = "kinematics"
"""Name of the node."""


class MechanismCalls:
    """Asks the kinematics node; what it refuses, or that it isn't there, is said on the page.

    Args:
        node: that asks.
        say: shows a message, and whether it is a good one.
    """

    def __init__(self, node: Node, say: Callable[[str, bool], None]) -> None:
        self._node, self._say = node, say
        self._calls = WatchedCalls(node)
        self._load = node.create_client(LoadMechanism, "load_mechanism")
        self._change = node.create_client(SetMechanismParameters, "set_mechanism_parameters")
        self._parameters = node.create_client(SetParameters, f"{KINEMATICS}/set_parameters")
        self._publishers: dict[str, Publisher] = {}

    def load(self, path: str, then: Callable[[LoadMechanism.Response], None]) -> bool:
        """Load the mechanisms of a file, given by name or path; whether there is a node that does."""
        return self._call(self._load, LoadMechanism.Request(path=path), then)

    def change(
        self, mechanism: str, changes: Sequence[LinkChange], then: Callable[[SetMechanismParameters.Response], None]
    ) -> bool:
        """Change links of a mechanism; whether there is a node that does."""
        links = [link_message(change) for change in changes]
        return self._call(self._change, SetMechanismParameters.Request(mechanism=mechanism, links=links), then)

    def switch(self, then: Callable[[bool], None], **parameters: str | bool | list[str]) -> None:
        """Set parameters of the node: solver, open loops, file to record to; `then` is told whether it took all."""

        def told(answer: SetParameters.Response) -> None:
            refused = next((result for result in answer.results if not result.successful), None)
            if refused is not None:
                self._say(refused.reason, False)
            then(refused is None)

        # In this order: one may say how the next is meant.
        messages = [
            Parameter(name, value=([*value] or [""]) if isinstance(value, list) else value).to_parameter_msg()
            for name, value in parameters.items()
        ]
        self._call(self._parameters, SetParameters.Request(parameters=messages), told)

    def command(
        self, mechanism: str, targets: Sequence[MechanismTarget] = (), joint: str = "", position: float = 0.0
    ) -> None:
        """Command tools of a mechanism to places, and a joint to a position [rad or m]."""
        message = MechanismCommand(targets=targets)
        if joint:
            message.joint_names, message.joint_positions = [joint], [position]
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher(MechanismCommand, f"{mechanism}/command").publish(message)

    def move_base(self, mechanism: str, placement: pin.SE3) -> None:
        """Bring the base of a mechanism to a placement in the world."""
        message = PoseStamped()
        message.header.stamp = self._node.get_clock().now().to_msg()
        fill_pose(message.pose, placement)
        self._publisher(PoseStamped, f"{mechanism}/base").publish(message)

    def _publisher(self, kind: Any, topic: str) -> Publisher:
        if topic not in self._publishers:
            self._publishers[topic] = self._node.create_publisher(kind, topic, COMMAND)
        return self._publishers[topic]

    def forget(self) -> None:
        """Command the mechanisms there were no more."""
        for publisher in self._publishers.values():
            self._node.destroy_publisher(publisher)
        self._publishers.clear()

    def _call(self, client: Client, request: object, then: Callable[[Any], None]) -> bool:
        def complain(why: str) -> None:
            self._say(f"{why} Start {KINEMATICS}.", False)

        return self._calls.call(client, request, then, complain) is not None


def target(node: str, goal: pin.SE3 | None, rows: Sequence[str] = ROWS) -> MechanismTarget:
    """Return the command that brings a tool or link to a place of the world in some rows; None lets it follow again."""
    message = MechanismTarget(node=node, kind=MechanismTarget.POSE, frame_id="world")
    message.mask = [goal is not None and row in rows for row in ROWS]
    fill_pose(message.pose, pin.SE3.Identity() if goal is None else goal)
    return message


def drag_target(part: str, point: np.ndarray, to: np.ndarray, eye: np.ndarray) -> MechanismTarget:
    """Return the command that brings a point of a part under the pointer; its depth is free.

    Args:
        part: link that is held.
        point: (3,) where it is held, in its frame [m].
        to: (3,) a point on the pointer's ray, in the world [m].
        eye: (3,) where the ray begins [m].
    """
    ray = (to - eye) / np.linalg.norm(to - eye)
    across = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), ray).matrix()
    message = target(part, pin.SE3(across, to), ("x", "y"))
    fill_vector(message.point, point)
    return message


def drive_target(node: str, velocity: Sequence[float], axes: np.ndarray | None) -> MechanismTarget:
    """Return the command that moves a tool or link at a velocity.

    Args:
        node: tool or link.
        velocity: (6,) [m/s, rad/s].
        axes: (3, 3) of the velocity, in the world; None for the tool's own.
    """
    message = MechanismTarget(node=node, kind=MechanismTarget.TWIST, frame_id="tool" if axes is None else "world")
    turn = np.eye(3) if axes is None else axes
    fill_vector(message.twist.linear, turn @ velocity[:3])
    fill_vector(message.twist.angular, turn @ velocity[3:])
    return message


def link_message(change: LinkChange) -> MechanismLink:
    """Return the message of a change."""
    kk = change.parameters
    message = MechanismLink(
        name=change.link, type=change.type or 0, theta=kk.theta, r=kk.r, alpha=kk.alpha, d=kk.d, gamma=kk.gamma,
        epsilon=kk.epsilon, locked=change.locked,
    )  # fmt: skip
    if change.limits is not None:
        message.limited, (message.lower, message.upper) = True, change.limits
    return message


class MechanismRecording:
    """Asks the kinematics node to record and to replay.

    Args:
        node: that asks.
        panel: of mechanisms.
        calls: of the kinematics node.
        name: tells the mechanism that the panel is about.
    """

    def __init__(self, node: Node, panel: MechanismPanel, calls: MechanismCalls, name: Callable[[], str]) -> None:
        self._panel, self._calls, self._name = panel, calls, name
        self._replay = AskedGoal(
            node, (action.ReplayMotion, "replay_motion"), KINEMATICS, self._on_replay, self._on_replayed
        )

    def watch(self) -> None:
        """End what was asked of a node that is gone."""
        self._replay.watch()

    @tells
    def replay(self, replaying: bool, path: str) -> None:
        """Replay a recorded motion of the mechanism, or stop that."""
        if not replaying:
            self._replay.cancel()
            return
        recording = check_requested(_absolute(path), "recording")
        self._replay.ask(action.ReplayMotion.Goal(mechanism=self._name(), path=recording))
        self._panel.replaying = True

    @tells
    def record(self, recording: bool, path: str, overwrite: bool) -> None:
        """Begin to record the mechanism's motion into a file, CSV or MCAP, or end that.

        Args:
            recording: whether to begin.
            path: of the file.
            overwrite: whether one that is there is replaced.
        """
        file = check_written(_absolute(path), "recording", overwrite=overwrite) if recording else ""

        def on_answer(taken: bool) -> None:
            if taken:
                self._panel.recording = recording
                self._panel.say(f"Recorded to {file}." if file else "The recording is written.", True)

        self._calls.switch(on_answer, overwrite=recording and overwrite, record=file)

    def _on_replay(self, feedback: action.ReplayMotion.Feedback) -> None:
        self._panel.say(f"{feedback.time:.1f} of {feedback.duration:.1f} s")

    def _on_replayed(self, result: action.ReplayMotion.Result | None, why: str) -> None:
        self._panel.replaying = False
        if result is None:
            self._panel.say(why, False)
        else:
            self._panel.say(result.message, result.success)


def _absolute(path: str) -> str:
    """Return a path as the other node has to have it, which runs in another folder maybe.

    Raises:
        InputError: it can't be one.
    """
    try:
        return str(Path(path.strip()).expanduser().resolve())
    except (OSError, RuntimeError, ValueError) as error:  # too long, no such user, a null in it
        raise InputError(f"'{path[:100]}' is no path: {error}", element="recording") from error


def read_mechanisms(text: str, path: str, files: Sequence[str]) -> tuple[dict[str, MechanismSolver], str | None]:
    """Return a solver for each mechanism of a text, ready to move, and which of some files the text is of, if any.

    Args:
        text: MAD or URDF.
        path: of a file; of a URDF's own, it says which joints have motors. Empty: not known.
        files: names or paths of files.

    Raises:
        HumanoidError: the text can't be read.
    """
    scene = None
    if path and text.startswith("<"):
        with contextlib.suppress(HumanoidError):  # a file that only the node knows
            scene = load_scene(path)
    if scene is None or all(mechanism.robot.urdf != text for mechanism in scene.mechanisms.values()):
        scene = read_scene(text)
    solvers = {topic_name(name): MechanismSolver(mechanism) for name, mechanism in scene.mechanisms.items()}
    return solvers, _file_of(scene, path, files)


def _file_of(scene: Scene, path: str, files: Sequence[str]) -> str | None:
    """Return which of some files has mechanisms with the names and joints of a scene, which edits leave as they are.

    Where several have, it is the one that was asked for.
    """
    wanted = _joints(scene)
    found = [file for file, joints in _known(tuple(files)).items() if joints == wanted]
    return path if path in found else next(iter(found), None)


@cache
def _known(files: tuple[str, ...]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the joints of the mechanisms of each file that can be read."""
    known = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of files that nobody has asked for
        for file in files:
            with contextlib.suppress(HumanoidError):
                known[file] = _joints(load_scene(file))
    return known


def _joints(scene: Scene) -> dict[str, tuple[str, ...]]:
    """Return the joints of each mechanism, by name."""
    return {name: tuple(mechanism.robot.joint_names) for name, mechanism in scene.mechanisms.items()}


def take_state(shown: ShownMechanism, state: MechanismState) -> None:
    """Take a state as it came."""
    names = state.joint_names
    of_commands = np.reshape(state.command_residuals, (-1, 6))
    more = {"condition": state.condition, "manipulability": state.manipulability, "solve_time": state.solve_time}
    more |= {"command/position": 0.0, "command/rotation": 0.0, "obstacle": state.obstacle_distance}
    if state.obstacle:
        more[f"distance/{state.obstacle_link}"] = state.obstacle_distance
    if len(of_commands):
        more["command/position"] = float(np.linalg.norm(of_commands[:, :3], axis=1).max())
        more["command/rotation"] = float(np.linalg.norm(of_commands[:, 3:], axis=1).max())
    shown.let_go([loop for loop, opened in zip(state.loop_names, state.loop_open, strict=True) if opened])
    shown.take(
        seconds(state.header.stamp),
        dict(zip(names, state.joint_positions, strict=True)),
        [name for name, locked in zip(names, state.locked, strict=True) if locked],
        [name for name, at_limit in zip(names, state.at_limit, strict=True) if at_limit],
        more,
    )
