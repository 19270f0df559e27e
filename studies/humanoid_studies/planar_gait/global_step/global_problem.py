# SPDX-License-Identifier: Apache-2.0
"""All phases of a gait as one problem: their programs, what links them, what is free (003 sections 2.14.6 and 2.24).

Ends aren't given. The states of two phases at a transition are tied by the walker's transition map; the foot that lands
or lifts off does so without impact,

    touch-down:  g(q) = 0 with the foothold of the step length L,  G_r(q) v = 0,  the stance foot flat and still,
    sole down:   the front foot flat and still,
    lift-off:    the rear toe, the root of the tree, is at rest by itself,

and from a closed beginning closures are kept by accelerations. In a cyclic gait the last phase is linked to the first
one: the roles of the legs have changed by then, so that coordinates need no further exchange.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.global_step.global_settings import GlobalSettings
from humanoid_studies.planar_gait.global_step.multiphase_program import EndSymbols, MultiphaseProgram
from humanoid_studies.planar_gait.global_step.transition_map import TransitionMap
from humanoid_studies.planar_gait.mechanism.casadi_tree import CasadiPhase
from humanoid_studies.planar_gait.mechanism.phase_model import Joint, PhaseModel, Torque
from humanoid_studies.planar_gait.optimal_control.control_rows import cut_foot
from humanoid_studies.planar_gait.optimal_control.end_state import EndState
from humanoid_studies.planar_gait.optimal_control.penalties import Obstacle, Penalties
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.optimal_control.phase_shape import phase_parameters
from humanoid_studies.planar_gait.solvers.direct import (
    MAX_MEMORY,
    Transcription,
    constraint_bounds,
    program_memory,
    transcription,
    variable_bounds,
)
from humanoid_studies.planar_gait.solvers.guess import cubic_guess
from humanoid_studies.planar_gait.specification.boundary_state import BoundaryState
from humanoid_studies.planar_gait.specification.phase_spec import PhaseKind, PhaseSpec, PlannedPhase, plan_phase
from humanoid_studies.planar_gait.specification.stairs import over_stairs
from humanoid_studies.planar_gait.specification.step_data import RestData
from humanoid_studies.planar_gait.specification.walker import Walker


class Support(enum.Enum):
    """What bears in a phase.

    ONE_FOOT is single support. HEEL is double support while the front foot turns on its heel, FLAT while it is flat.
    WHOLE is double support as the thesis has it, in one phase, the front toe's force acting even before the toe is
    down; and all of it for robots without feet.
    """

    ONE_FOOT = "one foot"
    HEEL = "heel"
    FLAT = "flat"
    WHOLE = "whole"


@dataclass(frozen=True, eq=False)
class HeelPhase(PlannedPhase):
    """The first part of a double support: the frame stays where it is until its second part is over."""

    @property
    def advance(self) -> complex:
        """None: 0 m."""
        return 0j


@dataclass(frozen=True, eq=False)
class GlobalPhase:
    """One phase with its ends free.

    Attributes:
        support: what bears.
        lands: whether it begins with the touch-down of the front foot.
        planned: the phase as planned from step data, which is where the guess comes from.
        problem: model, limits and criterion; its ends are guesses.
        program: its transcription.
        length: index of its step length among the shared unknowns; None of phases on one foot.
    """

    support: Support
    lands: bool
    planned: PlannedPhase
    problem: PhaseProblem
    program: Transcription
    length: int | None

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.kind.label} on the {self.support.value}" if self.support.value in "heel" else self.kind.label

    @property
    def foothold(self) -> complex:
        """Of the step that the phase was planned with [m]."""
        assert self.planned.spec.own is not None
        return self.planned.spec.own.foothold

    @property
    def kind(self) -> PhaseKind:
        """Of the phase."""
        return self.planned.spec.kind

    @property
    def double(self) -> bool:
        """Whether both feet bear."""
        return self.planned.double


@dataclass(frozen=True, eq=False)
class GlobalProblem:
    """A gait as one problem.

    Attributes:
        walker: the walking model.
        settings: criterion, limits and ranges.
        phases: in order.
        cyclic: whether the last phase leads to the first one.
        speed: mean speed that is asked [m/s]; None leaves it free.
        step_lengths: (doubles, 2) bounds of the step lengths [m].
        advance_at_rests: by how much the hip is further ahead of the feet at the last rest than at the first one [m].
    """

    walker: Walker
    settings: GlobalSettings
    phases: tuple[GlobalPhase, ...]
    cyclic: bool
    speed: float | None
    step_lengths: Reals
    advance_at_rests: float

    def program(self) -> MultiphaseProgram:
        """Return the nonlinear program; kept for all problems that differ in parameters alone."""
        key = (
            tuple((phase.program, phase.lands) for phase in self.phases),
            self.cyclic,
            self.speed is None,
            self.settings.per_metre,
            # Links are written with the robot's lengths.
            b"".join(_closing_terms(phase).tobytes() for phase in self.phases if phase.lands),
        )
        if key not in _PROGRAMS:
            _PROGRAMS[key] = self._build()
        return _PROGRAMS[key]

    @property
    def numbers(self) -> Reals:
        """What links and objective take as numbers: speed, advance at the rests, height of each step."""
        heights = [phase.foothold.imag for phase in self.phases if phase.lands]
        return np.array([self.speed or 0.0, self.advance_at_rests, *heights])

    def _build(self) -> MultiphaseProgram:
        phases = self.phases
        ends = [EndSymbols(i, phase.program.n) for i, phase in enumerate(phases)]
        doubles = len(self.step_lengths)
        shared = casadi.SX.sym("step_length", doubles)
        costs = casadi.SX.sym("cost", len(phases))
        numbers = casadi.SX.sym("numbers", 2 + doubles)
        distance = casadi.sum1(shared) + numbers[1]
        links = []
        for i in range(len(phases) - (0 if self.cyclic else 1)):
            j = (i + 1) % len(phases)
            before, after = phases[i], phases[j]
            if before.double and after.double:
                links += [ends[i].end_q - ends[j].start_q, ends[i].end_v - ends[j].start_v]
            elif before.double:
                A = TransitionMap.of(self.walker.single_from_double, before.program.n)
                links.append(casadi.mtimes(_sparse(A.matrix), ends[i].end_q) + A.shift - ends[j].start_q)
                links.append(casadi.mtimes(_sparse(A.matrix), ends[i].end_v) - ends[j].start_v)
            else:
                A = TransitionMap.of(self.walker.single_from_touch_down, after.program.n)
                links.append(casadi.mtimes(_sparse(A.matrix), ends[j].start_q) + A.shift - ends[i].end_q)
                links.append(casadi.mtimes(_sparse(A.matrix), ends[j].start_v) - ends[i].end_v)
        for i, phase in enumerate(phases):
            if phase.length is None or not phase.lands:
                continue
            expressions = CasadiPhase(phase.problem.model)
            gap = expressions.closure(ends[i].start_q)
            planned = phase.foothold
            moved = casadi.vertcat(shared[phase.length] - planned.real, numbers[2 + phase.length] - planned.imag)
            links.append(gap - moved)
            links.append(casadi.mtimes(casadi.jacobian(gap, ends[i].start_q), ends[i].start_v))
        if self.speed is not None:
            links.append(numbers[0] * sum(end.duration for end in ends) - distance)
        total = casadi.sum1(costs)
        objective = total / distance if self.settings.per_metre else total
        return MultiphaseProgram(
            [phase.program for phase in phases], ends, shared, costs, objective, casadi.vertcat(*links), numbers
        )

    def bounds(self, program: MultiphaseProgram) -> tuple[Reals, Reals, Reals, Reals]:
        """Least and greatest unknowns, least and greatest constraints."""
        lows, highs, g_lows, g_highs = [], [], [], []
        for index, phase in enumerate(self.phases):
            lower, upper, g_lower, g_upper = self._phase_bounds(index, phase)
            lows.append(lower)
            highs.append(upper)
            g_lows.append(g_lower)
            g_highs.append(g_upper)
        zeros = np.zeros(program.link_count)
        return (
            np.concatenate([*lows, self.step_lengths[:, 0]]),
            np.concatenate([*highs, self.step_lengths[:, 1]]),
            np.concatenate([*g_lows, zeros]),
            np.concatenate([*g_highs, zeros]),
        )

    def _phase_bounds(self, index: int, phase: GlobalPhase) -> tuple[Reals, Reals, Reals, Reals]:
        problem, program, settings = phase.problem, phase.program, self.settings
        parameters = phase_parameters(problem)
        unit = 1.0 / np.sqrt(parameters.values["effort"])
        lower, upper = variable_bounds(problem, program, unit)
        g_lower, g_upper = constraint_bounds(problem, parameters, program)
        n, P, model = program.n, program.points, problem.model
        low, high = lower[1:].reshape(P, program.width), upper[1:].reshape(P, program.width)
        trunk = model.tree.index("trunk")
        low[:, trunk], high[:, trunk] = math.pi / 2 - settings.trunk_lean, math.pi / 2 + settings.trunk_lean
        start, end = phase.planned.start, phase.planned.end
        if phase.double:
            # A foot that single support doesn't know lies flat and still there; meanwhile it turns on its toe or heel.
            for j in TransitionMap.of(self.walker.single_from_touch_down, n).dropped:
                flat = self._flat(index, j, first=True)
                low[:, j], high[:, j] = flat + settings.rear_foot_turn, flat
                if phase.lands:
                    _fix(low, high, 0, [j, n + j], [flat, 0.0])
            for j in TransitionMap.of(self.walker.single_from_double, n).dropped:
                flat = self._flat(index, j, first=False)
                least, greatest = settings.sole_angle
                if phase.support is Support.FLAT:
                    if phase.lands:
                        _fix(low, high, 0, [j, n + j], [flat, 0.0])
                    continue
                if phase.support is Support.HEEL:
                    low[:, j], high[:, j] = flat, flat + greatest
                low[0, j], high[0, j] = flat + least, flat + greatest
                _fix(low, high, P - 1, [j, n + j], [flat, 0.0])
        for place, rest, state in ((0, PhaseKind.START, start), (P - 1, PhaseKind.STOP, end)):
            if phase.kind is rest:
                _fix(low, high, place, range(2 * n), np.concatenate([state.q, state.v]))
        rows = g_upper[4 * n * (P // 2) :][: P * program.rest_count].reshape(P, program.rest_count)
        clear = parameters.shape.clear_points
        for place, names in ((0, self._on_ground(index, first=True)), (P - 1, self._on_ground(index, first=False))):
            for name in names:
                rows[place, program.rest_count - len(clear) + clear.index(name)] = np.inf
        return lower, upper, g_lower, g_upper

    def _flat(self, index: int, coordinate: int, first: bool) -> float:
        """Angle of the rear foot (first) or front foot that is flat, as planned in the same double support."""
        states = [self.phases[index].planned]
        near = -1 if first else 1
        neighbour = self.phases[(index + near) % len(self.phases)]
        if neighbour.double:
            states.append(neighbour.planned)
        return float((states[-1].start if first else states[-1].end).q[coordinate])

    def _on_ground(self, index: int, first: bool) -> tuple[str, ...]:
        """Return points of the swinging foot that links keep on the ground at one end of a phase: no limit has to."""
        phase = self.phases[index]
        names = phase_parameters(phase.problem).shape.clear_points
        same = self.walker.same_points
        if phase.double:
            return ()
        if phase.kind is (PhaseKind.START if first else PhaseKind.STOP):
            return names
        if first:
            model = self.phases[index - 1].problem.model
            return tuple(
                name
                for name in names
                if name in same and not model.points[same[name][1]].coefficients.any()
            )
        after = self.phases[(index + 1) % len(self.phases)]
        if after.support is Support.FLAT or self.settings.sole_angle[1] == 0.0:
            return names
        model = after.problem.model
        closing = {closure.point for closure in model.point_closures}
        return tuple(name for name in names if name in same and same[name][0] in closing)


_PROGRAMS: dict[Any, MultiphaseProgram] = {}


def _sparse(matrix: Reals) -> casadi.DM:
    return casadi.sparsify(casadi.DM(matrix))


def _fix(low: Reals, high: Reals, place: int, columns: Any, values: Any) -> None:
    low[place, list(columns)] = high[place, list(columns)] = values


def _closing_terms(phase: GlobalPhase) -> NDArray[np.complex128]:
    """Return coefficients of the closing points, and where they belong less the step's length and height."""
    model = phase.problem.model
    terms = [
        np.append(model.points[item.point].coefficients, [item.target - phase.foothold])
        for item in model.point_closures
    ]
    return np.concatenate(terms)


