# SPDX-License-Identifier: Apache-2.0
"""The running stack as one object: a few methods in place of its services, actions and topics.

Methods of controller bridge and model generator are here; those of simulator and planners have files of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import Any, TypeAlias

from humanoid_stack.action import ExecuteTrajectory
from humanoid_stack.msg import WholeBodyTrajectory as WholeBodyMessage
from humanoid_stack.srv import GenerateModel, InverseDynamics
from numpy.typing import ArrayLike
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage

from humanoid_model.checks import check_known
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.progress import ProgressCallback
from humanoid_model.scene import STANDARD_GRAVITY
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_planner.posture.tasks.state import Load
from humanoid_ros.client.answers import Efforts, efforts_answer
from humanoid_ros.client.connection import LONG, Member, Task, path_progress, result_reader
from humanoid_ros.client.controller_methods import ControllerMethods
from humanoid_ros.client.planner_methods import PlannerMethods
from humanoid_ros.client.requests import load_message, numbers, request, trajectory_message
from humanoid_ros.client.simulator_methods import SimulatorMethods
from humanoid_ros.messages.conversions import duration, vector
from humanoid_ros.messages.motion_messages import whole_body_message
from humanoid_ros.node.clients import SignOfLife

WORLD = "world"
SIGN = 0.5
"""How long a bridge may miss this process at least, where its own file asks for signs of life [s]."""
_READ = result_reader((
    ExecuteTrajectory.Result.INVALID_TRAJECTORY,
    ExecuteTrajectory.Result.WRONG_START,
    ExecuteTrajectory.Result.NO_CONTROLLER,
))
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
        task = self._connection.start(ExecuteTrajectory, "execute_trajectory", goal, _READ, path_progress("executing"))
        alive.give(lambda: task.goal_id, lambda: not task.done, dead_man or SIGN)
        return task

    @cached_property
    def _alive(self) -> SignOfLife:
        return SignOfLife(self._connection.node)


class ModelMethods(Member):
    """Dynamic models of the robot."""

    def model(
        self, language: str, functions: Sequence[str] = (), *, timeout: float = LONG, **fields: Any
    ) -> dict[str, str]:
        """Return the robot's dynamic model as code or equations.

        Args:
            language: "python", "c", "latex", ...
            functions: "inverse_dynamics", "mass_matrix", ...; none takes all.
            timeout: longest wait for the answer [s].
            **fields: others of ``srv/GenerateModel``'s request: ``gravity``, ``folder``, ``base_parameters``, ...

        Returns:
            Texts by the names of the files.

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        given = {
            "robot": self._source,
            "floating_base": self.robot.base_joint is not None,
            "gravity": STANDARD_GRAVITY,
            **fields,
        }
        asked = request(GenerateModel.Request, None, {"language": language, "functions": functions, **given})
        answer = self._call(GenerateModel, "generate_model", asked, timeout)
        return {file.name: file.text for file in answer.files}

    def inverse_dynamics(
        self,
        positions: Mapping[str, float],
        velocities: Mapping[str, float] | None = None,
        accelerations: Mapping[str, float] | None = None,
        *,
        gravity: ArrayLike = STANDARD_GRAVITY,
        loads: Sequence[Load] = (),
        timeout: float = LONG,
        **fields: Any,
    ) -> Efforts:
        """Return efforts that a motion of the robot asks for.

        Args:
            positions: by joint [rad] or [m]; joints left out rest at zero.
            velocities: likewise, per second; None is at rest.
            accelerations: likewise, per second squared; None is steady.
            gravity: (3,) world frame [m/s^2].
            loads: known wrenches on links.
            timeout: longest wait for the answer [s].
            **fields: others of ``srv/InverseDynamics``'s request, as messages: ``base``, ``base_twist``,
                ``base_acceleration``.

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        names = list(positions)
        given = {"joint_names": names, "positions": [positions[name] for name in names], **fields}
        for field, values in (("velocities", velocities), ("accelerations", accelerations)):
            for name in values or {}:
                check_known(name, names, field, "joint among the positions")
            if values is not None:
                given[field] = [values.get(name, 0.0) for name in names]
        asked = request(InverseDynamics.Request, None, {"robot": self._source, **given})
        asked.gravity = vector(numbers(gravity, "gravity", 3))
        asked.wrenches = [load_message(load) for load in loads]
        return efforts_answer(self._call(InverseDynamics, "inverse_dynamics", asked, timeout))


class HumanoidStack(SimulatorMethods, ControllerMethods, BridgeMethods, PlannerMethods, ModelMethods):
    """The running stack: simulator, bridge, planner, gait and model generator, for plain scripts and notebooks.

    Every method asks and waits for the answer; calls from several threads don't mix. A node that isn't there, or
    doesn't answer in time, is a StackError; a refused request is an InputError that names the field. Long work tells
    its progress, and is cancelled by Ctrl-C and by True or an error from the callback; its ``begin_...`` form returns a
    :class:`Task` at once.

    ``with HumanoidStack("hrp2") as stack:`` leaves the graph in the end; nodes of the stack go on.
    """

    def __enter__(self) -> HumanoidStack:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the graph; a second time does nothing."""
        self._connection.close()
