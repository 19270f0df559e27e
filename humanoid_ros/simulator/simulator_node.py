# SPDX-License-Identifier: Apache-2.0
"""The simulator node: a scene simulated in real time, commanded and observed through ROS 2."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from humanoid_stack.srv import ApplyWrench, AttachDevice, LoadScene, RestoreState, SaveState, SetState, StepSimulation
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool, Trigger

from humanoid_model import Scene, load_robot, load_scene
from humanoid_model.checks import check_known
from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.scene import with_robot
from humanoid_ros.messages.conversions import array, seconds
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.parameter_declaration import flag, number, refuse_unusable, text
from humanoid_ros.node.requested_files import check_requested, requested_reading
from humanoid_ros.node.run import run, settle_memory
from humanoid_ros.node.service_workers import answer_of
from humanoid_ros.simulator.scene_requests import read_scene_text, state_path, written_state
from humanoid_ros.simulator.simulation_markers import SimulationMarkers, SoleMarkers
from humanoid_ros.simulator.simulation_session import SimulationSession
from humanoid_ros.simulator.simulation_topics import SimulationTopics
from humanoid_ros.simulator.simulator_parameters import (
    declare_parameters,
    new_simulation,
    options_of,
    sensor_settings,
    session_settings,
)
from humanoid_sim import Simulation
from humanoid_sim.world.scene_check import shapeless_robots


class SimulatorNode(AnsweringNode):
    """Simulates a scene; see docs/interfaces.md for its topics, services and actions.

    Callbacks run in one executor thread, the simulation in another; whatever a callback does to the simulation
    is done between two steps.

    Raises:
        HumanoidError: the scene can't be loaded or simulated.
    """

    def __init__(self) -> None:
        super().__init__("simulator")
        self._declare_parameters()
        self._loading = False
        self._topics = SimulationTopics(
            self,
            text(self, "world_frame"),
            SimulationMarkers(text(self, "world_frame"), number(self, "cone_scale"), number(self, "arrow_scale")),
            SoleMarkers(number(self, "sole_magnification"), number(self, "sole_scale")),
        )
        scene, robot = load_scene(text(self, "scene")), text(self, "robot")
        if robot:
            scene = with_robot(scene, load_robot(robot))
        self._session = self._new_session(new_simulation(self, scene), flag(self, "paused"))
        self.offer(Trigger, "reset", self._reset)
        self.offer(SetBool, "pause", self._pause)
        self.offer(StepSimulation, "step", self._step, self._tell_time)
        self.offer(LoadScene, "load_scene", self._load_scene, self._tell_scene)
        self.offer(SetState, "set_state", self._set_state)
        self.offer(ApplyWrench, "apply_wrench", self._apply_wrench)
        self.offer(AttachDevice, "attach_device", self._attach_device)
        self.offer(SaveState, "save_state", self._save_state)
        self.offer(RestoreState, "restore_state", self._restore_state)
        if find_spec("simulation_interfaces") is not None:
            from humanoid_ros.simulator.standard_services import StandardServices

            StandardServices(self, text(self, "world_frame"))
        refuse_unusable(self, self._check_parameters)
        self.add_post_set_parameters_callback(self._on_parameters)
        self._session.start()
        simulation = self._session.simulation
        self.get_logger().info(
            f"scene '{simulation.scene.name}' with {', '.join(simulation.robots) or 'no robot'}, "
            f"steps of {1e3 * simulation.dt:g} ms"
        )

    @property
    def session(self) -> SimulationSession:
        """What runs the present scene."""
        return self._session

    async def close(self) -> None:
        """Stop the simulation; goals are ended and their clients told."""
        self._session.stop("The simulator is shut down.")
        await self._session.destroy()

    def _declare_parameters(self) -> None:
        declare_parameters(self)

    # Parameters -----------------------------------------------------------------------------------

    def _check_parameters(self, values: Mapping[str, Any]) -> None:
        """Raise a HumanoidError for options that can't be used and traces of bodies that aren't there."""
        if values.get("solver_file"):  # a path, also where it looks like a name
            check_requested(str(Path(str(values["solver_file"])).absolute()), "solver_file")
        options_of(self, values)
        sensor_settings(self, values)
        for body in values.get("traces", ()):
            if body:
                check_known(body, self._session.simulation.world.index, "traces", "body")

    def _on_parameters(self, parameters: list[Parameter]) -> None:
        settings = session_settings(self)
        cone_scale, arrow_scale = number(self, "cone_scale"), number(self, "arrow_scale")
        magnification, full_scale = number(self, "sole_magnification"), number(self, "sole_scale")
        session, markers, soles = self._session, self._topics.markers, self._topics.soles

        def apply() -> None:
            session.configure(settings)
            markers.cone_scale, markers.arrow_scale = cone_scale, arrow_scale
            soles.magnification, soles.full_scale = magnification, full_scale

        session.loop.call(apply)

    # Services -------------------------------------------------------------------------------------

    async def _reset(self, request: Trigger.Request, response: Trigger.Response) -> None:
        await self.between_steps(self._session.reset)

    async def _pause(self, request: SetBool.Request, response: SetBool.Response) -> None:
        loop = self._session.loop
        await self.between_steps(loop.pause if request.data else loop.resume)

    async def _step(self, request: StepSimulation.Request, response: StepSimulation.Response) -> None:
        response.time = await answer_of(self, self._session.loop.step(request.steps))

    def _tell_time(self, response: StepSimulation.Response) -> None:
        response.time = self._session.simulation.time

    async def _set_state(self, request: SetState.Request, response: SetState.Response) -> None:
        session = self._session
        await self.between_steps(lambda: session.set_state(request))

    async def _apply_wrench(self, request: ApplyWrench.Request, response: ApplyWrench.Response) -> None:
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

        await self.between_steps(apply)

    async def _attach_device(self, request: AttachDevice.Request, response: AttachDevice.Response) -> None:
        await self._session.devices.serve(request)

    async def _save_state(self, request: SaveState.Request, response: SaveState.Response) -> None:
        session, path = self._session, request.path and written_state(request.path, "path", request.overwrite)
        response.time = await self.between_steps(lambda: session.save_state(path))

    async def _restore_state(self, request: RestoreState.Request, response: RestoreState.Response) -> None:
        session, path = self._session, request.path and check_requested(state_path(request.path), "path")
        response.time = await self.between_steps(lambda: session.restore_state(path))

    async def _load_scene(self, request: LoadScene.Request, response: LoadScene.Response) -> None:
        await self.replace(_requested_scene(request))
        self._tell_scene(response)
        response.message = " ".join(f"{doubt}." for doubt in shapeless_robots(self._session.simulation.scene))

    def _tell_scene(self, response: LoadScene.Response) -> None:
        simulation = self._session.simulation
        response.name = simulation.scene.name
        response.robots = list(simulation.robots)
        response.bodies = list(simulation.bodies)

    # ----------------------------------------------------------------------------------------------

    def _new_session(self, simulation: Simulation, paused: bool) -> SimulationSession:
        return SimulationSession(self, self._topics, simulation, session_settings(self), paused=paused)

    async def replace(
        self, scene: Scene, prepare: Callable[[SimulationSession, Simulation], None] = lambda old, new: None
    ) -> None:
        """Let another scene take the place of the present one, which goes on if the new one can't be simulated.

        Args:
            scene: to simulate.
            prepare: given the old session, which has stopped, makes the new simulation go on from it.

        Raises:
            HumanoidError: the scene can't be simulated, or another one is being loaded.
        """
        if self._loading:
            raise HumanoidError("Another scene is being loaded. Wait for it.")
        self._loading = True
        try:
            simulation = new_simulation(self, scene)
            old = self._session
            paused = old.loop.paused and not old.loop.failure
            old.stop("Another scene was loaded.")
            prepare(old, simulation)
            await old.destroy()
            self._session = self._new_session(simulation, paused)
            del old
            settle_memory()
            self._session.start()
        finally:
            self._loading = False

    async def between_steps(self, action: Callable[[], Any]) -> Any:
        """Do something between two steps; returns what it returns."""
        return await answer_of(self, self._session.loop.call(action))


def _requested_scene(request: LoadScene.Request) -> Scene:
    if request.scene:
        with requested_reading(request.scene):
            return load_scene(check_requested(request.scene, "scene"))
    if request.text.strip():
        return read_scene_text(request.text)
    raise InputError("is empty", element="scene", remedy="Give a name, a path or a text")


def main() -> None:
    """Run the node until SIGINT or SIGTERM."""
    run("simulator", SimulatorNode)
