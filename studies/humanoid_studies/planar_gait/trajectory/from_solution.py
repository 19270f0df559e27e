# SPDX-License-Identifier: Apache-2.0
"""Solved phases turned into a trajectory of the robot, legs changing parts from step to step."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_studies.planar_gait.models.sagittal_projection import SagittalProjection
from humanoid_studies.planar_gait.optimal_control.foot_series import foot_series
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSolution
from humanoid_studies.planar_gait.specification.phase_spec import PlannedPhase
from humanoid_studies.planar_gait.trajectory.contact_schedule import ContactInterval, merged, phase_contacts
from humanoid_studies.planar_gait.trajectory.gait_trajectory import GaitTrajectory
from humanoid_studies.planar_gait.trajectory.robot_motion import PlanarRootMotion, ProjectedMotion, RobotMotion

DEFAULT_RATE = 1000.0
"""Samples per second."""

JOINS = 1e-6
"""Greatest jump of a coordinate [m, rad, and per s] from one phase to the next that counts as none."""
JOINED = ("q", "v", "base", "base_velocity")
"""What both sides of a transition have in common."""
_SAME = 1e-9
"""Times closer than this are one [s]."""


def gait_trajectory(
    solution: GaitSolution,
    robot: Robot | SagittalProjection,
    rate: float = DEFAULT_RATE,
    times: ArrayLike | None = None,
    cycles: int = 1,
    first_leg: str | None = None,
    exchanged: GaitSolution | None = None,
    tolerance: float = JOINS,
) -> GaitTrajectory:
    """Return the trajectory that a controller takes (003-F111).

    Accelerations are those of the phases' dynamics under the planned controls, not differences. A robot whose legs
    differ, as those of the thesis' tables do, needs other torques where its legs have changed parts: ``exchanged``,
    which :func:`.exchange_legs` gives.

    Args:
        solution: of all phases.
        robot: with a planar root, its joints named as the models', or the projection that the gait was made with.
        rate: samples per second, the first at 0.
        times: of the samples in place of the rate, increasing [s]. Beginning, end and both sides of each transition are
            added.
        cycles: how many times the gait is repeated, which has to end as it begins but for its advance and for the legs
            that change parts.
        first_leg: limb that is the rear or stance leg at the beginning; the robot's rear one, or the projection's, if
            left out.
        exchanged: the same gait of a robot with the data of rear and front leg exchanged, taken where the legs have
            changed parts; the solution itself if left out.
        tolerance: greatest jump of a coordinate from one phase to the next that is taken for rounding: both get the
            state that the later one begins with [m, rad, and per s].

    Raises:
        InputError: a gait that isn't solved or doesn't join, a robot that it wasn't made for, an exchanged gait of
            other phases, fewer than one cycle, a rate that isn't positive, or times that don't increase or aren't
            within the gait.
    """
    for given in (solution,) if exchanged is None else (solution, exchanged):
        for planned, phase in zip(given.plan.phases, given.phases, strict=True):
            if not phase.converged:
                raise InputError(
                    f"isn't solved: {phase.message}",
                    element=planned.spec.kind.label,
                    remedy="Give a gait that has converged",
                )
    if exchanged is not None and [(p.spec.kind, s.duration) for p, s in _phases(exchanged)] != [
        (p.spec.kind, s.duration) for p, s in _phases(solution)
    ]:
        raise InputError(
            "has other phases, or phases of other durations", element="exchanged", remedy="Solve the same gait twice"
        )
    if cycles < 1:
        raise InputError(f"is {cycles}", element="cycles", remedy="Give one or more")
    motion: RobotMotion
    if isinstance(robot, SagittalProjection):
        motion = ProjectedMotion(robot, first_leg)
    else:
        motion = PlanarRootMotion(robot, first_leg)
    plan, count = solution.plan, len(solution.phases)
    starts = np.concatenate([[0.0], np.cumsum([phase.duration for phase in solution.phases * cycles])])
    grid = _grid(rate, times, float(starts[-1]))
    advance = plan.next_offset - plan.offsets[0]
    pieces: list[dict[str, Reals]] = []
    contacts: list[ContactInterval] = []
    for index, swap in enumerate(plan.legs_exchanged(cycles)):
        repetition, own = divmod(index, count)
        start, end = float(starts[index]), float(starts[index + 1])
        within = grid[(grid > start + _SAME) & (grid < end - _SAME)]
        at = np.concatenate([[start], within, [end]])
        given = exchanged if exchanged is not None and swap else solution
        phase, offset = given.phases[own], plan.offsets[own] + repetition * advance
        local = np.clip(at - start, 0.0, phase.duration)
        local[-1] = phase.duration
        piece = _piece(motion, given, own, local, offset, swap)
        piece["times"], piece["phase"] = at, np.full(len(at), index)
        if pieces:
            _check_joint(pieces[-1], piece, plan.phases[own].spec.kind.label, tolerance, wraps=own == 0)
            for name in JOINED:  # what solvers leave between phases is more than players take
                pieces[-1][name][-1] = piece[name][0]
        pieces.append(piece)
        feet = (motion.soles[1], motion.soles[0]) if swap else motion.soles
        contacts += phase_contacts(phase, start, feet, plan.walker.foot_length > 0.0)
    joined = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    model = motion.robot
    names = tuple(name for name in model.joint_names if name in model.actuators and _plain(model, name))
    return GaitTrajectory(
        robot=model.name,
        joint_names=names,
        joint_q=np.array([model.index_q(name) for name in names], dtype=np.int64),
        joint_v=np.array([model.index_v(name) for name in names], dtype=np.int64),
        times=joined["times"],
        phase=joined["phase"].astype(np.int64),
        kinds=tuple(phase.spec.kind.label for phase in plan.phases) * cycles,
        starts=starts,
        q=joined["q"],
        v=joined["v"],
        acceleration=joined["acceleration"],
        tau=joined["tau"],
        base=joined["base"],
        base_velocity=joined["base_velocity"],
        base_acceleration=joined["base_acceleration"],
        legs=motion.legs,
        feet=motion.soles,
        foot_places=_foot_places(solution),
        normal=joined["normal"],
        tangential=joined["tangential"],
        places=joined["places"],
        contacts=merged(contacts),
        next_offset=cycles * advance,
    )


def _phases(solution: GaitSolution) -> list[tuple[PlannedPhase, PhaseSolution]]:
    return list(zip(solution.plan.phases, solution.phases, strict=True))


def _grid(rate: float, times: ArrayLike | None, duration: float) -> Reals:
    if times is None:
        if not (math.isfinite(rate) and rate > 0.0):
            raise InputError(f"is {rate}", element="rate", remedy="Give samples per second, above 0")
        return np.arange(math.floor(duration * rate) + 1) / rate
    grid = np.atleast_1d(np.asarray(times, dtype=float))
    if grid.ndim != 1 or not np.isfinite(grid).all() or (np.diff(grid) <= 0.0).any():
        raise InputError("don't increase, or aren't finite", element="times", remedy="Give times in increasing order")
    if grid.size and not (grid[0] >= -_SAME and grid[-1] <= duration + _SAME):
        raise InputError(
            f"run from {grid[0]:g} to {grid[-1]:g} s", element="times", remedy=f"Give times from 0 to {duration:g} s"
        )
    return grid


def _foot_places(solution: GaitSolution) -> tuple[str, ...]:
    return ("heel", "toe") if solution.plan.walker.foot_length > 0.0 else ("tip",)


def _piece(
    motion: RobotMotion, solution: GaitSolution, own: int, local: Reals, offset: Reals, swap: bool
) -> dict[str, Reals]:
    """All series of one phase."""
    phase = solution.phases[own]
    model = phase.problem.scaled_model
    q, v, u = phase.sample(local)
    acceleration = model.acceleration(q, v, u)
    states = motion.states(model, q, v, acceleration, offset, swap)
    normal, tangential, places = _forces(phase, solution, q, v, u, offset)
    order = [1, 0] if swap else [0, 1]
    return {
        "q": states.q,
        "v": states.v,
        "acceleration": states.acceleration,
        "tau": motion.torques(model, u, swap),
        "base": states.base,
        "base_velocity": states.base_velocity,
        "base_acceleration": states.base_acceleration,
        "normal": normal[:, order],
        "tangential": tangential[:, order],
        "places": places[:, order],
    }


def _forces(
    phase: PhaseSolution, solution: GaitSolution, q: Reals, v: Reals, u: Reals, offset: Reals
) -> tuple[Reals, Reals, Reals]:
    """Return normal forces (K, 2, k), tangential ones (K, 2) and places (K, 2, k, 2): rear or stance foot, other."""
    model, names = phase.problem.scaled_model, _foot_places(solution)
    double = bool(model.cut_forces)
    normal = np.zeros((len(q), 2, len(names)))
    tangential, places = np.zeros((len(q), 2)), np.zeros((len(q), 2, len(names), 2))
    for index, side in enumerate(("rear", "front") if double else ("stance", "swing")):
        for column, name in enumerate(names):
            point = f"{side}_{name}"
            if point in model.points:
                places[:, index, column] = model.points[point].position(q)
    cut = {contact.name for contact in model.contacts}
    for foot in phase.problem.checked_feet:
        series = foot_series(model, foot, foot.places, q, v, u)
        index = 1 if foot.name in cut else 0
        columns = _columns(foot.places, names)
        normal[:, index, columns] = series.normal
        tangential[:, index] = series.tangential
        for column, x in zip(columns, series.places.T, strict=True):
            # A foot that isn't in the tree stands on the ground of the model's frame.
            places[:, index, column, 0] = x
    return normal, tangential, places + offset


def _columns(places: Sequence[str | float], names: tuple[str, ...]) -> list[int]:
    """Return which of a foot's places normal forces act at: as their points are named, or the foremost ones."""
    named = [str(place).rpartition("_")[2] for place in places]
    if all(name in names for name in named):
        return [names.index(name) for name in named]
    return list(range(len(names)))[-len(places) :]


def _check_joint(
    before: dict[str, Reals], after: dict[str, Reals], kind: str, tolerance: float, wraps: bool
) -> None:
    """Refuse phases that don't join, the last and the first one of repeated gaits among them."""
    gap = max(float(np.abs(after[name][0] - before[name][-1]).max()) for name in ("q", "v", "base"))
    if gap > tolerance:
        raise InputError(
            f"begins {gap:.1e} away from where the phase before it ends",
            element=f"gait: {kind}",
            remedy="Repeat only gaits that end as they begin" if wraps else "Solve phases that join",
        )


def _plain(robot: Robot, joint: str) -> bool:
    """Return whether a joint has one coordinate."""
    own = robot.model.joints[robot.model.getJointId(joint)]
    return bool(own.nq == 1 and own.nv == 1)
