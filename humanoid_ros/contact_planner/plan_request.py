# SPDX-License-Identifier: Apache-2.0
"""A request for a contact plan as the library's problem."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
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
from humanoid_planner.contacts import (
    Attractor,
    BarycentreNear,
    CentreOfMassAttractor,
    ContactCount,
    CrossedPenalty,
    LocationPenalty,
    OnlyPenalty,
    PointAlongGuide,
    PointAttractor,
    PredefinedCandidates,
    RandomCandidates,
    SearchVolumes,
    StanceMetric,
    StanceTerm,
)
from humanoid_planner.contacts.contact_problem import POSTURE
from humanoid_planner.contacts.stances.candidates import Candidates
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.result import SolverOptions
from humanoid_planner.posture import Criterion, LeastTorque, Load, NearReference, WeightedSum, near_middle
from humanoid_planner.posture.motion.near_guide import NearGuide
from humanoid_planner.posture.planning_cache import PlanningCache
from humanoid_planner.posture.problem.near_path import NearPath
from humanoid_ros.contact_planner.posture_service import STABILITY_WORDS, CriterionKind, StabilityKind
from humanoid_ros.contact_planner.posture_task_messages import load, posture_task
from humanoid_ros.contact_planner.requested_scene import requested_scene
from humanoid_ros.messages.conversions import seconds
from humanoid_ros.messages.posture_messages import configuration
from humanoid_ros.messages.stance_messages import contact_locations, request_scene, stance
from humanoid_ros.node.request_fields import vector

_Stability = IntEnum(  # type: ignore[misc]
    "_Stability", {**{kind.name: kind.value for kind in StabilityKind}, "AUTO": ContactPlanRequest.AUTO}
)


#: Fields of a request that are numbers of :class:`humanoid_planner.posture.PostureRequirements`, with their units.
_POSTURE_NUMBERS = {
    "collision_margin": "m",
    "stability_margin": "m or N",
    "centre_margin": "m",
    "joint_margin": "rad or m",
    "friction": "-",
}


class Method(IntEnum):
    """How the search goes on; the library's methods have the same names."""

    BFP = ContactPlanRequest.BFP
    VBFP = ContactPlanRequest.VBFP


class PlacesKind(IntEnum):
    """Where contacts may be."""

    DRAWN = ContactCandidates.DRAWN
    GIVEN = ContactCandidates.GIVEN
    CHOSEN = ContactCandidates.CHOSEN


class PreContact(IntEnum):
    """Whether a location must come near its surface first; the library's ``None``, ``True`` and ``False``."""

    WHERE_CHOSEN = ContactPlanRequest.WHERE_CHOSEN
    ALWAYS = ContactPlanRequest.ALWAYS
    NEVER = ContactPlanRequest.NEVER


class PotentialKind(IntEnum):
    """What guides the search."""

    CENTRE_OF_MASS = PlanPotential.CENTRE_OF_MASS
    POINT = PlanPotential.POINT
    GUIDE = PlanPotential.GUIDE
    POINT_ALONG_GUIDE = PlanPotential.POINT_ALONG_GUIDE
    REFERENCE = PlanPotential.REFERENCE


class TermKind(IntEnum):
    """What stances are judged by."""

    CONTACTS = TermMessage.CONTACTS
    LOCATIONS = TermMessage.LOCATIONS
    ONLY = TermMessage.ONLY
    BARYCENTRE = TermMessage.BARYCENTRE
    CROSSED = TermMessage.CROSSED


@dataclass(frozen=True)
class PlanDefaults:
    """What requests leave open.

    Attributes:
        scene: name or path.
        max_nodes: of the tree.
        time_limit: wall-clock time [s].
    """

    scene: str
    max_nodes: int
    time_limit: float

    def limit(self, request: ContactPlanRequest) -> float:
        """Wall-clock time that a request may take [s]."""
        return seconds(request.time_limit) or self.time_limit


@dataclass(frozen=True)
class AskedPlan:
    """A request in the library's terms.

    Attributes:
        problem: what :class:`humanoid_planner.contacts.ContactPlanner` takes.
        time_limit: of its ``run`` [s].
        max_nodes: of its tree.
        scene_name: as the request or the node names it.
    """

    problem: dict[str, Any]
    time_limit: float
    max_nodes: int
    scene_name: str

    @property
    def robot(self) -> Robot:
        """The robot, with the request's locations."""
        robot: Robot = self.problem["robot"]
        return robot

    @property
    def scene(self) -> Scene:
        """The scene, with the request's surfaces."""
        scene: Scene = self.problem["scene"]
        return scene

    @property
    def loads(self) -> Sequence[Load]:
        """What the robot carries."""
        loads: Sequence[Load] = self.problem["loads"]
        return loads


