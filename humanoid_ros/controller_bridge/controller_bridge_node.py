# SPDX-License-Identifier: Apache-2.0
"""The controller bridge: a managed node that executes whole-body trajectories on a robot's own controllers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus
from humanoid_stack.action import ExecuteTrajectory
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.clock import Clock, ClockType
from rclpy.expand_topic_name import expand_topic_name
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.serialization import serialize_message
from std_msgs.msg import String

from humanoid_control.execution.path_timing import PathTiming
from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.controller_bridge.bridge_settings import BridgeSettings, Fault, Kind, load_bridge_settings
from humanoid_ros.controller_bridge.controller_outputs import (
    ControllerOutput,
    Form,
    TrajectoryOutput,
    controller_outputs,
    now,
)
from humanoid_ros.controller_bridge.execution import Execution, Trouble, Watch
from humanoid_ros.controller_bridge.guard import Guard
from humanoid_ros.controller_bridge.trajectory_request import CheckedMotion, StartError, check_motion
from humanoid_ros.controller_bridge.watches import DeadMan, EmergencyStop, FallWatch, MeasuredJoints, other_bridges
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.messages.conversions import stamp as stamp_message
from humanoid_ros.messages.message_log import MessageLog
from humanoid_ros.node.answering_node import AnsweringActionServer, ManagedNode, conclude
from humanoid_ros.node.diagnostics import declare_diagnostics_rate, publish_diagnostics
from humanoid_ros.node.parameter_declaration import declare_flag, declare_text, flag, refuse_unusable, text
from humanoid_ros.node.requested_files import check_file_parameters, next_free
from humanoid_ros.node.run import run
from humanoid_ros.node.service_workers import answer_of, waking_future

NAME = "execute_trajectory"
SOON = 10.0
"""How far ahead a motion may be asked for: till then the bridge takes no other one [s]."""
FEEDBACK = 5
"""Looks at the robot from one feedback to the next."""
Result = ExecuteTrajectory.Result


class RefusedError(InputError):
    """A goal that can't be executed.

    Attributes:
        code: of the result.
    """

    def __init__(self, problem: str, code: int, *, element: str | None = None, remedy: str | None = None) -> None:
        super().__init__(problem, element=element, remedy=remedy)
        self.code = code


class ControllerBridgeNode(ManagedNode):
    """Executes trajectories; see docs/bridge.md, and docs/interfaces.md for its interfaces and parameters.

    Unconfigured it has read nothing; inactive it listens to its robot and controllers, and refuses goals; active it
    executes one at a time.

    Raises:
        HumanoidError: its file can't be used, and it starts by itself.
    """

    patience = 6.0

    def __init__(self) -> None:
        super().__init__("controller_bridge")
        self._declare_parameters()
        refuse_unusable(self, check_file_parameters(read=("config",), written=("log",)))
        self._settings: BridgeSettings | None = None
        self._outputs: dict[str, ControllerOutput] = {}
        self._measured: MeasuredJoints | None = None
        self._guard: Guard | None = None
        self._log: MessageLog | None = None
        self._server: AnsweringActionServer | None = None
        self._emergency: EmergencyStop | None = None
        self._falls: FallWatch | None = None
        self._dead_man: DeadMan | None = None
        self._active = self._taken = False
        self._execution: Execution | None = None
        self._problem: HumanoidError | None = None
        self._counts = {"executed": 0, "stopped": 0}
        self._checker = ThreadPoolExecutor(1, "check")
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._ticks = 0
        publish_diagnostics(self, "bridge", self._diagnostics, self._health)
        if flag(self, "autostart"):
            self.trigger_configure()
            if self._problem is not None:
                raise self._problem
            self.trigger_activate()

    def _declare_parameters(self) -> None:
        declare_text(self, "config", "hrp2", "The robot's controllers: name of a file in config/bridge, or its path")
        declare_text(self, "log", "", "MCAP file of what is sent and comes back, a new one each time; empty: none")
        declare_flag(self, "autostart", True, "Become active without being told", read_only=True)
        declare_diagnostics_rate(self)

    # Life -------------------------------------------------------------------------------------------------------------

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the file, and join the robot's topics."""
        try:
            self._settings = settings = load_bridge_settings(text(self, "config"))
            path = text(self, "log")
            self._log = MessageLog(next_free(path)) if path else None
        except HumanoidError as problem:
            self._problem = problem
            self.refusals.refuse("configure", problem)
            return TransitionCallbackReturn.FAILURE
        self._problem = None
        self._outputs = controller_outputs(self, list(settings.controllers.values()), self._record)
        self._measured = MeasuredJoints(self, settings.joint_states, self._record)
        self._emergency = EmergencyStop(self, settings.emergency_stop, self._on_press)
        self._falls = None
        if settings.fall is not None:
            self._falls = FallWatch(self, settings.fall, settings.robot, self._measured)
        self._dead_man = DeadMan(self)
        actions = [
            expand_topic_name(f"{item.name}/follow_joint_trajectory", self.get_name(), self.get_namespace())
            for item in settings.controllers.values()
            if item.kind is Kind.TRAJECTORY_ACTION
        ]
        self._guard = Guard(actions, settings.timing.watchdog) if actions else None
        self._server = AnsweringActionServer(
            self, ExecuteTrajectory, NAME, self._execute, cancel_callback=self._on_cancel, callback_group=self.group
        )
        self._timer = self.create_timer(
            1.0 / settings.timing.rate, self._tick, clock=self._steady, callback_group=self.group
        )
        self.get_logger().info(f"bridges to {len(self._outputs)} controllers of {settings.robot.name}")
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Take goals."""
        self._active = True
        return TransitionCallbackReturn.SUCCESS

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Take no goals any more; a motion that runs is stopped as the file says."""
        self._active = False
        self._stop("the bridge was deactivated")
        return TransitionCallbackReturn.SUCCESS

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Leave the robot's topics; joints of a motion that still runs are held."""
        self._stop("the bridge was cleaned up", hold=True)
        self._leave()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """As :meth:`on_cleanup`, for good."""
        self._active = False
        return self.on_cleanup(state)

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Hold the joints of a motion that runs, and end as finalized: what a step has half done isn't undone."""
        self._active = False
        self._stop("a step of the bridge's life failed", hold=True)
        return TransitionCallbackReturn.FAILURE

    @property
    def busy(self) -> bool:
        """Whether a motion runs."""
        return self._taken

    async def close(self) -> None:
        """Stop a motion that runs as the file says, and leave."""
        self._active = False
        self._stop("the bridge is shut down")
        if self._execution is not None:
            await self._execution.ended

    def destroy_node(self) -> None:
        """Leave, with the guard and the log."""
        self._leave()
        super().destroy_node()

    def _stop(self, words: str, *, hold: bool = False) -> None:
        if self._execution is not None:
            self._execution.stop(Trouble(Fault.DEACTIVATE, words), hold=hold)

    def _leave(self) -> None:
        if self._settings is None:
            return
        self._settings = None
        self.destroy_timer(self._timer)
        for output in self._outputs.values():
            output.destroy()
        self._outputs = {}
        assert self._measured is not None
        assert self._emergency is not None
        assert self._dead_man is not None
        self._measured.destroy()
        self._dead_man.destroy()
        self._emergency.destroy()
        if self._falls is not None:
            self._falls.destroy()
        if self._server is not None:
            self._server.destroy()
        if self._guard is not None:
            self._guard.close()
        if self._log is not None:
            self._log.close()
        self._server = self._guard = self._log = None

    # Goals ------------------------------------------------------------------------------------------------------------

    async def _execute(self, handle: ServerGoalHandle) -> ExecuteTrajectory.Result:
        taken = False
        try:
            self._check_free()
            self._taken = taken = True
            result = await self._run(handle)
        except HumanoidError as problem:
            result = Result(message=self.refusals.refuse(NAME, problem), code=_code(problem))
        except Exception as problem:
            self._stop("the bridge failed", hold=True)
            result = Result(message=self.refusals.refuse(NAME, problem), code=Result.STOPPED)
        finally:
            if taken:
                self._taken, self._execution = False, None
        self._record_message(f"{NAME}/result", "std_msgs/msg/String", String(data=f"{result.code}: {result.message}"))
        conclude(handle, result.success)
        return result

    async def _run(self, handle: ServerGoalHandle) -> ExecuteTrajectory.Result:
        goal, settings, measured = handle.request, self._settings, self._measured
        assert settings is not None
        assert measured is not None
        speed = goal.speed_scale or 1.0
        if not 0.0 < speed <= 1.0:
            raise InputError(f"is {goal.speed_scale:g}", element="speed_scale", remedy="Give more than 0, up to 1")
        tolerances = _tolerances(goal, settings)
        self._record_message(f"{NAME}/goal", "humanoid_stack/msg/WholeBodyTrajectory", goal.trajectory)
        await self._wait(self._still_listening())
        outputs = self._chosen(goal)
        named = set(goal.trajectory.joints.joint_names)
        owned = [joint for output in outputs.values() for joint in output.settings.joints]
        await self._check_measured(tuple(joint for joint in owned if joint in named))
        positions = dict(measured.positions)
        motion: CheckedMotion = await answer_of(
            self, self._checker.submit(check_motion, goal.trajectory, positions, settings, speed)
        )
        used = _used(outputs, motion.path.joint_names)
        await self._check_measured(tuple(joint for output in used.values() for joint in output.settings.joints))
        self._check_there(used)
        if goal.dry_run:
            return Result(success=True, message=_told(motion, used, speed))
        if handle.is_cancel_requested:
            raise RefusedError("cancelled before it began", Result.STOPPED)
        self._check_allowed()  # the check took its time
        start, stamped = now(self) + settings.timing.lead, seconds(goal.trajectory.header.stamp)
        if stamped and not now(self) <= stamped <= now(self) + SOON:
            raise InputError(
                f"is {stamped:.3f} s, now is {now(self):.3f} s",
                element="trajectory.header.stamp",
                remedy=f"Give a stamp in the next {SOON:g} s, or 0 to start at once",
            )
        timing = PathTiming(
            max(start, stamped), motion.path.end_time, speed=speed, acceleration=settings.timing.acceleration
        )
        watches = self._watches(motion, bytes(handle.goal_id.uuid), seconds(goal.dead_man) or settings.timing.dead_man)
        self._execution = Execution(self, settings, motion, timing, used, measured, tolerances, watches)
        self._handle = handle
        self._execution.start()
        if self._guard is not None and self._execution.guarded:
            guard = self._guard
            guard.arm()
            self._execution.ended.add_done_callback(lambda _: guard.disarm())
        self.get_logger().info(f"executes {_told(motion, used, speed)}")
        result: ExecuteTrajectory.Result = await self._execution.ended
        self._counts["executed" if result.success else "stopped"] += 1
        self.get_logger().info(result.message)
        return result

    def _check_free(self) -> None:
        if self._taken:
            raise RefusedError("another trajectory is being executed: cancel it, or wait", Result.BUSY)
        if others := other_bridges(self, NAME):
            raise RefusedError(others, Result.BUSY)
        self._check_allowed()

    def _check_allowed(self) -> None:
        if not self._active:
            raise RefusedError("the bridge is inactive: activate it", Result.STOPPED)
        assert self._emergency is not None
        if self._emergency.problem:
            raise RefusedError(self._emergency.problem, Result.EMERGENCY_STOP, remedy="Release it")

    def _still_listening(self) -> float:
        assert self._emergency is not None
        return self._emergency.still_listening

    async def _check_measured(self, joints: tuple[str, ...]) -> None:
        """Raise a RefusedError where joints aren't measured, or a fall's sensors are silent."""
        assert self._settings is not None
        assert self._measured is not None
        timing = self._settings.timing
        # Once more: after the bridge was held up, messages have waited.
        for pause in (timing.state_age, 0.0):
            ahead = timing.clock if flag(self, "use_sim_time") else timing.state_age
            words = self._measured.stale(joints, timing.state_age, ahead)
            if not words and self._falls is not None:
                words = self._falls.silent(timing.state_age)
            if not words:
                return
            await self._wait(pause)
        raise RefusedError(words, Result.STALE_STATE)

    async def _wait(self, pause: float) -> None:
        """Let others go on for a time [s], of the machine's own clock."""
        if pause <= 0.0:
            return
        done = waking_future(self)
        timer = self.create_timer(pause, lambda: done.done() or done.set_result(None), clock=self._steady)
        await done
        self.destroy_timer(timer)

    def _watches(self, motion: CheckedMotion, goal: bytes, dead_man: float) -> list[Watch]:
        """Return what may end a motion beside its joints and controllers, watched from now on."""
        emergency, client, falls, settings = self._emergency, self._dead_man, self._falls, self._settings
        assert emergency is not None
        assert client is not None
        assert settings is not None
        client.watch(goal, dead_man)

        def press(_: float) -> Trouble | None:
            return Trouble(Fault.EMERGENCY_STOP, emergency.problem) if emergency.problem else None

        def client_lost(_: float) -> Trouble | None:
            return Trouble(Fault.CLIENT, client.problem) if client.problem else None

        if falls is None:
            return [press, client_lost]
        falls.begin(motion.whole)
        was_silent = False

        def fall(position: float) -> Trouble | None:
            nonlocal was_silent
            words = falls.fall(position)
            if words:
                return Trouble(Fault.FALL, words)
            # At the second look, as joint states.
            before, silent = was_silent, falls.silent(settings.timing.state_age)
            was_silent = bool(silent)
            return Trouble(Fault.STALE_STATE, silent) if silent and before else None

        return [press, client_lost, fall]

    def _chosen(self, goal: ExecuteTrajectory.Goal) -> dict[str, ControllerOutput]:
        """Return the controllers that a goal may use."""
        for name in goal.controllers:
            if name not in self._outputs:
                raise RefusedError(
                    f"there is no '{name}'",
                    Result.NO_CONTROLLER,
                    element="controllers",
                    remedy=f"Controllers are {', '.join(self._outputs)}",
                )
        return {key: output for key, output in self._outputs.items() if not goal.controllers or key in goal.controllers}

    def _check_there(self, used: dict[str, ControllerOutput]) -> None:
        assert self._settings is not None
        age = self._settings.timing.state_age
        for key, output in used.items():
            reason = output.absent()
            if not reason and isinstance(output, TrajectoryOutput) and output.silence() > age:
                reason = f"nobody publishes {output.settings.name}/controller_state"
            if not reason and output.form is Form.GOAL and self._guard is not None:
                reason = self._guard.problem
            if reason:
                raise RefusedError(f"{key}: {reason}", Result.NO_CONTROLLER, element="controllers")

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        if self._execution is not None and self._handle is handle:
            self._execution.stop(Trouble(Fault.CANCEL, "cancelled"))
        return CancelResponse.ACCEPT

    def _on_press(self) -> None:
        if self._execution is not None:
            self._execution.stop(Trouble(Fault.EMERGENCY_STOP, "the emergency stop is pressed"))

    def _tick(self) -> None:
        execution = self._execution
        if execution is None or execution.ended.done():
            return
        if self._guard is not None:
            self._guard.beat()
        execution.tick()
        self._ticks += 1
        if self._ticks % FEEDBACK == 0 and self._handle.is_active:
            self._handle.publish_feedback(_feedback(execution))

    # Tell -------------------------------------------------------------------------------------------------------------

    def _record(self, topic: str, kind: str, data: bytes) -> None:
        if self._log is not None and self._taken:
            self._log.write(f"/{topic}", kind, data, self.get_clock().now().nanoseconds)
            if self._log.failure:
                self.refusals.refuse("log", self._log.failure)
                self._log = None

    def _record_message(self, topic: str, kind: str, message: Any) -> None:
        if self._log is not None:
            taken, self._taken = self._taken, True
            self._record(topic, kind, bytes(serialize_message(message)))
            self._taken = taken

    def _stale_joints(self) -> str:
        if self._settings is None or self._measured is None:
            return ""
        joints = tuple(joint for output in self._outputs.values() for joint in output.settings.joints)
        # Told once a second: a longer look than a motion's, which a busy machine doesn't trip.
        return self._measured.stale(joints, max(1.0, self._settings.timing.state_age), self._settings.timing.clock)

    def _age_of_states(self) -> str:
        if self._settings is None or self._measured is None or not self._measured.positions:
            return ""
        return f"{now(self) - self._measured.stamp:.3f}"

    def _health(self) -> tuple[bytes, str]:
        """Return the worst that a user should know, and its level."""
        if self._settings is None or self._emergency is None:
            return DiagnosticStatus.WARN, "not configured"
        absent = [reason for output in self._outputs.values() if (reason := output.absent())]
        problems = [other_bridges(self, NAME), self._stale_joints(), *absent]
        problems.append(self._guard.problem if self._guard is not None else "")
        if self._falls is not None:
            problems.append(self._falls.silent(max(1.0, self._settings.timing.state_age)))
        problems = [problem for problem in problems if problem]
        if problems:
            return DiagnosticStatus.ERROR, "; ".join(problems)
        if self._emergency.problem:
            return DiagnosticStatus.WARN, self._emergency.problem
        if not self._active:
            return DiagnosticStatus.WARN, "inactive"
        if self._emergency.publishers == 0:
            return DiagnosticStatus.OK, f"{'busy' if self.busy else 'idle'}; nobody publishes the emergency stop"
        return DiagnosticStatus.OK, "busy" if self.busy else "idle"

    def _diagnostics(self) -> dict[str, str]:
        execution = self._execution
        return {
            "state": self._state_machine.current_state[1],
            "robot": self._settings.robot.name if self._settings is not None else "",
            "controllers absent": ", ".join(key for key, output in self._outputs.items() if output.absent()),
            "trajectories executed": str(self._counts["executed"]),
            "trajectories stopped": str(self._counts["stopped"]),
            "requests refused": str(self.refusals.count),
            "last refusal": self.refusals.last,
            "emergency stop": "" if self._settings is None or self._emergency is None else self._emergency.problem,
            "joint states": self._stale_joints(),
            "age of the newest joint states [s]": self._age_of_states(),
            "on the path [s]": "" if execution is None else f"{execution.timing.at(now(self)).position:.2f}",
        }


