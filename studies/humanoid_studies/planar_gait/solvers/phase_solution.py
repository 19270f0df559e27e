# SPDX-License-Identifier: Apache-2.0
"""What a solver gives for one phase: motion, costates and forces, and what was checked on them (section 2.27)."""

from __future__ import annotations

import dataclasses
import enum
import math
from dataclasses import dataclass

import numpy as np

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_model.violation import Limit, Violation, ViolationKind, told, worst_first
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.optimal_control.effort import Energies, energies
from humanoid_studies.planar_gait.optimal_control.foot_series import FootSeries, foot_series
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.optimal_control.pontryagin import PontryaginSystem
from humanoid_studies.planar_gait.solvers.boundary_value_problem import hermite


class PhaseStatus(enum.Enum):
    """Outcome of a synthesis."""

    CONVERGED = "converged"
    CONTACT_VIOLATION = "contact violation"
    LIMIT_VIOLATION = "limit violation"
    NOT_CONVERGED = "not converged"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True)
class Tolerances:
    """What still counts as kept: exterior penalties leave a little over.

    Attributes:
        force: of a normal force below zero [N].
        friction: share by which a friction coefficient may be exceeded, by forces that aren't below ``force``.
        angle: [rad].
        rate: [rad/s].
        clearance: [m].
        torque: share of its range by which a control may be exceeded.
        closure: by which the loop may stay open: the acceptance of section 4.5 [m].
    """

    force: float = 0.5
    friction: float = 1e-3
    angle: float = 2e-3
    rate: float = 2e-2
    clearance: float = 1e-3
    torque: float = 1e-6
    closure: float = 1e-3

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InputError: one isn't finite and above zero.
        """
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not 0.0 < value < math.inf:
                raise InputError(f"is {value}", element=f"tolerances.{field.name}", remedy="Give a number above 0")


@dataclass(frozen=True, eq=False)
class PhaseSolution:
    """A synthesised phase.

    Attributes:
        status: outcome.
        message: what it means, in words.
        method: ``pontryagin``, ``direct``, or ``none`` where nothing was computed.
        problem: the phase.
        duration: T [s].
        t: (K,) times [s].
        q: (K, n) angles [rad].
        v: (K, n) velocities [rad/s].
        p: (K, n) momenta [N m s].
        costates: (K, 2n) w = (w_q, w_p).
        u: (K, N) controls.
        hamiltonian: (K,) H, constant along an extremal.
        forces: forces under each foot.
        closure_gap: (K,) distance that the loop stays open [m].
        residual: greatest relative residual of the boundary value problem.
        cost: penalised criterion J.
        direct_cost: the same from the transcription; NaN without one.
        energies: what the torques spend.
        violations: limits that aren't kept, the worst first.
        log: what was done, line by line.
        seconds: time of the synthesis.
    """

    status: PhaseStatus
    message: str
    method: str
    problem: PhaseProblem
    duration: float
    t: Reals
    q: Reals
    v: Reals
    p: Reals
    costates: Reals
    u: Reals
    hamiltonian: Reals
    forces: dict[str, FootSeries]
    closure_gap: Reals
    residual: float
    cost: float
    direct_cost: float
    energies: Energies
    violations: tuple[Violation, ...]
    log: tuple[str, ...]
    seconds: float

    @property
    def hip_advance(self) -> float:
        """Way of the hip along x [m]; 0 of a mechanism without one."""
        hip = self.problem.scaled_model.points.get("hip")
        return 0.0 if hip is None else float(hip.position(self.q[-1])[0] - hip.position(self.q[0])[0])

    @property
    def centre_of_pressure(self) -> Reals:
        """(K,) of all feet together along x in the phase's frame, NaN where nothing presses [m]."""
        total, moment = np.zeros(len(self.t)), np.zeros(len(self.t))
        for foot in self.forces.values():
            total += foot.total_normal
            moment += (foot.normal * foot.places).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(total > 0.0, moment / total, np.nan)

    @property
    def transversality(self) -> float:
        """Largest costate of a free state at its end over the largest of that component; 0 where all are given."""
        worst = 0.0
        for at, end in ((0, self.problem.start), (-1, self.problem.end)):
            free = np.concatenate(end.free_masks(self.problem.model))
            sizes = np.abs(self.costates).max(axis=0)
            scaled = np.abs(self.costates[at]) / np.where(sizes > 0.0, sizes, 1.0)
            worst = max(worst, float(scaled[free].max(initial=0.0)))
        return worst

    @property
    def converged(self) -> bool:
        """Whether the numbers are a solution, kept limits or not."""
        return self.status not in (PhaseStatus.NOT_CONVERGED, PhaseStatus.UNREACHABLE)

    @property
    def hamiltonian_spread(self) -> float:
        """Max H - min H over max(1, |H|)."""
        return float(np.ptp(self.hamiltonian) / max(1.0, float(np.abs(self.hamiltonian).max())))

    @property
    def friction_required(self) -> float:
        """Greatest friction coefficient that a foot needs; 0 without feet."""
        return max((series.required_friction for series in self.forces.values()), default=0.0)

    def initial_costate(self) -> Reals:
        """(2n,) w(0): how the cost falls with the initial state, w(0) = -dJ/dx(0)."""
        return self.costates[0].copy()

    def sample(self, t: Reals) -> tuple[Reals, Reals, Reals]:
        """(L, n) angles and velocities and (L, N) controls at times of the phase, smooth between the samples."""
        s = np.asarray(t, dtype=float)
        model = self.problem.scaled_model
        x = np.concatenate([self.q, self.p], axis=1)
        x_rate = np.concatenate([self.v, model.momentum_rate(self.q, self.v, self.u)], axis=1)
        state = hermite(self.t, x, x_rate, s)
        q = state[:, : model.n]
        v = model.tree.velocity(q, state[:, model.n :])
        u = np.stack([np.interp(s, self.t, column) for column in self.u.T], axis=1)
        return q, v, u


