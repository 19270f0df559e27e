# SPDX-License-Identifier: Apache-2.0
"""All postures of a plan nearer to each other, its contacts kept (specification 001 F210, sections 4.12 and 7.5.1)."""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.robot import Robot
from humanoid_planner.contacts.contact_space import ContactSpace
from humanoid_planner.contacts.stances.stance_posture import StancePosture
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.posture import NearReference, WeightedSum

#: Sweeps end when one gains less than this part of the sum.
_GAIN = 0.01
#: Most of them.
_SWEEPS = 20
_PRECISE = SolverOptions(max_iterations=60, optimality_tolerance=1e-2, time_limit=5.0)


def unevenness(robot: Robot, postures: Sequence[NDArray[np.float64]]) -> float:
    """Return the sum of the squared distances of neighbours (nq,), joints and base alike [rad^2 or m^2]."""
    steps = [pin.difference(robot.model, one, other) for one, other in itertools.pairwise(postures)]
    return float(sum(step @ step for step in steps))


def smooth(states: Sequence[StancePosture], space: ContactSpace, time_limit: float = math.inf) -> list[StancePosture]:
    """Return a plan whose postures are nearer to their neighbours; each holds what it held.

    That is the problem of several postures at once, with :func:`unevenness` as its criterion: no constraint couples
    postures, as their contacts have their places, and the criterion couples neighbours only. So each posture in turn is
    sought near both of its neighbours, forth and back along the plan: block coordinate descent, which never gets worse
    and keeps a whole plan at any time. The first posture stays; that at the goal keeps the goal's tasks.

    Args:
        states: of a plan.
        space: that the plan was found in.
        time_limit: wall-clock time after which no other posture is sought [s].
    """
    end = time.monotonic() + time_limit
    found, robot = list(states), space.caller.robot
    caller = dataclasses.replace(space.caller, options=_PRECISE)
    last = unevenness(robot, [state.q for state in found])
    for sweep in range(_SWEEPS):
        for index in range(1, len(found)) if sweep % 2 == 0 else range(len(found) - 1, 0, -1):
            if time.monotonic() >= end:
                return found
            here, before, after = found[index], found[index - 1], found[index + 1 : index + 2]
            near = [NearReference(caller.kinematics, other.q, base=True) for other in (before, *after)]
            caller.wanted = dataclasses.replace(caller.wanted, criterion=WeightedSum([(1.0, one) for one in near]))
            result = caller.call("smooth", space.stance_of(here), here.q, space.problem.goal if here.at_goal else ())
            moved = dataclasses.replace(here, q=result.q)
            old, new = ([state.q for state in (before, one, *after)] for one in (here, moved))
            nearer = result.success and unevenness(robot, new) < unevenness(robot, old)
            if nearer and _ways((before, moved, *after), space):
                found[index] = moved
        now = unevenness(robot, [state.q for state in found])
        if now > (1.0 - _GAIN) * last:
            break
        last = now
    return found


def _ways(states: Sequence[StancePosture], space: ContactSpace) -> bool:
    """Whether there are ways between neighbours."""
    for one, other in itertools.pairwise(states):
        exists = space.problem.goal_way_exists if other.at_goal else space.problem.way_exists
        if exists is not None and not exists(one, other):
            return False
    return True
