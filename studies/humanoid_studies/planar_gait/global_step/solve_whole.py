# SPDX-License-Identifier: Apache-2.0
"""Gaits whose phases are one problem: a step of a speed and a length, or phases whose transitions are free."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence

import numpy as np

from humanoid_model.errors import InputError
from humanoid_model.progress import ProgressCallback
from humanoid_studies.planar_gait.global_step.global_gait import GlobalGait, GlobalStatus
from humanoid_studies.planar_gait.global_step.global_settings import GlobalSettings
from humanoid_studies.planar_gait.global_step.optimize_step import optimize_step, optimize_walk
from humanoid_studies.planar_gait.models.bip import Bip
from humanoid_studies.planar_gait.models.leg_joint import LegJoint
from humanoid_studies.planar_gait.models.rabbit import Rabbit
from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort
from humanoid_studies.planar_gait.specification.gait_model import GaitModel
from humanoid_studies.planar_gait.specification.gait_spec import DIRECT, INDIRECT, GaitSpec, given_fields
from humanoid_studies.planar_gait.specification.phase_spec import PhaseKind, PhaseSpec
from humanoid_studies.planar_gait.specification.spec_problems import plan_spec
from humanoid_studies.planar_gait.specification.step_data import WalkData
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker

KINDS = {BipWalker: ("ankle", "knee", "hip", "hip", "knee", "ankle"), RabbitWalker: ("knee", "hip", "hip", "knee")}
"""Joints in the order of torques and joints, rear or stance leg first."""
FOOT_LIFT = 2e-3
"""Height that a swinging foot keeps on its way [m]: one that skims the ground stumbles."""
SAME = 1e-9
"""Bounds of both legs that differ by less are the same."""


def solve_whole(
    spec: GaitSpec,
    model: GaitModel,
    phases: Sequence[PhaseSpec],
    progress: ProgressCallback | None,
    found: Callable[[GlobalGait], None],
) -> GlobalGait:
    """Solve a gait as one problem.

    Of phases that are given it keeps the step length, and the mean speed where all durations are given.

    Args:
        spec: that asks for it.
        model: that walks.
        phases: of the specification, checked.
        progress: told of stage, greatest violation and cost; cancels by returning True.
        found: told of the solution before its conditions of optimality are solved, which may take long.

    Raises:
        InputError: a field that such a problem doesn't have, or values that can't be.
    """
    settings = whole_settings(spec, model)
    walker = limited_walker(spec, model)
    prove = spec.method == INDIRECT

    def proved(solve: Callable[..., GlobalGait]) -> GlobalGait:
        """Return the best gait: transcribed, told, then once more from there with its proof.

        Legs that differ are exchanged afterwards, which solves some of the phases again: as much time is left for it.
        """
        first = solve(settings=settings, progress=progress, prove=False)
        if not (prove and first.converged):
            return first
        found(first)
        left = settings.time_limit - first.seconds
        kept = min(first.seconds, 0.5 * left) if model.robot is not None else 0.0
        limited = settings.replace(time_limit=max(left - kept, 1e-3))
        second = solve(settings=limited, progress=progress, neighbour=first)
        return second if second.converged or second.status is GlobalStatus.CANCELLED else first

    def step(
        speed: float | None, length: float | None, height: float = 0.0, guess: WalkData | None = None
    ) -> GlobalGait:
        return proved(functools.partial(optimize_step, walker, speed, length, step_height=height, guess=guess))

    if not phases:
        return step(spec.speed, spec.step_length or None)
    plan = plan_spec(spec, model, phases)
    specs = [phase.spec for phase in plan.phases]
    speed = plan.distance / plan.duration if all(phase.duration > 0.0 for phase in phases) else None
    if phases[0].kind is PhaseKind.START and phases[-1].kind is PhaseKind.STOP:
        lengths = {phase.own.step_length for phase in phases if phase.own is not None}
        length = lengths.pop() if len(lengths) == 1 else None
        return proved(functools.partial(optimize_walk, walker, specs, speed, length))
    if [phase.kind.double for phase in phases] == [True, False] and phases[0].step == phases[1].step:
        first, second = specs
        assert first.step is not None
        walk = WalkData(first.step, first.duration, second.duration)
        return step(speed, first.step.step_length, first.step.step_height, walk)
    raise InputError(
        "is true, but the phases are neither a double and a single support of one step nor a walk from START to STOP",
        element="one_problem",
        remedy="Give such phases, or leave it false",
    )


def whole_settings(spec: GaitSpec, model: GaitModel) -> GlobalSettings:
    """Return settings of a gait solved as one problem.

    Raises:
        InputError: a field that such a problem doesn't have.
    """
    _check_fields(spec)
    if isinstance(spec.settings, GlobalSettings):
        return spec.settings
    own, weights, defaults = GlobalSettings(), spec.weights, spec.defaults
    torque, force = weights.torque or defaults.torque_weight, weights.force or defaults.force_weight
    changes: dict[str, object] = {
        "effort": QuadraticEffort(torque, force, defaults.torque_size, defaults.force_size),
        "friction": spec.friction,
        "torque_limits": _torque_limits(spec, model),
        "foot_lift": FOOT_LIFT,
        "obstacles": spec.bounds.obstacles,
        "time_limit": spec.time_limit,
    }
    if spec.min_normal is not None:
        changes["force_lower"] = spec.min_normal
    if spec.bounds.clearance > 0.0:
        changes["swing_clearance"] = spec.bounds.clearance
    if spec.options.tolerance > 0.0:
        changes["tolerance"] = float(spec.options.tolerance)
    if spec.options.max_nodes:
        intervals = (spec.options.max_nodes - 1) // 2
        changes["single_intervals"] = intervals
        changes["double_intervals"] = max(2, round(intervals * own.double_intervals / own.single_intervals))
    return own.replace(**changes)


def limited_walker(spec: GaitSpec, model: GaitModel) -> BipWalker | RabbitWalker:
    """Return the walker with the ranges and rates of a specification.

    Raises:
        InputError: an array of another length than the walker's joints, or legs that differ.
    """
    walker, bounds = model.walking(), spec.bounds
    kinds = KINDS[type(walker)]
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


def _check_fields(spec: GaitSpec) -> None:
    why = "phases solved as one problem"
    reasons = {
        "weights.control_scales": f"{why} weight all torques alike",
        "weights.control_sizes": f"{why} weight all torques alike",
        "weights.closure": f"{why} keep loops closed exactly",
        "weights.sole_angle": f"{why} bring the sole down exactly",
        "weights.clearance": f"{why} keep clearances exactly",
        "weights.range": f"{why} keep joint ranges exactly",
        "weights.rate": f"{why} keep joint rates exactly",
        "options.stages": f"{why} are solved without continuation",
    }
    given = given_fields(spec.weights, "weights") + (["options.stages"] if spec.options.stages else [])
    for name in given:
        if name in reasons:
            raise InputError(f"is given, but {reasons[name]}", element=name, remedy="Leave it out")
    if spec.method not in (INDIRECT, DIRECT):
        raise InputError(
            f"is '{spec.method}', but {why} aren't shot",
            element="options.method",
            remedy=f"Give '{INDIRECT}' or '{DIRECT}'",
        )
    for index, phase in enumerate(spec.phases):
        for name in ("initial_state", "free_initial", "final_state", "free_final"):
            values = getattr(phase, name)
            if values if name.endswith("state") else any(values):
                raise InputError(
                    "is given, but the transitions of one problem are free and its rests are not",
                    element=f"phases[{index}].{name}",
                    remedy="Leave it out",
                )


def _torque_limits(spec: GaitSpec, model: GaitModel) -> dict[str, float]:
    """Greatest absolute torque by kind of joint; the robot's own where none are given."""
    kinds = KINDS[type(model.walking())]
    low, high = spec.bounds.min_controls, spec.bounds.max_controls
    if not low and not high:
        return model.torque_limits
    if len(low) != len(high) or not np.allclose(np.negative(low), high):
        raise InputError(
            "aren't the torques of max_controls the other way round",
            element="bounds.min_controls",
            remedy="Give both, symmetric, to phases solved as one problem",
        )
    limits = _per_kind(high, kinds, "bounds.max_controls")
    return {kind: limit for kind, limit in limits.items() if math.isfinite(limit)}


def _per_kind(values: Sequence[float], kinds: Sequence[str], name: str) -> dict[str, float]:
    """Return values of joints by their kind, alike for both legs; empty for none."""
    if not values:
        return {}
    if len(values) != len(kinds):
        raise InputError(
            f"has {len(values)} values",
            element=name,
            remedy=f"Give {len(kinds)} to phases solved as one problem: {', '.join(kinds)}",
        )
    found: dict[str, float] = {}
    for kind, value in zip(kinds, values, strict=True):
        if kind in found and found[kind] != value and abs(found[kind] - value) > SAME:
            raise InputError(
                f"has {found[kind]:g} and {value:g} for the {kind}s",
                element=name,
                remedy="Give both legs the same in phases solved as one problem: they take turns",
            )
        found[kind] = value
    return found
