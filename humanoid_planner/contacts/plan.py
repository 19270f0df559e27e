# SPDX-License-Identifier: Apache-2.0
"""Plans of contacts: what it took to find them, their files, and what makes them shorter and smoother.

Contacts that a plan can do without are left out (specification 001 F209, section 7.5.1); all postures are moved nearer
to each other, the contacts kept (F210, section 4.12).
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.contact import Contact, ContactKind, Stance
from humanoid_model.errors import InputError
from humanoid_model.progress import Progress, Watch
from humanoid_model.robot import Robot
from humanoid_model.scene import Scene
from humanoid_planner.contacts.best_first import End, read_whole, write_whole
from humanoid_planner.contacts.contact_space import ChildCounts, ContactSpace
from humanoid_planner.contacts.posture_caller import PostureCall
from humanoid_planner.contacts.search_volume import StancePosture
from humanoid_planner.contacts.stance import PlannedStance
from humanoid_planner.contacts.ways import WayCall
from humanoid_planner.motion.motion import MotionResult
from humanoid_planner.optimisation.program import SolverOptions
from humanoid_planner.posture import NearReference, WeightedSum


@dataclass(frozen=True)
class PlanStatistics:
    """What a search took.

    Attributes:
        nodes: in the tree: stances with a posture.
        expanded: of them.
        children: what became of the stances that were looked at.
        calls: of the posture generator, in their order.
        time: wall-clock time of the search, that for ways included [s].
        ways: questions for ways of a motion, in their order.
    """

    nodes: int
    expanded: int
    children: ChildCounts
    calls: tuple[PostureCall, ...]
    time: float
    ways: tuple[WayCall, ...] = ()

    @property
    def ways_refused(self) -> int:
        """How many ways there weren't."""
        return sum(bool(call.refusal) for call in self.ways)

    @property
    def ways_time(self) -> float:
        """Time to find ways, postures of the motion included [s]."""
        return sum(call.time for call in self.ways)

    @property
    def building(self) -> float:
        """Time to put posture problems together [s]."""
        return sum(call.building for call in self.calls)

    @property
    def solving(self) -> float:
        """Time to solve them [s]."""
        return sum(call.solving for call in self.calls)

    def table(self) -> dict[str, tuple[int, int, float]]:
        """Call, success and seconds by purpose."""
        found: dict[str, tuple[int, int, float]] = {}
        for call in self.calls:
            count, successes, seconds = found.get(call.purpose, (0, 0, 0.0))
            found[call.purpose] = count + 1, successes + call.success, seconds + call.building + call.solving
        return found


@dataclass(frozen=True, eq=False)
class ContactPlan:
    """Stances from the start to the goal, or to the nearest that was found, with a posture each.

    Consecutive stances differ by one contact. The posture of a stance holds it and is a witness of the way from the
    stance before: contacts that are new or about to go hold in it without force.

    Attributes:
        success: whether the last posture fulfils the goal.
        end: why the search ended.
        explanation: in words; after a failure, what keeps the nearest stance from the goal.
        planned: stances with the roles of their contacts. The last one of a success is twice there, the second time
            with the goal posture.
        stances: the same as contacts; those that don't bear are of the kind RELEASED.
        postures: (nq,) each.
        potentials: of the nodes.
        statistics: what the search took.
        motion: along the plan, where one is asked for; after a failure its part that is known. None otherwise.
    """

    success: bool
    end: End
    explanation: str
    planned: tuple[PlannedStance, ...]
    stances: tuple[Stance, ...]
    postures: tuple[NDArray[np.float64], ...]
    potentials: tuple[float, ...]
    statistics: PlanStatistics
    motion: MotionResult | None = None

    def __len__(self) -> int:
        """Return the number of stances."""
        return len(self.stances)


_FORMAT = "humanoid_stack contact plan 1"


def save_plan(
    path: str | Path, robot: Robot, scene: Scene, stances: Sequence[Stance], postures: Sequence[NDArray[np.float64]]
) -> None:
    """Write a plan; an older file stays until the new one is complete.

    Args:
        path: of the file, JSON.
        robot: that moves.
        scene: around it.
        stances: contacts on the scene's surfaces.
        postures: (nq,) of each.
    """
    steps = [
        {
            "contacts": [
                [one.location.name, one.surface.name, one.kind.name, one.x, one.y, one.theta] for one in stance.contacts
            ],
            "posture": np.asarray(q, dtype=float).tolist(),
        }
        for stance, q in zip(stances, postures, strict=True)
    ]
    write_whole(path, {"format": _FORMAT, "problem": f"{robot.name} in {scene.name}", "steps": steps})


