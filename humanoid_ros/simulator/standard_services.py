# SPDX-License-Identifier: Apache-2.0
"""Services and action of ``simulation_interfaces``, the same for all simulators; where that package is installed."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Protocol

import numpy as np
import pinocchio as pin
from humanoid_stack.srv import SetState
from numpy.typing import NDArray
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import (
    EntityCategory,
    EntityInfo,
    EntityState,
    Resource,
    Result,
    SimulationState,
    Spawnable,
    SpawnResult,
    TagsFilter,
)
from simulation_interfaces.msg import SimulatorFeatures as Features
from simulation_interfaces.srv import (
    DeleteEntity,
    GetAvailableWorlds,
    GetCurrentWorld,
    GetEntities,
    GetEntitiesStates,
    GetEntityBounds,
    GetEntityInfo,
    GetEntityState,
    GetSimulationState,
    GetSimulatorFeatures,
    GetSpawnables,
    LoadWorld,
    ResetSimulation,
    SetEntityInfo,
    SetEntityState,
    SetSimulationState,
    SpawnEntities,
    SpawnEntity,
    StepSimulation,
)

from humanoid_model import Scene, load_robot
from humanoid_model.checks import check_known
from humanoid_model.errors import InputError
from humanoid_model.files import list_resources
from humanoid_model.scene import with_entity, without
from humanoid_ros.messages.conversions import array, check_finite, fill_pose, fill_vector, placement, stamp, vector
from humanoid_ros.node.answering_node import AnsweringActionServer, AnsweringNode
from humanoid_ros.node.qos import SERVICE
from humanoid_ros.node.requested_files import check_requested, requested_reading
from humanoid_ros.node.service_workers import answer_of
from humanoid_ros.simulator.simulation_session import SimulationSession
from humanoid_ros.simulator.standard_worlds import (
    EntityBounds,
    Refused,
    available_worlds,
    overlaps_box,
    overlaps_sphere,
    requested_world,
    world_resource,
)
from humanoid_sim import Simulation

FEATURES = (
    Features.SPAWNING, Features.DELETING, Features.ENTITY_CATEGORIES, Features.SPAWNING_RESOURCE_STRING,
    Features.ENTITY_STATE_GETTING, Features.ENTITY_STATE_SETTING, Features.ENTITY_INFO_GETTING, Features.SPAWNABLES,
    Features.SIMULATION_RESET, Features.SIMULATION_RESET_TIME, Features.SIMULATION_RESET_STATE,
    Features.SIMULATION_RESET_SPAWNED, Features.SIMULATION_STATE_GETTING, Features.SIMULATION_STATE_SETTING,
    Features.SIMULATION_STATE_PAUSE, Features.STEP_SIMULATION_SINGLE, Features.STEP_SIMULATION_MULTIPLE,
    Features.STEP_SIMULATION_ACTION, Features.ENTITY_TAGS, Features.ENTITY_INFO_SETTING, Features.ENTITY_BOUNDS,
    Features.ENTITY_BOUNDS_BOX, Features.SPAWNING_ENTITIES, Features.WORLD_LOADING, Features.WORLD_RESOURCE_STRING,
    Features.WORLD_INFO_GETTING, Features.AVAILABLE_WORLDS,
)  # fmt: skip
START = ResetSimulation.Request.SCOPE_TIME | ResetSimulation.Request.SCOPE_STATE
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_MAX_FILTER = 200


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
        self._infos: tuple[Scene | None, dict[str, EntityInfo]] = None, {}  # what was told of a scene's entities
        self._bounds: tuple[Simulation, EntityBounds] | None = None
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
            (SetEntityInfo, "set_entity_info", self._set_entity_info),
            (GetEntityBounds, "get_entity_bounds", self._entity_bounds),
            (GetSpawnables, "get_spawnables", self._spawnables),
            (SpawnEntity, "spawn_entity", self._spawn),
            (SpawnEntities, "spawn_entities", self._spawn_all),
            (DeleteEntity, "delete_entity", self._delete),
            (GetAvailableWorlds, "get_available_worlds", self._worlds),
            (GetCurrentWorld, "get_current_world", self._world_now),
            (LoadWorld, "load_world", self._load_world),
        ):
            self._offer(kind, name, answer)
        AnsweringActionServer(
            node,
            SimulateSteps,
            "simulate_steps",
            self._simulate_steps,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=node.group,
        )

    def _offer(self, kind: Any, name: str, answer: Callable[[Any, Any], Awaitable[None]]) -> None:
        async def serve(request: Any, response: Any) -> Any:
            told = hasattr(response, "result")
            if told:
                response.result.result = Result.RESULT_OK
            try:
                await answer(request, response)
            except Exception as error:
                response, result = kind.Response(), self._refusal(name, error)
                if told:
                    response.result = result
            return response

        self._node.create_service(kind, name, serve, qos_profile=SERVICE, callback_group=self._node.group)

    def _refusal(self, name: str, error: Exception) -> Result:
        code = error.code if isinstance(error, Refused) else Result.RESULT_OPERATION_FAILED
        return Result(result=code, error_message=self._node.refusals.refuse(name, error))

    # The simulation -----------------------------------------------------------------------------------------------

    async def _features(self, request: Any, response: GetSimulatorFeatures.Response) -> None:
        response.features.features = list(FEATURES)
        response.features.spawn_formats = ["urdf"]
        response.features.custom_info = "humanoid_stack: docs/interfaces.md; accelerations of entities aren't told"

    async def _reset(self, request: ResetSimulation.Request, response: Any) -> None:
        scope = request.scope or ResetSimulation.Request.SCOPE_ALL
        spawned = self._own is not None and self._own[1] is self._simulating.session.simulation.scene
        if scope & START not in (0, START):
            raise Refused(Result.RESULT_FEATURE_UNSUPPORTED, f"scope: {scope}: time and state are reset together.")
        if scope & ResetSimulation.Request.SCOPE_SPAWNED and spawned:
            assert self._own is not None
            first, self._own = self._own[0], None
            await self._simulating.replace(first, _nothing if scope & START else _carry_over)
        elif scope & START:
            await self._simulating.between_steps(self._simulating.session.reset)

    async def _step(self, request: StepSimulation.Request, response: Any) -> None:
        self._stopped = False
        await answer_of(self._node, self._simulating.session.loop.step(request.steps))

    async def _simulate_steps(self, goal: ServerGoalHandle) -> SimulateSteps.Result:
        wanted, done = goal.request.steps, 0
        self._stopped = False
        try:
            while not goal.is_cancel_requested and (done < wanted or not wanted):
                await answer_of(self._node, self._simulating.session.loop.step(min(wanted, 1)))
                done += 1
                goal.publish_feedback(SimulateSteps.Feedback(completed_steps=done, remaining_steps=wanted - done))
        except Exception as error:
            goal.abort()
            return SimulateSteps.Result(result=self._refusal("simulate_steps", error))
        if done == wanted:
            goal.succeed()
            return SimulateSteps.Result(result=Result(result=Result.RESULT_OK))
        goal.canceled()
        words = f"cancelled after {done} of {wanted} steps"
        return SimulateSteps.Result(result=Result(result=Result.RESULT_OPERATION_FAILED, error_message=words))

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
                raise Refused(response.ALREADY_IN_TARGET_STATE, f"state: it is {wanted} already.")
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
            raise Refused(Result.RESULT_OPERATION_FAILED, f"state: is {wanted}. Give 0 to 3.")
        await self._simulating.between_steps(change)

    # Entities -----------------------------------------------------------------------------------------------------

    async def _entities(self, request: GetEntities.Request, response: GetEntities.Response) -> None:
        response.entities = await self._filtered(request.filters)

    async def _entities_states(self, request: GetEntitiesStates.Request, response: Any) -> None:
        response.entities = await self._filtered(request.filters)
        response.states = await self._simulating.between_steps(lambda: [self._told(name) for name in response.entities])

    async def _entity_state(self, request: GetEntityState.Request, response: GetEntityState.Response) -> None:
        self._check(request.entity)
        response.state = await self._simulating.between_steps(lambda: self._told(request.entity))

    async def _entity_info(self, request: GetEntityInfo.Request, response: GetEntityInfo.Response) -> None:
        self._check(request.entity)
        response.info = self._info(request.entity)

    async def _set_entity_info(self, request: SetEntityInfo.Request, response: Any) -> None:
        self._check(request.entity)
        scene = self._simulating.session.simulation.scene
        known = self._infos[1] if self._infos[0] is scene else {}
        self._infos = scene, {**known, request.entity: request.info}

    def _info(self, name: str) -> EntityInfo:
        """Return what was told of an entity, or what it is by itself."""
        simulation = self._simulating.session.simulation
        if self._infos[0] is simulation.scene and name in self._infos[1]:
            return self._infos[1][name]
        scene = simulation.scene
        labels = {own.name: own.label for own in scene.robots} | {own.name: own.label for own in scene.bodies}
        info = EntityInfo(description=labels[name])
        if name in simulation.robots:
            info.category.category = EntityCategory.CATEGORY_ROBOT
        elif simulation.bodies[name].fixed:
            info.category.category = EntityCategory.CATEGORY_STATIC_OBJECT
        else:
            info.category.category = EntityCategory.CATEGORY_OBJECT
        return info

    async def _entity_bounds(self, request: GetEntityBounds.Request, response: GetEntityBounds.Response) -> None:
        self._check(request.entity)
        box = await self._simulating.between_steps(lambda: self._box(request.entity))
        if not np.isfinite(box).all():
            raise Refused(Result.RESULT_OPERATION_FAILED, f"entity: '{request.entity}' has no end.")
        response.bounds.type = response.bounds.TYPE_BOX
        response.bounds.points = [vector(box[1]), vector(box[0])]  # upper right and lower left corner

    def _box(self, name: str) -> NDArray[np.float64]:
        """Return the box around an entity; in the simulation's thread."""
        simulation = self._simulating.session.simulation
        if self._bounds is None or self._bounds[0] is not simulation:
            self._bounds = simulation, EntityBounds(simulation)
        return self._bounds[1].box(name)

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
                raise Refused(response.INVALID_POSE, str(error)) from error
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
            raise Refused(Result.RESULT_NOT_FOUND, str(error)) from error

    def _check_frame(self, frame: str) -> None:
        if frame not in ("", "world", self._world):
            raise Refused(
                Result.RESULT_FEATURE_UNSUPPORTED, f"header.frame_id: is '{frame}'. Give '{self._world}', or none."
            )

    async def _filtered(self, filters: Any) -> list[str]:
        """Return the names that pass."""
        if len(filters.filter) > _MAX_FILTER:
            raise Refused(Result.RESULT_OPERATION_FAILED, f"filters.filter: is longer than {_MAX_FILTER} characters.")
        try:
            pattern = re.compile(filters.filter)
        except re.error as error:
            raise Refused(
                Result.RESULT_OPERATION_FAILED, f"filters.filter: '{filters.filter}' is no expression: {error}."
            ) from error
        wanted = [category.category for category in filters.categories]
        infos = {name: self._info(name) for name in self._names() if pattern.search(name)}
        names = [
            name
            for name, info in infos.items()
            if (not wanted or info.category.category in wanted) and _has_tags(info, filters.tags)
        ]
        if filters.bounds.type == filters.bounds.TYPE_EMPTY and not filters.bounds.points:
            return names
        overlaps = _overlap(filters.bounds)
        boxes = await self._simulating.between_steps(lambda: [self._box(name) for name in names])
        return [name for name, box in zip(names, boxes, strict=True) if overlaps(box)]

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
        if request.sources:
            response.result.error_message = f"sources: only the stack's own are searched, not {list(request.sources)}"
        response.spawnables = [
            Spawnable(entity_resource=Resource(uri=name), description=f"robot {name} of humanoid_stack")
            for name in list_resources("urdf", (".urdf", ".yaml"))
        ]

    async def _spawn(self, request: Any, response: SpawnEntity.Response) -> None:
        resource = request.entity_resource
        if not resource.uri and not resource.resource_string.strip():
            raise Refused(response.NO_RESOURCE, "entity_resource: is empty. Give a uri, or the text of a URDF.")
        if request.entity_namespace:
            raise Refused(Result.RESULT_FEATURE_UNSUPPORTED, "entity_namespace: an entity's topics have its name.")
        self._check_frame(request.initial_pose.header.frame_id)
        try:
            place = placement(request.initial_pose.pose, "initial_pose.pose")
        except InputError as error:
            raise Refused(response.INVALID_POSE, str(error)) from error
        if not resource.uri and not resource.resource_string.lstrip().startswith("<"):
            raise Refused(response.UNSUPPORTED_FORMAT, "entity_resource.resource_string: is no XML. Give a URDF.")
        try:
            named = check_requested(resource.uri, "uri").removeprefix("file://")
            with requested_reading(named or resource.resource_string):
                robot = load_robot(named or resource.resource_string)
        except InputError as error:
            raise Refused(response.RESOURCE_PARSE_ERROR, f"entity_resource: {error}") from error
        response.entity_name = self._new_name(request.name or robot.name, request.allow_renaming, response)
        await self._become(lambda scene: with_entity(scene, response.entity_name, robot, place))

    async def _spawn_all(self, request: SpawnEntities.Request, response: SpawnEntities.Response) -> None:
        failed = []
        for number, wanted in enumerate(request.spawn_requests):
            one, result = SpawnEntity.Response(), Result(result=Result.RESULT_OK)
            try:
                await self._spawn(wanted, one)
            except Exception as error:
                result, one = self._refusal("spawn_entities", error), SpawnEntity.Response()
                failed.append(f"spawn_requests[{number}]: {result.error_message}")
            response.results.append(SpawnResult(result=result, entity_name=one.entity_name))
        if failed:
            response.result = Result(result=response.ENTITIES_SPAWN_FAILED, error_message=" ".join(failed))

    def _new_name(self, name: str, renaming: bool, response: SpawnEntity.Response) -> str:
        if not _NAME.fullmatch(name):
            words = f"name: '{name}' is no name for topics. Give letters, digits and _, a letter first."
            raise Refused(response.NAME_INVALID, words)
        taken = self._names()
        if name in taken and not renaming:
            raise Refused(response.NAME_NOT_UNIQUE, f"name: there is a '{name}' already. Give another one.")
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
        if self._infos[0] is now:
            names = self._names()
            self._infos = changed, {name: info for name, info in self._infos[1].items() if name in names}

    # Worlds -------------------------------------------------------------------------------------------------------

    async def _worlds(self, request: GetAvailableWorlds.Request, response: GetAvailableWorlds.Response) -> None:
        response.worlds = available_worlds(request)

    async def _world_now(self, request: Any, response: GetCurrentWorld.Response) -> None:
        response.world = world_resource(self._simulating.session.simulation.scene)

    async def _load_world(self, request: LoadWorld.Request, response: LoadWorld.Response) -> None:
        await self._simulating.replace(requested_world(request), _nothing)
        await self._simulating.between_steps(self._simulating.session.loop.pause)
        await self._simulating.between_steps(self._simulating.session.reset)
        self._stopped = True
        await self._world_now(request, response)


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


def _has_tags(info: EntityInfo, wanted: TagsFilter) -> bool:
    """Return whether an entity has any of some tags, or all if they say so."""
    return not wanted.tags or (all if wanted.filter_mode == wanted.FILTER_MODE_ALL else any)(
        tag in info.tags for tag in wanted.tags
    )


def _overlap(bounds: Any) -> Callable[[NDArray[np.float64]], bool]:
    """Return whether boxes overlap bounds.

    Raises:
        Refused: they are a convex hull, or can't be understood.
    """
    if bounds.type not in (bounds.TYPE_BOX, bounds.TYPE_SPHERE):
        raise Refused(Result.RESULT_FEATURE_UNSUPPORTED, "filters.bounds.type: only boxes and spheres are known.")
    if len(bounds.points) != 2:
        words = f"filters.bounds.points: there are {len(bounds.points)}. Give two."
        raise Refused(Result.RESULT_OPERATION_FAILED, words)
    points = np.array([array(point) for point in bounds.points])
    check_finite(points, "filters.bounds.points")
    if bounds.type == bounds.TYPE_SPHERE:
        return lambda box: overlaps_sphere(box, points[0], points[1][0])
    return lambda box: overlaps_box(box, points.min(axis=0), points.max(axis=0))
