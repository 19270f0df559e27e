# SPDX-License-Identifier: Apache-2.0
"""Answers to requests for plans and motions, worked out in a process of their own; both travel as bytes.

Importing this module loads all that a request needs.
"""

from __future__ import annotations

import dataclasses
import functools
import time

import numpy as np
from geometry_msgs.msg import Point
from humanoid_stack.action import GenerateMotion, PlanContacts
from humanoid_stack.msg import ContactPlanRequest, WholeBodyTrajectory
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message, serialize_message

from humanoid_gait.in_stride import in_stride
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_planner.contacts import ContactPlanner, collisions_of
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.motion import MotionSettings, generate_motion
from humanoid_planner.posture.planning_cache import PlanningCache
from humanoid_ros.contact_planner.plan_messages import PlanWriter, read_plan, statistics_message
from humanoid_ros.contact_planner.plan_request import PlanDefaults, read_plan_request
from humanoid_ros.contact_planner.posture_request import posture_task
from humanoid_ros.messages.conversions import point
from humanoid_ros.messages.motion_messages import whole_body_message
from humanoid_ros.messages.request_fields import read_fields, time_limit
from humanoid_ros.node.process_requests import Answer

PERIOD = 0.1
"""Least time between two pieces of news [s]."""


@functools.cache
def planning_cache(size: int, small_radius: float, big_radius: float) -> PlanningCache:
    """Return what is kept from one request to the next."""
    return PlanningCache(size, small_radius, big_radius)


def plan(
    request: bytes, defaults: PlanDefaults, cache: tuple[int, float, float], tell: ProgressCallback
) -> Answer:
    """Answer a request for a plan.

    Args:
        request: serialised ``ContactPlanRequest``.
        defaults: what it may leave open.
        cache: arguments of :func:`planning_cache`.
        tell: told of the search, with a serialised feedback message as result.

    Raises:
        InputError: a field can't be used; the message names it.
    """
    message = deserialize_message(request, ContactPlanRequest)
    limit = time_limit(message.time_limit, defaults.plan_time_limit)
    problem = read_plan_request(planning_cache(*cache), defaults.scene, message)
    planner = ContactPlanner(problem, motion=bool(message.motion))
    writer = PlanWriter(planner.space.problem, message, defaults.scene)
    watch, began = _Watch(planner, writer, tell), time.monotonic()
    found = planner.run(time_limit=limit, max_nodes=int(message.max_nodes) or defaults.plan_nodes, progress=watch)
    watch.tell()
    if found.success and message.shorten:
        found = planner.shortened(time_limit=limit - (time.monotonic() - began), progress=watch)
    if found.success and message.smooth:
        found = planner.smoothed(found, time_limit=limit - (time.monotonic() - began), progress=watch)
    steps = zip(found.stances, found.postures, found.potentials, strict=True)
    spent = statistics_message(found.statistics, planner.search.best.potential)
    answer = writer.plan(steps, spent, None if found.motion is None else found.motion.trajectory)
    return Answer(found.success, "" if found.success else found.explanation, bytes(serialize_message(answer)))


class _Watch:
    """Tells of a search that is under way: its statistics, its new nodes, and the path to the best one."""

    def __init__(self, planner: ContactPlanner, writer: PlanWriter, tell: ProgressCallback) -> None:
        self._planner, self._writer, self._tell = planner, writer, tell
        self._kinematics = RobotKinematics(planner.space.caller.robot)
        self._began = time.monotonic()
        self._last, self._nodes, self._best = -1.0, 0, -1

    def __call__(self, _: Progress) -> None:
        if time.monotonic() - self._last >= PERIOD:
            self.tell()

    def tell(self) -> None:
        """Tell what is new."""
        search, space = self._planner.search, self._planner.space
        best, new = search.best, search.nodes[self._nodes :]
        spent = dataclasses.replace(self._planner.statistics, time=time.monotonic() - self._began)
        feedback = PlanContacts.Feedback(statistics=statistics_message(spent, best.potential))
        if best.index != self._best:
            path = [(node.state.stance.stance(space.couples), node.state.q, node.potential) for node in search.path()]
            feedback.partial_plan = self._writer.plan(path, feedback.statistics)
        for node in new:
            feedback.parents.append(node.index if node.parent is None else node.parent)
            feedback.places.append(self._centre_of_mass(node.state.q))
            feedback.potentials.append(node.potential)
        self._nodes, self._best, self._last = len(search.nodes), best.index, time.monotonic()
        self._tell(Progress("search", nodes=len(search.nodes), cost=best.potential, result=_bytes(feedback)))

    def _centre_of_mass(self, q: NDArray[np.float64]) -> Point:
        self._kinematics.set(self._kinematics.coordinates(q))
        return point(self._kinematics.centre_of_mass())


def _bytes(message: object) -> bytes:
    return bytes(serialize_message(message))


def move(
    request: bytes, defaults: PlanDefaults, cache: tuple[int, float, float], tell: ProgressCallback
) -> Answer:
    """Answer a request for a motion.

    Args:
        request: serialised goal of ``GenerateMotion``.
        defaults: what it may leave open.
        cache: arguments of :func:`planning_cache`.
        tell: told of each step, and now and then meanwhile.

    Raises:
        InputError: a field can't be used; the message names it.
    """
    asked = deserialize_message(request, GenerateMotion.Goal)
    settings = MotionSettings(**read_fields(MotionSettings, asked))
    kept = planning_cache(*cache)
    plan = read_plan(kept, asked.plan, "plan")
    kinematics = RobotKinematics(plan.robot)
    limit, began = time_limit(asked.time_limit, defaults.motion_time_limit), time.monotonic()
    motion = generate_motion(
        plan.robot,
        plan.scene,
        plan,
        settings=settings,
        collisions=kept.collision_model(plan.robot, kept.scene(asked.plan.scene, "plan.scene"))
        if asked.collisions
        else False,
        tasks=[posture_task(task, kinematics, f"tasks[{i}]") for i, task in enumerate(asked.tasks)],
        time_limit=limit,
        progress=tell,
    )
    trajectory, why = motion.trajectory, "" if motion.success else motion.explanation
    if asked.in_stride and motion.success and trajectory is not None:
        stride = in_stride(
            trajectory,
            touches=lambda found: collisions_of(found, plan.scene) if asked.collisions else [],
            time_limit=limit - (time.monotonic() - began),
            progress=tell,
        )
        trajectory, why = stride.trajectory, stride.explanation if stride.resting else ""
    found = WholeBodyTrajectory() if trajectory is None else whole_body_message(trajectory, "world")
    return Answer(motion.success, why, bytes(serialize_message(found)))