def closure_gap(model: PhaseModel, q: Reals) -> Reals:
    """(K,) distance that the loop stays open at (K, n) angles; of several loops the root of the sum of squares [m]."""
    return np.asarray(np.linalg.norm(model.closure(q), axis=1))


def find_violations(
    problem: PhaseProblem, t: Reals, q: Reals, v: Reals, u: Reals, forces: dict[str, FootSeries], tolerances: Tolerances
) -> tuple[list[Violation], list[Violation]]:
    """Return contacts that aren't kept, and joint ranges, rates, clearances, bounds and closures that aren't."""
    model = problem.model
    contacts: list[Violation] = []
    for foot in problem.checked_feet:
        name, series = foot.name, forces[foot.name]
        for row, normal in zip(foot.normal, series.normal.T, strict=True):
            # A released foot's forces are controls; those of the foot at the root follow from the motion.
            kind = ViolationKind.ROOT_FOOT_PULLS if row.accelerated else ViolationKind.RELEASED_FOOT_PULLS
            limit = Limit(kind, f"{name}: unilaterality of {row.name}", "N", tolerances.force, least=True)
            contacts += limit.check(t, normal, 0.0)
        if np.isfinite(problem.friction):
            total = series.total_normal
            along = np.where(total < -tolerances.force, 0.0, np.abs(series.tangential))  # else it pulls
            most = (1.0 + tolerances.friction) * problem.friction * np.maximum(total, 0.0)
            contacts += _friction(problem.friction, name, tolerances).check(t, along, most)
    limits: list[Violation] = []
    angles, rates = model.joint_angles(q), model.joint_rates(v)
    for j, name in enumerate(model.joint_names):
        for word, least, ends in (("least", True, model.joint_lower), ("greatest", False, model.joint_upper)):
            limit = Limit(ViolationKind.RANGE, f"{word} angle of {name}", "rad", tolerances.angle, least)
            limits += limit.check(t, angles[:, j], ends[j])
        rate = Limit(ViolationKind.RATE, f"rate of {name}", "rad/s", tolerances.rate)
        limits += rate.check(t, np.abs(rates[:, j]), model.rate_limit[j])
    for name in model.points_to_clear(bool(problem.penalties.obstacles)):
        place = model.points[name].position(q)
        obstacles = problem.penalties.obstacles
        # A clearance above the ground is a wish that the penalty expresses; ends are often given on the ground.
        floor = min(problem.penalties.clearance, 0.0) + sum(item.envelope(place[:, 0]) for item in obstacles)
        clear = Limit(ViolationKind.CLEARANCE, f"clearance of {name}", "m", tolerances.clearance, least=True)
        limits += clear.check(t, place[:, 1], floor)
    span = np.maximum(np.abs(u).max(axis=0), 1.0)
    for j, name in enumerate(model.control_names):
        for least, ends in ((True, model.control_lower), (False, model.control_upper)):
            bound = Limit(ViolationKind.BOUND, f"bound of {name}", "", tolerances.torque * float(span[j]), least)
            limits += bound.check(t, u[:, j], ends[j])
    closed = Limit(ViolationKind.CLOSURE, "closure gap", "mm", 1e3 * tolerances.closure)
    limits += closed.check(t, 1e3 * closure_gap(problem.scaled_model, q), 0.0)
    return contacts, limits


