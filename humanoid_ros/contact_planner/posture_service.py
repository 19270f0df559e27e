# SPDX-License-Identifier: Apache-2.0
"""The answer to a generate_posture request."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from humanoid_stack.srv import GeneratePosture

from humanoid_model import Scene, Stance
from humanoid_model.checks import check_enumerated, check_known
from humanoid_model.errors import InputError
from humanoid_model.fields import Described, count, number, text
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.optimisation.solve import solver_names
from humanoid_planner.posture import Criterion, PostureProblem, PostureRequirements, PostureResult, solve_problem
from humanoid_planner.posture.generate import DEFAULT_SOLVER
from humanoid_planner.posture.planning_cache import PlanningCache
from humanoid_planner.posture.problem import STABILITIES, surface_frame
from humanoid_planner.posture.stance_equilibrium import patch_outline, patch_placement
from humanoid_planner.posture.tasks.contact import place_contact
from humanoid_planner.posture.tasks.criteria import centre_in_polygon, centre_in_wrenches
from humanoid_ros.contact_planner.criterion_messages import CriterionKind, read_criterion
from humanoid_ros.contact_planner.posture_answer import force_messages, joint_efforts, margin_text, report_message
from humanoid_ros.contact_planner.posture_markers import ShownPosture
from humanoid_ros.contact_planner.posture_task_messages import check_collision_margin, load, posture_task
from humanoid_ros.contact_planner.requested_scene import requested_scene
from humanoid_ros.messages.conversions import fill_vector, point
from humanoid_ros.messages.field_values import read_fields
from humanoid_ros.messages.posture_messages import configuration, posture_message
from humanoid_ros.messages.stance_messages import contact_locations, request_scene, stance, stance_message
from humanoid_ros.node.request_fields import time_limit


@dataclass(frozen=True)
class PostureDefaults(Described):
    """What a request leaves open, as the node's parameters have it.

    Attributes:
        scene: name or path.
    """

    scene: str
    solver: str = text(DEFAULT_SOLVER, "solver of requests that name none")
    max_iterations: int = count(150, "solver iterations of requests that give 0", low=1, high=100000)
    time_limit: float = number(
        10.0, "wall-clock time that a request may take that gives 0", "s", low=1e-3, high=3600.0
    )


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
    base_scene, robot = requested_scene(cache, request.scene, request.robot, defaults.scene)
    scene = request_scene(base_scene, request.surfaces, robot, "surfaces")
    held = stance(request.stance, contact_locations(request.locations, robot, "locations"), scene.surfaces, "stance")
    kinematics = RobotKinematics(robot)
    wanted = _requirements(request, held, scene, kinematics)
    if request.collisions:
        wanted = replace(wanted, collisions=cache.collision_model(robot, base_scene))
    initial = configuration(request.initial, robot, "initial")
    result = solve_problem(
        PostureProblem(robot, held, wanted, start=initial, kinematics=kinematics),
        initial,
        solver=check_known(request.solver or defaults.solver, solver_names(), "solver", "solver"),
        options=SolverOptions(
            max_iterations=request.max_iterations or defaults.max_iterations,
            time_limit=time_limit(request.time_limit, defaults.time_limit),
        ),
        largest_margin=True,
    )
    return _fill(held, wanted, scene, kinematics, result, response)


def _requirements(
    request: GeneratePosture.Request, held: Stance, scene: Scene, kinematics: RobotKinematics
) -> PostureRequirements:
    """Return what a request asks of a posture, but for a model of collisions."""
    fields = read_fields(PostureRequirements, request)
    kind = check_enumerated(request.criterion, CriterionKind, "criterion")
    _check_stability(request, fields["stability"], kind, held)
    check_collision_margin(request)
    wanted = PostureRequirements(
        **{**fields, "collisions": False},
        scene=scene,
        tasks=[posture_task(task, kinematics, f"tasks[{i}]") for i, task in enumerate(request.tasks)],
        criterion=_criterion(request, kind, held, scene, kinematics),
        loads=tuple(load(wrench, kinematics, f"loads[{i}]") for i, wrench in enumerate(request.loads)),
    )
    if wanted.stability_margin > 0.0 and wanted.stability == "none":
        raise InputError(
            f"is {wanted.stability_margin:g}, but stability is {request.stability} (NO_STABILITY)",
            element="stability_margin",
            remedy="Leave it at 0, or give another stability",
        )
    return wanted


def _check_stability(
    request: GeneratePosture.Request, stability: str, criterion: CriterionKind, held: Stance
) -> None:
    """Raise where what is asked for needs contact forces, or contacts, that there aren't."""
    if stability != "forces":
        for field, given in (
            ("torque_limits are set", request.torque_limits),
            ("there are loads", request.loads),
            ("the criterion is LEAST_TORQUE", criterion is CriterionKind.LEAST_TORQUE),
        ):
            if given:
                raise InputError(
                    f"is {request.stability} ({STABILITIES[stability]}), but {field}",
                    element="stability",
                    remedy=f"Give {request.CONTACT_FORCES} (CONTACT_FORCES)",
                )
    if stability != "none" and not any(contact.kind.bears for contact in held.contacts):
        raise InputError(
            "no contact bears force",
            element="stance",
            remedy=f"Give one of kind FIXED, SLIDING or RELAXED, or stability {request.NO_STABILITY} (NO_STABILITY)",
        )


def _criterion(
    request: GeneratePosture.Request, kind: CriterionKind, held: Stance, scene: Scene, kinematics: RobotKinematics
) -> Criterion | None:
    if kind.of_one_stance:
        placed = [place_contact(contact, kinematics, scene) for contact in held.contacts]
        centre = centre_in_polygon if kind is CriterionKind.CENTRE_IN_POLYGON else centre_in_wrenches
        return centre(kinematics, placed, scene.gravity)
    reference = configuration(request.reference, kinematics.robot, "reference")
    guide = [configuration(posture, kinematics.robot, f"guide[{i}]") for i, posture in enumerate(request.guide)]
    return read_criterion(kind, kinematics, scene, reference, guide)


def _fill(
    held: Stance,
    wanted: PostureRequirements,
    scene: Scene,
    kinematics: RobotKinematics,
    result: PostureResult,
    response: GeneratePosture.Response,
) -> ShownPosture:
    robot = kinematics.robot
    kinematics.set(kinematics.coordinates(result.q))
    placed = {contact.location.name: place_contact(contact, kinematics, scene) for contact in held.contacts}
    patches = {name: patch_placement(contact, kinematics) for name, contact in placed.items()}
    response.success = bool(result.success)
    response.report = report_message(result)
    response.message = response.report.explanation
    posture = response.posture
    posture.stance = stance_message(
        held,
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
        text=_text(wanted, result),
    )


def _text(wanted: PostureRequirements, result: PostureResult) -> str:
    if not result.success:
        return result.explanation
    if wanted.stability == "none":
        return ""
    return "stability margin 0" if result.balance is None else f"stability {margin_text(result.balance)}"
