# SPDX-License-Identifier: Apache-2.0
"""A request for a contact plan as the library's problem."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pinocchio as pin
from humanoid_stack.msg import ContactCandidates, ContactPlanRequest, PlanPotential
from humanoid_stack.msg import StanceTerm as TermMessage
from humanoid_stack.srv import GeneratePosture
from numpy.typing import NDArray

from humanoid_model import Robot, Scene, Stance
from humanoid_model.checks import check_enumerated, check_finite, check_known, check_not_negative
from humanoid_model.contact import ContactKind
from humanoid_model.errors import InputError
from humanoid_model.fields import Described, count, number, text
from humanoid_planner.contacts import (
    Attractor,
    BarycentreNear,
    CentreOfMassAttractor,
    ContactCount,
    ContactProblem,
    CrossedPenalty,
    LocationPenalty,
    OnlyPenalty,
    PointAlongGuide,
    PointAttractor,
    PredefinedCandidates,
    RandomCandidates,
    SearchVolumes,
    StanceTerm,
)
from humanoid_planner.contacts.candidates import Candidates
from humanoid_planner.contacts.contact_problem import POSTURE
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.posture import Criterion, NearReference, WeightedSum
from humanoid_planner.posture.motion.guide import NearGuide
from humanoid_planner.posture.planning_cache import PlanningCache
from humanoid_ros.contact_planner.posture_request import (
    CriterionKind,
    check_collision_margin,
    check_guide,
    load,
    posture_task,
    read_criterion,
    requested_scene,
)
from humanoid_ros.messages.posture_messages import configuration
from humanoid_ros.messages.request_fields import check_constant, read_fields, vector, within
from humanoid_ros.messages.stance_messages import contact_locations, request_scene, stance


@dataclass(frozen=True)
class PlanDefaults(Described):
    """What requests for plans and motions leave open, as the node's parameters have it."""

    scene: str = text("stand", "scene of requests that name none: a name, or the path of a file")
    plan_nodes: int = count(5000, "nodes of the tree of plan requests that give 0", low=1, high=10**9)
    plan_time_limit: float = number(60.0, "wall-clock time of plan requests that give 0", "s", low=1e-3, high=86400.0)
    motion_time_limit: float = number(
        600.0, "wall-clock time of motion requests that give 0", "s", low=1e-3, high=86400.0
    )


def read_plan_request(cache: PlanningCache, default_scene: str, request: ContactPlanRequest) -> ContactProblem:
    """Return the problem that a request is.

    Args:
        cache: where robots and scenes are kept.
        default_scene: of a request that names none.
        request: the request.

    Raises:
        InputError: a field can't be used; the message names it, its value, and what would be right.
    """
    base_scene, robot = requested_scene(cache, request.scene, request.robot, default_scene)
    if robot.base_joint is None:
        raise InputError(
            f"'{robot.name}' is fixed to the world", element="robot", remedy="Give a robot with a floating base"
        )
    check_collision_margin(request)
    collisions = cache.collision_model(robot, base_scene) if request.collisions else False
    locations = contact_locations(request.locations, robot, "locations")
    if request.locations:
        robot = dataclasses.replace(robot, contacts=locations)
    scene = request_scene(base_scene, request.surfaces, robot, "surfaces")
    kinematics = RobotKinematics(robot)
    used = _used_locations(request, robot)
    surfaces = _used_surfaces(request, scene, request.scene or default_scene)
    guide = [configuration(item, robot, f"guide[{i}]") for i, item in enumerate(request.guide)]
    reference = configuration(request.reference, robot, "reference")
    potential = _potential(request, kinematics, guide, reference)
    criterion = _criterion(request, kinematics, scene, guide, reference)
    candidates = _candidates(request.candidates, used, surfaces)
    fields = read_fields(ContactProblem, request, GeneratePosture.Request)
    if fields["method"] == "vbfp":
        _check_vbfp(candidates, potential, criterion)
    if not request.goal:
        raise InputError("is empty", element="goal", remedy="Give at least one task of the last posture")
    return ContactProblem(
        **{**fields, "collisions": collisions},
        robot=robot,
        scene=scene,
        start=_start(request, locations, scene, used, surfaces),
        goal=[posture_task(task, kinematics, f"goal[{i}]") for i, task in enumerate(request.goal)],
        goal_holds=tuple(_goal_holds(request, used, surfaces)),
        locations=used,
        candidates=candidates,
        potential=potential,
        terms=[_term(term, scene, robot, f"terms[{i}]") for i, term in enumerate(request.terms)],
        criterion=criterion,
        surfaces=surfaces,
        forbidden=tuple(_forbidden(request, robot, used, surfaces)),
        start_posture=configuration(request.start_posture, robot, "start_posture"),
        tasks=[posture_task(task, kinematics, f"tasks[{i}]") for i, task in enumerate(request.tasks)],
        options=_options(request),
        loads=tuple(load(item, kinematics, f"loads[{i}]") for i, item in enumerate(request.loads)),
    )


