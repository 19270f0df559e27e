# SPDX-License-Identifier: Apache-2.0
"""The answer to a check_equilibrium request."""

from __future__ import annotations

from enum import IntEnum

from humanoid_stack.srv import CheckEquilibrium

from humanoid_model.checks import check_enumerated
from humanoid_planner.equilibrium import EquilibriumMethod
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture import check_stance
from humanoid_planner.posture.planning_cache import PlanningCache
from humanoid_planner.posture.stance_equilibrium import patch_outline
from humanoid_ros.contact_planner.posture_answer import margin_text, stance_force_messages
from humanoid_ros.contact_planner.posture_markers import ShownPosture
from humanoid_ros.contact_planner.posture_task_messages import load
from humanoid_ros.contact_planner.requested_scene import requested_scene
from humanoid_ros.messages.conversions import point
from humanoid_ros.messages.posture_messages import configuration
from humanoid_ros.messages.stance_messages import contact_locations, request_scene, stance
from humanoid_ros.node.request_fields import vector


class MethodKind(IntEnum):
    """How equilibrium is tested; the library's methods have the same names."""

    SUPPORT_POLYGON = CheckEquilibrium.Request.SUPPORT_POLYGON
    CONTACT_FORCES = CheckEquilibrium.Request.CONTACT_FORCES
    FORCE_POLYTOPE = CheckEquilibrium.Request.FORCE_POLYTOPE


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
        method=EquilibriumMethod[check_enumerated(request.method, MethodKind, "method").name],
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
