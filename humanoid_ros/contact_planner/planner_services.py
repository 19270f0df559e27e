# SPDX-License-Identifier: Apache-2.0
"""Answers to the services `generate_posture`, `check_equilibrium` and `verify_plan`.

A node answers some before any request, so that the first request finds all in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from humanoid_stack.msg import Contact, PlanViolation, Surface
from humanoid_stack.msg import Stance as StanceMessage
from humanoid_stack.srv import CheckEquilibrium, GeneratePosture, VerifyPlan

from humanoid_model import Robot, Scene, Stance
from humanoid_model.checks import check_enumerated, check_known
from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.fields import Described, count, number, text
from humanoid_planner.contacts import verify_plan
from humanoid_planner.contacts.verify_plan import PlanLimits
from humanoid_planner.equilibrium.body_equilibrium import EquilibriumMethod
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.optimisation.solve import solver_names
from humanoid_planner.posture import Criterion, PostureResult, check_stance
from humanoid_planner.posture.generate import DEFAULT_SOLVER, solve_problem
from humanoid_planner.posture.planning_cache import PlanningCache
from humanoid_planner.posture.problem import STABILITIES, PostureProblem, PostureRequirements, surface_frame
from humanoid_planner.posture.stance_equilibrium import patch_outline, patch_placement
from humanoid_planner.posture.tasks.contact import place_contact
from humanoid_planner.posture.tasks.criteria import centre_in_polygon, centre_in_wrenches
from humanoid_ros.contact_planner.plan_messages import read_plan
from humanoid_ros.contact_planner.planner_markers import ShownPosture
from humanoid_ros.contact_planner.posture_answer import (
    force_messages,
    joint_efforts,
    margin_text,
    report_message,
    stance_force_messages,
)
from humanoid_ros.contact_planner.posture_request import (
    CriterionKind,
    check_collision_margin,
    load,
    posture_task,
    read_criterion,
    requested_scene,
)
from humanoid_ros.messages.conversions import fill_pose, fill_vector, point
from humanoid_ros.messages.posture_messages import configuration, posture_message
from humanoid_ros.messages.request_fields import check_constant, constants, read_fields, time_limit, vector
from humanoid_ros.messages.stance_messages import WORLD, contact_locations, request_scene, stance, stance_message


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


def answer_check_equilibrium(
    cache: PlanningCache,
    default_scene: str,
    request: CheckEquilibrium.Request,
    response: CheckEquilibrium.Response,
) -> ShownPosture:
    """Fill a response with whether the stance of a request keeps the robot in equilibrium.

    Args:
        cache: where robots and scenes are kept.
        default_scene: of a request that names none.
        request: the request.
        response: to fill.

    Returns:
        What to draw.

    Raises:
        InputError: a field can't be used; the message names it.
    """
    base_scene, robot = requested_scene(cache, request.scene, request.robot, default_scene)
    scene = request_scene(base_scene, request.surfaces, robot, "surfaces")
    locations = contact_locations(request.locations, robot, "locations")
    kinematics = RobotKinematics(robot)
    q = configuration(request.posture, robot, "posture") if request.use_posture else None
    answer = check_stance(
        robot,
        stance(request.stance, locations, scene.surfaces, "stance"),
        scene=scene,
        posture=q,
        centre_of_mass=None if request.use_posture else vector(request.centre_of_mass, "centre_of_mass"),
        method=EquilibriumMethod[check_constant(request.method, CheckEquilibrium.Request, "method")],
        acceleration=vector(request.acceleration, "acceleration"),
        loads=[load(wrench, kinematics, f"loads[{i}]") for i, wrench in enumerate(request.loads)],
        torque_limits=bool(request.torque_limits),
        kinematics=kinematics,
    )
    response.equilibrium = answer.equilibrium
    response.margin = answer.margin
    response.forces = stance_force_messages(answer, robot)
    response.support_polygon = [point(vertex) for vertex in answer.region]
    response.joint_names, response.efforts = list(answer.efforts), list(answer.efforts.values())
    words = "equilibrium" if answer.equilibrium else "no equilibrium"
    return ShownPosture(
        robot=robot,
        q=q,
        # Without a posture it is unknown where contacts on the robot's own links are.
        patches=[
            patch_outline(contact, None if q is None else kinematics)
            for contact in answer.contacts
            if q is not None or not contact.ground
        ],
        forces=response.forces,
        centre_of_mass=answer.centre_of_mass,
        support_polygon=answer.region,
        good=answer.equilibrium,
        text=f"{words}, {margin_text(answer)}",
    )


def answer_verify_plan(cache: PlanningCache, request: VerifyPlan.Request, response: VerifyPlan.Response) -> None:
    """Fill a response with what is wrong with the plan of a request.

    Args:
        cache: where robots and scenes are kept.
        request: the request.
        response: to fill.

    Raises:
        InputError: a field can't be used; the message names it.
    """
    limits = PlanLimits(**read_fields(PlanLimits, request))
    plan = read_plan(cache, request.plan, "plan")
    verdict = verify_plan(plan.robot, plan.scene, plan.stances, plan.postures, limits)
    response.valid = verdict.success
    response.violations = [
        PlanViolation(step=one.stance, sample=one.sample, kind=one.kind, what=one.what) for one in verdict.violations
    ]
    response.postures = verdict.postures
    response.max_drift, response.min_margin = float(verdict.drift), float(verdict.margin)
    response.max_torque = float(verdict.torque)


def warm_up(cache: PlanningCache, defaults: PostureDefaults) -> None:
    """Answer requests about the robots of the node's scene as they stand, and forget the answers.

    Compiled functions are loaded (or compiled, where they never were), robots, scene and volumes are kept.

    Args:
        cache: where robots and scenes are kept.
        defaults: of the node.
    """
    for placed in cache.scene(defaults.scene, "scene").robots:
        robot = placed.robot
        stance, surfaces = _standing(robot)
        name = robot.description.source
        try:
            answer_generate_posture(
                cache,
                defaults,
                GeneratePosture.Request(
                    robot=name,
                    stance=stance,
                    surfaces=surfaces,
                    stability=GeneratePosture.Request.CONTACT_FORCES,
                    criterion=GeneratePosture.Request.NEAR_REFERENCE,
                    torque_limits=True,
                    collisions=True,
                ),
                GeneratePosture.Response(),
            )
            for method in constants(CheckEquilibrium.Request).values():
                request = CheckEquilibrium.Request(robot=name, stance=stance, surfaces=surfaces, method=method)
                answer_check_equilibrium(cache, defaults.scene, request, CheckEquilibrium.Response())
        except HumanoidError:
            pass  # a robot without soles, or fixed to the world: a request about it is refused


def _standing(robot: Robot) -> tuple[StanceMessage, list[Surface]]:
    """Return the soles of a robot where its default posture has them, each on a surface of its own."""
    links = robot.link_placements(robot.default_posture)
    stance, surfaces = StanceMessage(), []
    for place in robot.contacts.values():
        if place.support:
            surface = Surface(name=f"below {place.name}", body=WORLD)
            fill_pose(surface.pose, links[place.link] * place.placement_link_patch)
            surfaces.append(surface)
            stance.contacts.append(Contact(location=place.name, surface=surface.name))
    return stance, surfaces