def read_plan_request(cache: PlanningCache, defaults: PlanDefaults, request: ContactPlanRequest) -> AskedPlan:
    """Return the problem that a request is.

    Args:
        cache: where robots and scenes are kept.
        defaults: what the request may leave open.
        request: the request.

    Raises:
        InputError: a field can't be used; the message names it, its value, and what would be right.
    """
    base_scene, robot = requested_scene(cache, request.scene, request.robot, defaults.scene)
    if robot.base_joint is None:
        raise InputError(
            f"'{robot.name}' is fixed to the world", element="robot", remedy="Give a robot with a floating base"
        )
    collisions = cache.collision_model(robot, base_scene) if request.collisions else False
    locations = contact_locations(request.locations, robot, "locations")
    if request.locations:
        robot = dataclasses.replace(robot, contacts=locations)
    scene = request_scene(base_scene, request.surfaces, robot, "surfaces")
    kinematics = RobotKinematics(robot)
    used = _used_locations(request, robot)
    surfaces = _used_surfaces(request, scene, request.scene or defaults.scene)
    method = check_enumerated(request.method, Method, "method")
    guide = [configuration(item, robot, f"guide[{i}]") for i, item in enumerate(request.guide)]
    reference = configuration(request.reference, robot, "reference")
    potential = _potential(request, kinematics, guide, reference)
    criterion = _criterion(request, kinematics, scene, guide, reference)
    candidates = _candidates(request.candidates, used, surfaces)
    if method is Method.VBFP:
        _check_vbfp(candidates, potential, criterion)
    if request.collision_margin > 0.0 and not request.collisions:
        raise InputError(
            f"is {request.collision_margin:g}, but collisions are not avoided",
            element="collision_margin",
            remedy="Set collisions, or leave the margin at 0",
        )
    if not request.goal:
        raise InputError("is empty", element="goal", remedy="Give at least one task of the last posture")
    stability = check_enumerated(request.stability, _Stability, "stability")
    pre_contact = check_enumerated(request.pre_contact, PreContact, "pre_contact")
    problem = {
        "robot": robot,
        "scene": scene,
        "start": _start(request, locations, scene, used, surfaces),
        "goal": [posture_task(task, kinematics, f"goal[{i}]") for i, task in enumerate(request.goal)],
        "goal_holds": tuple(_goal_holds(request, used, surfaces)),
        "locations": used,
        "candidates": candidates,
        "method": method.name.lower(),
        "potential": potential,
        "terms": [_term(term, scene, robot, f"terms[{i}]") for i, term in enumerate(request.terms)],
        "criterion": criterion,
        "surfaces": surfaces,
        "forbidden": tuple(_forbidden(request, robot, used, surfaces)),
        "posture": configuration(request.start_posture, robot, "start_posture"),
        "tasks": [posture_task(task, kinematics, f"tasks[{i}]") for i, task in enumerate(request.tasks)],
        "collisions": collisions,
        "metric": _metric(request),
        "seed": int(request.seed),
        "failure_penalty": check_not_negative(request.failure_penalty, "failure_penalty", "-"),
        "pre_contact": {PreContact.ALWAYS: True, PreContact.NEVER: False}.get(pre_contact),
        "children": int(request.children) or None,
        "reach": bool(request.reach),
        "balance": bool(request.balance),
        "options": _options(request),
        "stability": "auto" if stability == ContactPlanRequest.AUTO else STABILITY_WORDS[StabilityKind(stability)],
        "torque_limits": bool(request.torque_limits),
        "loads": tuple(load(item, kinematics, f"loads[{i}]") for i, item in enumerate(request.loads)),
    }
    for name, field in (("threshold", "max_potential"), ("goal_below", "goal_potential")):
        if getattr(request, field) != 0.0:
            problem[name] = check_finite(getattr(request, field), field)
    for name, unit in _POSTURE_NUMBERS.items():
        problem[name] = check_not_negative(getattr(request, name), name, unit)
    problem["friction"] = problem["friction"] or None
    limit = defaults.limit(request)
    if limit < 0.0:
        raise InputError(
            f"is {limit:g} s", element="time_limit", remedy="Give a duration above 0, or 0 for the node's default"
        )
    return AskedPlan(problem, limit, int(request.max_nodes) or defaults.max_nodes, request.scene or defaults.scene)


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
    kind = check_enumerated(message.kind, PlacesKind, "candidates.kind")
    numbers = {
        name: check_finite(getattr(message, name), f"candidates.{name}")
        for name in ("density", "radius", "turn", "size", "angle")
    }
    for name in ("density", "radius", "size", "angle"):
        if not numbers[name] > 0.0:
            raise InputError(f"is {numbers[name]:g}", element=f"candidates.{name}", remedy="Give a number above 0")
    if kind is PlacesKind.DRAWN:
        headings = tuple(check_finite(angle, f"candidates.headings[{i}]") for i, angle in enumerate(message.headings))
        return RandomCandidates(numbers["density"], numbers["radius"], numbers["turn"], headings)
    if kind is PlacesKind.CHOSEN:
        return SearchVolumes(numbers["size"], numbers["angle"], numbers["radius"])
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
            remedy=f"Give {PlacesKind.CHOSEN.value} (CHOSEN), or method {Method.BFP.value} (BFP)",
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
    kind = check_enumerated(item.kind, PotentialKind, f"{field}.kind")
    weight = check_not_negative(item.weight, f"{field}.weight", "-")
    target = vector(item.target, f"{field}.target")
    switch = check_not_negative(item.switch_distance, f"{field}.switch_distance", "m")
    progress = check_finite(item.progress, f"{field}.progress")
    if kind in (PotentialKind.GUIDE, PotentialKind.POINT_ALONG_GUIDE) and len(guide) < 2:
        raise InputError(f"has {len(guide)} postures", element="guide", remedy="Give two or more")
    if kind is PotentialKind.CENTRE_OF_MASS:
        return weight, CentreOfMassAttractor(Attractor(target, switch))
    if kind is PotentialKind.REFERENCE:
        return weight, NearReference(kinematics, reference)
    if kind is PotentialKind.GUIDE:
        return weight, NearGuide(kinematics, guide, progress, switch or None)
    link = check_known(item.link, kinematics.robot.description.links, f"{field}.link", "link")
    point = vector(item.point, f"{field}.point")
    if kind is PotentialKind.POINT:
        return weight, PointAttractor(Attractor(target, switch), link, point)
    with _named(field):
        return weight, PointAlongGuide(kinematics, guide, link, point, progress, switch)