def _code(problem: HumanoidError) -> int:
    if isinstance(problem, RefusedError):
        return problem.code
    return int(Result.WRONG_START if isinstance(problem, StartError) else Result.INVALID_TRAJECTORY)


def _tolerances(goal: ExecuteTrajectory.Goal, settings: BridgeSettings) -> Any:
    given = {
        "path": goal.path_tolerance,
        "goal": goal.goal_tolerance,
        "goal_time": seconds(goal.goal_time_tolerance),
    }
    for name, value in given.items():
        if not 0.0 <= value < float("inf"):
            raise InputError(
                f"is {value:g}",
                element=f"{name}_tolerance",
                remedy="Give a number above 0, or 0 for that of the bridge's file",
            )
    return replace(settings.tolerances, **{name: value for name, value in given.items() if value})


def _used(outputs: dict[str, ControllerOutput], joints: tuple[str, ...]) -> dict[str, ControllerOutput]:
    """Return the controllers that have joints of a path.

    Raises:
        RefusedError: a joint has none.
    """
    owned = {joint for output in outputs.values() for joint in output.settings.joints}
    homeless = [joint for joint in joints if joint not in owned]
    if homeless:
        raise RefusedError(
            f"{', '.join(homeless)} have no controller",
            Result.NO_CONTROLLER,
            element="trajectory.joints.joint_names",
            remedy=f"The controllers {', '.join(outputs)} have {', '.join(sorted(owned))}",
        )
    return {key: output for key, output in outputs.items() if set(output.settings.joints) & set(joints)}


def _told(motion: CheckedMotion, used: dict[str, ControllerOutput], speed: float) -> str:
    words = f"{motion.path.end_time:.2f} s of {len(motion.path.joint_names)} joints at {speed:g} of their speed by "
    words += ", ".join(used)
    if motion.stops is not None:
        words += f"; {len(motion.stops)} places to stop at on the way"
    return words


def _feedback(execution: Execution) -> ExecuteTrajectory.Feedback:
    stamp, place = execution.place
    feedback = ExecuteTrajectory.Feedback(
        stamp=stamp_message(stamp), path_time=place.position, duration=execution.timing.length, speed=place.speed
    )
    feedback.max_joint_error, feedback.max_joint_error_joint = execution.worst
    return feedback


def main() -> None:
    """Run the node until SIGINT or SIGTERM."""
    run("controller_bridge", ControllerBridgeNode)
