# SPDX-License-Identifier: Apache-2.0
"""What can't be used is refused by name, and what doesn't converge is told: settings, bounds, limits of time."""

import dataclasses
import math
import re

import numpy as np
import pytest
from fixtures.gait_models import BIP, BRAKING, CYCLIC, RABBIT, RABBIT_WALK
from fixtures.gait_problems import oracle_problem, stance

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait import synthesize_phase
from humanoid_studies.planar_gait.global_step.global_settings import GlobalSettings
from humanoid_studies.planar_gait.global_step.optimize_step import optimize_step, optimize_walk
from humanoid_studies.planar_gait.optimal_control.control_rows import root_point
from humanoid_studies.planar_gait.optimal_control.end_state import EndState
from humanoid_studies.planar_gait.optimal_control.extremal_problem import ExtremalProblem
from humanoid_studies.planar_gait.optimal_control.impulse_balance import impulse_conflict
from humanoid_studies.planar_gait.solvers.alternative_criteria import Criterion, CriterionOptions, solve_criterion
from humanoid_studies.planar_gait.solvers.collocation import CollocationOptions, max_nodes_in_memory, solve_collocation
from humanoid_studies.planar_gait.solvers.direct import TIME_LIMIT, DirectOptions, solve_direct
from humanoid_studies.planar_gait.solvers.guess import cubic_extremal_guess
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseStatus, Tolerances
from humanoid_studies.planar_gait.solvers.shooting import ShootingOptions, solve_shooting
from humanoid_studies.planar_gait.solvers.synthesize import SynthesisOptions
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSettings, PhaseSettings, synthesize_gait
from humanoid_studies.planar_gait.specification.phase_spec import PhaseKind, PhaseSpec, cyclic_walk, walk_between_rests
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker

HUGE = DirectOptions(intervals=50_000)
NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PhaseSettings(min_root_force=NAN), "min_root_force: is nan N. Give 0 N or more, or None"),
        (lambda: PhaseSettings(min_root_force=-5.0), "min_root_force: is -5.0 N"),
        (lambda: PhaseSettings(min_root_force=INF), "min_root_force: is inf N"),
        (lambda: PhaseSettings(root_friction=NAN), "root_friction: is nan"),
        (lambda: PhaseSettings(root_friction=0.0), "root_friction: is 0.0"),
        (lambda: GaitSettings(friction=NAN), "gait.friction: is nan"),
        (lambda: GaitSettings(friction=-1.0), "gait.friction: is -1.0"),
        (lambda: SynthesisOptions(method="magic"), "method: is 'magic'. Use one of pontryagin"),
        (lambda: SynthesisOptions(time_limit=NAN), "time_limit: is nan s"),
        (lambda: SynthesisOptions(time_limit=-1.0), "time_limit: is -1.0 s"),
        (lambda: SynthesisOptions(samples=2), "samples: is 2. Give a whole number from 3 to 20000"),
        (lambda: SynthesisOptions(samples=10**9), "samples: is 1000000000. Give a whole number from 3"),
        (lambda: ShootingOptions(segments=0), "shooting.segments: is 0. Give a whole number, 1 or more"),
        (lambda: ShootingOptions(tolerance=0.0), "shooting.tolerance: is 0. Give a finite number above 0"),
        (lambda: GlobalSettings(single_intervals=12.5), "settings.single_intervals: is 12.5. Give a whole number"),
        (lambda: CriterionOptions(intervals=1.5), "intervals: is 1.5. Give a whole number"),
        (lambda: CriterionOptions(time_limit=0.0), "time_limit: is 0.0 s"),
        (lambda: DirectOptions(intervals=0), "direct.intervals: is 0"),
        (lambda: DirectOptions(intervals=1.5), "direct.intervals: is 1.5"),
        (lambda: DirectOptions(max_iterations=-3), "direct.max_iterations: is -3"),
        (lambda: DirectOptions(tolerance=0.0), "direct.tolerance: is 0. Give a finite number above 0"),
        (lambda: DirectOptions(time_limit=NAN), "direct.time_limit: is nan"),
        (lambda: CollocationOptions(tolerance=NAN), "collocation.tolerance: is nan"),
        (lambda: CollocationOptions(condition_tolerance=0.0), "collocation.condition_tolerance: is 0. Give a finite"),
        (lambda: CollocationOptions(max_meshes=0), "collocation.max_meshes: is 0"),
        (lambda: CollocationOptions(max_nodes=0.5), "collocation.max_nodes: is 0.5"),
        (lambda: CollocationOptions(second_chances=-1), "collocation.second_chances: is -1"),
        (lambda: Tolerances(force=NAN), "tolerances.force: is nan"),
        (lambda: Tolerances(angle=-1.0), "tolerances.angle: is -1.0"),
        (lambda: oracle_problem("5bar_A").replace(friction=NAN), "friction: is nan"),
        (lambda: oracle_problem("5bar_A").replace(friction=-1.0), "friction: is -1.0"),
        (lambda: PhaseSpec("double_support", 0.1, step=CYCLIC.step), "kind: is 'double_support'"),
        (lambda: PhaseSpec(PhaseKind.DOUBLE_SUPPORT, NAN, step=CYCLIC.step), "duration: is nan"),
        (lambda: cyclic_walk(CYCLIC, 1.5), "cycles: is 1.5. Give a whole number"),
        (lambda: cyclic_walk(CYCLIC, NAN), "cycles: is nan"),
        (lambda: cyclic_walk(CYCLIC, 50_000), "cycles: is 50000. Give a whole number from 1 to 1000"),
        (lambda: walk_between_rests(CYCLIC, BRAKING, stop_duration=-1.0), "duration: is -1. Give a finite number"),
        (lambda: BIP.double_support(0.5, min_toe_force=INF), "min_toe_force: is inf N"),
        (lambda: BIP.double_support(0.5, min_toe_force=-5.0), "min_toe_force: is -5.0 N"),
        (lambda: BIP.double_support(0.5).with_bounds(C12=(INF, INF)), "C12: bounds inf and inf cross"),
        (lambda: BIP.double_support(0.5).with_bounds(C12=(-INF, -INF)), "C12: bounds -inf and -inf cross"),
        (lambda: BIP.double_support(0.5).with_bounds(C12=(NAN, 1.0)), "C12: bounds nan and 1.0 cross"),
        (lambda: synthesize_gait(RabbitWalker(RABBIT), ()), "gait: has no phases. Give 1 to 2010"),
        (
            lambda: synthesize_gait(RabbitWalker(RABBIT), cyclic_walk(RABBIT_WALK) * 50_000),
            "gait: has 100000 phases. Give 1 to 2010",
        ),
        (lambda: synthesize_gait(RabbitWalker(RABBIT, friction=NAN), cyclic_walk(RABBIT_WALK)), "friction: is nan"),
        (lambda: synthesize_gait(BipWalker(BIP, min_toe_force=NAN), cyclic_walk(CYCLIC)), "min_toe_force: is nan"),
    ],
)
def test_refused_by_name(make, words):
    with pytest.raises(InputError, match=re.escape(words)):
        make()


def test_rows_have_to_be_finite():
    problem = oracle_problem("bip_ssp_stop")
    foot = stance(problem)
    for least in (NAN, INF):
        with pytest.raises(InputError, match="least force: is"):
            foot.unilateral(least)
    (row, *_) = foot.unilateral(6.0)
    with pytest.raises(InputError, match="row 'stance heel': isn't finite"):
        problem.replace(rows=(dataclasses.replace(row, constant=NAN),))