def surface_placements(scene: Scene) -> dict[str, pin.SE3]:
    """Return world placements of the surfaces of a scene's bodies; those of a robot's links have none."""
    bodies = {body.name: body.placement_world_body for body in scene.bodies}
    return {
        surface.name: bodies[surface.body] * surface.placement_body_surface
        for surface in scene.surfaces
        if surface.body in bodies
    }


def _used_locations(request: ContactPlanRequest, robot: Robot) -> list[str]:
    standing = [name for name, place in robot.contacts.items() if place.support]
    return _names(request.used_locations or standing, robot.contacts, "used_locations", "contact location")


def _used_surfaces(request: ContactPlanRequest, scene: Scene, scene_name: str) -> list[str]:
    fixed = list(surface_placements(scene))
    if not fixed:
        raise InputError(
            f"the scene '{scene_name}' has none that is fixed in the world",
            element="surfaces",
            remedy="Give some, or another scene",
        )
    return _names(request.used_surfaces or fixed, fixed, "used_surfaces", "fixed surface")


def _names(given: Sequence[str], known: Iterable[str], field: str, what: str) -> list[str]:
    if not given:
        raise InputError("is empty", element=field, remedy=f"Give some of {', '.join(known)}")
    for i, name in enumerate(given):
        check_known(name, known, f"{field}[{i}]", what)
        if name in given[:i]:
            raise InputError(f"'{name}' comes twice", element=f"{field}[{i}]", remedy="Name each once")
    return list(given)


def _start(
    request: ContactPlanRequest, locations: Any, scene: Scene, used: Collection[str], surfaces: Collection[str]
) -> Stance:
    if not request.start.contacts:
        raise InputError("is empty", element="start.contacts", remedy="Give the contacts that the robot begins on")
    held = stance(request.start, locations, scene.surfaces, "start")
    for i, contact in enumerate(request.start.contacts):
        check_known(contact.location, used, f"start.contacts[{i}].location", "used location")
        check_known(contact.surface, surfaces, f"start.contacts[{i}].surface", "used surface")
        if contact.kind != ContactKind.FIXED:
            raise InputError(
                f"is {contact.kind} ({ContactKind(contact.kind).name})",
                element=f"start.contacts[{i}].kind",
                remedy=f"Give {ContactKind.FIXED.value} (FIXED)",
            )
    return held


def _forbidden(
    request: ContactPlanRequest, robot: Robot, used: Sequence[str], surfaces: Sequence[str]
) -> Iterator[tuple[str, str]]:
    known = [*used, *(robot.contacts[name].link for name in used)]
    for i, item in enumerate(request.forbidden):
        if not item.location and not item.surface:
            raise InputError("names nothing", element=f"forbidden[{i}]", remedy="Give a location, a surface, or both")
        if item.location:
            check_known(item.location, known, f"forbidden[{i}].location", "used location or its link")
        if item.surface:
            check_known(item.surface, surfaces, f"forbidden[{i}].surface", "used surface")
        for location in [item.location] if item.location else used:
            for surface in [item.surface] if item.surface else surfaces:
                yield location, surface


def _goal_holds(
    request: ContactPlanRequest, used: Sequence[str], surfaces: Sequence[str]
) -> Iterator[tuple[str, str]]:
    for i, item in enumerate(request.goal_holds):
        check_known(item.location, used, f"goal_holds[{i}].location", "used location")
        check_known(item.surface, surfaces, f"goal_holds[{i}].surface", "used surface")
        yield item.location, item.surface


def _options(request: ContactPlanRequest) -> SolverOptions:
    """Return the library's options of the search for one posture, but for what a request gives."""
    tolerance = check_not_negative(request.optimality_tolerance, "optimality_tolerance", "-")
    return dataclasses.replace(
        POSTURE,
        max_iterations=int(request.max_iterations) or POSTURE.max_iterations,
        optimality_tolerance=tolerance or POSTURE.optimality_tolerance,
    )


def _candidates(message: ContactCandidates, used: Sequence[str], surfaces: Sequence[str]) -> Candidates | SearchVolumes:
    check_constant(message.kind, ContactCandidates, "candidates.kind")
    with within("candidates"):
        drawn = RandomCandidates(**read_fields(RandomCandidates, message), headings=tuple(message.headings))
        chosen = SearchVolumes(**read_fields(SearchVolumes, message))
    if message.kind != ContactCandidates.GIVEN:
        return drawn if message.kind == ContactCandidates.DRAWN else chosen
    if not message.places:
        raise InputError("is empty", element="candidates.places", remedy="Give at least one place, or another kind")
    places: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for i, item in enumerate(message.places):
        field = f"candidates.places[{i}]"
        check_known(item.location, used, f"{field}.location", "used location")
        check_known(item.surface, surfaces, f"{field}.surface", "used surface")
        x, y, theta = (check_finite(getattr(item, name), f"{field}.{name}") for name in ("x", "y", "theta"))
        places.setdefault((item.location, item.surface), []).append((x, y, theta))
    return PredefinedCandidates(places)


