# SPDX-License-Identifier: Apache-2.0
"""Services of ``simulation_interfaces``, the same for all simulators; where that package is installed."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Protocol

import numpy as np
import pinocchio as pin
from humanoid_stack.srv import SetState
from simulation_interfaces.msg import EntityCategory, EntityState, Resource, Result, SimulationState, Spawnable
from simulation_interfaces.msg import SimulatorFeatures as Features
from simulation_interfaces.srv import (
    DeleteEntity,
    GetEntities,
    GetEntitiesStates,
    GetEntityInfo,
    GetEntityState,
    GetSimulationState,
    GetSimulatorFeatures,
    GetSpawnables,
    ResetSimulation,
    SetEntityState,
    SetSimulationState,
    SpawnEntity,
    StepSimulation,
)

from humanoid_model import Scene, load_robot
from humanoid_model.checks import check_known
from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.resources import list_resources
from humanoid_model.scene import with_entity, without
from humanoid_ros.messages.conversions import fill_pose, fill_vector, placement, stamp
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.executor_future import answer_of
from humanoid_ros.node.qos import SERVICE
from humanoid_ros.node.requested_files import check_requested
from humanoid_ros.simulator.simulation_session import SimulationSession
from humanoid_sim import Simulation

FEATURES = (
    Features.SPAWNING, Features.DELETING, Features.ENTITY_CATEGORIES, Features.SPAWNING_RESOURCE_STRING,
    Features.ENTITY_STATE_GETTING, Features.ENTITY_STATE_SETTING, Features.ENTITY_INFO_GETTING, Features.SPAWNABLES,
    Features.SIMULATION_RESET, Features.SIMULATION_RESET_TIME, Features.SIMULATION_RESET_STATE,
    Features.SIMULATION_RESET_SPAWNED, Features.SIMULATION_STATE_GETTING, Features.SIMULATION_STATE_SETTING,
    Features.SIMULATION_STATE_PAUSE, Features.STEP_SIMULATION_SINGLE, Features.STEP_SIMULATION_MULTIPLE,
)  # fmt: skip
START = ResetSimulation.Request.SCOPE_TIME | ResetSimulation.Request.SCOPE_STATE
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_MAX_FILTER = 200


class _Refused(HumanoidError):  # noqa: N818 - it is an answer
    """What can't be done, with a code of the standard."""

    def __init__(self, code: int, words: str) -> None:
        super().__init__(words)
        self.code = code


class SimulatingNode(Protocol):
    """What the services need of the simulator node."""

    @property
    def session(self) -> SimulationSession:
        """What runs the present scene."""

    async def replace(self, scene: Scene, prepare: Callable[[SimulationSession, Simulation], None]) -> None:
        """Let another scene take the place of the present one."""

    async def between_steps(self, action: Callable[[], Any]) -> Any:
        """Do something between two steps; returns what it returns."""