def global_problem(
    walker: Walker,
    specs: Sequence[PhaseSpec],
    settings: GlobalSettings,
    cyclic: bool,
    speed: float | None = None,
    step_length: float | None = None,
) -> GlobalProblem:
    """Put the problem together.

    Args:
        walker: the walking model.
        specs: phases in order; their steps and durations are the guess, their rests and the heights of their steps
            are kept.
        settings: criterion, limits and ranges.
        cyclic: whether the last phase leads to the first one.
        speed: mean speed [m/s]; None leaves it free.
        step_length: of all steps [m]; None leaves each of them free.

    Raises:
        InputError: a guess out of reach, values that contradict each other, stairs without a step length, more phases
            or intervals than fit into memory.
    """
    _check_sequence(specs, cyclic)
    for name, value in (("speed", speed), ("step_length", step_length)):
        if value is not None and not (math.isfinite(value) and value > 0.0):
            raise InputError(f"is {value}", element=name, remedy="Give a number above 0, or None")
    heights = [spec.own.step_height for spec in specs if spec.own is not None]
    if any(heights) and step_length is None:
        raise InputError("is free on stairs", element="step_length", remedy="Give the length of the stairs' treads")
    if any(heights) and not cyclic and (heights[0] or heights[-1]):
        raise InputError(
            "is next to a rest", element="step_height", remedy="Let the steps after a start and before a stop be level"
        )
    phases: list[GlobalPhase] = []
    count = memory = 0
    for spec in specs:
        whole = plan_phase(walker, spec)
        for number, (support, planned) in enumerate(_parts(whole, settings)):
            problem = _phase_problem(walker, planned, support, settings, step_length)
            element = "single_intervals" if support is Support.ONE_FOOT else "double_intervals"
            intervals = getattr(settings, element)
            memory += program_memory(phase_parameters(problem).shape, intervals)
            if phases and memory > MAX_MEMORY:
                raise InputError(
                    f"has {len(specs)} phases; {len(phases)} of them with {settings.single_intervals} intervals on one "
                    f"foot and {settings.double_intervals} on both take {MAX_MEMORY / 2**30:g} GiB already",
                    element="gait",
                    remedy="Give fewer phases, or fewer settings.single_intervals and settings.double_intervals",
                )
            program = transcription(problem, intervals, f"settings.{element}")
            lands = whole.double and number == 0
            phases.append(GlobalPhase(support, lands, planned, problem, program, count if whole.double else None))
        count += whole.double
    bounds = settings.step_length if step_length is None else (step_length, step_length)
    rests = [_ahead(specs[0].rest), _ahead(specs[-1].rest)]
    return GlobalProblem(
        walker, settings, tuple(phases), cyclic, speed, np.tile(np.array(bounds), (count, 1)), rests[1] - rests[0]
    )