def test_impulse_that_forces_within_bounds_cannot_give():
    """954 N are needed on average above a foot of 2.34 kg: 2 x 488 N would balance that, 2 x 500 N can't."""
    problem = oracle_problem("bip_ssp_cyclic")
    foot = stance(problem)
    needed = 0.5 * (954.0 + 2.34 * 9.81)
    assert impulse_conflict(problem.replace(rows=foot.unilateral(needed - 2.0))) == ""
    conflict = impulse_conflict(problem.replace(rows=foot.unilateral(needed + 2.0)))
    assert "954 N upward" in conflict
    refused = synthesize_phase(problem.replace(rows=foot.unilateral(1e4)))
    assert refused.status is PhaseStatus.UNREACHABLE
    assert refused.message == conflict
    assert len(refused.t) == 2
    # 15 N along the ground on average need a friction of 0.016.
    assert impulse_conflict(problem.replace(rows=foot.friction(0.02))) == ""
    assert "-15 N forward" in impulse_conflict(problem.replace(rows=foot.friction(0.01)))


def test_impulse_says_nothing_of_what_is_free():
    problem = oracle_problem("bip_ssp_cyclic")
    impossible = problem.replace(rows=stance(problem).unilateral(1e4))
    assert impulse_conflict(impossible)
    assert impulse_conflict(impossible.replace(duration_range=(0.1, 1.0))) == ""
    free = EndState(problem.end.q, problem.end.v, free_v=("trunk",))
    assert impulse_conflict(impossible.replace(end=free)) == ""
    assert impulse_conflict(problem) == ""


def test_impulse_of_a_reference_solution_is_possible():
    """The mean forces of a motion that keeps its rows keep them, too."""
    problem = oracle_problem("rabbit_dsp")
    rear = root_point(problem.model, "rear_tip")
    assert impulse_conflict(problem.replace(rows=rear.unilateral(100.0))) == ""
    assert impulse_conflict(problem.replace(rows=(*rear.unilateral(100.0), *rear.friction(0.3)))) == ""


def test_cancelled_in_each_stage():
    """Meshes that are too coarse on purpose: every rescue is tried, and each can be the last."""
    problem = oracle_problem("5bar_A")
    problem = problem.replace(rows=root_point(problem.model, "O1").unilateral(25.0))
    options = SynthesisOptions(collocation=CollocationOptions(max_nodes=90))
    everything = synthesize_phase(problem, options)
    assert everything.status is PhaseStatus.NOT_CONVERGED
    assert "Pontryagin's conditions not met" in everything.message
    kinds = ("20 intervals", "boundary value problem", "masses", "40 intervals", "rows left out", "rows tightened")
    firsts = [next(i for i, line in enumerate(everything.log, 1) if words in line) for words in kinds]
    for last in firsts:
        heard = []

        def cancel(progress, heard=heard, last=last):
            if progress.stage not in ("boundary value problem", "rows tightened"):  # which are told mesh by mesh
                heard.append(progress.stage)
            return len(heard) == last

        stopped = synthesize_phase(problem, options, cancel)
        assert len(heard) == last
        assert stopped.status is PhaseStatus.NOT_CONVERGED
        assert stopped.message == "stopped"
        assert np.isfinite(stopped.q).all()


@pytest.mark.parametrize("method", ["pontryagin", "direct"])
def test_time_that_runs_out(method):
    solution = synthesize_phase(oracle_problem("bip_ssp_cyclic"), SynthesisOptions(method=method, time_limit=1e-3))
    assert solution.status is PhaseStatus.NOT_CONVERGED
    assert solution.message == "stopped: the time limit of 0.001 s is over"
    assert np.isfinite(solution.q).all()
    np.testing.assert_allclose(solution.q[-1], oracle_problem("bip_ssp_cyclic").end.q)


def test_time_is_limited_unless_told_otherwise():
    assert SynthesisOptions().time_limit == DirectOptions().time_limit == CriterionOptions().time_limit == TIME_LIMIT
    assert TIME_LIMIT == 120.0
    assert GlobalSettings().time_limit == 300.0


