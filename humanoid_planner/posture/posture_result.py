# SPDX-License-Identifier: Apache-2.0
"""What a posture generation found, and the margin of equilibrium of a posture that was found."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_planner.equilibrium.body_equilibrium import STILL, EquilibriumMethod, HeldBody
from humanoid_planner.optimisation.program import ReturnCode, SolverResult
from humanoid_planner.posture.problem import PostureProblem
from humanoid_planner.posture.stance_equilibrium import (
    StanceEquilibrium,
    bearing_contacts,
    joint_efforts,
    loads_wrench,
    stance_equilibrium,
)
from humanoid_planner.posture.tasks.criteria import LeastTorque


@dataclass(frozen=True)
class Violation:
    """A constraint that a posture doesn't fulfil.

    Attributes:
        constraint: what it is called, for example "torque of RLEG_JOINT3".
        value: of the constrained quantity.
        bound: that it breaks.
        unit: of both.
        excess: how far it is broken in the solver's scale, where one is a metre, a radian, or the weight or torque
            limit.
    """

    constraint: str
    value: float
    bound: float
    unit: str
    excess: float

    def __str__(self) -> str:
        relation = "below" if self.value < self.bound else "above"
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.constraint}: {self.value:.4g} is {relation} {self.bound:.4g}{unit}"


@dataclass(frozen=True)
class PostureResult:
    """A posture, or the least-violating one and why there is none.

    Attributes:
        success: whether the posture fulfils everything.
        status: return code of the thesis (specification 001 section 4.3.5); not 0 in spite of success where the
            criterion could perhaps be lower.
        explanation: in words.
        q: (nq,) posture in Pinocchio's order.
        x: (n,) all variables of the problem.
        forces: (k, 3) contact forces, world frame [N]; empty when equilibrium isn't tested by forces.
        force_points: (k, 3) where they act, world frame [m].
        force_contacts: (k,) name of the contact location of each.
        torques: (nx,) joint efforts that hold the posture under these forces [N m] or [N]; empty without forces.
        torque_names: (nx,) the joints, those of a floating base with an effort of zero.
        criterion: value of the criterion.
        violations: constraints that aren't fulfilled, the worst first; empty after success.
        conflicting: names of the tasks and limits that can't be fulfilled together, as far as was found out.
        removal: the one among them without which there is a posture; empty when there is none or it was not asked for.
        impossible: why there can't be any posture, where that is proved; empty where none was found, no more.
        starts: searches made, the first one and those from random starts after it failed.
        solver: its name.
        iterations: of the solver, from the start that this posture was found from.
        evaluations: of the constraints, in all searches.
        distance_evaluations: of pairs of bodies.
        distance_gradients: likewise.
        residual: largest violation, scaled.
        time: wall-clock time [s].
        solution: what the solver said, to start the next one from.
        balance: margin of equilibrium, where it was asked for; None without.
    """

    success: bool
    status: ReturnCode
    explanation: str
    q: NDArray[np.float64]
    x: NDArray[np.float64]
    forces: NDArray[np.float64]
    force_points: NDArray[np.float64]
    force_contacts: tuple[str, ...]
    torques: NDArray[np.float64]
    torque_names: tuple[str, ...]
    criterion: float
    violations: tuple[Violation, ...]
    conflicting: tuple[str, ...]
    removal: str
    impossible: str
    starts: int
    solver: str
    iterations: int
    evaluations: int
    distance_evaluations: int
    distance_gradients: int
    residual: float
    time: float
    solution: SolverResult
    balance: StanceEquilibrium | None = None


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