_HEEL_SHARE = 0.4
"""Of a double support that the guess has the front foot coming down for."""


def _parts(whole: PlannedPhase, settings: GlobalSettings) -> list[tuple[Support, PlannedPhase]]:
    """Return a phase as planned, or the two phases of a double support whose front foot lands on its heel."""
    if not whole.double:
        return [(Support.ONE_FOOT, whole)]
    model = whole.model
    if not model.angle_closures or settings.landing == "whole":
        return [(Support.WHOLE, whole)]
    feet = [model.tree.index(closure.coordinate) for closure in model.angle_closures]
    if settings.landing == "flat":
        start = BoundaryState(whole.start.q.copy(), whole.start.v.copy())
        start.q[feet], start.v[feet] = whole.end.q[feet], 0.0
        return [(Support.FLAT, dataclasses.replace(whole, start=start))]
    T = whole.spec.duration
    first, last = EndState(whole.start.q, whole.start.v), EndState(whole.end.q, whole.end.v)
    q, v, _, _ = cubic_guess(PhaseProblem(model, first, last, T), 101)
    down = BoundaryState(q[int(100 * _HEEL_SHARE)].copy(), v[int(100 * _HEEL_SHARE)].copy())
    down.q[feet], down.v[feet] = whole.end.q[feet], 0.0
    closing = {closure.point for closure in model.point_closures}
    forces = tuple(force for force in model.cut_forces if force.point in closing)
    names = {force.name for force in forces}
    contacts = tuple(
        dataclasses.replace(contact, normal=tuple(name for name in contact.normal if name in names))
        for contact in model.contacts
    )
    on_heel = model.replace(cut_forces=forces, contacts=contacts)
    early = dataclasses.replace(whole.spec, duration=_HEEL_SHARE * T)
    late = dataclasses.replace(whole.spec, duration=(1.0 - _HEEL_SHARE) * T)
    return [
        (Support.HEEL, HeelPhase(early, on_heel, whole.start, down)),
        (Support.FLAT, PlannedPhase(late, model, down, whole.end)),
    ]