@dataclass(frozen=True, eq=False)
class PhaseSamples:
    """A motion at K instants.

    Attributes:
        t: (K,) times [s].
        x: (K, 2n) angles and momenta.
        w: (K, 2n) costates.
        u: (K, N) controls; None for those that maximise.
    """

    t: Reals
    x: Reals
    w: Reals
    u: Reals | None = None


@dataclass(frozen=True)
class SolverOutcome:
    """What a solver says of a motion; attributes are those of :class:`PhaseSolution`.

    Attributes:
        method: that gave it.
        solved: whether it is a solution.
        message: in words.
        residual: of the boundary value problem.
        cost: penalised criterion J.
        direct_cost: the same from the transcription; NaN without one.
    """

    method: str
    solved: bool
    message: str
    residual: float
    cost: float
    direct_cost: float


def solution_from_samples(
    problem: PhaseProblem,
    system: PontryaginSystem,
    samples: PhaseSamples,
    outcome: SolverOutcome,
    log: tuple[str, ...] = (),
    seconds: float = 0.0,
    tolerances: Tolerances | None = None,
) -> PhaseSolution:
    """Put a solution together: maximising controls unless given, forces, energies and checks.

    Args:
        problem: of the phase.
        system: Pontryagin's conditions of it.
        samples: of the motion.
        outcome: of the solver.
        log: what was done, line by line.
        seconds: time that it took.
        tolerances: of the checks; those of :class:`Tolerances` if left out.
    """
    t, x, w, u = samples.t, samples.x, samples.w, samples.u
    message, solved = outcome.message, outcome.solved
    n, model = problem.model.n, problem.scaled_model
    at = system.evaluate(x, w)
    q, p, v = x[:, :n], x[:, n:], at.v
    if u is None:
        controls, hamiltonian = at.u, at.hamiltonian
    else:
        controls = u
        rate = np.concatenate([v, model.momentum_rate(q, v, u)], axis=1)
        running = system.running_cost(q, v, u)
        hamiltonian = (w * rate).sum(axis=1) - running
    forces = {
        foot.name: foot_series(model, foot, foot.places, q, v, controls) for foot in problem.checked_feet
    }
    contacts, limits = find_violations(problem, t, q, v, controls, forces, tolerances or Tolerances())
    infeasible = "; constraints leave no control somewhere" if u is None and not at.feasible.all() else ""
    if not solved:
        status = PhaseStatus.NOT_CONVERGED
    elif contacts or infeasible:
        status = PhaseStatus.CONTACT_VIOLATION
    elif limits:
        status = PhaseStatus.LIMIT_VIOLATION
    else:
        status = PhaseStatus.CONVERGED
    violations = worst_first((*contacts, *limits))
    if solved and violations:
        message += f"; {told(violations)}"
    return PhaseSolution(
        status=status,
        message=message + infeasible,
        method=outcome.method,
        problem=problem,
        duration=float(t[-1]),
        t=t,
        q=q,
        v=v,
        p=p,
        costates=w,
        u=controls,
        hamiltonian=hamiltonian,
        forces=forces,
        closure_gap=closure_gap(model, q),
        residual=outcome.residual,
        cost=outcome.cost,
        direct_cost=outcome.direct_cost,
        energies=energies(model, problem.effort, t, v, controls),
        violations=violations,
        log=log,
        seconds=seconds,
    )


def _friction(coefficient: float, foot: str, tolerances: Tolerances) -> Limit:
    """Return what a foot's force along the ground keeps; below the tolerance of normal ones no share says anything."""
    tolerance = coefficient * tolerances.force
    return Limit(ViolationKind.FRICTION, f"{foot}: friction {coefficient:g}", "N", tolerance)
