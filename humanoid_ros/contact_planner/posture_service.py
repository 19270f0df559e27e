# SPDX-License-Identifier: Apache-2.0
"""The answer to a generate_posture request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from humanoid_stack.srv import GeneratePosture
from numpy.typing import NDArray

from humanoid_model import Robot, Scene, Stance
from humanoid_model.checks import check_enumerated, check_known, check_not_negative
from humanoid_model.errors import InputError
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.result import SolverOptions
from humanoid_planner.optimisation.solve import solver_names
from humanoid_planner.posture import (
    Criterion,
    LeastTorque,
    NearReference,
    PostureResult,
    generate_posture,
    near_middle,
)
from humanoid_planner.posture.balance.bearing_contacts import patch_outline, patch_placement
from humanoid_planner.posture.planning_cache import PlanningCache
from humanoid_planner.posture.problem.centring import centre_in_polygon, centre_in_wrenches
from humanoid_planner.posture.problem.near_path import NearPath
from humanoid_planner.posture.problem.placed_contact import place_contact
from humanoid_planner.posture.problem.problem import surface_frame
from humanoid_ros.contact_planner.posture_answer import force_messages, joint_efforts, margin_text, report_message
from humanoid_ros.contact_planner.posture_markers import ShownPosture
from humanoid_ros.contact_planner.posture_task_messages import load, posture_task
from humanoid_ros.contact_planner.requested_scene import requested_scene
from humanoid_ros.messages.conversions import fill_vector, point, seconds
from humanoid_ros.messages.posture_messages import configuration, posture_message
from humanoid_ros.messages.stance_messages import contact_locations, request_scene, stance, stance_message


class StabilityKind(IntEnum):
    """How the posture's equilibrium is tested."""

    NO_STABILITY = GeneratePosture.Request.NO_STABILITY
    SUPPORT_POLYGON = GeneratePosture.Request.SUPPORT_POLYGON
    CONTACT_FORCES = GeneratePosture.Request.CONTACT_FORCES
    FORCE_POLYTOPE = GeneratePosture.Request.FORCE_POLYTOPE


class CriterionKind(IntEnum):
    """What is minimised."""

    NO_CRITERION = GeneratePosture.Request.NO_CRITERION
    NEAR_REFERENCE = GeneratePosture.Request.NEAR_REFERENCE
    NEAR_MIDDLE = GeneratePosture.Request.NEAR_MIDDLE
    NEAR_GUIDE = GeneratePosture.Request.NEAR_GUIDE
    CENTRE_IN_POLYGON = GeneratePosture.Request.CENTRE_IN_POLYGON
    CENTRE_IN_WRENCHES = GeneratePosture.Request.CENTRE_IN_WRENCHES
    LEAST_TORQUE = GeneratePosture.Request.LEAST_TORQUE


STABILITY_WORDS = {
    StabilityKind.NO_STABILITY: "none",
    StabilityKind.SUPPORT_POLYGON: "polygon",
    StabilityKind.CONTACT_FORCES: "forces",
    StabilityKind.FORCE_POLYTOPE: "polytope",
}
"""What the library calls them."""


@dataclass(frozen=True)
class PostureDefaults:
    """What a request leaves open.

    Attributes:
        scene: name or path.
        solver: its name.
        max_iterations: of the solver.
        time_limit: wall-clock time [s].
    """

    scene: str
    solver: str
    max_iterations: int
    time_limit: float


def answer_generate_posture(
    cache: PlanningCache,
    defaults: PostureDefaults,
    request: GeneratePosture.Request,
    response: GeneratePosture.Response,
) -> ShownPosture:
    """Fill a response with the posture that a request asks for, or with the reason why there is none.

    Args:
        cache: where robots and scenes are kept.
        defaults: what the request may leave open.
        request: the request.
        response: to fill.

    Returns:
        What to draw.

    Raises:
        InputError: a field can't be used; the message names it.
    """
    asked = _read(cache, defaults, request)
    result = generate_posture(
        asked.robot,
        asked.stance,
        initial=asked.initial,
        solver=asked.solver,
        options=asked.options,
        scene=asked.scene,
        kinematics=asked.kinematics,
        largest_margin=True,
        **asked.problem,
    )
    return _fill(asked, result, response)


