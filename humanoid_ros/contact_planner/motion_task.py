# SPDX-License-Identifier: Apache-2.0
"""Answers to requests for motions along plans, worked out in a process of their own."""

from __future__ import annotations

from humanoid_stack.action import GenerateMotion
from humanoid_stack.msg import WholeBodyTrajectory
from rclpy.serialization import deserialize_message, serialize_message

from humanoid_model.progress import ProgressCallback
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.motion import MotionSettings, generate_motion
from humanoid_ros.contact_planner.plan_messages import read_plan
from humanoid_ros.contact_planner.plan_task import planning_cache
from humanoid_ros.contact_planner.posture_task_messages import posture_task
from humanoid_ros.messages.field_values import read_fields
from humanoid_ros.messages.whole_body_trajectory import whole_body_message
from humanoid_ros.node.process_requests import Answer


def move(request: bytes, cache: tuple[int, float, float], tell: ProgressCallback) -> Answer:
    """Answer a request for a motion.

    Args:
        request: serialised goal of ``GenerateMotion``.
        cache: arguments of :func:`planning_cache`.
        tell: told of each step.

    Raises:
        InputError: a field can't be used; the message names it.
    """
    asked = deserialize_message(request, GenerateMotion.Goal)
    settings = MotionSettings(**read_fields(MotionSettings, asked))
    kept = planning_cache(*cache)
    plan = read_plan(kept, asked.plan, "plan")
    kinematics = RobotKinematics(plan.robot)
    motion = generate_motion(
        plan.robot,
        plan.scene,
        plan,
        settings=settings,
        collisions=kept.collision_model(plan.robot, kept.scene(asked.plan.scene, "plan.scene"))
        if asked.collisions
        else False,
        tasks=[posture_task(task, kinematics, f"tasks[{i}]") for i, task in enumerate(asked.tasks)],
        progress=tell,
    )
    found = WholeBodyTrajectory() if motion.trajectory is None else whole_body_message(motion.trajectory, "world")
    return Answer(motion.success, "" if motion.success else motion.explanation, bytes(serialize_message(found)))