def _ahead(rest: RestData | None) -> float:
    return rest.hip_ahead if rest is not None else 0.0


def _check_sequence(specs: Sequence[PhaseSpec], cyclic: bool) -> None:
    kinds = [spec.kind for spec in specs]
    inner = kinds if cyclic else kinds[1:-1]
    regular = all(
        first.double != second.double
        for first, second in zip(kinds, kinds[1:] + kinds[:1] if cyclic else kinds[1:], strict=False)
    )
    between = cyclic or (len(kinds) > 2 and kinds[0] is PhaseKind.START and kinds[-1] is PhaseKind.STOP)
    if not (specs and regular and between and not {PhaseKind.START, PhaseKind.STOP} & set(inner)):
        raise InputError(
            ", ".join(kind.label for kind in kinds) or "no phase",
            element="gait",
            remedy="Let double and single support take turns, from a start to a stop or in a cycle",
        )


def _phase_problem(
    walker: Walker, planned: PlannedPhase, support: Support, settings: GlobalSettings, step_length: float | None
) -> PhaseProblem:
    model = _limited(planned.model, settings)
    root = walker.root_forces(model)
    rows = (*root.unilateral(settings.force_lower), *root.friction(settings.friction))
    least, greatest = {
        Support.ONE_FOOT: settings.single_support,
        Support.HEEL: settings.heel_contact,
    }.get(support, settings.double_support)
    everything = model.tree.coordinates
    penalties = Penalties(slap=settings.slap if support is Support.WHOLE else 0.0)
    if not planned.double:
        length = settings.step_length[0] if step_length is None else step_length
        spec = planned.spec
        penalties = dataclasses.replace(penalties, obstacles=settings.obstacles, foot_lift=settings.foot_lift)
        if spec.before is not None and spec.next_step is not None:
            if settings.swing_clearance > 0.0:  # a foot that rests beside the stance foot has nothing to pass
                hill = _hill(settings.swing_clearance, length, walker.foot_length)
                penalties = dataclasses.replace(penalties, obstacles=(*settings.obstacles, hill))
            own = length if step_length is not None else spec.next_step.step_length
            stairs = (spec.before.replace(step_length=own), spec.next_step.replace(step_length=own))
            penalties = over_stairs(penalties, *stairs, walker.foot_length)
    return PhaseProblem(
        model,
        EndState(planned.start.q, planned.start.v, everything, everything),
        EndState(planned.end.q, planned.end.v, everything, everything),
        min(max(planned.spec.duration, least), greatest),
        settings.effort,
        penalties,
        rows,
        (root, *(cut_foot(model, contact.name) for contact in model.contacts)),
        settings.friction,
        hard_closure=planned.double,
        hard_angles=support is Support.FLAT,
        hard_inequalities=True,
        duration_range=(least, greatest),
    )


