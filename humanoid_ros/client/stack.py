# SPDX-License-Identifier: Apache-2.0
"""The running stack as one object: a few methods in place of its services, actions and topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import TracebackType
from typing import Any

import pinocchio as pin
from control_msgs.action import FollowJointTrajectory
from humanoid_stack.action import GenerateGait
from humanoid_stack.msg import ContactForces, GaitRequest, SimulationStatus, WholeBodyTrajectory
from humanoid_stack.srv import (
    ApplyWrench,
    CheckEquilibrium,
    GenerateModel,
    GeneratePosture,
    InverseDynamics,
    LoadScene,
    SetState,
    StepSimulation,
)
from nav_msgs.msg import Odometry
from numpy.typing import ArrayLike
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from humanoid_model import Robot, Stance, load_robot
from humanoid_model.errors import InputError
from humanoid_model.field_checks import known_name
from humanoid_model.scene import STANDARD_GRAVITY
from humanoid_planner.posture.problem.force_model import Load
from humanoid_ros.client.answers import (
    Efforts,
    EquilibriumAnswer,
    FollowAnswer,
    PostureAnswer,
    RobotState,
    efforts_answer,
    equilibrium_answer,
    follow_answer,
    posture_answer,
    robot_state,
)
from humanoid_ros.client.connection import Connection, Task, checked, refused, succeeded
from humanoid_ros.client.requests import JointMotion, load_message, numbers, request, trajectory_message
from humanoid_ros.messages.conversions import duration, fill_pose, fill_vector, point, vector
from humanoid_ros.node.qos import LATCHED, NEWEST

STABILITIES = {
    "none": GeneratePosture.Request.NO_STABILITY,
    "polygon": GeneratePosture.Request.SUPPORT_POLYGON,
    "forces": GeneratePosture.Request.CONTACT_FORCES,
    "polytope": GeneratePosture.Request.FORCE_POLYTOPE,
}
"""How equilibrium is tested, as the library calls it."""
CRITERIA = {
    "none": GeneratePosture.Request.NO_CRITERION,
    "reference": GeneratePosture.Request.NEAR_REFERENCE,
    "middle": GeneratePosture.Request.NEAR_MIDDLE,
    "guide": GeneratePosture.Request.NEAR_GUIDE,
    "polygon centre": GeneratePosture.Request.CENTRE_IN_POLYGON,
    "wrench centre": GeneratePosture.Request.CENTRE_IN_WRENCHES,
    "torque": GeneratePosture.Request.LEAST_TORQUE,
}
"""What is minimised among postures."""
LONG = 600.0
"""Longest wait for an answer that is computed, or for a scene [s]."""
STEPS = 100
"""Steps of a paused simulation that are asked for at a time."""


class HumanoidStack:
    """The running stack: simulator, planner, gait and model generator, for plain scripts and notebooks.

    Every method asks and waits for the answer; calls from several threads don't mix. A node that isn't there, or
    doesn't answer in time, is a StackError; a refused request is an InputError that names the field. Long work tells
    its progress, and is cancelled by Ctrl-C and by an error in the callback; its ``begin_...`` form returns a
    :class:`Task` at once.

    ``with HumanoidStack("hrp2") as stack:`` leaves the graph in the end; nodes of the stack go on.
    """

    def __init__(
        self,
        robot: str = "hrp2",
        *,
        name: str = "",
        namespace: str = "",
        patience: float = 20.0,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Join the graph; whether the stack is there is seen by the first request.

        Args:
            robot: that is simulated, planned for and commanded: a name, or the path of a URDF.
            name: of it in the scene; empty takes its own.
            namespace: of the stack's nodes.
            patience: how long a node may take to be there, and to answer what takes no time [s].
            check: called again and again while something is waited for; raises what should end the wait.
        """
        self._wanted = robot
        self._name = name or self.robot.name
        self._connection = Connection(namespace, patience, check)
        self._status: SimulationStatus | None = None
        self._contacts: ContactForces | None = None
        self._joints: dict[str, JointState] = {}
        self._odometry: dict[str, Odometry] = {}
        node = self._connection.node
        node.create_subscription(SimulationStatus, "status", self._on_status, LATCHED)
        node.create_subscription(ContactForces, "contacts", self._on_contacts, NEWEST)
        # Alone in its scene a robot's topics have no prefix.
        for prefix in ("", f"{self._name}/"):
            node.create_subscription(JointState, f"{prefix}joint_states", self._listener(self._joints, prefix), NEWEST)
            node.create_subscription(Odometry, f"{prefix}odometry", self._listener(self._odometry, prefix), NEWEST)

    def __enter__(self) -> HumanoidStack:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the graph; a second time does nothing."""
        self._connection.close()

    @property
    def node(self) -> Node:
        """The node behind it, for topics of one's own; callbacks run in the client's thread."""
        return self._connection.node

    @cached_property
    def robot(self) -> Robot:
        """The robot, without shapes."""
        return load_robot(self._wanted, geometry=False)

    # Simulator: state ---------------------------------------------------------------------------------------------

    @property
    def status(self) -> SimulationStatus:
        """The newest status of the simulation.

        Raises:
            StackError: no simulator tells any.
        """
        status: SimulationStatus = self._heard(lambda: self._status, "the status of a simulator")
        return status

    @property
    def state(self) -> RobotState:
        """The newest state of the robot that was told; a simulation that was paused before tells none until it moves.

        Raises:
            StackError: no simulator tells any.
        """
        prefix = self._prefix()
        if self.robot.base_joint is not None:
            self._heard(lambda: self._odometry.get(prefix), f"the base of {self._name}")
        return robot_state(self._joints[prefix], self._odometry.get(prefix))

    @property
    def contacts(self) -> ContactForces:
        """The newest contact forces.

        Raises:
            StackError: no simulator tells any.
        """
        contacts: ContactForces = self._heard(lambda: self._contacts, "contact forces")
        return contacts

    # Simulator: time ----------------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Let simulated time stand still."""
        self._call(SetBool, "pause", SetBool.Request(data=True))

    def resume(self) -> None:
        """Let simulated time go on."""
        self._call(SetBool, "pause", SetBool.Request(data=False))

    def step(self, count: int = 1) -> float:
        """Do steps of a paused simulation.

        Returns:
            Simulated time after them [s].

        Raises:
            InputError: it isn't paused.
        """
        time = 0.0
        for begun in range(0, count, STEPS):
            steps = StepSimulation.Request(steps=min(STEPS, count - begun))
            time = self._call(StepSimulation, "step", steps, LONG).time
        return time

    def run(self, duration: float, progress: Callable[[float], None] | None = None) -> float:
        """Let simulated time pass: steps of a paused simulation, which stays so; else waiting.

        Args:
            duration: simulated time [s].
            progress: told how much of it has passed [s].

        Returns:
            Simulated time in the end [s].
        """
        tell = progress or (lambda _: None)
        status = self.status
        start = now = status.time
        if status.paused:
            count = round(duration / status.time_step)
            for begun in range(0, count, STEPS):
                now = self.step(min(STEPS, count - begun))
                tell(now - start)
            return now
        while now - start < duration:
            before = now
            now = self._heard(lambda before=before: self._later(before), "simulated time to go on")  # type: ignore[misc]
            tell(min(now - start, duration))
        return now

    def reset(self) -> None:
        """Go back to the start of the scene."""
        self._call(Trigger, "reset", Trigger.Request())

    def load_scene(self, scene: str) -> None:
        """Simulate another scene: a name, the path of a file, or its text."""
        is_text = "\n" in scene or scene.lstrip().startswith("<")
        wanted = LoadScene.Request(text=scene) if is_text else LoadScene.Request(scene=scene)
        self._call(LoadScene, "load_scene", wanted, LONG)
        self._joints.clear()
        self._odometry.clear()

    # Simulator: robot ---------------------------------------------------------------------------------------------

    def stand(
        self,
        at: str | Mapping[str, float] | WholeBodyTrajectory = "half_sitting",
        base: pin.SE3 | None = None,
    ) -> None:
        """Put the simulated robot into a posture, at rest, and hold it there.

        Args:
            at: name of a posture, positions by joint [rad] or [m] (the others stay), or a trajectory to begin.
            base: placement of the base link in the world; None leaves it, or puts it where the trajectory begins.
        """
        wanted = SetState.Request(name=self._name)
        if isinstance(at, str):
            wanted.posture = at
        elif isinstance(at, WholeBodyTrajectory):
            wanted.joint_names = at.joints.joint_names
            wanted.joint_positions = at.joints.points[0].positions
            if at.base:
                wanted.set_pose, wanted.pose = True, at.base[0]
        else:
            wanted.joint_names = list(at)
            wanted.joint_positions = [float(value) for value in at.values()]
        if base is not None:
            wanted.set_pose = True
            fill_pose(wanted.pose, base)
        self._call(SetState, "set_state", wanted)

    def push(
        self,
        link: str,
        force: ArrayLike = (0.0, 0.0, 0.0),
        *,
        torque: ArrayLike = (0.0, 0.0, 0.0),
        at: ArrayLike | None = None,
        duration: float = 0.1,
    ) -> None:
        """Push a link or a body; returns when the push has begun.

        Args:
            link: of the robot, or name of a body.
            force: (3,) world frame [N].
            torque: (3,) world frame [N m].
            at: (3,) where the force acts, world frame [m]; None takes the centre of mass.
            duration: simulated time [s].
        """
        body = f"{self._name}/{link}" if link in self.robot.description.links else link
        push = ApplyWrench.Request(body=body, duration=_duration(duration))
        fill_vector(push.wrench.force, numbers(force, "force", 3))
        fill_vector(push.wrench.torque, numbers(torque, "torque", 3))
        if at is not None:
            push.at_point, push.point = True, point(numbers(at, "at", 3))
        self._call(ApplyWrench, "apply_wrench", push)

    def follow(
        self,
        motion: JointTrajectory | WholeBodyTrajectory | JointMotion,
        *,
        limb: str = "whole_body",
        progress: Callable[[FollowJointTrajectory.Feedback], None] | None = None,
        timeout: float | None = None,
    ) -> FollowAnswer:
        """Let the simulated robot follow a trajectory, to its end.

        Args:
            motion: of all joints of the limb.
            limb: whose controller follows it.
            progress: told where the joints are and should be.
            timeout: longest wait [s], after which the motion is cancelled and the joints are held.

        Raises:
            InputError: the trajectory was refused for a field, which it names.
        """
        return self.begin_follow(motion, limb=limb, progress=progress).result(timeout)

    def begin_follow(
        self,
        motion: JointTrajectory | WholeBodyTrajectory | JointMotion,
        *,
        limb: str = "whole_body",
        progress: Callable[[FollowJointTrajectory.Feedback], None] | None = None,
    ) -> Task[FollowAnswer]:
        """As :meth:`follow`, without waiting for the end."""
        goal = FollowJointTrajectory.Goal(trajectory=trajectory_message(motion))
        name = f"{self._prefix()}{limb}_controller/follow_joint_trajectory"
        return self._connection.start(FollowJointTrajectory, name, goal, follow_answer, progress)

    # Planner ------------------------------------------------------------------------------------------------------

    def posture(
        self,
        stance: Stance,
        *,
        stability: str = "forces",
        criterion: str = "reference",
        timeout: float = LONG,
        **fields: Any,
    ) -> PostureAnswer:
        """A posture of the robot that holds a stance.

        Args:
            stance: contacts to hold, on surfaces of the scene or of ``surfaces``.
            stability: how equilibrium is tested, one of STABILITIES.
            criterion: what is minimised, one of CRITERIA.
            timeout: longest wait for the answer [s].
            **fields: others of ``srv/GeneratePosture``'s request: ``scene``, ``torque_limits``, ``collisions``,
                ``time_limit`` [s], ``reference`` (nq,), ``loads`` and ``surfaces`` of the library's classes, ...

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        asked = self._planning(GeneratePosture.Request, stance, fields)
        asked.stability = STABILITIES[known_name(stability, STABILITIES, "stability", "test")]
        asked.criterion = CRITERIA[known_name(criterion, CRITERIA, "criterion", "criterion")]
        answer = self._connection.call(GeneratePosture, "generate_posture", asked, timeout)
        return posture_answer(answer, self.robot)

    def equilibrium(
        self,
        stance: Stance,
        posture: ArrayLike | None = None,
        *,
        method: str = "forces",
        timeout: float = LONG,
        **fields: Any,
    ) -> EquilibriumAnswer:
        """Whether a stance keeps the robot in equilibrium.

        Args:
            stance: contacts that hold it.
            posture: (nq,) configuration; None takes ``centre_of_mass``.
            method: of the test: polygon, forces or polytope.
            timeout: longest wait for the answer [s].
            **fields: others of ``srv/CheckEquilibrium``'s request: ``centre_of_mass`` [m], ``loads``, ``acceleration``
                [m/s^2], ``torque_limits``, ...

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        if posture is not None:
            fields = {"use_posture": True, "posture": posture, **fields}
        asked = self._planning(CheckEquilibrium.Request, stance, fields)
        tests = [name for name in STABILITIES if name != "none"]
        asked.method = STABILITIES[known_name(method, tests, "method", "test")]
        return equilibrium_answer(checked(self._connection.call(CheckEquilibrium, "check_equilibrium", asked, timeout)))

    # Gaits --------------------------------------------------------------------------------------------------------

    def gait(
        self,
        model: str = "",
        *,
        progress: Callable[[GenerateGait.Feedback], None] | None = None,
        time_limit: float | None = None,
        **fields: Any,
    ) -> GenerateGait.Result:
        """An optimal gait.

        Args:
            model: that walks; empty takes the node's default.
            progress: told phase, stage and residual.
            time_limit: for the search [s]; None takes the node's.
            **fields: others of ``msg/GaitRequest``: ``speed``, ``step_length``, ``lift``, ``cycles``, ``phases``, ...

        Returns:
            The action's result; one without success comes with what was solved and the reason.

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        return self.begin_gait(model, progress=progress, time_limit=time_limit, **fields).result()

    def begin_gait(
        self,
        model: str = "",
        *,
        progress: Callable[[GenerateGait.Feedback], None] | None = None,
        time_limit: float | None = None,
        **fields: Any,
    ) -> Task[GenerateGait.Result]:
        """As :meth:`gait`, without waiting for the end."""
        asked = request(GaitRequest, None, {"model": model, **fields})
        if time_limit is not None:
            asked.options.time_limit = _duration(time_limit)

        def read(status: int, result: GenerateGait.Result) -> GenerateGait.Result:
            if not succeeded(status) and not result.gait.phases:
                error = refused(result.message)
                if isinstance(error, InputError):
                    raise error
            return result

        return self._connection.start(GenerateGait, "generate_gait", GenerateGait.Goal(request=asked), read, progress)

    # Models -------------------------------------------------------------------------------------------------------

    def model(
        self, language: str, functions: Sequence[str] = (), *, timeout: float = LONG, **fields: Any
    ) -> dict[str, str]:
        """The robot's dynamic model as code or equations.

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
        """Efforts that a motion of the robot asks for.

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
                known_name(name, names, field, "joint among the positions")
            if values is not None:
                given[field] = [values.get(name, 0.0) for name in names]
        asked = request(InverseDynamics.Request, None, {"robot": self._source, **given})
        asked.gravity = vector(numbers(gravity, "gravity", 3))
        asked.wrenches = [load_message(load) for load in loads]
        return efforts_answer(self._call(InverseDynamics, "inverse_dynamics", asked, timeout))

    # --------------------------------------------------------------------------------------------------------------

    @property
    def _source(self) -> str:
        """The robot as the nodes, which may not know its name's folder, read it."""
        return str(self.robot.description.source)

    def _planning(self, kind: Any, stance: Stance, fields: Mapping[str, Any]) -> Any:
        return request(kind, self.robot, {"robot": self._source, "stance": stance, **fields})

    def _call(self, kind: Any, name: str, message: Any, timeout: float | None = None) -> Any:
        return checked(self._connection.call(kind, name, message, timeout))

    def _heard(self, value: Callable[[], Any], what: str) -> Any:
        return self._connection.wait(value, what, self._connection.patience)

    def _prefix(self) -> str:
        """What precedes the names of the robot's topics."""
        name = f"{self._name}/"
        self._heard(lambda: self._joints, f"the state of {self._name}")
        return name if name in self._joints else ""

    def _later(self, time: float) -> float | None:
        """Simulated time, None unless it is later than this."""
        now = self.status.time
        return now if now > time else None

    def _on_status(self, message: SimulationStatus) -> None:
        self._status = message

    def _on_contacts(self, message: ContactForces) -> None:
        self._contacts = message

    @staticmethod
    def _listener(kept: dict[str, Any], prefix: str) -> Callable[[Any], None]:
        def listen(message: Any) -> None:
            kept[prefix] = message

        return listen


def _duration(seconds: float) -> Any:
    return duration(float(numbers([seconds], "duration", 1)[0]))
