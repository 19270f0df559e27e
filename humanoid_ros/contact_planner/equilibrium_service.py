# SPDX-License-Identifier: Apache-2.0
"""The answer to a check_equilibrium request."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from humanoid_stack.srv import CheckEquilibrium
from numpy.typing import NDArray

from humanoid_model import Robot, Scene
from humanoid_model.errors import InputError
from humanoid_model.field_checks import enumerated
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.problem.force_model import Load
from humanoid_planner.posture.problem.placed_contact import place_contact
from humanoid_ros.contact_planner.bearing_contacts import BearingContacts, bearing_contacts, check_held, patch_outline
from humanoid_ros.contact_planner.equilibrium_test import (
    UNLOADED,
    Body,
    EquilibriumAnswer,
    EquilibriumMethod,
    loads_wrench,
    try_equilibrium,
)
from humanoid_ros.contact_planner.joint_efforts import JointEfforts
from humanoid_ros.contact_planner.planning_cache import PlanningCache
from humanoid_ros.contact_planner.posture_markers import ShownPosture
from humanoid_ros.contact_planner.posture_task_messages import load
from humanoid_ros.messages.conversions import point
from humanoid_ros.messages.posture_messages import configuration
from humanoid_ros.messages.stance_messages import contact_locations, request_scene, stance
from humanoid_ros.node.request_fields import vector

UNITS = {
    EquilibriumMethod.SUPPORT_POLYGON: "m",
    EquilibriumMethod.CONTACT_FORCES: "N",
    EquilibriumMethod.FORCE_POLYTOPE: "N",
}


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
    asked = _read(cache, default_scene, request)
    limits = asked.efforts.limit_rows() if request.torque_limits and asked.efforts is not None else None
    answer = try_equilibrium(asked.method, asked.bearing.points, asked.body, limits)
    response.equilibrium = answer.equilibrium
    response.margin = answer.margin
    response.forces = asked.bearing.messages(answer.forces) if len(answer.forces) else []
    response.support_polygon = [point(vertex) for vertex in answer.region]
    if asked.efforts is not None and len(answer.forces):
        efforts = asked.efforts.of(answer.forces)
        response.joint_names, response.efforts = list(efforts), list(efforts.values())
    return _shown(asked, answer, response)


@dataclass(frozen=True)
class _Asked:
    """A request in the library's terms."""

    robot: Robot
    method: EquilibriumMethod
    bearing: BearingContacts
    body: Body
    q: NDArray[np.float64] | None
    efforts: JointEfforts | None
    outlines: list[NDArray[np.float64]]


def _read(cache: PlanningCache, default_scene: str, request: CheckEquilibrium.Request) -> _Asked:
    base_scene = cache.scene(request.scene or default_scene, "scene")
    robot = cache.robot_in(base_scene, request.robot, "robot")
    if robot.base_joint is None:
        raise InputError(
            f"'{robot.name}' is fixed to the world, which holds it anyway",
            element="robot",
            remedy="Give a robot with a floating base",
        )
    scene = request_scene(base_scene, request.surfaces, robot, "surfaces")
    locations = contact_locations(request.locations, robot, "locations")
    held = stance(request.stance, locations, scene.surfaces, "stance")
    method = enumerated(request.method, EquilibriumMethod, "method")
    kinematics = RobotKinematics(robot)
    loads = tuple(load(wrench, kinematics, f"loads[{i}]") for i, wrench in enumerate(request.loads))
    acceleration = vector(request.acceleration, "acceleration")
    _check_method(request, method, loads, bool(acceleration.any()))
    placed = [place_contact(contact, kinematics, scene) for contact in held.contacts]
    q = None
    if request.use_posture:
        q = configuration(request.posture, robot, "posture")
        kinematics.set(kinematics.coordinates(q))
        check_held(placed, kinematics, "posture")
        centre = np.array(kinematics.centre_of_mass())
    else:
        centre = vector(request.centre_of_mass, "centre_of_mass")
    bearing = bearing_contacts(robot, held, scene, kinematics, at_posture=q is not None)
    wrench = loads_wrench(loads, kinematics) if loads else UNLOADED
    body = Body(kinematics.total_mass, centre, np.array(scene.gravity), acceleration, wrench)
    efforts = None
    if q is not None and method is EquilibriumMethod.CONTACT_FORCES and not acceleration.any():
        efforts = _joint_efforts(request, bearing, kinematics, loads, scene)
    # Without a posture nobody knows where contacts on the robot's own links are.
    outlines = [
        patch_outline(contact, None if q is None else kinematics)
        for contact in placed
        if q is not None or not contact.ground
    ]
    return _Asked(robot, method, bearing, body, q, efforts, outlines)


def _check_method(
    request: CheckEquilibrium.Request, method: EquilibriumMethod, loads: tuple[Load, ...], moves: bool
) -> None:
    """Raises where fields ask for what the method, or a request without posture, doesn't know."""
    if not request.use_posture:
        for field, given in (("loads", bool(loads)), ("torque_limits", bool(request.torque_limits))):
            if given:
                raise InputError(
                    "needs the posture, but use_posture is false",
                    element=field,
                    remedy="Set use_posture and give the posture, or leave it empty",
                )
    if method is EquilibriumMethod.SUPPORT_POLYGON:
        for field, given in (("loads", bool(loads)), ("acceleration", moves)):
            if given:
                raise InputError(
                    f"is given, but method {method.value} ({method.name}) knows the weight only",
                    element=field,
                    remedy=f"Give method {EquilibriumMethod.CONTACT_FORCES.value} (CONTACT_FORCES), or leave it zero",
                )
    if request.torque_limits and method is not EquilibriumMethod.CONTACT_FORCES:
        raise InputError(
            f"are set, but method {method.value} ({method.name}) knows no torques",
            element="torque_limits",
            remedy=f"Give method {EquilibriumMethod.CONTACT_FORCES.value} (CONTACT_FORCES)",
        )
    if request.torque_limits and moves:
        raise InputError(
            "are set, but what an acceleration of the centre of mass asks of the joints isn't known",
            element="torque_limits",
            remedy="Leave the acceleration zero, or the limits unset",
        )


def _joint_efforts(
    request: CheckEquilibrium.Request,
    bearing: BearingContacts,
    kinematics: RobotKinematics,
    loads: tuple[Load, ...],
    scene: Scene,
) -> JointEfforts | None:
    """How joint efforts depend on the forces; None where contacts of the robot with itself leave that open."""
    inner = bearing.inner
    if not inner:
        return JointEfforts.at_posture(bearing, kinematics, loads, np.array(scene.gravity))
    if request.torque_limits:
        raise InputError(
            f"are set, but the force of '{inner[0].location.name}' on the robot's own '{inner[0].surface.body}' "
            "is anybody's guess",
            element="torque_limits",
            remedy="Leave them unset, or the contact out",
        )
    return None


def _shown(asked: _Asked, answer: EquilibriumAnswer, response: CheckEquilibrium.Response) -> ShownPosture:
    words = "equilibrium" if answer.equilibrium else "no equilibrium"
    return ShownPosture(
        robot=asked.robot,
        q=asked.q,
        patches=asked.outlines,
        forces=response.forces,
        centre_of_mass=asked.body.centre_of_mass,
        support_polygon=answer.region,
        good=answer.equilibrium,
        text=f"{words}, margin {answer.margin:.3g} {UNITS[asked.method]}",
    )
