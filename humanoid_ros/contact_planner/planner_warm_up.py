# SPDX-License-Identifier: Apache-2.0
"""One posture and one check of equilibrium before any request, so that the first request finds all in memory."""

from __future__ import annotations

from humanoid_stack.msg import Contact, Stance, Surface
from humanoid_stack.srv import CheckEquilibrium, GeneratePosture

from humanoid_model import Robot
from humanoid_model.errors import HumanoidError
from humanoid_planner.posture.planning_cache import PlanningCache
from humanoid_ros.contact_planner.equilibrium_service import MethodKind, answer_check_equilibrium
from humanoid_ros.contact_planner.posture_service import PostureDefaults, answer_generate_posture
from humanoid_ros.messages.conversions import fill_pose
from humanoid_ros.messages.stance_messages import WORLD


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
            for method in MethodKind:
                request = CheckEquilibrium.Request(robot=name, stance=stance, surfaces=surfaces, method=method)
                answer_check_equilibrium(cache, defaults.scene, request, CheckEquilibrium.Response())
        except HumanoidError:
            pass  # a robot without soles, or fixed to the world: a request about it is refused


def _standing(robot: Robot) -> tuple[Stance, list[Surface]]:
    """Return the soles of a robot where its default posture has them, each on a surface of its own."""
    links = robot.link_placements(robot.default_posture)
    stance, surfaces = Stance(), []
    for place in robot.contacts.values():
        if place.support:
            surface = Surface(name=f"below {place.name}", body=WORLD)
            fill_pose(surface.pose, links[place.link] * place.placement_link_patch)
            surfaces.append(surface)
            stance.contacts.append(Contact(location=place.name, surface=surface.name))
    return stance, surfaces
