# SPDX-License-Identifier: Apache-2.0
"""The simulator node: a scene simulated in real time, commanded and observed through ROS 2."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future as ThreadFuture
from dataclasses import fields
from typing import Any, TypeVar

import rclpy
from humanoid_stack.srv import (
    ApplyWrench,
    AttachDevice,
    LoadScene,
    RestoreState,
    SaveState,
    SetState,
    StepSimulation,
)
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from std_srvs.srv import SetBool, Trigger

from humanoid_model import Scene, load_scene
from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.messages.conversions import array, seconds
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.executor_future import answer_of
from humanoid_ros.node.parameter_declaration import (
    declare_flag,
    declare_number,
    declare_text,
    declare_texts,
    flag,
    number,
    refuse_unusable,
    text,
    texts,
)
from humanoid_ros.node.request_fields import known_name
from humanoid_ros.simulator.joint_trajectory_server import ControllerSettings
from humanoid_ros.simulator.option_parameters import declare_options, options_of
from humanoid_ros.simulator.scene_text import read_scene_text
from humanoid_ros.simulator.simulation_markers import SimulationMarkers
from humanoid_ros.simulator.simulation_session import SessionSettings, SimulationSession
from humanoid_ros.simulator.simulation_topics import SimulationTopics
from humanoid_ros.simulator.sole_markers import SoleMarkers
from humanoid_sim import Simulation

T = TypeVar("T")

_RATES = {
    "clock_rate": (200.0, "/clock"),
    "joint_state_rate": (100.0, "joint_states"),
    "transform_rate": (50.0, "/tf"),
    "odometry_rate": (100.0, "odometry"),
    "imu_rate": (200.0, "imu"),
    "wrench_rate": (200.0, "wrenches/<sensor>"),
    "contact_rate": (50.0, "contacts"),
    "marker_rate": (25.0, "markers"),
    "controller_state_rate": (50.0, "<limb>_controller/controller_state"),
    "action_monitor_rate": (20.0, "the feedback of trajectory goals"),
    "device_rate": (200.0, "devices/<device>/force"),
    "trace_rate": (5.0, "traces"),
}
"""Rates by parameter: default [Hz], and of what."""


class SimulatorNode(AnsweringNode):
    """Simulates a scene; see docs/interfaces.md for its topics, services and actions.

    Callbacks run in one executor thread, the simulation in another; whatever a callback wants of the simulation
    is done between two steps.

    Raises:
        HumanoidError: the scene can't be loaded or simulated.
    """

    def __init__(self) -> None:
        super().__init__("simulator")
        self._declare_parameters()
        self._group = ReentrantCallbackGroup()
        self._refusal_count = 0
        self._last_refusal = ""
        self._loading = False
        self._topics = SimulationTopics(
            self,
            text(self, "world_frame"),
            SimulationMarkers(text(self, "world_frame"), number(self, "cone_scale"), number(self, "arrow_scale")),
            SoleMarkers(number(self, "sole_magnification"), number(self, "sole_scale")),
        )
        self._session = self._new_session(self._new_simulation(load_scene(text(self, "scene"))), flag(self, "paused"))
        for kind, name, callback in (
            (Trigger, "reset", self._on_reset),
            (SetBool, "pause", self._on_pause),
            (StepSimulation, "step", self._on_step),
            (LoadScene, "load_scene", self._on_load_scene),
            (SetState, "set_state", self._on_set_state),
            (ApplyWrench, "apply_wrench", self._on_apply_wrench),
            (AttachDevice, "attach_device", self._on_attach_device),
            (SaveState, "save_state", self._on_save_state),
            (RestoreState, "restore_state", self._on_restore_state),
        ):
            self.create_service(kind, name, callback, callback_group=self._group)
        refuse_unusable(self, self._check_parameters)
        self.add_post_set_parameters_callback(self._on_parameters)
        self._session.start()
        simulation = self._session.simulation
        self.get_logger().info(
            f"scene '{simulation.scene.name}' with {', '.join(simulation.robots) or 'no robot'}, "
            f"steps of {1e3 * simulation.dt:g} ms"
        )

    def close(self) -> None:
        """Stop the simulation; goals are ended and their clients told."""
        self._session.stop("The simulator is shut down.")

    async def finish(self) -> None:
        """Send what is still to be sent, after :meth:`close`."""
        await self._session.destroy()

    # Parameters -----------------------------------------------------------------------------------

    def _declare_parameters(self) -> None:
        declare_text(self, "scene", "stand", "Scene to simulate: a name or a path", read_only=True)
        declare_number(
            self,
            "time_step",
            0.0,
            0.0,
            0.1,
            "Simulated time of one step [s]; 0: as the scene says",
            read_only=True,
        )
        declare_flag(self, "paused", False, "Begin paused", read_only=True)
        declare_text(self, "world_frame", "world", "Name of the world frame", read_only=True)
        declare_number(
            self,
            "real_time_factor",
            1.0,
            0.0,
            100.0,
            "Simulated seconds per second to aim at; 0: as fast as possible",
        )
        for name, (default, topic) in _RATES.items():
            declare_number(
                self,
                name,
                default,
                0.1,
                10000.0,
                f"Messages per simulated second of {topic} [Hz]; a whole number of steps lies between two",
            )
        declare_number(self, "status_rate", 10.0, 0.1, 100.0, "Messages per wall-clock second of status [Hz]")
        declare_number(self, "diagnostics_rate", 1.0, 0.1, 10.0, "Likewise of /diagnostics [Hz]")
        declare_number(
            self,
            "control_rate",
            1000.0,
            1.0,
            10000.0,
            "Updates of a moving controller per simulated second [Hz]",
            read_only=True,
        )
        declare_options(self)
        declare_texts(
            self,
            "devices",
            "Devices that are coupled when a scene is loaded; each holds what it is at while its button 0 is down",
            read_only=True,
        )
        declare_texts(self, "traces", "Bodies and links (hrp2/RARM_LINK6) whose ways are drawn")
        declare_number(self, "sole_magnification", 1.0, 0.0, 1e4, "Displacements of soles are drawn so much larger")
        declare_number(self, "sole_scale", 1e-4, 1e-9, 1.0, "Displacement of a sole that is drawn red [m]")
        declare_number(self, "cone_scale", 0.0016, 1e-6, 1.0, "Height of a friction cone per force [m/N]")
        declare_number(self, "arrow_scale", 0.0018, 1e-6, 1.0, "Length of a force arrow [m/N]")
        declare_flag(
            self,
            "allow_partial_joints_goal",
            False,
            "Whether a trajectory may leave out joints of its controller; they are held",
        )
        declare_flag(
            self,
            "allow_nonzero_velocity_at_trajectory_end",
            False,
            "Whether the last point of a trajectory may have a velocity",
        )
        declare_flag(
            self,
            "interpolate_from_desired_state",
            True,
            "Whether a trajectory begins where the joints should be instead of where they are",
            read_only=True,
        )
        for name, default, description in (
            ("trajectory", 0.0, "Joint error allowed while moving [rad or m]; 0: any"),
            ("goal", 0.0, "Joint error allowed at the end of a trajectory [rad or m]; 0: any"),
            ("stopped_velocity_tolerance", 0.01, "Velocity allowed at the end [rad/s, m/s]; 0: any"),
            ("goal_time", 0.0, "How late the end may be reached [s]; 0: any time"),
        ):
            declare_number(self, f"constraints.{name}", default, 0.0, 1e6, description)

    def _settings(self) -> SessionSettings:
        rates = {name: number(self, name) for name in _RATES}
        rates["feedback_rate"] = rates.pop("action_monitor_rate")
        return SessionSettings(
            **rates,
            real_time_factor=number(self, "real_time_factor"),
            control_rate=number(self, "control_rate"),
            status_rate=number(self, "status_rate"),
            diagnostics_rate=number(self, "diagnostics_rate"),
            interpolate_from_desired_state=flag(self, "interpolate_from_desired_state"),
            controllers=ControllerSettings(
                partial=flag(self, "allow_partial_joints_goal"),
                moving_end=flag(self, "allow_nonzero_velocity_at_trajectory_end"),
                path=number(self, "constraints.trajectory"),
                goal=number(self, "constraints.goal"),
                stopped_velocity=number(self, "constraints.stopped_velocity_tolerance"),
                goal_time=number(self, "constraints.goal_time"),
            ),
            devices=tuple(texts(self, "devices")),
            traces=tuple(texts(self, "traces")),
        )

    def _check_parameters(self, values: Mapping[str, Any]) -> None:
        """Raises a HumanoidError for options that can't be used and traces of bodies that aren't there."""
        options_of(self, values)
        for body in values.get("traces", ()):
            if body:
                known_name(body, self._session.simulation.world.index, "traces", "body")

    def _on_parameters(self, parameters: list[Parameter]) -> None:
        settings = self._settings()
        cone_scale, arrow_scale = number(self, "cone_scale"), number(self, "arrow_scale")
        magnification, full_scale = number(self, "sole_magnification"), number(self, "sole_scale")
        session, markers, soles = self._session, self._topics.markers, self._topics.soles

        def apply() -> None:
            session.configure(settings)
            markers.cone_scale, markers.arrow_scale = cone_scale, arrow_scale
            soles.magnification, soles.full_scale = magnification, full_scale

        session.loop.call(apply)

    # Services -------------------------------------------------------------------------------------

    async def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return await self._serve("reset", response, self._session.reset)

    async def _on_pause(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        loop = self._session.loop
        return await self._serve("pause", response, loop.pause if request.data else loop.resume)

    async def _on_step(
        self, request: StepSimulation.Request, response: StepSimulation.Response
    ) -> StepSimulation.Response:
        session = self._session
        await self._answer("step", response, session.loop.step(request.steps))
        response.time = session.simulation.time
        return response

    async def _on_set_state(self, request: SetState.Request, response: SetState.Response) -> SetState.Response:
        session = self._session
        return await self._serve("set_state", response, lambda: session.set_state(request))

    async def _on_apply_wrench(
        self, request: ApplyWrench.Request, response: ApplyWrench.Response
    ) -> ApplyWrench.Response:
        simulation = self._session.simulation

        def apply() -> None:
            body, robots = request.body, list(simulation.robots)
            if body not in simulation.bodies and "/" not in body and len(robots) == 1:
                body = f"{robots[0]}/{body}"
            simulation.apply_wrench(
                body,
                array(request.wrench.force),
                array(request.wrench.torque),
                point=array(request.point) if request.at_point else None,
                duration=seconds(request.duration),
            )

        return await self._serve("apply_wrench", response, apply)

    async def _on_attach_device(
        self, request: AttachDevice.Request, response: AttachDevice.Response
    ) -> AttachDevice.Response:
        try:
            await self._session.devices.serve(request)
            response.success = True
        except Exception as error:
            self._fail("attach_device", response, error)
        return response

    async def _on_save_state(self, request: SaveState.Request, response: SaveState.Response) -> SaveState.Response:
        session = self._session
        return await self._tell_time("save_state", response, lambda: session.save_state(request.path))

    async def _on_restore_state(
        self, request: RestoreState.Request, response: RestoreState.Response
    ) -> RestoreState.Response:
        session = self._session
        return await self._tell_time("restore_state", response, lambda: session.restore_state(request.path))

    async def _on_load_scene(self, request: LoadScene.Request, response: LoadScene.Response) -> LoadScene.Response:
        try:
            if self._loading:
                raise HumanoidError("Another scene is being loaded. Wait for it.")
            self._loading = True
            try:
                simulation = self._new_simulation(_requested_scene(request))
                await self._replace(simulation)
            finally:
                self._loading = False
            response.success = True
        except Exception as error:
            self._fail("load_scene", response, error)
        simulation = self._session.simulation
        response.name = simulation.scene.name
        response.robots = list(simulation.robots)
        response.bodies = list(simulation.bodies)
        return response

    # ----------------------------------------------------------------------------------------------

    def _new_simulation(self, scene: Scene) -> Simulation:
        time_step = number(self, "time_step")
        options = options_of(self)
        return Simulation(
            scene,
            time_step if time_step > 0.0 else None,
            **{field.name: getattr(options, field.name) for field in fields(options)},
        )

    def _new_session(self, simulation: Simulation, paused: bool) -> SimulationSession:
        return SimulationSession(
            self,
            self._topics,
            simulation,
            self._settings(),
            paused=paused,
            refuse=self._refuse,
            refusals=lambda: (self._refusal_count, self._last_refusal),
            group=self._group,
        )

    async def _replace(self, simulation: Simulation) -> None:
        """Let another simulation take the place of the present one."""
        old = self._session
        paused = old.loop.paused and not old.loop.failure
        old.stop("Another scene was loaded.")
        await old.destroy()
        self._session = self._new_session(simulation, paused)
        self._session.start()

    async def _serve(self, name: str, response: T, action: Callable[[], object]) -> T:
        """Do something between two steps and write into the response whether it could be done."""
        return await self._answer(name, response, self._session.loop.call(action))

    async def _tell_time(self, name: str, response: T, action: Callable[[], float]) -> T:
        """Do something between two steps that returns the time of a state."""
        answer = self._session.loop.call(action)
        await self._answer(name, response, answer)
        if response.success:  # type: ignore[attr-defined]
            response.time = answer.result()  # type: ignore[attr-defined]
        return response

    async def _answer(self, name: str, response: T, answer: ThreadFuture[Any]) -> T:
        try:
            await answer_of(self, answer)
        except Exception as error:
            self._fail(name, response, error)
        else:
            response.success = True  # type: ignore[attr-defined]
        return response

    def _fail(self, name: str, response: Any, error: Exception) -> None:
        response.success = False
        if isinstance(error, HumanoidError):
            response.message = str(error)
        else:
            response.message = f"{type(error).__name__}: {error}"
            self.get_logger().error("".join(traceback.format_exception(error)))
        self._refuse(name, response.message)

    def _refuse(self, name: str, reason: str) -> None:
        """Remember and log that a message or request was refused."""
        self._refusal_count += 1
        self._last_refusal = f"{name}: {reason}"
        self.get_logger().warning(f"refused: {self._last_refusal}")


def _requested_scene(request: LoadScene.Request) -> Scene:
    if request.scene:
        return load_scene(request.scene)
    if request.text.strip():
        return read_scene_text(request.text)
    raise InputError("is empty", element="scene", remedy="Give a name, a path or a text")


def main() -> None:
    """Run the node until SIGINT or SIGTERM."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    # ROS's own handler would take the publishers away while the simulation still uses them.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    stop = threading.Event()
    for number_ in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number_, lambda *_: stop.set())
    try:
        node = SimulatorNode()
    except (HumanoidError, ParameterException) as error:
        print(f"simulator: {error}", file=sys.stderr)
        rclpy.shutdown()
        sys.exit(1)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    ended = threading.Event()

    def spin() -> None:
        while not ended.is_set():
            try:
                executor.spin_once()
            except Exception:
                node.get_logger().error(traceback.format_exc())

    spinning = threading.Thread(target=spin, name="executor")
    spinning.start()
    stop.wait()
    node.close()
    finished = executor.create_task(node.finish)
    finished.add_done_callback(lambda _: ended.set())
    ended.wait(1.0)
    ended.set()
    executor.wake()
    spinning.join()
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()
