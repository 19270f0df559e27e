# SPDX-License-Identifier: Apache-2.0
"""The services of simulation_interfaces over DDS, where that package is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")
pytest.importorskip("simulation_interfaces", reason="simulation_interfaces is not installed")

from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Vector3
from humanoid_stack.srv import StepSimulation as OwnStep
from rosgraph_msgs.msg import Clock
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import (
    EntityCategory,
    Resource,
    Result,
    SimulationState,
    SimulatorFeatures,
    SpawnEntity,
)

from test.humanoid_ros.conftest import wait_until

SIMULATOR_ARGUMENTS = ("-p", "paused:=true")
OK = Result.RESULT_OK
BALL = """<robot name="ball"><link name="ball">
  <inertial><mass value="2"/><inertia ixx="0.008" iyy="0.008" izz="0.008" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><sphere radius="0.1"/></geometry></collision></link></robot>"""


def ask(simulator: Any, name: str, **fields: Any) -> Any:
    kind = getattr(srv, "".join(word.capitalize() for word in name.split("_")))
    return simulator.call(kind, name, kind.Request(**fields))


@pytest.fixture
def fresh(simulator: Any) -> Any:
    """The simulator paused at its start, with nothing but its scene."""
    ask(simulator, "set_simulation_state", state=SimulationState(state=SimulationState.STATE_PAUSED))
    assert ask(simulator, "reset_simulation").result.result == OK
    return simulator


def spawn(simulator: Any, height: float, **fields: Any) -> Any:
    request = srv.SpawnEntity.Request(**fields)
    request.entity_resource.resource_string = request.entity_resource.resource_string or BALL
    request.initial_pose.pose.position.x = 2.0
    request.initial_pose.pose.position.z = height
    return simulator.call(srv.SpawnEntity, "spawn_entity", request)


def test_features_are_those_that_are_served(fresh: Any) -> None:
    told = ask(fresh, "get_simulator_features").features
    assert SimulatorFeatures.SPAWNING in told.features
    assert SimulatorFeatures.NAMED_POSES not in told.features
    offered = {name.strip("/") for name, _ in fresh.node.get_service_names_and_types()}
    assert {"spawn_entity", "delete_entity", "get_spawnables", "set_entity_state"} <= offered


def test_state_goes_from_stopped_to_playing_and_back(fresh: Any) -> None:
    def change(state: int) -> int:
        return int(ask(fresh, "set_simulation_state", state=SimulationState(state=state)).result.result)

    def now() -> int:
        return int(ask(fresh, "get_simulation_state").state.state)

    assert now() == SimulationState.STATE_PAUSED
    assert change(SimulationState.STATE_PLAYING) == OK
    assert now() == SimulationState.STATE_PLAYING
    assert change(SimulationState.STATE_PLAYING) == srv.SetSimulationState.Response.ALREADY_IN_TARGET_STATE
    clock = fresh.listen(Clock, "/clock")
    clock.wait(lambda m: m.clock.nanosec > 100_000_000 or m.clock.sec)
    assert change(SimulationState.STATE_STOPPED) == OK
    assert now() == SimulationState.STATE_STOPPED
    assert ask(fresh, "get_entity_state", entity="hrp2").state.header.stamp.sec == 0


def test_steps_are_made_of_a_paused_simulation_only(fresh: Any) -> None:
    assert ask(fresh, "step_simulation", steps=5).result.result == OK
    assert ask(fresh, "get_entity_state", entity="hrp2").state.header.stamp.nanosec == 5_000_000
    assert ask(fresh, "step_simulation", steps=0).result.result == Result.RESULT_OPERATION_FAILED
    ask(fresh, "set_simulation_state", state=SimulationState(state=SimulationState.STATE_PLAYING))
    told = ask(fresh, "step_simulation", steps=1).result
    assert told.result == Result.RESULT_OPERATION_FAILED
    assert "Pause it first" in told.error_message


def test_entities_are_found_by_name_and_category(fresh: Any) -> None:
    request = srv.GetEntities.Request()
    assert list(fresh.call(srv.GetEntities, "get_entities", request).entities) == ["hrp2", "floor"]
    request.filters.filter = "^h"
    assert list(fresh.call(srv.GetEntities, "get_entities", request).entities) == ["hrp2"]
    request.filters.filter = ""
    request.filters.categories = [EntityCategory(category=EntityCategory.CATEGORY_STATIC_OBJECT)]
    assert list(fresh.call(srv.GetEntities, "get_entities", request).entities) == ["floor"]
    request.filters.filter = "("
    assert "no expression" in fresh.call(srv.GetEntities, "get_entities", request).result.error_message
    assert ask(fresh, "get_entity_state", entity="nobody").result.result == Result.RESULT_NOT_FOUND


def test_a_spawned_ball_falls_as_a_ball_does_while_the_robot_goes_on(fresh: Any) -> None:
    assert fresh.call(OwnStep, "step", OwnStep.Request(steps=200)).success
    before = ask(fresh, "get_entity_state", entity="hrp2").state
    answer = spawn(fresh, 3.0)
    assert (answer.result.result, answer.entity_name) == (OK, "ball"), answer.result.error_message
    after = ask(fresh, "get_entity_state", entity="hrp2").state
    assert (after.header.stamp, after.pose) == (before.header.stamp, before.pose)
    assert ask(fresh, "step_simulation", steps=300).result.result == OK
    ball = ask(fresh, "get_entity_state", entity="ball").state
    assert ball.pose.position.z == pytest.approx(3.0 - 0.5 * 9.81 * 0.3**2, abs=2e-3)
    assert ball.twist.linear.z == pytest.approx(-9.81 * 0.3, rel=1e-3)
    assert ask(fresh, "get_entity_state", entity="hrp2").state.pose.position.z == pytest.approx(
        before.pose.position.z, abs=1e-3
    )
    assert ask(fresh, "get_entity_info", entity="ball").info.category.category == EntityCategory.CATEGORY_OBJECT
    assert spawn(fresh, 4.0).result.result == srv.SpawnEntity.Response.NAME_NOT_UNIQUE
    assert spawn(fresh, 4.0, allow_renaming=True).entity_name == "ball_2"
    assert ask(fresh, "delete_entity", entity="ball").result.result == OK
    assert list(ask(fresh, "get_entities").entities) == ["hrp2", "floor", "ball_2"]
    assert ask(fresh, "reset_simulation").result.result == OK
    assert list(ask(fresh, "get_entities").entities) == ["hrp2", "floor"]


def test_an_entity_is_put_elsewhere_with_a_velocity_in_the_world(fresh: Any) -> None:
    assert spawn(fresh, 3.0).result.result == OK
    request = srv.SetEntityState.Request(entity="ball", set_pose=True, set_twist=True)
    request.state.pose.position.z = 5.0
    turn = request.state.pose.orientation
    turn.w, turn.z = np.sqrt(0.5), np.sqrt(0.5)
    request.state.twist.linear.x = 1.0
    assert fresh.call(srv.SetEntityState, "set_entity_state", request).result.result == OK
    ask(fresh, "step_simulation", steps=100)
    state = ask(fresh, "get_entity_state", entity="ball").state
    assert state.pose.position.x == pytest.approx(0.1, abs=1e-6)
    assert state.twist.linear.x == pytest.approx(1.0, abs=1e-9)
    turn.w = 3.0
    refused = fresh.call(srv.SetEntityState, "set_entity_state", request).result
    assert refused.result == srv.SetEntityState.Response.INVALID_POSE
    request.state.header.frame_id = "moon"
    assert "moon" in fresh.call(srv.SetEntityState, "set_entity_state", request).result.error_message


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"name": "1 ball"}, "NAME_INVALID"),
        ({"resource": "<robot"}, "RESOURCE_PARSE_ERROR"),
        ({"resource": "plain words"}, "UNSUPPORTED_FORMAT"),
        ({"resource": " "}, "NO_RESOURCE"),
    ],
)
def test_what_cant_be_spawned_is_told_by_the_standard_s_codes(fresh: Any, fields: dict[str, str], code: str) -> None:
    request = srv.SpawnEntity.Request(name=fields.get("name", ""))
    request.entity_resource.resource_string = fields.get("resource", BALL)
    answer = fresh.call(srv.SpawnEntity, "spawn_entity", request)
    assert answer.result.result == getattr(srv.SpawnEntity.Response, code), answer.result.error_message


def test_entities_have_tags_and_a_description_that_are_set(fresh: Any) -> None:
    request = srv.SetEntityInfo.Request(entity="floor")
    request.info.tags, request.info.description = ["grey", "flat"], "what it stands on"
    request.info.category.category = EntityCategory.CATEGORY_STATIC_OBJECT
    assert fresh.call(srv.SetEntityInfo, "set_entity_info", request).result.result == OK
    assert ask(fresh, "get_entity_info", entity="floor").info == request.info
    assert spawn(fresh, 3.0).result.result == OK  # another scene, of which the floor is still one
    wanted = srv.GetEntities.Request()
    for tags, every, found in (("red flat", False, ["floor"]), ("red flat", True, []), ("flat grey", True, ["floor"])):
        wanted.filters.tags.tags, wanted.filters.tags.filter_mode = tags.split(), int(every)
        assert list(fresh.call(srv.GetEntities, "get_entities", wanted).entities) == found
    assert ask(fresh, "set_entity_info", entity="nobody").result.result == Result.RESULT_NOT_FOUND


def test_bounds_are_boxes_and_filter_by_boxes_and_spheres(fresh: Any) -> None:
    assert spawn(fresh, 3.0).result.result == OK
    bounds = ask(fresh, "get_entity_bounds", entity="ball").bounds
    assert bounds.type == bounds.TYPE_BOX
    high, low = ([point.x, point.y, point.z] for point in bounds.points)
    np.testing.assert_allclose((low, high), ([1.9, -0.1, 2.9], [2.1, 0.1, 3.1]), atol=1e-9)
    robot = ask(fresh, "get_entity_bounds", entity="hrp2").bounds.points
    assert 1.2 < robot[0].z - robot[1].z < 1.7  # HRP-2, knees bent, is 1.5 m tall
    assert robot[1].z == pytest.approx(0.0, abs=0.02)

    def found(kind: int, *points: tuple[float, float, float]) -> list[str]:
        request = srv.GetEntities.Request()
        request.filters.bounds.type = kind
        request.filters.bounds.points = [Vector3(x=x, y=y, z=z) for x, y, z in points]
        answer = fresh.call(srv.GetEntities, "get_entities", request)
        return list(answer.entities) if answer.result.result == OK else [answer.result.error_message]

    assert "ball" in found(bounds.TYPE_BOX, (2.5, 1.0, 3.5), (2.05, -1.0, 2.5))
    assert "ball" not in found(bounds.TYPE_BOX, (2.5, 1.0, 3.5), (2.15, -1.0, 2.5))
    assert "ball" in found(bounds.TYPE_SPHERE, (2.0, 0.0, 4.0), (0.95, 0.0, 0.0))
    assert "ball" not in found(bounds.TYPE_SPHERE, (2.0, 0.0, 4.0), (0.85, 0.0, 0.0))
    assert "hrp2" in found(bounds.TYPE_SPHERE, (0.0, 0.0, 0.7), (0.1, 0.0, 0.0))
    assert "only boxes and spheres" in found(bounds.TYPE_CONVEX_HULL, (0.0, 0.0, 0.0))[0]
    assert "Give two" in found(bounds.TYPE_BOX)[0]


def test_several_are_spawned_and_what_fails_is_told_of_each(fresh: Any) -> None:
    first = SpawnEntity(name="one", allow_renaming=True)
    first.entity_resource.resource_string = BALL
    first.initial_pose.pose.position.z = 3.0
    answer = fresh.call(srv.SpawnEntities, "spawn_entities", srv.SpawnEntities.Request(spawn_requests=[first, first]))
    assert answer.result.result == OK
    assert [result.entity_name for result in answer.results] == ["one", "one_2"]
    bad = srv.SpawnEntities.Request(spawn_requests=[SpawnEntity(name="none"), first])
    answer = fresh.call(srv.SpawnEntities, "spawn_entities", bad)
    assert answer.result.result == srv.SpawnEntities.Response.ENTITIES_SPAWN_FAILED
    assert "spawn_requests[0]: entity_resource: is empty" in answer.result.error_message
    assert [result.result.result for result in answer.results] == [srv.SpawnEntity.Response.NO_RESOURCE, OK]


def test_the_action_counts_its_steps_and_is_cancelled_between_two(fresh: Any) -> None:
    told: list[Any] = []
    action = fresh.action(SimulateSteps, "simulate_steps")

    def simulate(steps: int) -> Any:
        goal = SimulateSteps.Goal(steps=steps)
        return fresh.result(action.send_goal_async(goal, lambda message: told.append(message.feedback)))

    answer = fresh.result(simulate(5).get_result_async())
    assert (answer.status, answer.result.result.result) == (GoalStatus.STATUS_SUCCEEDED, OK)
    wait_until(lambda: len(told) == 5, "feedback is missing")
    assert [(item.completed_steps, item.remaining_steps) for item in told] == [(k, 5 - k) for k in range(1, 6)]
    assert ask(fresh, "get_entity_state", entity="hrp2").state.header.stamp.nanosec == 5_000_000
    handle = simulate(10**9)
    wait_until(lambda: len(told) > 10, "it makes no steps")
    fresh.result(handle.cancel_goal_async())
    answer = fresh.result(handle.get_result_async())
    assert answer.status == GoalStatus.STATUS_CANCELED
    stamp = ask(fresh, "get_entity_state", entity="hrp2").state.header.stamp
    done = round(1e3 * (stamp.sec + 1e-9 * stamp.nanosec)) - 5
    assert f"cancelled after {done} of 1000000000 steps" in answer.result.result.error_message
    ask(fresh, "set_simulation_state", state=SimulationState(state=SimulationState.STATE_PLAYING))
    refused = fresh.result(simulate(1).get_result_async()).result.result
    assert refused.result == Result.RESULT_OPERATION_FAILED
    assert "Pause it first" in refused.error_message


def test_worlds_are_scenes_and_begin_stopped(fresh: Any) -> None:
    worlds = {world.name: world.world_resource.uri for world in ask(fresh, "get_available_worlds").worlds}
    assert {"stand", "stairs", "walk"} <= set(worlds)
    ask(fresh, "set_simulation_state", state=SimulationState(state=SimulationState.STATE_PLAYING))
    request = srv.LoadWorld.Request()
    request.world_resource.uri = worlds["box_on_slope"]
    answer = fresh.call(srv.LoadWorld, "load_world", request)
    assert (answer.result.result, answer.world.name) == (OK, "box_on_slope"), answer.result.error_message
    assert ask(fresh, "get_simulation_state").state.state == SimulationState.STATE_STOPPED
    assert ask(fresh, "get_current_world").world.world_resource.uri.endswith("config/scenes/box_on_slope.yaml")
    for fields, code in (
        ({"uri": "car.usd"}, "UNSUPPORTED_FORMAT"),
        ({"resource_string": "scene: {"}, "RESOURCE_PARSE_ERROR"),
        ({"uri": "/etc/passwd.yaml"}, "RESOURCE_PARSE_ERROR"),
        ({}, "NO_RESOURCE"),
    ):
        refused = fresh.call(srv.LoadWorld, "load_world", srv.LoadWorld.Request(world_resource=Resource(**fields)))
        assert refused.result.result == getattr(srv.LoadWorld.Response, code), refused.result.error_message
    request.world_resource.uri = "stand"
    assert fresh.call(srv.LoadWorld, "load_world", request).result.result == OK