@dataclass(frozen=True)
class _Asked:
    """A request in the library's terms.

    Attributes:
        robot: the robot.
        scene: with the request's surfaces.
        stance: to hold.
        kinematics: of the robot, for this request alone.
        stability: how equilibrium is tested.
        initial: (nq,) start of the search.
        solver: its name.
        options: for it.
        problem: what else goes into the problem.
    """

    robot: Robot
    scene: Scene
    stance: Stance
    kinematics: RobotKinematics
    stability: StabilityKind
    initial: NDArray[np.float64]
    solver: str
    options: SolverOptions
    problem: Mapping[str, Any]


def _read(cache: PlanningCache, defaults: PostureDefaults, request: GeneratePosture.Request) -> _Asked:
    base_scene, robot = requested_scene(cache, request.scene, request.robot, defaults.scene)
    scene = request_scene(base_scene, request.surfaces, robot, "surfaces")
    held = stance(request.stance, contact_locations(request.locations, robot, "locations"), scene.surfaces, "stance")
    kinematics = RobotKinematics(robot)
    stability = check_enumerated(request.stability, StabilityKind, "stability")
    kind = check_enumerated(request.criterion, CriterionKind, "criterion")
    tasks = [posture_task(task, kinematics, f"tasks[{i}]") for i, task in enumerate(request.tasks)]
    loads = tuple(load(wrench, kinematics, f"loads[{i}]") for i, wrench in enumerate(request.loads))
    _check_stability(request, stability, kind, held)
    initial = configuration(request.initial, robot, "initial")
    solver = check_known(request.solver or defaults.solver, solver_names(), "solver", "solver")
    options = SolverOptions(
        max_iterations=request.max_iterations or defaults.max_iterations,
        time_limit=_time_limit(request.time_limit, defaults),
    )
    collision_margin = check_not_negative(request.collision_margin, "collision_margin", "m")
    if collision_margin > 0.0 and not request.collisions:
        raise InputError(
            f"is {collision_margin:g}, but collisions are not avoided",
            element="collision_margin",
            remedy="Set collisions, or leave the margin at 0",
        )
    problem: dict[str, Any] = {
        "tasks": tasks,
        "criterion": _criterion(request, kind, held, scene, kinematics),
        "stability": STABILITY_WORDS[stability],
        "torque_limits": bool(request.torque_limits),
        "loads": loads,
        "joint_margin": check_not_negative(request.joint_margin, "joint_margin", "rad or m"),
        "stability_margin": _stability_margin(request, stability),
    }
    if request.collisions:
        problem["collisions"] = cache.collision_model(robot, base_scene)
        problem["collision_margin"] = collision_margin
    return _Asked(robot, scene, held, kinematics, stability, initial, solver, options, problem)


def _check_stability(
    request: GeneratePosture.Request, stability: StabilityKind, criterion: CriterionKind, held: Stance
) -> None:
    """Raise where what is asked for needs contact forces, or contacts, that there aren't."""
    if stability is not StabilityKind.CONTACT_FORCES:
        for field, given in (
            ("torque_limits are set", request.torque_limits),
            ("there are loads", request.loads),
            ("the criterion is LEAST_TORQUE", criterion is CriterionKind.LEAST_TORQUE),
        ):
            if given:
                raise InputError(
                    f"is {stability.value} ({stability.name}), but {field}",
                    element="stability",
                    remedy=f"Give {StabilityKind.CONTACT_FORCES.value} (CONTACT_FORCES)",
                )
    if stability is not StabilityKind.NO_STABILITY and not any(contact.kind.bears for contact in held.contacts):
        raise InputError(
            "no contact bears force",
            element="stance",
            remedy=f"Give one of kind FIXED, SLIDING or RELAXED, or stability {StabilityKind.NO_STABILITY.value} "
            "(NO_STABILITY)",
        )