def _term(item: TermMessage, scene: Scene, robot: Robot, field: str) -> StanceTerm:
    kind = check_enumerated(item.kind, TermKind, f"{field}.kind")
    weight = check_finite(item.weight, f"{field}.weight")
    counted = "preferred", "new_contact", "released_contact"
    numbers = [check_finite(getattr(item, name), f"{field}.{name}") for name in counted]
    if kind is TermKind.CONTACTS:
        return ContactCount(weight, *numbers)
    if kind is TermKind.BARYCENTRE:
        return BarycentreNear(vector(item.target, f"{field}.target"), surface_placements(scene), weight)
    if kind is TermKind.CROSSED:
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
    if kind is TermKind.LOCATIONS:
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
    if kind is CriterionKind.NO_CRITERION:
        return None
    if kind is CriterionKind.NEAR_GUIDE and len(guide) < 2:
        raise InputError(f"has {len(guide)} postures", element="guide", remedy="Give two or more")
    weight = kinematics.total_mass * sum(g * g for g in scene.gravity) ** 0.5
    make: dict[CriterionKind, Callable[[], Criterion]] = {
        CriterionKind.NEAR_REFERENCE: lambda: NearReference(kinematics, reference),
        CriterionKind.NEAR_MIDDLE: lambda: near_middle(kinematics),
        CriterionKind.NEAR_GUIDE: lambda: NearPath(kinematics, guide),
        CriterionKind.LEAST_TORQUE: lambda: LeastTorque(kinematics, weight or 1.0),
    }
    if kind not in make:
        raise InputError(
            f"is {kind.value} ({kind.name}), which belongs to one stance",
            element="criterion",
            remedy=f"Give one of {', '.join(f'{one.value} ({one.name})' for one in make)}, or 0",
        )
    if kind is CriterionKind.LEAST_TORQUE and request.stability != GeneratePosture.Request.CONTACT_FORCES:
        raise InputError(
            f"is {request.stability}, but the criterion is LEAST_TORQUE",
            element="stability",
            remedy=f"Give {GeneratePosture.Request.CONTACT_FORCES} (CONTACT_FORCES)",
        )
    return make[kind]()


def _metric(request: ContactPlanRequest) -> StanceMetric:
    spacing = check_finite(request.contact_spacing, "contact_spacing")
    angle = check_finite(request.contact_angle_spacing, "contact_angle_spacing")
    for name, value in (("contact_spacing", spacing), ("contact_angle_spacing", angle)):
        if not value > 0.0:
            raise InputError(f"is {value:g}", element=name, remedy="Give a number above 0")
    return StanceMetric(spacing, spacing / angle)


@contextmanager
def _named(field: str) -> Iterator[None]:
    """Let refusals of a part name it as the request does."""
    try:
        yield
    except InputError as error:
        raise InputError(error.problem, element=f"{field}: {error.element}", remedy=error.remedy) from None
