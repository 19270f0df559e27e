# SPDX-License-Identifier: Apache-2.0
"""What a client does with the simulator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pinocchio as pin
from control_msgs.action import FollowJointTrajectory
from humanoid_stack.msg import ContactForces, SimulationStatus, WholeBodyTrajectory
from humanoid_stack.srv import ApplyWrench, LoadScene, SetState, StepSimulation
from nav_msgs.msg import Odometry
from numpy.typing import ArrayLike
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage

from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_ros.client.answers import FollowAnswer, RobotState, follow_answer, robot_state
from humanoid_ros.client.connection import LONG, Member, Task
from humanoid_ros.client.requests import duration_message, numbers, trajectory_message
from humanoid_ros.messages.conversions import fill_pose, fill_vector, point, seconds
from humanoid_ros.node.qos import LATCHED, NEWEST

STEPS = 100
"""Steps of a paused simulation that are asked for at a time."""


class SimulatorMethods(Member):
    """State, time and motion of the simulated robot."""

    def __init__(self, robot: str = "hrp2", **settings: Any) -> None:
        """As :class:`Member`; listens from now on."""
        super().__init__(robot, **settings)
        self._status: SimulationStatus | None = None
        # Bytes: of the many messages that come, those that somebody asks for are decoded.
        self._contacts: dict[str, bytes] = {}
        self._joints: dict[str, bytes] = {}
        self._odometry: dict[str, bytes] = {}
        self._stepped_to = 0.0
        node = self._connection.node
        node.create_subscription(SimulationStatus, "status", self._on_status, LATCHED)
        node.create_subscription(ContactForces, "contacts", _keeper(self._contacts, ""), NEWEST, raw=True)
        # Alone in its scene a robot's topics have no prefix.
        for prefix in ("", f"{self._name}/"):
            joints, odometry = _keeper(self._joints, prefix), _keeper(self._odometry, prefix)
            node.create_subscription(JointState, f"{prefix}joint_states", joints, NEWEST, raw=True)
            node.create_subscription(Odometry, f"{prefix}odometry", odometry, NEWEST, raw=True)

    # State ------------------------------------------------------------------------------------------------------------

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
        """The newest state of the robot that was told.

        Raises:
            StackError: no simulator tells any.
        """
        prefix = self._prefix()
        joints = self._heard(lambda: self._newest(self._joints, prefix, JointState), f"the joints of {self._name}")
        odometry = None
        if self.robot.base_joint is not None:
            odometry = self._heard(lambda: self._newest(self._odometry, prefix, Odometry), f"the base of {self._name}")
        return robot_state(joints, odometry)

    @property
    def contacts(self) -> ContactForces:
        """The newest contact forces.

        Raises:
            StackError: no simulator tells any.
        """
        contacts: ContactForces = self._heard(lambda: self._newest(self._contacts, "", ContactForces), "contact forces")
        return contacts

    # Time -------------------------------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Let simulated time stand still."""
        self._pause(True)

    def resume(self) -> None:
        """Let simulated time go on."""
        self._pause(False)

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
            time = self._stepped_to = self._call(StepSimulation, "step", steps, LONG).time
        return time

    def run(self, duration: float, progress: ProgressCallback | None = None) -> float:
        """Let simulated time pass: steps of a paused simulation, which stays so; else waiting.

        Args:
            duration: simulated time [s].
            progress: told how much of it has passed; True ends it early.

        Returns:
            Simulated time in the end [s].
        """

        def ended(now: float) -> bool:
            passed = min((now - start) / duration, 1.0)
            return progress is not None and bool(progress(Progress("running", passed)))

        status = self.status
        start = now = status.time
        if status.paused:
            count = round(duration / status.time_step)
            for begun in range(0, count, STEPS):
                now = self.step(min(STEPS, count - begun))
                if ended(now):
                    break
            return now
        while now - start < duration:
            before = now
            now = self._heard(lambda before=before: self._later(before), "simulated time to go on")  # type: ignore[misc]
            if ended(now):
                break
        return now

    def reset(self) -> None:
        """Go back to the start of the scene."""
        self._forget()
        self._call(Trigger, "reset", Trigger.Request())

    def load_scene(self, scene: str) -> None:
        """Simulate another scene: a name, the path of a file, or its text."""
        is_text = "\n" in scene or scene.lstrip().startswith("<")
        wanted = LoadScene.Request(text=scene) if is_text else LoadScene.Request(scene=scene)
        self._forget()
        self._call(LoadScene, "load_scene", wanted, LONG)

    # Robot ------------------------------------------------------------------------------------------------------------

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
        self._joints.clear()
        self._odometry.clear()
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
        push = ApplyWrench.Request(body=body, duration=duration_message(duration))
        fill_vector(push.wrench.force, numbers(force, "force", 3))
        fill_vector(push.wrench.torque, numbers(torque, "torque", 3))
        if at is not None:
            push.at_point, push.point = True, point(numbers(at, "at", 3))
        self._call(ApplyWrench, "apply_wrench", push)

    def follow(
        self,
        motion: JointTrajectoryMessage | WholeBodyTrajectory | JointTrajectory,
        *,
        limb: str = "whole_body",
        progress: ProgressCallback | None = None,
        timeout: float | None = None,
    ) -> FollowAnswer:
        """Let the simulated robot follow a trajectory, to its end.

        Args:
            motion: of all joints of the limb.
            limb: whose controller follows it.
            progress: told the share that is done, and as result the feedback message: where joints are and should be.
            timeout: longest wait [s], after which the motion is cancelled and the joints are held.

        Raises:
            InputError: the trajectory was refused for a field, which it names.
        """
        return self.begin_follow(motion, limb=limb).result(timeout, progress)

    def play(
        self,
        motion: WholeBodyTrajectory,
        *,
        progress: ProgressCallback | None = None,
        timeout: float | None = None,
    ) -> FollowAnswer:
        """Put the simulated robot where a motion begins, and let all its joints follow it.

        Args:
            motion: of a gait or along a contact plan.
            progress: as of :meth:`follow`.
            timeout: likewise.

        Raises:
            InputError: the motion has no points, or was refused for a field, which it names.
        """
        if not motion.joints.points:
            raise InputError("has no points", element="motion", remedy="Give one that was found")
        self.stand(motion)
        return self.follow(motion, progress=progress, timeout=timeout)

    def begin_follow(
        self, motion: JointTrajectoryMessage | WholeBodyTrajectory | JointTrajectory, *, limb: str = "whole_body"
    ) -> Task[FollowAnswer]:
        """As :meth:`follow`, without waiting for the end."""
        trajectory = trajectory_message(motion)
        length = seconds(trajectory.points[-1].time_from_start) if trajectory.points else 0.0

        def news(feedback: FollowJointTrajectory.Feedback) -> Progress:
            done = seconds(feedback.desired.time_from_start) / length if length > 0.0 else 1.0
            return Progress(f"following with {limb}", min(max(done, 0.0), 1.0), result=feedback)

        goal = FollowJointTrajectory.Goal(trajectory=trajectory)
        name = f"{self._prefix()}{limb}_controller/follow_joint_trajectory"
        return self._connection.start(FollowJointTrajectory, name, goal, follow_answer, news)

    # ------------------------------------------------------------------------------------------------------------------

    def _prefix(self) -> str:
        """Return what precedes the names of the robot's topics."""
        prefixes = (f"{self._name}/", "")

        def found() -> list[str]:
            return [prefix for prefix in prefixes if self.node.count_publishers(f"{prefix}joint_states")]

        return str(self._heard(found, f"a simulator of {self._name}")[0])

    def _newest(self, kept: dict[str, bytes], prefix: str, kind: Any) -> Any:
        """Return the newest message, None before the first one, and while one is on its way that steps have made."""
        if prefix not in kept:
            return None
        message = deserialize_message(kept[prefix], kind)
        return message if seconds(message.header.stamp) > self._stepped_to - 1e-8 else None

    def _forget(self) -> None:
        """Know nothing: time goes back."""
        self._status, self._stepped_to = None, 0.0
        for kept in (self._contacts, self._joints, self._odometry):
            kept.clear()

    def _pause(self, paused: bool) -> None:
        if not paused:
            self._stepped_to = 0.0
        self._call(SetBool, "pause", SetBool.Request(data=paused))
        # The answer may overtake the status, by which `run` knows what to do.
        self._heard(lambda: self._status is not None and self._status.paused == paused, "the status of a simulator")

    def _later(self, time: float) -> float | None:
        """Return the simulated time, None unless it is later than this."""
        now = self.status.time
        return now if now > time else None

    def _on_status(self, message: SimulationStatus) -> None:
        self._status = message


def _keeper(kept: dict[str, bytes], prefix: str) -> Callable[[bytes], None]:
    """Return a callback that keeps the newest message."""

    def keep(message: bytes) -> None:
        kept[prefix] = message

    return keep
