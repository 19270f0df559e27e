# SPDX-License-Identifier: Apache-2.0
"""Recorded motions, shown again by an action."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from humanoid_stack.action import ReplayMotion
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.task import Future

from humanoid_kinematics import LiveMechanism
from humanoid_kinematics.analysis.recording import Recording
from humanoid_model.checks import check_known
from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.kinematics.motion_file import read_motion
from humanoid_ros.node.answering_node import AnsweringActionServer, AnsweringNode
from humanoid_ros.node.requested_files import check_requested
from humanoid_ros.node.service_workers import answer_of, waking_future

NAME = "replay_motion"
FEEDBACK = 0.1
"""From one feedback to the next [s]."""
Result = ReplayMotion.Result


class _Playing:
    """A motion that is being shown."""

    def __init__(self, handle: ServerGoalHandle, recording: Recording, live: LiveMechanism, ended: Future) -> None:
        self.handle, self.recording, self.live, self.ended = handle, recording, live, ended
        self.begin = recording.times[0]
        self.duration = recording.times[-1] - self.begin
        self.speed = handle.request.speed_scale or 1.0
        self.time = self.told = self.gap = 0.0

    def advance(self, dt: float) -> bool:
        """Go on; whether it is over."""
        q = self.recording.at(self.begin + min(self.time, self.duration))
        self.gap = max(self.gap, self.live.place(q, dt))
        if self.time >= self.duration:
            if not self.handle.request.loop or self.duration == 0.0:
                return True
            self.time = 0.0
        self.time += self.speed * dt
        self.told += dt
        if self.told >= FEEDBACK and self.handle.is_active:
            self.told = 0.0
            self.handle.publish_feedback(ReplayMotion.Feedback(time=self.time, duration=self.duration))
        return False


class MotionReplays:
    """Shows recorded motions, one for each mechanism at a time, with loops closed at each instant."""

    def __init__(
        self, node: AnsweringNode, mechanisms: Callable[[], Mapping[str, LiveMechanism]], reader: ThreadPoolExecutor
    ) -> None:
        """Offer the action.

        Args:
            node: that offers it.
            mechanisms: by name, at present.
            reader: reads files.
        """
        self._node, self._mechanisms, self._reader = node, mechanisms, reader
        self._playing: dict[str, _Playing] = {}
        self._server = AnsweringActionServer(
            node, ReplayMotion, NAME, self._execute, cancel_callback=self._on_cancel, callback_group=node.group
        )

    def advance(self, name: str, dt: float) -> bool:
        """Let the motion of a mechanism go on; whether there is one, so that commands don't count."""
        playing = self._playing.get(name)
        if playing is None or playing.ended.done():
            return False
        try:
            if playing.advance(dt):
                playing.ended.set_result(Result(success=True, message="shown to its end", max_closure=playing.gap))
        except HumanoidError as problem:
            playing.ended.set_exception(problem)
        return True

    @property
    def names(self) -> tuple[str, ...]:
        """Mechanisms whose motion is shown."""
        return tuple(self._playing)

    def stop(self, words: str) -> None:
        """End what is shown, and say why."""
        for playing in self._playing.values():
            if not playing.ended.done():
                playing.ended.set_result(Result(message=words, max_closure=playing.gap))

    def destroy(self) -> None:
        """Take the action off the graph."""
        self._server.destroy()

    async def _execute(self, handle: ServerGoalHandle) -> ReplayMotion.Result:
        goal = handle.request
        try:
            result = await self._show(goal, handle)
        except Exception as problem:
            result = Result(message=self._node.refusals.refuse(NAME, problem))
        if result.success:
            handle.succeed()
        elif handle.is_cancel_requested:
            handle.canceled()
        else:
            handle.abort()
        return result

    async def _show(self, goal: ReplayMotion.Goal, handle: ServerGoalHandle) -> ReplayMotion.Result:
        mechanisms = self._mechanisms()
        name = goal.mechanism or next(iter(mechanisms), "")
        live = mechanisms[check_known(name, mechanisms, "mechanism", "mechanism")]
        if not 0.0 <= goal.speed_scale < float("inf"):
            raise InputError(f"is {goal.speed_scale}", element="speed_scale", remedy="Give more than 0, or 0 for 1")
        path = check_requested(goal.path, "path")
        recording = await answer_of(self._node, self._reader.submit(read_motion, path, live.mechanism, name))
        if handle.is_cancel_requested:
            return Result(message="cancelled before it began")
        if self._mechanisms().get(name) is not live:
            raise InputError("another mechanism was loaded", element="mechanism", remedy="Ask again")
        if name in self._playing:
            raise InputError(f"'{name}' is replayed already", element="mechanism", remedy="Cancel that first")
        playing = self._playing[name] = _Playing(handle, recording, live, waking_future(self._node))
        try:
            result: ReplayMotion.Result = await playing.ended
        finally:
            del self._playing[name]
        return result

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        for playing in self._playing.values():
            if playing.handle is handle and not playing.ended.done():
                playing.ended.set_result(Result(message="cancelled", max_closure=playing.gap))
        return CancelResponse.ACCEPT
