# SPDX-License-Identifier: Apache-2.0
"""Contact plans as messages, and back."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from humanoid_stack.msg import ContactPlan as PlanMessage
from humanoid_stack.msg import ContactPlanRequest, StancePosture
from humanoid_stack.msg import PlanStatistics as StatisticsMessage
from numpy.typing import NDArray

from humanoid_model import Robot, Scene, Stance
from humanoid_model.errors import InputError
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_planner.contacts import ContactProblem
from humanoid_planner.contacts.plan import PlanStatistics
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture import check_stance
from humanoid_planner.posture.planning_cache import PlanningCache
from humanoid_ros.contact_planner.plan_request import surface_placements
from humanoid_ros.contact_planner.posture_answer import stance_force_messages
from humanoid_ros.contact_planner.posture_request import requested_scene
from humanoid_ros.messages.conversions import fill_vector
from humanoid_ros.messages.motion_messages import whole_body_message
from humanoid_ros.messages.posture_messages import configuration, posture_message
from humanoid_ros.messages.stance_messages import contact_locations, request_scene, stance, stance_message


class PlanWriter:
    """Writes plans of one request; a step that is in several of them is worked out once."""

    def __init__(self, problem: ContactProblem, request: ContactPlanRequest, default_scene: str) -> None:
        """Take the request, in the library's terms and as it came, and the scene of one that names none."""
        self._problem, self._request, self._scene = problem, request, request.scene or default_scene
        self._kinematics = RobotKinematics(problem.robot)
        self._surfaces = surface_placements(problem.scene)
        self._steps: dict[tuple[bytes, tuple[int, ...]], StancePosture] = {}

    def plan(
        self,
        steps: Iterable[tuple[Stance, NDArray[np.float64], float]],
        statistics: StatisticsMessage,
        motion: WholeBodyTrajectory | None = None,
    ) -> PlanMessage:
        """Return the message of a plan.

        Args:
            steps: stance, posture (nq,) and potential of each.
            statistics: of the search.
            motion: along them; None for none.
        """
        message = PlanMessage(
            robot=self._request.robot,
            scene=self._scene,
            locations=self._request.locations,
            surfaces=self._request.surfaces,
            steps=[self._step(*step) for step in steps],
            statistics=statistics,
        )
        message.header.frame_id = "world"
        if motion is not None:
            message.trajectory = whole_body_message(motion, "world")
        return message

    def _step(self, held: Stance, q: NDArray[np.float64], potential: float) -> StancePosture:
        key = q.tobytes(), tuple(int(contact.kind) for contact in held.contacts)
        if key not in self._steps:
            self._steps[key] = self._new_step(held, q, potential)
        return self._steps[key]

    def _new_step(self, held: Stance, q: NDArray[np.float64], potential: float) -> StancePosture:
        robot = self._problem.robot
        links = robot.link_placements(q)
        placements = {
            contact.location.name: (
                links[contact.location.link] * contact.location.placement_link_patch,
                self._surfaces[contact.surface.name],
            )
            for contact in held.contacts
        }
        balance = check_stance(
            robot,
            held,
            scene=self._problem.scene,
            posture=q,
            loads=self._problem.loads,
            torque_limits=self._problem.torque_limits,
            kinematics=self._kinematics,
        )
        step = StancePosture(
            stance=stance_message(held, placements),
            posture=posture_message(robot, q),
            joint_names=list(balance.efforts),
            efforts=list(balance.efforts.values()),
            forces=stance_force_messages(balance, robot),
            stability_margin=balance.margin,
            potential=float(potential),
        )
        # As planned, not as the posture holds it within its tolerance: a contact that stays keeps its very place.
        for item, contact in zip(step.stance.contacts, held.contacts, strict=True):
            item.x, item.y, item.theta = float(contact.x), float(contact.y), float(contact.theta)
        fill_vector(step.centre_of_mass, balance.centre_of_mass)
        return step


def statistics_message(statistics: PlanStatistics, best_potential: float) -> StatisticsMessage:
    """Return the message of what a search took."""
    counts: Counter[int] = Counter()
    times: Counter[int] = Counter()
    for call in statistics.calls:
        counts[int(call.status)] += 1
        times[int(call.status)] += call.building + call.solving  # type: ignore[assignment]
    codes = sorted(counts)
    return StatisticsMessage(
        nodes=statistics.nodes,
        expanded=statistics.expanded,
        posture_calls=len(statistics.calls),
        codes=codes,
        code_counts=[counts[code] for code in codes],
        code_times=[float(times[code]) for code in codes],
        ways=len(statistics.ways),
        ways_refused=statistics.ways_refused,
        ways_time=float(statistics.ways_time),
        best_potential=float(best_potential),
        time=float(statistics.time),
    )


@dataclass(frozen=True)
class ReadPlan:
    """A plan's message in the library's terms.

    Attributes:
        robot: with the plan's locations.
        scene: with its surfaces.
        stances: one for each step.
        postures: (nq,) each.
    """

    robot: Robot
    scene: Scene
    stances: tuple[Stance, ...]
    postures: tuple[NDArray[np.float64], ...]


def read_plan(cache: PlanningCache, message: PlanMessage, field: str) -> ReadPlan:
    """Return a plan.

    Args:
        cache: where robots and scenes are kept.
        message: the plan.
        field: its name, for errors.

    Raises:
        InputError: a field can't be used; the message names it.
    """
    if not message.steps:
        raise InputError("is empty", element=f"{field}.steps", remedy="Give a plan with at least one step")
    base, robot = requested_scene(cache, message.scene, message.robot, "", f"{field}.")
    scene = request_scene(base, message.surfaces, robot, f"{field}.surfaces")
    locations = contact_locations(message.locations, robot, f"{field}.locations")
    if message.locations:
        robot = dataclasses.replace(robot, contacts=locations)
    stances, postures = [], []
    for i, step in enumerate(message.steps):
        where = f"{field}.steps[{i}]"
        stances.append(stance(step.stance, locations, scene.surfaces, f"{where}.stance"))
        if not step.posture.joint_names:
            raise InputError("names no joint", element=f"{where}.posture", remedy="Give all joints and the base")
        postures.append(configuration(step.posture, robot, f"{where}.posture"))
    return ReadPlan(robot, scene, tuple(stances), tuple(postures))