class StandardServices:
    """Answers for the simulator node; an entity is a robot or a body of the scene, by its name there.

    A reset of time goes with one of the state. What is spawned or deleted makes another scene, which goes on where the
    old one was, motions and contact forces aside.
    """

    def __init__(self, node: Any, world: str) -> None:
        """Offer the services.

        Args:
            node: an AnsweringNode that simulates.
            world: name of the world frame.
        """
        self._simulating: SimulatingNode = node
        self._node: AnsweringNode = node
        self._world = world
        self._stopped = False
        self._own: tuple[Scene, Scene] | None = None  # before anything was spawned, and now
        for kind, name, answer in (
            (GetSimulatorFeatures, "get_simulator_features", self._features),
            (ResetSimulation, "reset_simulation", self._reset),
            (StepSimulation, "step_simulation", self._step),
            (GetSimulationState, "get_simulation_state", self._get_state),
            (SetSimulationState, "set_simulation_state", self._set_state),
            (GetEntities, "get_entities", self._entities),
            (GetEntitiesStates, "get_entities_states", self._entities_states),
            (GetEntityState, "get_entity_state", self._entity_state),
            (SetEntityState, "set_entity_state", self._set_entity_state),
            (GetEntityInfo, "get_entity_info", self._entity_info),
            (GetSpawnables, "get_spawnables", self._spawnables),
            (SpawnEntity, "spawn_entity", self._spawn),
            (DeleteEntity, "delete_entity", self._delete),
        ):
            self._offer(kind, name, answer)

    def _offer(self, kind: Any, name: str, answer: Callable[[Any, Any], Awaitable[None]]) -> None:
        async def serve(request: Any, response: Any) -> Any:
            result = Result(result=Result.RESULT_OK)
            try:
                await answer(request, response)
            except Exception as error:
                code = error.code if isinstance(error, _Refused) else Result.RESULT_OPERATION_FAILED
                response = kind.Response()
                result = Result(result=code, error_message=self._node.refusals.refuse(name, error))
            if hasattr(response, "result"):
                response.result = result
            return response

        self._node.create_service(kind, name, serve, qos_profile=SERVICE, callback_group=self._node.group)

    # The simulation -----------------------------------------------------------------------------------------------

    async def _features(self, request: Any, response: GetSimulatorFeatures.Response) -> None:
        response.features.features = list(FEATURES)
        response.features.spawn_formats = ["urdf"]
        response.features.custom_info = "humanoid_stack: docs/interfaces.md; accelerations of entities aren't told"

    async def _reset(self, request: ResetSimulation.Request, response: Any) -> None:
        scope = request.scope or ResetSimulation.Request.SCOPE_ALL
        spawned = self._own is not None and self._own[1] is self._simulating.session.simulation.scene
        if scope & START not in (0, START):
            raise _Refused(Result.RESULT_FEATURE_UNSUPPORTED, f"scope: {scope}: time and state are reset together.")
        if scope & ResetSimulation.Request.SCOPE_SPAWNED and spawned:
            assert self._own is not None
            first, self._own = self._own[0], None
            await self._simulating.replace(first, _nothing if scope & START else _carry_over)
        elif scope & START:
            await self._simulating.between_steps(self._simulating.session.reset)

    async def _step(self, request: StepSimulation.Request, response: Any) -> None:
        self._stopped = False
        await answer_of(self._node, self._simulating.session.loop.step(request.steps))

    async def _get_state(self, request: Any, response: GetSimulationState.Response) -> None:
        response.state.state = await self._simulating.between_steps(self._state)

    def _state(self) -> int:
        loop = self._simulating.session.loop
        if not loop.paused:
            return int(SimulationState.STATE_PLAYING)
        stopped = self._stopped and loop.simulation.step_count == 0
        return int(SimulationState.STATE_STOPPED if stopped else SimulationState.STATE_PAUSED)

    async def _set_state(self, request: SetSimulationState.Request, response: SetSimulationState.Response) -> None:
        wanted, session = request.state.state, self._simulating.session

        def change() -> None:
            if wanted == self._state():
                raise _Refused(response.ALREADY_IN_TARGET_STATE, f"state: it is {wanted} already.")
            if wanted == SimulationState.STATE_PLAYING:
                session.loop.resume()
            else:
                session.loop.pause()
            self._stopped = wanted == SimulationState.STATE_STOPPED
            if self._stopped:
                session.reset()

        if wanted == SimulationState.STATE_QUITTING:
            os.kill(os.getpid(), signal.SIGINT)
            return
        known = (SimulationState.STATE_STOPPED, SimulationState.STATE_PLAYING, SimulationState.STATE_PAUSED)
        if wanted not in known:
            raise _Refused(Result.RESULT_OPERATION_FAILED, f"state: is {wanted}. Give 0 to 3.")
        await self._simulating.between_steps(change)

    # Entities -----------------------------------------------------------------------------------------------------

    async def _entities(self, request: GetEntities.Request, response: GetEntities.Response) -> None:
        response.entities = self._filtered(request.filters)

    async def _entities_states(self, request: GetEntitiesStates.Request, response: Any) -> None:
        response.entities = self._filtered(request.filters)
        response.states = await self._simulating.between_steps(lambda: [self._told(name) for name in response.entities])

    async def _entity_state(self, request: GetEntityState.Request, response: GetEntityState.Response) -> None:
        self._check(request.entity)
        response.state = await self._simulating.between_steps(lambda: self._told(request.entity))

    async def _entity_info(self, request: GetEntityInfo.Request, response: GetEntityInfo.Response) -> None:
        self._check(request.entity)
        scene = self._simulating.session.simulation.scene
        labels = {own.name: own.label for own in scene.robots} | {own.name: own.label for own in scene.bodies}
        response.info.category.category = self._category(request.entity)
        response.info.description = labels[request.entity]

    async def _set_entity_state(self, request: SetEntityState.Request, response: SetEntityState.Response) -> None:
        self._check(request.entity)
        self._check_frame(request.state.header.frame_id)
        session = self._simulating.session

        def change() -> None:
            now = self._told(request.entity)
            pose, twist = (
                request.state.pose if request.set_pose else now.pose,
                request.state.twist if request.set_twist else now.twist,
            )
            try:
                turn = placement(pose, "state.pose").rotation.T
            except InputError as error:
                raise _Refused(response.INVALID_POSE, str(error)) from error
            wanted = SetState.Request(name=request.entity, set_pose=True, pose=pose)
            for own, given in ((wanted.twist.linear, twist.linear), (wanted.twist.angular, twist.angular)):
                fill_vector(own, turn @ [given.x, given.y, given.z])
            session.set_state(wanted)

        if request.set_pose or request.set_twist:
            await self._simulating.between_steps(change)

    def _names(self) -> list[str]:
        simulation = self._simulating.session.simulation
        return [*simulation.robots, *simulation.bodies]

    def _check(self, name: str) -> None:
        try:
            check_known(name, self._names(), "entity", "robot or body")
        except InputError as error:
            raise _Refused(Result.RESULT_NOT_FOUND, str(error)) from error

    def _check_frame(self, frame: str) -> None:
        if frame not in ("", "world", self._world):
            raise _Refused(
                Result.RESULT_FEATURE_UNSUPPORTED, f"header.frame_id: is '{frame}'. Give '{self._world}', or none."
            )

    def _category(self, name: str) -> int:
        simulation = self._simulating.session.simulation
        if name in simulation.robots:
            return int(EntityCategory.CATEGORY_ROBOT)
        fixed = simulation.bodies[name].fixed
        return int(EntityCategory.CATEGORY_STATIC_OBJECT if fixed else EntityCategory.CATEGORY_OBJECT)

    def _filtered(self, filters: Any) -> list[str]:
        """Return the names that pass."""
        if filters.tags.tags or filters.bounds.type != filters.bounds.TYPE_EMPTY:
            raise _Refused(Result.RESULT_FEATURE_UNSUPPORTED, "filters: tags and bounds aren't known.")
        if len(filters.filter) > _MAX_FILTER:
            raise _Refused(Result.RESULT_OPERATION_FAILED, f"filters.filter: is longer than {_MAX_FILTER} characters.")
        try:
            pattern = re.compile(filters.filter)
        except re.error as error:
            raise _Refused(
                Result.RESULT_OPERATION_FAILED, f"filters.filter: '{filters.filter}' is no expression: {error}."
            ) from error
        wanted = [category.category for category in filters.categories]
        names = (name for name in self._names() if not wanted or self._category(name) in wanted)
        return [name for name in names if pattern.search(name)]

    def _told(self, name: str) -> EntityState:
        """Return the state of an entity; in the simulation's thread."""
        simulation = self._simulating.session.simulation
        if name in simulation.robots:
            robot = simulation.robots[name]
            place, twist = robot.placement_world_base, robot.twist_base
        else:
            body = simulation.bodies[name]
            place, twist = body.placement_world_body, body.twist
        state = EntityState()
        state.header.frame_id, state.header.stamp = self._world, stamp(simulation.time)
        fill_pose(state.pose, place)
        fill_vector(state.twist.linear, place.rotation @ twist[:3])
        fill_vector(state.twist.angular, place.rotation @ twist[3:])
        return state

    # What comes and goes ------------------------------------------------------------------------------------------

    async def _spawnables(self, request: GetSpawnables.Request, response: GetSpawnables.Response) -> None:
        response.spawnables = [
            Spawnable(entity_resource=Resource(uri=name), description=f"robot {name} of humanoid_stack")
            for name in list_resources("urdf", (".urdf", ".yaml"))
        ]

    async def _spawn(self, request: SpawnEntity.Request, response: SpawnEntity.Response) -> None:
        resource = request.entity_resource
        if not resource.uri and not resource.resource_string.strip():
            raise _Refused(response.NO_RESOURCE, "entity_resource: is empty. Give a uri, or the text of a URDF.")
        if request.entity_namespace:
            raise _Refused(Result.RESULT_FEATURE_UNSUPPORTED, "entity_namespace: an entity's topics have its name.")
        self._check_frame(request.initial_pose.header.frame_id)
        try:
            place = placement(request.initial_pose.pose, "initial_pose.pose")
        except InputError as error:
            raise _Refused(response.INVALID_POSE, str(error)) from error
        if not resource.uri and not resource.resource_string.lstrip().startswith("<"):
            raise _Refused(response.UNSUPPORTED_FORMAT, "entity_resource.resource_string: is no XML. Give a URDF.")
        try:
            named = check_requested(resource.uri, "uri").removeprefix("file://")
            robot = load_robot(named or resource.resource_string)
        except InputError as error:
            raise _Refused(response.RESOURCE_PARSE_ERROR, f"entity_resource: {error}") from error
        response.entity_name = self._new_name(request.name or robot.name, request.allow_renaming, response)
        await self._become(lambda scene: with_entity(scene, response.entity_name, robot, place))

    def _new_name(self, name: str, renaming: bool, response: SpawnEntity.Response) -> str:
        if not _NAME.fullmatch(name):
            words = f"name: '{name}' is no name for topics. Give letters, digits and _, a letter first."
            raise _Refused(response.NAME_INVALID, words)
        taken = self._names()
        if name in taken and not renaming:
            raise _Refused(response.NAME_NOT_UNIQUE, f"name: there is a '{name}' already. Give another one.")
        return next(own for own in self._candidates(name) if own not in taken)

    @staticmethod
    def _candidates(name: str) -> Iterator[str]:
        yield name
        number = 2
        while True:
            yield f"{name}_{number}"
            number += 1

    async def _delete(self, request: DeleteEntity.Request, response: Any) -> None:
        self._check(request.entity)
        await self._become(lambda scene: without(scene, request.entity))

    async def _become(self, change: Callable[[Scene], Scene]) -> None:
        """Go on with a changed scene."""
        now = self._simulating.session.simulation.scene
        first = self._own[0] if self._own is not None and self._own[1] is now else now
        changed = change(now)
        await self._simulating.replace(changed, _carry_over)
        self._own = first, changed


def _carry_over(old: SimulationSession, new: Simulation) -> None:
    """Put what is in both scenes where it is, its servos' targets too; time goes on."""
    for interface in old.robots:
        robot = interface.topics.robot
        if robot.name in new.robots:
            same = new.robots[robot.name]
            same.set_state(robot.q, robot.v)
            targets = dict(zip(robot.joint_names, interface.commands.positions.tolist(), strict=True))
            same.set_position_target([targets[joint] for joint in same.driven_joint_names])
    for name, body in old.simulation.bodies.items():
        if name in new.bodies and not body.fixed:
            new.bodies[name].set_state(pin.SE3(body.placement_world_body), np.array(body.twist))
    new.step_count = old.simulation.step_count


def _nothing(old: SimulationSession, new: Simulation) -> None:
    """Begin anew."""