def load_plan(
    path: str | Path, robot: Robot, scene: Scene
) -> tuple[tuple[Stance, ...], tuple[NDArray[np.float64], ...]]:
    """Read the stances and postures that :func:`save_plan` wrote.

    Raises:
        InputError: the file is missing, cut short, no plan, or that of another robot or scene.
    """
    element = f"plan file '{path}'"
    data = read_whole(path, element, _FORMAT, f"{robot.name} in {scene.name}")
    surfaces = {surface.name: surface for surface in scene.surfaces}
    stances, postures = [], []
    try:
        for step in data["steps"]:
            contacts = []
            for location, surface, kind, *place in step["contacts"]:
                x, y, theta = map(float, place)
                contacts.append(Contact(robot.contacts[location], surfaces[surface], x, y, theta, ContactKind[kind]))
            stances.append(Stance(tuple(contacts)))
            postures.append(np.array(step["posture"], dtype=float))
            if postures[-1].shape != (robot.model.nq,):
                raise ValueError(f"a posture has {postures[-1].size} numbers, the robot {robot.model.nq}")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"has a field missing or spoilt: {error!r}", element=element) from None
    return tuple(stances), tuple(postures)


def shorten(
    states: Sequence[StancePosture], space: ContactSpace, watch: Watch | None = None
) -> list[StancePosture]:
    """Return a plan without the stances between any two that can follow each other.

    From each stance the farthest later one is sought that is the same, or that one contact removed, one added, or both
    lead to, each shown by a posture as in the search. Later stances keep their postures: they are witnesses of the way
    from the stance before, which stays the same.

    Args:
        states: of a plan, each with its posture.
        space: that the plan was found in.
        watch: ends the work; what isn't looked at yet stays as it is.
    """
    watch = watch or Watch()
    kept, here = [states[0]], 0
    while here < len(states) - 1:
        way, following = [states[here + 1]], here + 1
        watch.now = Progress("shortening", here / len(states), here)
        for there in range(len(states) - 1, here + 1, -1):
            if watch.over():
                break
            # The goal's posture holds the stance of the one before it: it isn't a stance of its own.
            shorter = None if states[there].at_goal else _way(kept[-1], states[there], space, watch)
            if shorter is not None and len(shorter) < there - here:
                way, following = shorter, there
                break
        kept += way
        here = following
    return kept


def _way(
    start: StancePosture, end: StancePosture, space: ContactSpace, watch: Watch
) -> list[StancePosture] | None:
    """Stances that lead from one to another, one for each contact that changes; None where there is no such way."""
    base, target = start.stance.settled(), end.stance.settled()
    goes = [hold for hold in base.holds if hold not in target.holds]
    comes = [hold for hold in target.holds if hold not in base.holds]
    if len(goes) > 1 or len(comes) > 1:
        return None
    way: list[StancePosture] = []
    steps: list[PlannedStance] = []
    if goes:
        if len(base.holds) == 1:
            return None
        steps.append(base.releasing(goes[0].couple))
        base = steps[-1].settled()
    if comes:
        steps.append(base.adding(comes[0]))
    before = start
    for step in steps:
        child = space.posture_of(step, before.q, watch.over)
        exists = space.problem.way_exists
        if child is None or (exists is not None and not exists(before, child)):
            return None
        way.append(child)
        before = child
    return way


#: Sweeps end when one gains less than this part of the sum.
_GAIN = 0.01
#: Most of them.
_SWEEPS = 20
_PRECISE = SolverOptions(max_iterations=60, optimality_tolerance=1e-2, time_limit=5.0)


def unevenness(robot: Robot, postures: Sequence[NDArray[np.float64]]) -> float:
    """Return the sum of the squared distances of neighbours (nq,), joints and base alike [rad^2 or m^2]."""
    steps = [pin.difference(robot.model, one, other) for one, other in itertools.pairwise(postures)]
    return float(sum(step @ step for step in steps))


def smooth(states: Sequence[StancePosture], space: ContactSpace, watch: Watch | None = None) -> list[StancePosture]:
    """Return a plan whose postures are nearer to their neighbours; each holds what it held.

    That is the problem of several postures at once, with :func:`unevenness` as its criterion: no constraint couples
    postures, as their contacts have their places, and the criterion couples neighbours only. So each posture in turn is
    sought near both of its neighbours, forth and back along the plan: block coordinate descent, which never gets worse
    and keeps a whole plan at any time. The first posture stays; that at the goal keeps the goal's tasks.

    Args:
        states: of a plan.
        space: that the plan was found in.
        watch: ends the work; the plan stays as good as it is then.
    """
    watch = watch or Watch()
    found, robot = list(states), space.caller.robot
    caller = dataclasses.replace(space.caller, options=_PRECISE)
    last = unevenness(robot, [state.q for state in found])
    for sweep in range(_SWEEPS):
        for index in range(1, len(found)) if sweep % 2 == 0 else range(len(found) - 1, 0, -1):
            watch.now = Progress("smoothing", sweep / _SWEEPS, index)
            if watch.over():
                return found
            here, before, after = found[index], found[index - 1], found[index + 1 : index + 2]
            near = [NearReference(caller.kinematics, other.q, base=True) for other in (before, *after)]
            caller.wanted = dataclasses.replace(caller.wanted, criterion=WeightedSum([(1.0, one) for one in near]))
            goal = space.problem.goal if here.at_goal else ()
            result = caller.call("smooth", here.stance.stance(space.couples), here.q, goal, watch.over)
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
