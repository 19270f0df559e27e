# SPDX-License-Identifier: Apache-2.0
"""Time of one gait phase from its data to a converged extremal, beside the same problem in plain CasADi.

For each reference problem of specification 003 Part 4, in one run and taking turns:

ours      synthesize_phase: transcription, costates, boundary value problem, checks
direct    its first stage alone
plain     the transcription as a skilled user of CasADi writes it: Hermite-Simpson in (q, p, u) with separate middles,
          M(q) v = p solved inside the compiled right-hand side, mapped over the points, IPOPT with exact Hessians

"first" is the first call in a process, which builds and compiles; the others are medians of processor time after it.
Plain CasADi solves an existing program again and again; what building it took is the column before.

``--step SPEED`` instead solves the best cyclic step of BIP, all phases in one problem, from nothing, and the same
program written plainly.

``--criteria`` instead solves four of the phases for least energy, torques within 250 N m (five-bar mechanism: 25),
and for the least rate of efforts, beside least effort.

``--boundary`` instead solves Pontryagin's boundary value problem of each phase with our collocation and with SciPy's
``solve_bvp``, from the transcription and from a straight line.

``--gaps [WORD...]`` instead prints, of best steps of BIP and RABBIT and of a walk between rests, how far apart the
transcription and Pontryagin's conditions are (docs/gait_proof.md); with words only the rows that have them all.

``--peers PYTHON`` adds for scale, in the same rounds, Crocoddyl's walk of BIP in space with the cyclic step's length
and durations: two steps, the first of half the length. PYTHON is that of an environment with crocoddyl 3.2.1 and pin
4.0.0 (with pin 4.1.0 the wheel of Crocoddyl crashes).

``--random N`` instead draws N steps around the published ones (hip ±4 cm ahead and ±3 cm up, its velocities ±0.2 and
±0.1 m/s, step length ±10 cm, durations ±20 %, and BIP's feet likewise), half of BIP and half of RABBIT, and counts
which of their phases converge, which are refused as unreachable, and which fail; ``--spread 2`` doubles the ranges,
``--press`` has all feet held down by the controls.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import casadi
import numpy as np
from tqdm import tqdm

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "benchmark")]

from fixtures.gait_models import BIP, BRAKING, CYCLIC, RABBIT, RABBIT_WALK  # noqa: E402
from fixtures.gait_oracles import ORACLES  # noqa: E402
from fixtures.gait_problems import CASES, oracle_problem, stance  # noqa: E402
from fixtures.random_steps import random_walk  # noqa: E402
from peer_engine import PeerEngine  # noqa: E402

from humanoid_model import load_robot  # noqa: E402
from humanoid_model.errors import InputError  # noqa: E402
from humanoid_model.files import find_resource  # noqa: E402
from humanoid_studies.gait.scipy_collocation import solve_scipy  # noqa: E402
from humanoid_studies.planar_gait.global_step.global_gait import GlobalGait  # noqa: E402
from humanoid_studies.planar_gait.global_step.global_problem import GlobalProblem, global_problem  # noqa: E402
from humanoid_studies.planar_gait.global_step.global_settings import GlobalSettings  # noqa: E402
from humanoid_studies.planar_gait.global_step.optimize_step import optimize_step, optimize_walk  # noqa: E402
from humanoid_studies.planar_gait.global_step.step_guess import scaled_walk  # noqa: E402
from humanoid_studies.planar_gait.global_step.transition_map import TransitionMap  # noqa: E402
from humanoid_studies.planar_gait.mechanism.casadi_tree import CasadiPhase  # noqa: E402
from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort, energies  # noqa: E402
from humanoid_studies.planar_gait.optimal_control.extremal_problem import ExtremalProblem  # noqa: E402
from humanoid_studies.planar_gait.optimal_control.penalties import Obstacle  # noqa: E402
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem  # noqa: E402
from humanoid_studies.planar_gait.optimal_control.phase_shape import phase_parameters  # noqa: E402
from humanoid_studies.planar_gait.solvers.alternative_criteria import Criterion, CriterionOptions, solve_criterion  # noqa: E402
from humanoid_studies.planar_gait.solvers.collocation import CollocationOptions, solve_collocation  # noqa: E402
from humanoid_studies.planar_gait.solvers.direct import DirectOptions, solve_direct  # noqa: E402
from humanoid_studies.planar_gait.solvers.guess import line_guess  # noqa: E402
from humanoid_studies.planar_gait.solvers.synthesize import synthesize_phase  # noqa: E402
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSettings, PhaseSettings, synthesize_gait  # noqa: E402
from humanoid_studies.planar_gait.specification.phase_spec import cyclic_walk, walk_between_rests  # noqa: E402
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker, Walker  # noqa: E402

INTERVALS = DirectOptions().intervals


class PlainCasadi:
    """The same penalised problem, transcribed with CasADi's own means."""

    def __init__(self, problem: PhaseProblem) -> None:
        model, n = problem.model, problem.model.n
        phase = CasadiPhase(model)
        x, u = casadi.SX.sym("x", 2 * n), casadi.SX.sym("u", model.control_count)
        q = x[:n]
        penalties = problem.penalties
        cost = 0.5 * casadi.dot(casadi.SX(problem.effort.diagonal(model)), u**2)
        cost += 0.5 * penalties.closure * casadi.sumsqr(phase.closure(q))
        cost += 0.5 * penalties.slap * casadi.sumsqr(phase.slap(q))
        if penalties.inequality > 0.0:
            for name in model.clearance_points:
                cost += 0.5 * penalties.inequality * casadi.fmax(0.0, -phase.point(name, q)[1]) ** 2
        points = 2 * INTERVALS + 1
        rate = casadi.Function("f", [x, u], [phase.state_rate(x, u), cost]).map(points)
        h = problem.duration / INTERVALS
        X, U = casadi.MX.sym("X", 2 * n, points), casadi.MX.sym("U", model.control_count, points)
        F, running = rate(X, U)
        left, middle, right = slice(0, points - 1, 2), slice(1, points, 2), slice(2, points, 2)
        defects = X[:, right] - X[:, left] - h / 6.0 * (F[:, left] + 4.0 * F[:, middle] + F[:, right])
        middles = X[:, middle] - 0.5 * (X[:, left] + X[:, right]) - h / 8.0 * (F[:, left] - F[:, right])
        simpson = h / 6.0 * casadi.sum2(running[left] + 4.0 * running[middle] + running[right])
        unknowns = casadi.veccat(X, U)
        program = {"x": unknowns, "f": simpson, "g": casadi.veccat(defects, middles)}
        self._solver: Any = casadi.nlpsol(
            "plain", "ipopt", program, {"ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-6}, "print_time": False}
        )
        start, end = model.state(problem.start.q, problem.start.v), model.state(problem.end.q, problem.end.v)
        guess = start[:, None] + np.linspace(0.0, 1.0, points) * (end - start)[:, None]
        lower, upper = np.full((2 * n, points), -np.inf), np.full((2 * n, points), np.inf)
        lower[:, 0] = upper[:, 0] = start
        lower[:, -1] = upper[:, -1] = end
        controls = [np.repeat(bound[:, None], points, axis=1) for bound in (model.control_lower, model.control_upper)]
        rest = np.clip(np.zeros_like(controls[0]), *controls)

        def column(states: np.ndarray, efforts: np.ndarray) -> np.ndarray:
            return np.concatenate([states.ravel(order="F"), efforts.ravel(order="F")])

        self._arguments = {
            "x0": column(guess, rest),
            "lbx": column(lower, controls[0]),
            "ubx": column(upper, controls[1]),
            "lbg": 0.0,
            "ubg": 0.0,
        }

    def solve(self) -> tuple[float, str]:
        """Cost and IPOPT's status."""
        end = self._solver(**self._arguments)
        return float(end["f"]), str(self._solver.stats()["return_status"])


class PlainStep:
    """The best cyclic step, all phases in one program, with CasADi's own means: (q, p), automatic derivatives.

    Models, limits and which of them hold where are those of the problem; nothing of its program is used.
    """

    def __init__(self, problem: GlobalProblem) -> None:
        lower, upper, g_lower, g_upper = problem.bounds(problem.program())
        offsets, rows = problem.program().offsets, problem.program().rows
        unknowns, lows, highs, guesses, constraints, g_lows, g_highs, costs, ends, times = ([] for _ in range(10))

        def keep(expression: casadi.MX, low: np.ndarray, high: np.ndarray) -> None:
            constraints.append(casadi.vec(expression))
            g_lows.append(np.broadcast_to(low, (constraints[-1].numel(),)))
            g_highs.append(np.broadcast_to(high, (constraints[-1].numel(),)))

        zero = np.zeros(1)
        for i, phase in enumerate(problem.phases):
            own, model, P, n = phase.problem, phase.problem.model, phase.program.points, phase.program.n
            T, X = casadi.MX.sym("T"), casadi.MX.sym("X", 2 * n, P)
            U = casadi.MX.sym("U", model.control_count, P)
            at = self._point(own).map(P)
            F, running, R, V = at(X, U)
            h = T / ((P - 1) // 2)
            left, middle, right = slice(0, P - 1, 2), slice(1, P, 2), slice(2, P, 2)
            keep(X[:, right] - X[:, left] - h / 6.0 * (F[:, left] + 4.0 * F[:, middle] + F[:, right]), zero, zero)
            keep(X[:, middle] - 0.5 * (X[:, left] + X[:, right]) - h / 8.0 * (F[:, left] - F[:, right]), zero, zero)
            nodes = [bound[offsets[i] + 1 : offsets[i + 1]].reshape(P, -1) for bound in (lower, upper)]
            rest = [
                bound[rows[i] : rows[i + 1]][4 * n * (P // 2) :].reshape(P, -1)[:, phase.program.accelerated_count :]
                for bound in (g_lower, g_upper)
            ]
            keep(R, rest[0].ravel(), rest[1].ravel())
            for place in (0, P - 1):
                for j in np.flatnonzero(nodes[0][place, n : 2 * n] == nodes[1][place, n : 2 * n]):
                    keep(V[int(j), place], zero, zero)
            costs.append(casadi.sum2(h / 6.0 * (running[left] + 4.0 * running[middle] + running[right])))
            start, end = (model.state(state.q, state.v) for state in (phase.planned.start, phase.planned.end))
            line = start[:, None] + np.linspace(0.0, 1.0, P) * (end - start)[:, None]
            free = np.full((P, n), np.inf)
            efforts = [np.repeat(bound[None], P, axis=0) for bound in (model.control_lower, model.control_upper)]
            unknowns += [T, casadi.vec(X), casadi.vec(U)]
            lows += [lower[offsets[i]], np.hstack([nodes[0][:, :n], -free]).ravel(), efforts[0].ravel()]
            highs += [upper[offsets[i]], np.hstack([nodes[1][:, :n], free]).ravel(), efforts[1].ravel()]
            guesses += [own.duration, line.ravel(order="F"), np.clip(np.zeros_like(efforts[0]), *efforts).ravel()]
            ends.append((X[:n, 0], V[:, 0], X[:n, P - 1], V[:, P - 1]))
            times.append(T)
        length = casadi.MX.sym("L")
        for i, before in enumerate(problem.phases):
            j = (i + 1) % len(ends)
            after = problem.phases[j]
            (_, _, q1, v1), (q0, v0, _, _) = ends[i], ends[j]
            if before.double and after.double:
                keep(casadi.vertcat(q1 - q0, v1 - v0), zero, zero)
            elif before.double:
                A = TransitionMap.of(problem.walker.single_from_double, before.program.n)
                keep(casadi.vertcat(A.matrix @ q1 + A.shift - q0, A.matrix @ v1 - v0), zero, zero)
            else:
                A = TransitionMap.of(problem.walker.single_from_touch_down, after.program.n)
                keep(casadi.vertcat(A.matrix @ q0 + A.shift - q1, A.matrix @ v0 - v1), zero, zero)
                expressions, q, v = CasadiPhase(after.problem.model), casadi.SX.sym("q", 7), casadi.SX.sym("v", 7)
                gap = expressions.closure(q)
                closed = casadi.Function("closed", [q, v], [gap, casadi.jacobian(gap, q) @ v])(q0, v0)
                keep(closed[0] - casadi.vertcat(length - after.foothold.real, 0.0), zero, zero)
                keep(closed[1], zero, zero)
        keep(problem.speed * sum(times) - length, zero, zero)
        program = {
            "x": casadi.vertcat(*unknowns, length),
            "f": sum(costs) / length,
            "g": casadi.vertcat(*constraints),
        }
        options = {"print_level": 0, "sb": "yes", "tol": 1e-6, "max_iter": 3000, "max_wall_time": 600.0}
        self._solver: Any = casadi.nlpsol("plain", "ipopt", program, {"ipopt": options, "print_time": False})
        self._arguments = {
            "x0": np.concatenate([*(np.atleast_1d(item) for item in guesses), [0.5]]),
            "lbx": np.concatenate([*(np.atleast_1d(item) for item in lows), problem.step_lengths[0, :1]]),
            "ubx": np.concatenate([*(np.atleast_1d(item) for item in highs), problem.step_lengths[0, 1:]]),
            "lbg": np.concatenate(g_lows),
            "ubg": np.concatenate(g_highs),
        }

    @staticmethod
    def _point(own: PhaseProblem) -> casadi.Function:
        """Rates, cost, limits and velocities at one point."""
        model, n = own.model, own.model.n
        phase = CasadiPhase(model)
        x, u = casadi.SX.sym("x", 2 * n), casadi.SX.sym("u", model.control_count)
        q, v = x[:n], phase.tree.velocity(x[:n], x[n:])
        a = phase.acceleration(q, v, u)
        tree = phase.tree
        centre = tree.jacobian(model.tree.centre, q) @ a + tree.bias(model.tree.centre, q, v)
        ground = model.tree.mass * (centre + casadi.DM([0.0, model.tree.gravity]))
        limits = []
        if own.hard_closure:
            for closure in model.point_closures:
                point = model.points[closure.point]
                limits.append(tree.jacobian(point, q) @ a + tree.bias(point, q, v))
        if own.hard_angles:
            limits += [a[model.tree.index(closure.coordinate)] for closure in model.angle_closures]
        for row in own.all_rows:
            efforts = casadi.dot(casadi.DM(row.controls), u) + row.constant
            limits.append(casadi.dot(casadi.DM(row.ground), ground) + efforts)
        shape = phase_parameters(own).shape
        angles, rates = phase.joint_angles(q), phase.joint_rates(v)
        limits += [float(model.joint_lower[j]) - angles[j] for j in shape.lower_joints]
        limits += [angles[j] - float(model.joint_upper[j]) for j in shape.upper_joints]
        for sign in (1.0, -1.0):
            limits += [sign * rates[j] - float(model.rate_limit[j]) for j in shape.rated_joints]
        for name in shape.clear_points:
            place = phase.point(name, q)
            height = own.penalties.clearance - place[1]
            for left, right, top, s in (item.coefficients() for item in own.penalties.obstacles):
                height += 0.5 * top * (casadi.tanh((place[0] - left) / s) - casadi.tanh((place[0] - right) / s))
            limits.append(height)
        cost = 0.5 * casadi.dot(casadi.SX(own.effort.diagonal(model)), u**2)
        rate = casadi.vertcat(v, phase.momentum_rate(q, v, u))
        return casadi.Function("point", [x, u], [rate, cost, casadi.vertcat(*limits), v])

    def solve(self) -> tuple[float, str]:
        """Cost per metre and IPOPT's status."""
        end = self._solver(**self._arguments)
        return float(end["f"]), str(self._solver.stats()["return_status"])


def whole_step(rounds: int, speed: float, plain: bool) -> None:
    """Time the best cyclic step of BIP from nothing, beside the same program written plainly."""
    walker, settings, times = BipWalker(BIP), GlobalSettings(), []
    for _ in tqdm(range(rounds), desc="whole step"):
        began = time.process_time()
        found = optimize_step(walker, speed, None, settings, prove=False)
        times.append(time.process_time() - began)
    began = time.process_time()
    found = optimize_step(walker, speed, None, settings)
    proven = time.process_time() - began
    print(f"BIP's step at {speed:g} m/s: first {times[0]:.2f} s, median {statistics.median(times):.2f} s", end="")
    print(f", with Pontryagin's conditions {proven:.2f} s; {found.cost_per_metre:.6f} per metre, {found.status.value}")
    for checked in (found.proof, found.conditions):
        if checked is not None:
            print(checked.report())
    if plain:
        began = time.process_time()
        specs = cyclic_walk(scaled_walk(walker, speed))
        program = PlainStep(global_problem(walker, specs, settings, True, speed))
        build, began = time.process_time() - began, time.process_time()
        cost, status = program.solve()
        print(f"plain: build {build:.2f} s, solve {time.process_time() - began:.2f} s; {cost:.6f} per metre, {status}")


def criteria() -> None:
    """Energy and effort rate of phases, by what is minimised, in brackets the effort that it takes."""
    print("| phase | least effort: J, J_e, J_d | least energy: J_e (J) | least effort rate: J_d (J) | s |")
    print("|---|---|---|---|---|")
    for case, bound in (("5bar_A", 25.0), ("rabbit_dsp", 250.0), ("bip_dsp_cyclic", 250.0), ("bip_ssp_cyclic", 250.0)):
        problem = oracle_problem(case)
        model, effort = problem.model, solve_direct(problem)
        spent = energies(model, problem.effort, effort.duration * effort.s, effort.v, effort.u)
        bounds = dict.fromkeys(model.control_names[: model.torque_count], (-bound, bound))
        began = time.process_time()
        patient = CriterionOptions(time_limit=1e4)  # whatever else the machine does
        least = solve_criterion(problem.replace(model=model.with_bounds(**bounds)), Criterion.ENERGY, patient)
        smooth = solve_criterion(problem, Criterion.EFFORT_RATE, patient)
        seconds = time.process_time() - began
        print(
            f"| {case} | {effort.cost:.4f}, {spent.total:.1f} J, {spent.effort_rate:.3g} "
            f"| {least.energy:.1f} J ({least.effort:.3g}) | {smooth.effort_rate:.3g} ({smooth.effort:.3g}) "
            f"| {seconds:.1f} |{'' if least.converged and smooth.converged else f' {least.status}, {smooth.status}'}",
            flush=True,
        )


def boundary(rounds: int) -> None:
    """Collocation, ours and SciPy's, at the same tolerance: median processor time, or that the solver failed."""
    solvers = {"ours": solve_collocation, "solve_bvp": partial(solve_scipy, tolerance=CollocationOptions().tolerance)}
    print("| phase | transcription: ours, ms | `solve_bvp`, ms | straight line: ours, ms | `solve_bvp`, ms |")
    print("|---|---|---|---|---|")
    for case in CASES:
        problem = oracle_problem(case)
        extremal, direct, line = ExtremalProblem(problem), solve_direct(problem), line_guess(problem, 41)
        starts = [
            (direct.s, np.concatenate([direct.q, direct.p], axis=1), direct.costates),
            (np.linspace(0.0, 1.0, 41), *line),
        ]
        cells = []
        for mesh, states, costates in starts:
            guess = extremal.pack(states, costates, problem.duration)
            for solve in solvers.values():
                seconds = []
                for _ in range(rounds):
                    began = time.process_time()
                    with np.errstate(all="ignore"):
                        result = solve(extremal, mesh, guess)
                    seconds.append(time.process_time() - began)
                cells.append(f"{1e3 * statistics.median(seconds):.0f}{'' if result.converged else ', fails'}")
        print(f"| {case} | {' | '.join(cells)} |", flush=True)


def gap_cases() -> dict[str, Callable[[], GlobalGait]]:
    """Return steps and a walk that are solved as a whole, by the name of their row."""
    bip, rabbit = BipWalker(BIP), RabbitWalker(RABBIT)
    patient = GlobalSettings(time_limit=math.inf, proof_time_limit=math.inf)  # whatever else the machine does

    def step(walker: Walker, speed: float, length: float | None = None, height: float = 0.0, **settings: Any) -> Any:
        return lambda: optimize_step(walker, speed, length, patient.replace(**settings), step_height=height)

    cases: dict[str, Callable[[], GlobalGait]] = {
        f"BIP {speed:g} m/s": step(bip, speed) for speed in (0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9, 1.0)
    }
    for speed, length in ((0.5, 0.5), (0.7, 0.4), (0.7, 0.5), (0.7, 0.6), (0.9, 0.5), (0.9, 0.6), (1.0, 0.7)):
        cases[f"BIP {speed:g} m/s, steps of {length:g} m"] = step(bip, speed, length)
    cases["BIP, stairs up, 8 cm at 0.45 m/s, treads of 42 cm"] = step(bip, 0.45, 0.42, 0.08)
    cases["BIP, stairs down, 6 cm, likewise"] = step(bip, 0.45, 0.42, -0.06)
    bump = Obstacle(-0.145, 0.06, 0.1)
    cases["BIP, obstacle of 10 cm, 0.6 m/s, steps of 0.6 m"] = step(bip, 0.6, 0.6, obstacles=(bump,))
    cases["BIP 0.75 m/s, foot landing flat"] = step(bip, 0.75, landing="flat")
    cases["BIP 0.75 m/s, double support in one phase"] = step(bip, 0.75, landing="whole")
    cases["BIP, walk of seven phases between rests"] = lambda: optimize_walk(
        bip, walk_between_rests(CYCLIC, BRAKING), settings=patient
    )
    cases |= {f"RABBIT {speed:g} m/s": step(rabbit, speed) for speed in (0.5, 0.8, 1.0, 1.1, 1.2)}
    return cases


def gaps(words: Sequence[str]) -> None:
    """Gaps of the proofs, a line for each case whose name has all words."""
    print("| step | cost, by phase at worst | costates | H | intervals | per metre | s |")
    print("|---|---|---|---|---|---|---|")
    for name, solve in gap_cases().items():
        if not all(word in name for word in words):
            continue
        began = time.process_time()
        found = solve()
        seconds, settings = time.process_time() - began, found.problem.settings
        told = [math.nan] * 3
        if found.proof is not None and found.proof.solved:
            free = int(found.proof.free_durations.sum())
            among = found.proof.hamiltonian_gap if free > 1 or found.problem.speed is None else math.nan
            told = [found.proof.cost_gaps.max(), found.proof.jumps.max(), among]
        cells = " | ".join("–" if math.isnan(value) else f"{value:.0e}" for value in told)
        mesh = f"{settings.double_intervals}/{settings.single_intervals}"
        print(f"| {name} | {cells} | {mesh} | {found.cost_per_metre:.4f} | {seconds:.0f} |", flush=True)


def problems() -> dict[str, PhaseProblem]:
    """Return the reference problems, and single support with heel and toe held down by the maximising control."""
    found = {case: oracle_problem(case) for case in CASES}
    held = found["bip_ssp_cyclic"]
    found["bip_ssp_cyclic, N >= 6 N"] = held.replace(rows=stance(held).unilateral(6.0))
    return found


def robustness(count: int, seed: int, spread: float, press: bool) -> None:
    """Phases of random steps by their outcome, and how each that isn't solved at once was rescued or failed."""
    rng = np.random.default_rng(seed)
    light = PhaseSettings(effort=QuadraticEffort(force_weight=0.1, force_scale=1e-2))
    held = {"min_root_force": 6.0} if press else {}
    robots = {
        "BIP": (
            BipWalker(BIP, min_toe_force=6.0),
            CYCLIC,
            GaitSettings(PhaseSettings(**held), PhaseSettings(**held)),
        ),
        "RABBIT": (
            RabbitWalker(RABBIT, ankle_torque=True),
            RABBIT_WALK,
            GaitSettings(dataclasses.replace(light, **held), dataclasses.replace(light, **held)),
        ),
    }
    for name, (walker, walk, settings) in robots.items():
        outcomes: collections.Counter[str] = collections.Counter()
        refused: collections.Counter[str] = collections.Counter()
        retried, times = 0, []
        for index in tqdm(range(count // 2), desc=name):
            try:
                gait = synthesize_gait(walker, cyclic_walk(random_walk(rng, walk, name == "BIP", spread)), settings)
            except InputError as problem:
                outcomes["refused, with the geometric reason"] += 2
                refused[f"{problem.element} {problem.problem.split()[0]}"] += 1
                continue
            for planned, solution in zip(gait.plan.phases, gait.phases, strict=True):
                outcomes[solution.status.value] += 1
                retried += len(solution.log) > 2
                times.append(solution.seconds)
                if len(solution.log) > 2:
                    tqdm.write(f"{name} {index} {planned.spec.kind.label}: {solution.status.value}, {solution.message}")
                    tqdm.write("\n".join(f"  {line}" for line in solution.log), file=sys.stdout)
                    if not solution.converged:
                        tqdm.write(f"  {planned.spec}")
        print(f"{name}: {dict(outcomes)}; {retried} took more than the first transcription", end="; ")
        print(f"wall time {statistics.median(times):.2f} s, {max(times):.2f} s at most; refused: {dict(refused)}")


def walk_in_space() -> dict[str, Any]:
    """Return the task of Crocoddyl: BIP with all its joints, the cyclic step's length and durations."""
    robot = load_robot("bip")
    standing = {"hip_pitch": -0.25, "knee": 0.5, "ankle_pitch": -0.25}
    return {
        "urdf": str(find_resource("urdf/bip.urdf")),
        "armature": float(robot.model.armature[-1]),
        "posture": {f"{side}_{joint}": angle for side in "rl" for joint, angle in standing.items()},
        "feet": ["r_sole", "l_sole"],
        "step_length": CYCLIC.step.step_length,
        "step_height": 0.05,
        "dt": 1.0 / 60.0,
        "single_support": CYCLIC.single_support,
        "double_support": CYCLIC.double_support,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--cases", nargs="*", default=None)
    parser.add_argument("--random", type=int, default=0, metavar="N", help="that many random steps instead")
    parser.add_argument("--seed", type=int, default=1, help="of the random steps (1)")
    parser.add_argument("--spread", type=float, default=1.0, help="of the random steps, as a factor (1)")
    parser.add_argument("--press", action="store_true", help="all feet press with 6 N or more, held by the controls")
    parser.add_argument("--step", type=float, default=0.0, metavar="SPEED", help="the best cyclic step of BIP [m/s]")
    parser.add_argument("--criteria", action="store_true", help="least energy and least effort rate of four phases")
    parser.add_argument("--boundary", action="store_true", help="our collocation beside SciPy's solve_bvp")
    parser.add_argument("--gaps", nargs="*", metavar="WORD", help="gaps of the proofs of steps and walks")
    parser.add_argument("--peers", type=Path, help="Python of an environment with Crocoddyl")
    arguments = parser.parse_args()
    if arguments.criteria:
        criteria()
        return
    if arguments.boundary:
        boundary(arguments.rounds)
        return
    if arguments.gaps is not None:
        gaps(arguments.gaps)
        return
    if arguments.step:
        whole_step(arguments.rounds, arguments.step, plain=True)
        return
    if arguments.random:
        robustness(arguments.random, arguments.seed, arguments.spread, arguments.press)
        return
    chosen = {name: item for name, item in problems().items() if arguments.cases is None or name in arguments.cases}
    first, plain, build, times = {}, {}, {}, {}
    for name, problem in tqdm(chosen.items(), desc="first calls"):
        began = time.process_time()
        synthesize_phase(problem)
        first[name] = time.process_time() - began
        if not problem.rows:
            began = time.process_time()
            plain[name] = PlainCasadi(problem)
            build[name] = time.process_time() - began
        times[name] = {"ours": [], "direct": [], "plain": []}
    last: dict[str, Any] = {}
    peer = PeerEngine(arguments.peers, "crocoddyl_walking.py", walk_in_space()) if arguments.peers else None
    answers: list[dict[str, Any]] = []
    for _ in tqdm(range(arguments.rounds), desc="rounds"):
        if peer is not None:
            answers.append(peer.run(1))
        for name, problem in chosen.items():
            began = time.process_time()
            solution = synthesize_phase(problem)
            times[name]["ours"].append(time.process_time() - began)
            began = time.process_time()
            solve_direct(problem)
            times[name]["direct"].append(time.process_time() - began)
            began = time.process_time()
            last[name] = solution, plain[name].solve() if name in plain else (float("nan"), "")
            times[name]["plain"].append(time.process_time() - began)
    print(
        f"{'phase':26}{'first':>8}{'ours':>8}{'least':>8}{'direct':>8}{'build':>8}{'plain':>8}"
        f"{'J ours':>11}{'J direct':>11}{'apart':>9}{'J plain':>11}{'reference':>11}{'H spread':>10}"
    )
    for name in chosen:
        solution, (cost, status) = last[name]
        medians = {key: statistics.median(values) for key, values in times[name].items()}
        reference = ORACLES[name]["J_pmp"] if name in ORACLES else 0.793
        print(
            f"{name:26}{first[name]:8.3f}{medians['ours']:8.3f}{min(times[name]['ours']):8.3f}{medians['direct']:8.3f}"
            f"{build.get(name, float('nan')):8.3f}{medians['plain'] if name in plain else float('nan'):8.3f}"
            f"{solution.cost:11.6f}{solution.direct_cost:11.6f}{abs(solution.direct_cost / solution.cost - 1.0):9.1e}"
            f"{cost:11.6f}{reference:11.6f}"
            f"{solution.hamiltonian_spread:10.1e}  {status}"
        )
    if peer is not None:
        peer.close()
        built, solved = (statistics.median(answer[key] for answer in answers) for key in ("build", "seconds"))
        print(
            f"crocoddyl {peer.version}, BIP in space, two steps: {built:.3f} s to build, {solved:.3f} s to solve, "
            f"{answers[-1]['iterations']} iterations, converged: {answers[-1]['converged']}"
        )


if __name__ == "__main__":
    main()
