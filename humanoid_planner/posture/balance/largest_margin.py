# SPDX-License-Identifier: Apache-2.0
"""The margin of a posture that was found, and the forces of that margin."""

from __future__ import annotations

import dataclasses

import numpy as np

from humanoid_planner.equilibrium.body_equilibrium import STILL, EquilibriumMethod, HeldBody
from humanoid_planner.posture.balance.bearing_contacts import bearing_contacts
from humanoid_planner.posture.balance.stance_equilibrium import joint_efforts, loads_wrench, stance_equilibrium
from humanoid_planner.posture.problem.criterion import LeastTorque
from humanoid_planner.posture.problem.posture_result import PostureResult
from humanoid_planner.posture.problem.problem import PostureProblem


def with_largest_margin(problem: PostureProblem, result: PostureResult) -> PostureResult:
    """Return a result with its margin of equilibrium, and with the forces of that margin.

    The search takes any forces that do, unless their torques are what is minimised; those of the largest margin tell
    more, and are what a robot should aim at. They replace the search's, and the torques with them, where the posture
    was found by forces; contacts of the robot with itself leave the search's.

    Args:
        problem: that was solved.
        result: the answer to it, found or not.

    Returns:
        The result with ``balance``, which stays None where equilibrium isn't tested or nothing bears force.
    """
    if problem.stability == "none":
        return result
    method, kinematics = EquilibriumMethod(problem.stability), problem.kinematics
    kinematics.set(kinematics.coordinates(result.q))
    bearing = bearing_contacts(problem.contacts, kinematics, at_posture=True)
    if len(bearing.points) == 0:
        return result
    wrench = loads_wrench(problem.loads, kinematics)
    body = HeldBody(kinematics.total_mass, np.array(kinematics.centre_of_mass()), problem.gravity, STILL, wrench)
    efforts = None
    if method is EquilibriumMethod.CONTACT_FORCES:
        efforts = joint_efforts(bearing, kinematics, problem.loads, problem.gravity)
    balance = stance_equilibrium(
        method, problem.contacts, bearing, body, efforts, torque_limits=problem.torque_limits
    )
    result = dataclasses.replace(result, balance=balance)
    if not result.success or not balance.efforts or isinstance(problem.criterion, LeastTorque):
        return result
    return dataclasses.replace(
        result,
        forces=balance.forces,
        force_points=bearing.points.positions,
        force_contacts=tuple(bearing.contacts[owner].contact.location.name for owner in bearing.owners),
        torques=np.array([balance.efforts.get(name, 0.0) for name in result.torque_names]),
    )