@pytest.mark.parametrize("shooting", [False, True])
def test_time_that_runs_out_within_a_newton_step(shooting, monkeypatch):
    """A clock that goes on by 1 s with each evaluation of the rates: few are left once the deadline is over."""
    problem = oracle_problem("5bar_C")
    extremal, clock = ExtremalProblem(problem), [0.0]
    x, w = cubic_extremal_guess(problem, 21)
    y, mesh = extremal.pack(x, w, problem.duration), np.linspace(0.0, 1.0, 21)
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])

    def counted(own):
        def evaluate(values):
            clock[0] += 1.0
            return own(values)

        return evaluate

    for name in ("rates", "rates_and_jacobian"):
        monkeypatch.setattr(extremal, name, counted(getattr(extremal, name)))
    for deadline in np.arange(3.0, 60.0, 4.0):
        clock[0] = 0.0
        if shooting:
            result = solve_shooting(extremal, mesh, y, ShootingOptions(segments=4, steps_per_segment=1), deadline)
        else:
            result = solve_collocation(extremal, mesh, y, deadline=deadline)
        assert not result.converged
        assert clock[0] <= deadline + 8.0  # a step and the residuals or rates of what is given back


@pytest.mark.parametrize(
    ("solve", "words"),
    [
        (lambda: solve_direct(oracle_problem("5bar_A"), HUGE), "direct.intervals: is 50000, which takes some 8.38 GiB"),
        (
            lambda: synthesize_phase(oracle_problem("5bar_A"), SynthesisOptions(method="direct", direct=HUGE)),
            "Give at most 11929",
        ),
        (
            lambda: solve_criterion(oracle_problem("5bar_A"), Criterion.EFFORT_RATE, CriterionOptions(intervals=10**6)),
            "intervals: is 1000000, which takes some 168 GiB",
        ),
        (
            lambda: optimize_step(RabbitWalker(RABBIT), 0.7, settings=GlobalSettings(double_intervals=10**6)),
            "settings.double_intervals: is 1000000, which takes",
        ),
        (
            lambda: optimize_walk(BipWalker(BIP), walk_between_rests(CYCLIC, BRAKING, 400)),
            "gait: has 803 phases; ",
        ),
        (
            lambda: _with_mesh(solve_collocation, max_nodes_in_memory(16) + 1, None),
            f"mesh: has {max_nodes_in_memory(16) + 1} nodes. Give at most {max_nodes_in_memory(16)}",
        ),
        (
            lambda: _with_mesh(solve_shooting, 11, ShootingOptions(segments=10**6)),
            f"shooting.segments: are 1000000 of 10 steps. Give at most {max_nodes_in_memory(16)} steps in all",
        ),
    ],
)
def test_meshes_that_do_not_fit_into_memory_are_refused_before_they_are_built(solve, words):
    with pytest.raises(InputError, match=re.escape(words)):
        solve()


def _with_mesh(solve, nodes, options):
    extremal = ExtremalProblem(oracle_problem("5bar_A"))
    return solve(extremal, np.linspace(0.0, 1.0, nodes), np.zeros((nodes, extremal.dimension)), options)


def test_a_finer_mesh_than_memory_holds_is_not_asked_for(monkeypatch):
    monkeypatch.setattr("humanoid_studies.planar_gait.solvers.collocation.MAX_MEMORY", 160 * 16**2 * 30)
    problem = oracle_problem("5bar_A")
    x, w = cubic_extremal_guess(problem, 21)
    result = _with_guess(problem, x, w)
    assert not result.converged
    assert "nodes would be needed, 30 are allowed" in result.message


def _with_guess(problem, x, w):
    extremal = ExtremalProblem(problem)
    options = CollocationOptions(max_nodes=100_000, tolerance=1e-8)
    return solve_collocation(extremal, np.linspace(0.0, 1.0, len(x)), extremal.pack(x, w, problem.duration), options)
