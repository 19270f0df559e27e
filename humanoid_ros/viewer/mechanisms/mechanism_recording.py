# SPDX-License-Identifier: Apache-2.0
"""Recording a mechanism's motion, and replaying it, as a person asks on the page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from humanoid_stack import action
from rclpy.node import Node

from humanoid_model.errors import InputError
from humanoid_ros.node.requested_files import check_requested, check_written
from humanoid_ros.viewer.asked_goal import AskedGoal
from humanoid_ros.viewer.mechanisms.mechanism_calls import KINEMATICS, MechanismCalls
from humanoid_ros.viewer.mechanisms.mechanism_panel import MechanismPanel
from humanoid_ros.viewer.panels.message import tells


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