def _stability_margin(request: GeneratePosture.Request, stability: StabilityKind) -> float:
    margin = check_not_negative(request.stability_margin, "stability_margin", "m or N")
    if margin > 0.0 and stability is StabilityKind.NO_STABILITY:
        raise InputError(
            f"is {margin:g}, but stability is {stability.value} (NO_STABILITY)",
            element="stability_margin",
            remedy="Leave it at 0, or give another stability",
        )
    return margin


def _time_limit(message: Duration, defaults: PostureDefaults) -> float:
    limit = seconds(message)
    if limit < 0.0:
        raise InputError(
            f"is {limit:g} s", element="time_limit", remedy="Give a duration above 0, or 0 for the node's default"
        )
    return limit or defaults.time_limit


def _criterion(
    request: GeneratePosture.Request,
    kind: CriterionKind,
    held: Stance,
    scene: Scene,
    kinematics: RobotKinematics,
) -> Criterion | None:
    robot = kinematics.robot
    if kind is CriterionKind.NEAR_REFERENCE:
        return NearReference(kinematics, configuration(request.reference, robot, "reference"))
    if kind is CriterionKind.NEAR_MIDDLE:
        return near_middle(kinematics)
    if kind is CriterionKind.NEAR_GUIDE:
        if len(request.guide) < 2:
            raise InputError(f"has {len(request.guide)} postures", element="guide", remedy="Give two or more")
        return NearPath(
            kinematics, [configuration(posture, robot, f"guide[{i}]") for i, posture in enumerate(request.guide)]
        )
    if kind is CriterionKind.LEAST_TORQUE:
        weight = kinematics.total_mass * float(np.linalg.norm(scene.gravity))
        return LeastTorque(kinematics, weight or 1.0)
    if kind is CriterionKind.NO_CRITERION:
        return None
    placed = [place_contact(contact, kinematics, scene) for contact in held.contacts]
    centre = centre_in_polygon if kind is CriterionKind.CENTRE_IN_POLYGON else centre_in_wrenches
    return centre(kinematics, placed, scene.gravity)


def _fill(asked: _Asked, result: PostureResult, response: GeneratePosture.Response) -> ShownPosture:
    robot, kinematics = asked.robot, asked.kinematics
    kinematics.set(kinematics.coordinates(result.q))
    placed = {
        contact.location.name: place_contact(contact, kinematics, asked.scene) for contact in asked.stance.contacts
    }
    patches = {name: patch_placement(contact, kinematics) for name, contact in placed.items()}
    response.success = bool(result.success)
    response.report = report_message(result)
    response.message = response.report.explanation
    posture = response.posture
    posture.stance = stance_message(
        asked.stance,
        {
            name: (
                patches[name],
                surface_frame(contact, kinematics) * contact.contact.placement_surface_patch.inverse(),
            )
            for name, contact in placed.items()
        },
    )
    posture.posture = posture_message(robot, result.q)
    efforts = joint_efforts(result, kinematics)
    posture.joint_names, posture.efforts = list(efforts), list(efforts.values())
    posture.forces = force_messages(result, placed, kinematics)
    centre = np.array(kinematics.centre_of_mass())
    fill_vector(posture.centre_of_mass, centre)
    region = np.zeros((0, 3)) if result.balance is None else result.balance.region
    posture.stability_margin = 0.0 if result.balance is None else result.balance.margin
    response.support_polygon = [point(vertex) for vertex in region]
    return ShownPosture(
        robot=robot,
        q=result.q,
        patches=[patch_outline(contact, kinematics) for contact in placed.values()],
        forces=posture.forces,
        centre_of_mass=centre,
        support_polygon=region,
        good=response.success,
        text=_text(asked, result),
    )


def _text(asked: _Asked, result: PostureResult) -> str:
    if not result.success:
        return result.explanation
    if asked.stability is StabilityKind.NO_STABILITY:
        return ""
    return "stability margin 0" if result.balance is None else f"stability {margin_text(result.balance)}"
