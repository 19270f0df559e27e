# SPDX-License-Identifier: Apache-2.0
"""Gaits whose phases are one problem: a step of a speed and a length, or phases whose transitions are free."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np
from humanoid_stack.msg import GaitRequest
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_planner.gait.global_step.global_gait import GlobalGait
from humanoid_planner.gait.global_step.global_settings import GlobalSettings
from humanoid_planner.gait.global_step.optimize_step import optimize_step, optimize_walk
from humanoid_planner.gait.models.bip import Bip
from humanoid_planner.gait.models.leg_joint import LegJoint
from humanoid_planner.gait.models.rabbit import Rabbit
from humanoid_planner.gait.optimal_control.effort import QuadraticEffort
from humanoid_planner.gait.specification.step_data import WalkData
from humanoid_planner.gait.specification.walker import BipWalker, RabbitWalker
from humanoid_ros.gait_generator.gait_phase_problems import plan_asked_gait
from humanoid_ros.gait_generator.gait_request import DIRECT, INDIRECT, METHODS, AskedGait

Real = NDArray[np.float64]
Tell = Callable[[str, float, float], bool]

KINDS = {BipWalker: ("ankle", "knee", "hip", "hip", "knee", "ankle"), RabbitWalker: ("knee", "hip", "hip", "knee")}
"""Joints in the order of torques and joints, rear or stance leg first."""
SAME = 1e-9
"""Bounds of both legs that differ by less are the same."""


def solve_as_a_whole(
    request: GaitRequest, asked: AskedGait, tell: Tell, found: Callable[[GlobalGait], None]
) -> GlobalGait:
    """Solve a gait as one problem.

    Of phases that are given it keeps the step length, and the mean speed where all durations are given.

    Args:
        request: as it came, for what it leaves open.
        asked: the same, read.
        tell: told of stage, greatest violation and cost; cancels by returning True.
        found: told of the solution of a step before its conditions of optimality are solved, which may take long.

    Raises:
        InputError: a field that such a problem doesn't have, or values that can't be.
    """
    settings = whole_settings(request, asked)
    walker = limited_walker(asked)
    prove = asked.options.method == METHODS[INDIRECT]

    def step(
        speed: float | None, length: float | None, height: float = 0.0, guess: WalkData | None = None
    ) -> GlobalGait:
        """The best step: transcribed, told, then once more from there with its proof."""
        first = optimize_step(walker, speed, length, settings, tell, step_height=height, guess=guess, prove=False)
        if not (prove and first.converged):
            return first
        found(first)
        left = settings.replace(time_limit=max(settings.time_limit - first.seconds, 1e-3))
        return optimize_step(walker, speed, length, left, tell, step_height=height, guess=guess, neighbour=first)

    if not asked.phases:
        return step(asked.speed, asked.step_length)
    plan = plan_asked_gait(asked)
    specs = [phase.spec for phase in plan.phases]
    timed = all(phase.duration is not None for phase in asked.phases)
    speed = plan.distance / plan.duration if timed else None
    if specs[0].kind.value == "start" and specs[-1].kind.value == "stop":
        lengths = {phase.step.step_length for phase in asked.phases if phase.step is not None and phase.kind.double}
        length = lengths.pop() if len(lengths) == 1 else None
        return optimize_walk(walker, specs, speed, length, settings, tell, prove=prove)
    if [phase.kind.double for phase in asked.phases] == [True, False] and asked.phases[0].step == asked.phases[1].step:
        first, second = specs
        assert first.step is not None
        walk = WalkData(first.step, first.duration, second.duration)
        return step(speed, first.step.step_length, first.step.step_height, walk)
    raise InputError(
        "is true, but the phases are neither a double and a single support of one step nor a walk from START to STOP",
        element="one_problem",
        remedy="Give such phases, or leave it false",
    )


def whole_settings(request: GaitRequest, asked: AskedGait) -> GlobalSettings:
    """Settings of a gait solved as one problem.

    Raises:
        InputError: a field that such a problem doesn't have.
    """
    _check_fields(request, asked)
    own = GlobalSettings()
    bounds, options, weights = asked.bounds, asked.options, asked.weights
    changes: dict[str, object] = {
        "effort": QuadraticEffort(weights.torque, weights.force, weights.torque_size, weights.force_size),
        "friction": bounds.friction,
        "torque_limits": _torque_limits(asked),
        "obstacles": asked.penalties.obstacles,
        "time_limit": options.time_limit,
    }
    if bounds.least_normal is not None:
        changes["force_lower"] = bounds.least_normal
    if asked.penalties.clearance > 0.0:
        changes["swing_clearance"] = asked.penalties.clearance
    if request.options.tolerance > 0.0:
        changes["tolerance"] = float(request.options.tolerance)
    if request.options.max_nodes:
        intervals = (int(request.options.max_nodes) - 1) // 2
        changes["single_intervals"] = intervals
        changes["double_intervals"] = max(2, round(intervals * own.double_intervals / own.single_intervals))
    return own.replace(**changes)


def limited_walker(asked: AskedGait) -> BipWalker | RabbitWalker:
    """The walker with the ranges and rates of a request.

    Raises:
        InputError: an array of another length than the walker's joints, or legs that differ.
    """
    walker = asked.model.walker
    assert walker is not None
    kinds, bounds = KINDS[type(walker)], asked.bounds
    given = {
        "lower": _per_kind(bounds.min_positions, kinds, "bounds.min_positions"),
        "upper": _per_kind(bounds.max_positions, kinds, "bounds.max_positions"),
        "rate": _per_kind(bounds.max_velocities, kinds, "bounds.max_velocities"),
    }
    if not any(given.values()):
        return walker
    body: Bip | Rabbit = walker.bip if isinstance(walker, BipWalker) else walker.rabbit
    joints = {name: _limited(joint, name, given) for name, joint in body.joints.items()}
    if isinstance(walker, BipWalker):
        return dataclasses.replace(walker, bip=dataclasses.replace(walker.bip, joints=joints))
    return dataclasses.replace(walker, rabbit=dataclasses.replace(walker.rabbit, joints=joints))


def _limited(joint: LegJoint, name: str, given: dict[str, dict[str, float]]) -> LegJoint:
    changed = {key: values[name] for key, values in given.items() if name in values}
    limited = dataclasses.replace(joint, **changed)
    if limited.lower > limited.upper:
        raise InputError(
            f"leaves the {name} nothing between {limited.lower:g} and {limited.upper:g}",
            element="bounds.min_positions" if "lower" in changed else "bounds.max_positions",
            remedy="Let the lower bound be below the upper one",
        )
    return limited


def _check_fields(request: GaitRequest, asked: AskedGait) -> None:
    why = "phases solved as one problem"
    for name, given, reason in (
        ("weights.control_scales", len(request.weights.control_scales) > 0, f"{why} weight all torques alike"),
        ("weights.control_sizes", len(request.weights.control_sizes) > 0, f"{why} weight all torques alike"),
        ("weights.closure", request.weights.closure != 0.0, f"{why} keep loops closed exactly"),
        ("weights.sole_angle", request.weights.sole_angle != 0.0, f"{why} bring the sole down exactly"),
        ("weights.clearance", request.weights.clearance != 0.0, f"{why} keep clearances exactly"),
        ("weights.range", request.weights.range != 0.0, f"{why} keep joint ranges exactly"),
        ("weights.rate", request.weights.rate != 0.0, f"{why} keep joint rates exactly"),
        ("options.stages", len(request.options.stages) > 0, f"{why} are solved without continuation"),
    ):
        if given:
            raise InputError(f"is given, but {reason}", element=name, remedy="Leave it out")
    if asked.options.method not in (METHODS[INDIRECT], METHODS[DIRECT]):
        raise InputError(
            f"is '{request.options.method or asked.options.method}', but {why} aren't shot",
            element="options.method",
            remedy=f"Give '{INDIRECT}' or '{DIRECT}'",
        )
    for index, phase in enumerate(asked.phases):
        ends = zip(("initial", "final"), phase.ends, phase.free, strict=True)
        for name, values, free in ends:
            if values is not None or free.any():
                field = f"{name}_state" if values is not None else f"free_{name}"
                raise InputError(
                    "is given, but the transitions of one problem are free and its rests are not",
                    element=f"phases[{index}].{field}",
                    remedy="Leave it out",
                )


def _torque_limits(asked: AskedGait) -> dict[str, float]:
    """Greatest absolute torque by kind of joint."""
    kinds = KINDS[type(asked.model.walker)]
    low, high = asked.bounds.min_controls, asked.bounds.max_controls
    if not len(low) and not len(high):
        return {}
    if len(low) != len(high) or not np.allclose(-low, high):
        raise InputError(
            "aren't the torques of max_controls the other way round",
            element="bounds.min_controls",
            remedy="Give both, symmetric, to phases solved as one problem",
        )
    limits = _per_kind(high, kinds, "bounds.max_controls")
    return {kind: limit for kind, limit in limits.items() if math.isfinite(limit)}


def _per_kind(values: Real, kinds: Sequence[str], name: str) -> dict[str, float]:
    """Values of joints by their kind, alike for both legs; empty for none."""
    if not len(values):
        return {}
    if len(values) != len(kinds):
        raise InputError(
            f"has {len(values)} values",
            element=name,
            remedy=f"Give {len(kinds)} to phases solved as one problem: {', '.join(kinds)}",
        )
    found: dict[str, float] = {}
    for kind, value in zip(kinds, values.tolist(), strict=True):
        if kind in found and found[kind] != value and abs(found[kind] - value) > SAME:
            raise InputError(
                f"has {found[kind]:g} and {value:g} for the {kind}s",
                element=name,
                remedy="Give both legs the same in phases solved as one problem: they take turns",
            )
        found[kind] = value
    return found