_HILL_MARGIN = 0.04
"""Over which the hill in the swinging foot's way falls off [m]."""


def _hill(height: float, step_length: float, foot_length: float) -> Obstacle:
    """Return a hill in the middle of the swing, under which the stance foot is; beside both footholds it is flat."""
    # Heel and toe reach 1.65 margins and half the width beyond its middle: both lift off and land beyond that.
    room = step_length - 0.5 * foot_length
    margin = min(_HILL_MARGIN, room / 2.0)
    if margin <= 0.0:
        raise InputError(
            f"of {step_length:g} m is less than half a foot",
            element="step_length",
            remedy="Give longer steps, or no swing_clearance",
        )
    return Obstacle(-0.5 * foot_length, 0.3 * margin, height, margin)


def _limited(model: PhaseModel, settings: GlobalSettings) -> PhaseModel:
    """Return the model with the settings' limits of forces, friction, torques and knees."""
    known = {kind: [joint for joint in model.joints if joint.name.endswith(kind)] for kind in settings.torque_limits}
    for kind, joints in known.items():
        if not joints:
            raise InputError(
                f"unknown joint '{kind}'",
                element="settings.torque_limits",
                remedy=f"Use parts of {', '.join(model.joint_names)}, from their end",
            )
    bounds = {}
    for torque in model.torques:
        limits = [
            limit
            for kind, limit in settings.torque_limits.items()
            if any(_drives(torque, joint) for joint in known[kind])
        ]
        if limits:
            bounds[torque.name] = (max(torque.lower, -min(limits)), min(torque.upper, min(limits)))
    normal = {name for contact in model.contacts for name in contact.normal}
    for force in model.cut_forces:
        if force.name in normal:
            bounds[force.name] = (max(force.lower, settings.force_lower), force.upper)
    contacts = tuple(
        dataclasses.replace(contact, friction=min(contact.friction, settings.friction)) for contact in model.contacts
    )
    bent = tuple(
        _bent(joint, settings.min_knee_flexion) if joint.name.endswith("knee") else joint for joint in model.joints
    )
    return model.with_bounds(**bounds).replace(contacts=contacts, joints=bent)


def _drives(torque: Torque, joint: Joint) -> bool:
    return {torque.on, torque.by} == {joint.child, joint.parent}


def _bent(joint: Joint, least: float) -> Joint:
    """Return the joint with flexion of at least ``least``."""
    if joint.sign > 0:
        return dataclasses.replace(joint, lower=max(joint.lower, joint.offset + least))
    return dataclasses.replace(joint, upper=min(joint.upper, joint.offset - least))