def _check_vbfp(candidates: object, potential: Criterion | None, criterion: Criterion | None) -> None:
    """Raise where the best child of a couple wouldn't be what the posture generator finds."""
    if not isinstance(candidates, SearchVolumes):
        raise InputError(
            "are not CHOSEN, but the method is VBFP",
            element="candidates.kind",
            remedy=f"Give {ContactCandidates.CHOSEN} (CHOSEN), or method {ContactPlanRequest.BFP} (BFP)",
        )
    if potential is None:
        raise InputError("is empty, but the method is VBFP", element="potentials", remedy="Give at least one")
    if criterion is not None:
        raise InputError(
            "is given, but the method is VBFP, which goes by the potentials",
            element="criterion",
            remedy="Give 0, and a potential of kind REFERENCE with a small weight",
        )


def _potential(
    request: ContactPlanRequest,
    kinematics: RobotKinematics,
    guide: list[NDArray[Any]],
    reference: NDArray[Any],
) -> Criterion | None:
    parts = [_part(item, kinematics, guide, reference, f"potentials[{i}]") for i, item in enumerate(request.potentials)]
    if len(parts) == 1 and parts[0][0] == 1.0:
        return parts[0][1]
    return WeightedSum(parts) if parts else None


def _part(
    item: PlanPotential,
    kinematics: RobotKinematics,
    guide: list[NDArray[Any]],
    reference: NDArray[Any],
    field: str,
) -> tuple[float, Criterion]:
    check_constant(item.kind, PlanPotential, f"{field}.kind")
    weight = check_not_negative(item.weight, f"{field}.weight", "-")
    target = vector(item.target, f"{field}.target")
    switch = check_not_negative(item.switch_distance, f"{field}.switch_distance", "m")
    progress = check_finite(item.progress, f"{field}.progress")
    if item.kind in (PlanPotential.GUIDE, PlanPotential.POINT_ALONG_GUIDE):
        check_guide(guide)
    if item.kind == PlanPotential.CENTRE_OF_MASS:
        return weight, CentreOfMassAttractor(Attractor(target, switch))
    if item.kind == PlanPotential.REFERENCE:
        return weight, NearReference(kinematics, reference)
    if item.kind == PlanPotential.GUIDE:
        return weight, NearGuide(kinematics, guide, progress, switch or None)
    link = check_known(item.link, kinematics.robot.description.links, f"{field}.link", "link")
    point = vector(item.point, f"{field}.point")
    if item.kind == PlanPotential.POINT:
        return weight, PointAttractor(Attractor(target, switch), link, point)
    with within(field):
        return weight, PointAlongGuide(kinematics, guide, link, point, progress, switch)


def _term(item: TermMessage, scene: Scene, robot: Robot, field: str) -> StanceTerm:
    check_constant(item.kind, TermMessage, f"{field}.kind")
    weight = check_finite(item.weight, f"{field}.weight")
    counted = "preferred", "new_contact", "released_contact"
    numbers = [check_finite(getattr(item, name), f"{field}.{name}") for name in counted]
    if item.kind == TermMessage.CONTACTS:
        return ContactCount(weight, *numbers)
    if item.kind == TermMessage.BARYCENTRE:
        return BarycentreNear(vector(item.target, f"{field}.target"), surface_placements(scene), weight)
    if item.kind == TermMessage.CROSSED:
        width = check_not_negative(item.width, f"{field}.width", "m")
        if len(item.names) != 2:
            raise InputError(
                f"has {len(item.names)} names", element=f"{field}.names", remedy="Give the left and the right location"
            )
        for i, name in enumerate(item.names):
            check_known(name, robot.contacts, f"{field}.names[{i}]", "contact location")
        return CrossedPenalty(surface_placements(scene), weight, width, *item.names)
    known = [*robot.contacts, *robot.description.links]
    if not item.names:
        raise InputError("is empty", element=f"{field}.names", remedy="Give names of locations or links")
    for i, name in enumerate(item.names):
        check_known(name, known, f"{field}.names[{i}]", "contact location or link")
    if item.kind == TermMessage.LOCATIONS:
        return LocationPenalty(dict.fromkeys(item.names, weight))
    return OnlyPenalty(frozenset(item.names), weight)


def _criterion(
    request: ContactPlanRequest,
    kinematics: RobotKinematics,
    scene: Scene,
    guide: list[NDArray[Any]],
    reference: NDArray[Any],
) -> Criterion | None:
    kind = check_enumerated(request.criterion, CriterionKind, "criterion")
    if kind.of_one_stance:
        known = (f"{one.value} ({one.name})" for one in CriterionKind if one.value and not one.of_one_stance)
        raise InputError(
            f"is {kind.value} ({kind.name}), which belongs to one stance",
            element="criterion",
            remedy=f"Give one of {', '.join(known)}, or 0",
        )
    if kind is CriterionKind.LEAST_TORQUE and request.stability != GeneratePosture.Request.CONTACT_FORCES:
        raise InputError(
            f"is {request.stability}, but the criterion is LEAST_TORQUE",
            element="stability",
            remedy=f"Give {GeneratePosture.Request.CONTACT_FORCES} (CONTACT_FORCES)",
        )
    return read_criterion(kind, kinematics, scene, reference, guide)
