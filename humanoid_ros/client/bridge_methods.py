# SPDX-License-Identifier: Apache-2.0
"""What a client asks of the controller bridge."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TypeAlias

from humanoid_stack.action import ExecuteTrajectory
from humanoid_stack.msg import WholeBodyTrajectory as WholeBodyMessage
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage

from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_ros.client.connection import Task, refused, succeeded
from humanoid_ros.client.member import Member
from humanoid_ros.client.requests import trajectory_message
from humanoid_ros.messages.conversions import duration
from humanoid_ros.messages.motion_messages import whole_body_message
from humanoid_ros.node.clients import SignOfLife

WORLD = "world"
SIGN = 0.5
"""How long a bridge may miss this process at least, where its own file asks for signs of life [s]."""
_REFUSALS = (
    ExecuteTrajectory.Result.INVALID_TRAJECTORY,
    ExecuteTrajectory.Result.WRONG_START,
    ExecuteTrajectory.Result.NO_CONTROLLER,
)
Motion: TypeAlias = WholeBodyMessage | WholeBodyTrajectory | JointTrajectoryMessage | JointTrajectory
"""What can be executed: a motion of the whole robot or of joints, as a message or the library's."""


class BridgeMethods(Member):
    """Motions on a robot's own controllers, or the simulator's."""

    def execute(
        self,
        motion: Motion,
        *,
        controllers: Sequence[str] = (),
        speed: float = 1.0,
        dry_run: bool = False,
        dead_man: float = 0.0,
        progress: ProgressCallback | None = None,
        timeout: float | None = None,
    ) -> ExecuteTrajectory.Result:
        """Let the robot move, by the bridge: checked, watched, and stopped along the path when something fails.

        Args:
            motion: of the whole robot or of some joints.
            controllers: of the bridge's file, to use; empty takes all.
            speed: along the path, as a share of the motion's own.
            dry_run: only check, and tell which controllers would move.
            dead_man: how long the bridge may miss this process' signs of life, five of which come meanwhile, before it
                stops the robot [s]; 0: as its file says.
            progress: told the share that is done, and as result the feedback message; True stops the motion.
            timeout: longest wait [s], after which the motion is cancelled.

        Returns:
            The action's result; one without success tells which controller failed, why, and where on the path the robot
            was left.

        Raises:
            InputError: the motion was refused for a field, which it names.
        """
        task = self.begin_execute(motion, controllers=controllers, speed=speed, dry_run=dry_run, dead_man=dead_man)
        return task.result(timeout, progress)

    def begin_execute(
        self,
        motion: Motion,
        *,
        controllers: Sequence[str] = (),
        speed: float = 1.0,
        dry_run: bool = False,
        dead_man: float = 0.0,
    ) -> Task[ExecuteTrajectory.Result]:
        """As :meth:`execute`, without waiting for the end."""
        if isinstance(motion, WholeBodyTrajectory):
            message = whole_body_message(motion, WORLD)
        elif isinstance(motion, WholeBodyMessage):
            message = motion
        else:
            message = WholeBodyMessage(joints=trajectory_message(motion))
        goal = ExecuteTrajectory.Goal(
            trajectory=message,
            controllers=list(controllers),
            speed_scale=float(speed),
            dry_run=dry_run,
            dead_man=duration(dead_man),
        )
        alive = self._alive  # before the goal: the bridge has to have found it
        task = self._connection.start(ExecuteTrajectory, "execute_trajectory", goal, _read, _news)
        alive.give(lambda: task.goal_id, lambda: not task.done, dead_man or SIGN)
        return task

    @cached_property
    def _alive(self) -> SignOfLife:
        return SignOfLife(self._connection.node)


def _read(status: int, result: ExecuteTrajectory.Result) -> ExecuteTrajectory.Result:
    if not succeeded(status) and result.code in _REFUSALS:
        error = refused(result.message)
        if isinstance(error, InputError):
            raise error
    return result


def _news(feedback: ExecuteTrajectory.Feedback) -> Progress:
    done = feedback.path_time / feedback.duration if feedback.duration > 0.0 else 1.0
    return Progress("executing", min(max(done, 0.0), 1.0), result=feedback)
