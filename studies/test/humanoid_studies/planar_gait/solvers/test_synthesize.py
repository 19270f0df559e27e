# SPDX-License-Identifier: Apache-2.0
import dataclasses
import math

import casadi
import numpy as np
import pytest
from fixtures.gait_models import BIP, MODELS, RABBIT
from fixtures.gait_oracles import ORACLES
from fixtures.gait_problems import oracle_problem, stance
from scipy.integrate import trapezoid

from humanoid_model.errors import InputError
from humanoid_model.progress import Progress
from humanoid_model.violation import ViolationKind
from humanoid_studies.planar_gait.optimal_control.control_rows import root_point
from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort
from humanoid_studies.planar_gait.optimal_control.end_state import EndState
from humanoid_studies.planar_gait.optimal_control.extremal_problem import ExtremalProblem
from humanoid_studies.planar_gait.optimal_control.penalties import Obstacle, Penalties
from humanoid_studies.planar_gait.solvers.collocation import CollocationOptions, solve_collocation
from humanoid_studies.planar_gait.solvers.continuation import Stage
from humanoid_studies.planar_gait.solvers.direct import DirectOptions
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution, PhaseStatus, Tolerances
from humanoid_studies.planar_gait.solvers.synthesize import SynthesisOptions, synthesize_phase

QUICK = ("5bar_A", "5bar_B", "5bar_C", "rabbit_dsp", "rabbit_ssp_5torques", "bip_dsp_cyclic", "bip_dsp_brake")
SLOWER = ("bip_ssp_cyclic", "bip_ssp_start", "bip_ssp_stop")
SOLVED: dict[str, PhaseSolution] = {}


def solved(case: str) -> PhaseSolution:
    """Solution of a reference problem, computed once."""
    if case not in SOLVED:
        SOLVED[case] = synthesize_phase(oracle_problem(case))
    return SOLVED[case]


@pytest.mark.feature("003-F087")
@pytest.mark.parametrize("case", [*QUICK, *SLOWER])
def test_reference_solutions(case):
    oracle, solution = ORACLES[case], solved(case)
    assert solution.method == "pontryagin"
    assert solution.converged
    assert solution.cost == pytest.approx(oracle["J_pmp"], rel=1e-4)
    assert solution.cost == pytest.approx(solution.direct_cost, rel=1e-4)
    assert solution.hamiltonian_spread < 1e-5
    assert solution.hamiltonian[0] == pytest.approx(oracle["H_mean"], rel=1e-4)
    assert solution.energies.total == pytest.approx(oracle["E_abs"], rel=1e-3)
    assert solution.energies.positive == pytest.approx(oracle["E_pos"], rel=2e-3)
    np.testing.assert_allclose(solution.costates[0], oracle["w0"], atol=1e-4 * np.abs(oracle["w0"]).max())
    tenths = solution.sample(np.array(oracle["t"]))
    np.testing.assert_allclose(tenths[0], oracle["q"], atol=1e-4)
    if case in ("5bar_A", "rabbit_dsp", "bip_dsp_cyclic"):
        np.testing.assert_allclose(tenths[2], oracle["u"], atol=2e-3 * np.abs(oracle["u"]).max())
    if "gap_mm" in oracle:
        assert 1e3 * solution.closure_gap.max() == pytest.approx(oracle["gap_mm"], rel=1e-2)


def test_status_tells_what_is_not_kept():
    assert solved("5bar_A").status is PhaseStatus.CONVERGED
    assert solved("bip_dsp_cyclic").status is PhaseStatus.CONVERGED
    dipping = solved("rabbit_ssp_5torques")
    assert dipping.status is PhaseStatus.LIMIT_VIOLATION
    assert any("clearance of swing_tip" in str(item) for item in dipping.violations)
    assert "clearance" in dipping.message


@pytest.mark.feature("003-F033", "003-F042")
def test_toe_force_stays_at_its_bound():
    solution = solved("bip_dsp_cyclic")
    asked = BIP.double_support(0.5, min_toe_force=6.0)  # which a model's user asks for by a number
    lower = dict(zip(asked.control_names, asked.control_lower, strict=True))
    assert (lower["F_B1"], lower["F_B2"], lower["F_B12"]) == (0.0, 6.0, -math.inf)
    toe = solution.forces["front_foot"].normal[:, 1]
    assert toe[0] == pytest.approx(6.0, abs=1e-9)
    assert toe.min() >= 6.0 - 1e-9
    free = oracle_problem("bip_dsp_cyclic")
    unbounded = free.model.with_bounds(F_B1=(-math.inf, math.inf), F_B2=(-math.inf, math.inf))
    free = synthesize_phase(free.replace(model=unbounded))
    assert free.forces["front_foot"].normal[:, 1].min() < 0.0
    assert free.status is PhaseStatus.CONTACT_VIOLATION


@pytest.mark.feature("003-F070", "003-F071")
def test_torque_bounds_saturate():
    five = oracle_problem("5bar_A")
    bounds = {f"C{i}": (-15.0, 15.0) for i in range(1, 6)}
    solution = synthesize_phase(five.replace(model=five.model.with_bounds(**bounds)))
    assert solution.cost == pytest.approx(0.014726, rel=1e-3)
    assert solution.hamiltonian[0] == pytest.approx(0.01445, rel=1e-3)
    assert solution.hamiltonian_spread < 1e-5
    assert solution.energies.total == pytest.approx(10.65, rel=1e-3)
    assert np.abs(solution.u[:, :5]).max(axis=0)[[0, 1, 4]] == pytest.approx(15.0)
    one_sided = synthesize_phase(five.replace(model=five.model.with_bounds(C1=(-5.0, 30.0))))
    assert one_sided.u[:, 0].min() == pytest.approx(-5.0)
    assert one_sided.u[:, 0].max() > 20.0


def test_cut_force_may_have_a_least_value():
    five = oracle_problem("5bar_A")
    solution = synthesize_phase(five.replace(model=five.model.with_bounds(F_O5y=(20.0, math.inf))))
    assert solution.cost == pytest.approx(0.014529, rel=1e-3)
    assert solution.u[0, 5] == pytest.approx(20.0)
    assert solution.u[:, 5].min() >= 20.0 - 1e-9


@pytest.mark.feature("003-F060")
def test_free_final_velocity_leaves_no_costate():
    five = oracle_problem("5bar_A")
    end = EndState(five.end.q, five.end.v, free_v=five.model.tree.coordinates)
    solution = synthesize_phase(five.replace(end=end))
    assert solution.cost == pytest.approx(0.0053201, rel=1e-3)
    assert solution.hamiltonian[0] == pytest.approx(-0.0055146, rel=1e-3)
    assert solution.hamiltonian_spread < 1e-5
    np.testing.assert_allclose(solution.v[-1], [-0.01667, -3.92311, 1.83440, -3.71554], atol=1e-4)
    np.testing.assert_allclose(solution.costates[-1, 4:], 0.0, atol=1e-6 * np.abs(solution.costates).max())


@pytest.mark.feature("003-F085", "003-F090")
def test_end_with_conditions_of_its_own():
    """Only the load's height and rest are asked for at the end: transversality chooses its place along X."""
    five = oracle_problem("5bar_A")
    model = five.model
    names = model.tree.coordinates
    end = EndState(
        five.end.q,
        five.end.v,
        free_q=names,
        free_v=names,
        conditions=lambda phase, q, v: casadi.vertcat(
            phase.point("apex", q)[1] - 0.6,
            casadi.mtimes(phase.tree.jacobian(model.points["apex"], q), v),
            phase.closure(q),
            casadi.jtimes(phase.closure(q), q, v),
        ),
    )
    solution = synthesize_phase(five.replace(end=end))
    assert solution.method == "pontryagin"
    assert solution.hamiltonian_spread < 1e-5
    assert solution.cost == pytest.approx(solution.direct_cost, rel=1e-4)
    assert solution.cost < solved("5bar_A").cost
    assert model.points["apex"].position(solution.q[-1])[1] == pytest.approx(0.6, abs=1e-8)
    # At rest the conditions on places have no part in momenta: w_q lies in the span of their gradients.
    G = np.concatenate([model.closure_jacobian(solution.q[-1]), model.points["apex"].jacobian(solution.q[-1])[1:]])
    null = np.linalg.svd(G)[2][3:]
    np.testing.assert_allclose(null @ solution.costates[-1, :4], 0.0, atol=1e-8)


FRICTION = {0.30: 0.035927, 0.25: 0.036265, 0.15: 0.039925}


@pytest.mark.feature("003-F084")
@pytest.mark.parametrize("coefficient", FRICTION)
def test_friction_cone_is_kept_by_the_maximising_control(coefficient):
    problem = oracle_problem("rabbit_dsp").replace(model=RABBIT.double_support(0.45, friction=coefficient))
    solution = synthesize_phase(problem)
    assert solution.method == "pontryagin"
    assert solution.cost == pytest.approx(FRICTION[coefficient], rel=1e-3)
    assert solution.hamiltonian_spread < 1e-5
    assert solution.friction_required == pytest.approx(coefficient, rel=1e-6)


def test_friction_of_a_fifth_costs_less_than_the_reference():
    """The reference, a transcription alone, has 0.037687; two methods and three meshes agree on less."""
    problem = oracle_problem("rabbit_dsp").replace(model=RABBIT.double_support(0.45, friction=0.2))
    solution = synthesize_phase(problem)
    assert solution.cost == pytest.approx(0.0374034, rel=1e-5)
    for intervals in (20, 50):
        direct = synthesize_phase(problem, SynthesisOptions(method="direct", direct=DirectOptions(intervals)))
        assert direct.cost == pytest.approx(solution.cost, rel=3e-4)
        assert direct.friction_required <= 0.2 * (1.0 + 1e-6)
    assert solution.friction_required <= 0.2 * (1.0 + 1e-6)


@pytest.mark.feature("003-F106")
def test_stance_foot_presses_everywhere():
    """The thesis checks heel and toe afterwards; here they are constraints of the maximising control (B3, hard)."""
    problem = oracle_problem("bip_ssp_cyclic")
    foot = stance(problem)
    assert synthesize_phase(problem.replace(feet=(foot,))).status is PhaseStatus.CONTACT_VIOLATION
    solution = synthesize_phase(problem.replace(feet=(foot,), rows=foot.unilateral(6.0), friction=0.15))
    assert solution.status is PhaseStatus.CONVERGED
    assert solution.cost == pytest.approx(0.793, rel=1e-3)
    assert solution.energies.total == pytest.approx(128.9, rel=1e-3)
    assert solution.hamiltonian_spread < 1e-5
    normal = solution.forces[foot.name].normal
    assert normal.min() >= 6.0 - 1e-6
    heel = np.interp(np.arange(9) * 0.0625, solution.t, normal[:, 0])
    np.testing.assert_allclose(heel, [1139, 895, 690, 508, 328, 143, 6, 6, 6], atol=3.0)
    assert solution.friction_required == pytest.approx(0.099, abs=0.005)


def test_root_of_double_support_may_be_held_to_friction():
    problem = oracle_problem("rabbit_dsp")
    rear = root_point(problem.model, "rear")
    plain = synthesize_phase(problem.replace(feet=(rear,)))
    assert plain.friction_required > 0.15
    held = synthesize_phase(problem.replace(feet=(rear,), rows=rear.friction(0.15)))
    assert held.method == "pontryagin"
    assert held.friction_required == pytest.approx(0.15, rel=1e-4)
    assert held.hamiltonian_spread < 1e-5
    assert held.cost > plain.cost
    assert held.cost == pytest.approx(held.direct_cost, rel=1e-3)


@pytest.mark.parametrize("case", ["5bar_A", "rabbit_dsp"])
def test_closure_may_hold_exactly(case):
    problem = oracle_problem(case).replace(hard_closure=True)
    solution = synthesize_phase(problem)
    assert solution.method == "pontryagin"
    assert solution.closure_gap.max() < 1e-6
    assert solution.hamiltonian_spread < 1e-5
    assert solution.cost == pytest.approx(solution.direct_cost, rel=1e-4)
    # The penalty lets the loop open a little, and saves a little by it.
    assert solved(case).cost < solution.cost < 1.001 * solved(case).cost


@pytest.mark.feature("003-F069")
def test_free_duration_makes_the_hamiltonian_vanish():
    five = oracle_problem("5bar_A")
    effort = QuadraticEffort(force_weight=0.1, force_scale=1e-2, time_weight=0.05)
    solution = synthesize_phase(five.replace(effort=effort, duration_range=(0.1, 2.0)))
    assert np.abs(solution.hamiltonian).max() < 1e-6
    # The effort by itself and 0.05 for each second, which shortens what would take longer without it.
    effort_alone = trapezoid(0.5 * (solution.u**2 @ effort.diagonal(five.model)), solution.t)
    assert solution.cost == pytest.approx(effort_alone + 0.05 * solution.duration, rel=1e-2)
    unhurried = synthesize_phase(
        five.replace(effort=dataclasses.replace(effort, time_weight=0.0), duration_range=(0.1, 2.0))
    )
    assert solution.duration < 0.9 * unhurried.duration
    durations = (solution.duration - 0.01, solution.duration + 0.01)
    costs = [synthesize_phase(five.replace(effort=effort, duration=duration)).cost for duration in durations]
    assert solution.cost < min(costs)
    # dJ/dT = -H: half a hundredth of a second either way costs what the curvature says, the same on both sides.
    assert costs[0] == pytest.approx(costs[1], rel=1e-2)


@pytest.mark.parametrize("case", ["5bar_A", "rabbit_dsp", pytest.param("bip_dsp_cyclic", marks=pytest.mark.slow)])
def test_initial_costates_are_the_slope_of_the_cost(case):
    """w(0) = -dJ/dx(0): one solve more and one less for each entry, warm from the solution."""
    problem, solution = oracle_problem(case), solved(case)
    n = problem.model.n
    extremal = ExtremalProblem(problem)
    once = CollocationOptions(tolerance=1e-4)
    x = np.concatenate([solution.q, solution.p], axis=1)
    y = extremal.pack(x, solution.costates, problem.duration)
    s, y = (solution.t / solution.duration)[::2], y[::2]
    state = np.concatenate([problem.start.q, problem.tree.momentum(problem.start.q, problem.start.v)])

    def cost(shifted: np.ndarray) -> float:
        moved = EndState(shifted[:n], problem.tree.velocity(shifted[:n], shifted[n:]))
        other = ExtremalProblem(problem.replace(start=moved))
        result = solve_collocation(other, s, y, once)
        assert result.converged
        grid = np.linspace(0.0, 1.0, 2001)
        states, costates = other.split(result.at(grid))
        running = other.system.evaluate(states, costates).running_cost
        weights = np.ones(2001) * 2.0
        weights[1::2] = 4.0
        weights[[0, -1]] = 1.0
        return float(problem.duration / 6000.0 * (weights * running).sum())

    rng = np.random.default_rng(3)
    scale = np.concatenate([np.full(n, 1e-4), np.full(n, 1e-3 * max(1.0, np.abs(state[n:]).max()))])
    for _ in range(2):  # along random directions, every entry taking part
        direction = scale * rng.choice([-1.0, 1.0], size=2 * n) * rng.uniform(0.5, 1.0, size=2 * n)
        slope = 0.5 * (cost(state + direction) - cost(state - direction))
        expected = -solution.initial_costate() @ direction
        size = np.abs(solution.initial_costate() * direction).sum()
        assert slope == pytest.approx(expected, abs=1e-3 * size)


@pytest.mark.feature("003-F074", "003-F075")
def test_swing_foot_steps_over_an_obstacle():
    problem = oracle_problem("rabbit_ssp_5torques")
    hip = problem.model.points["swing_tip"].position(np.stack([problem.start.q, problem.end.q]))[:, 0]
    middle = float(hip.mean())
    clear = synthesize_phase(problem.replace(penalties=Penalties(inequality=1e4)))
    over = synthesize_phase(
        problem.replace(penalties=Penalties(inequality=1e4, obstacles=(Obstacle(middle, 0.05, 0.05),)))
    )
    for solution in (clear, over):
        assert solution.method == "pontryagin"
        assert solution.status is PhaseStatus.CONVERGED, solution.message
        assert solution.hamiltonian_spread < 1e-4
    assert over.cost > clear.cost
    tip = problem.model.points["swing_tip"].position(over.q)
    above = np.abs(tip[:, 0] - middle) < 0.025
    assert above.any()
    assert tip[above, 1].min() > 0.049


@pytest.mark.feature("003-F076")
def test_the_whole_sole_steps_over_an_obstacle():
    """A bump narrower than the foot is long: heel and toe alone could pass on either side of it (F-075, F-076)."""
    problem = oracle_problem("bip_ssp_cyclic")
    bump = Obstacle(-0.1, 0.06, 0.05)
    over = synthesize_phase(problem.replace(penalties=Penalties(inequality=1e5, obstacles=(bump,))))
    assert over.method == "pontryagin"
    assert over.hamiltonian_spread < 1e-4
    assert over.cost > solved("bip_ssp_cyclic").cost
    points = problem.model.points
    heel, toe = (points[name].position(over.q) for name in ("swing_heel", "swing_toe"))
    for share in np.linspace(0.0, 1.0, 30):
        place = (1.0 - share) * heel + share * toe
        assert (place[:, 1] - bump.envelope(place[:, 0])).min() > -1.5e-3


@pytest.mark.feature("003-F072")
def test_knee_range_is_kept_to_a_thousandth():
    problem = oracle_problem("rabbit_ssp_5torques")
    model = problem.model
    j = model.joint_names.index("swing_knee")
    free = model.joint_angles(solved("rabbit_ssp_5torques").q)[:, j]
    greatest = 0.5 * (free.max() + max(free[0], free[-1]))
    assert free.max() > greatest + 0.01
    joints = list(model.joints)
    joints[j] = dataclasses.replace(joints[j], lower=-math.inf, upper=greatest)
    limited = model.replace(joints=tuple(joints))
    penalties = Penalties(inequality=1e3, range_weight=1.0, clearance_weight=0.0)
    solution = synthesize_phase(problem.replace(model=limited, penalties=penalties))
    assert solution.method == "pontryagin"
    assert solution.hamiltonian_spread < 1e-4
    assert limited.joint_angles(solution.q)[:, j].max() < greatest + 1e-3
    assert solution.cost > solved("rabbit_ssp_5torques").cost


@pytest.mark.feature("003-F073")
@pytest.mark.parametrize(("joint", "sign"), [("O1", -1.0), ("O5", 1.0)])
def test_joint_rates_are_kept_by_penalty(joint, sign):
    """A joint at rest at both ends that turns one way between them, and 10 % faster than it may."""
    problem, free = oracle_problem("5bar_A"), solved("5bar_A")
    j = problem.model.joint_names.index(joint)
    fastest = float((sign * problem.model.joint_rates(free.v)[:, j]).max())
    assert fastest > 1.0
    joints = list(problem.model.joints)
    joints[j] = dataclasses.replace(joints[j], rate_limit=0.9 * fastest)
    model = problem.model.replace(joints=tuple(joints))
    excess = [0.1 * fastest]
    for factor in (1e1, 1e2):
        limited = problem.replace(model=model, penalties=Penalties(inequality=factor, rate_weight=1.0))
        solution = synthesize_phase(limited)
        assert solution.method == "pontryagin"
        assert solution.hamiltonian_spread < 1e-4
        excess.append(float(np.abs(model.joint_rates(solution.v)[:, j]).max() - 0.9 * fastest))
    assert excess[1] < excess[0]
    assert excess[2] < 0.2 * excess[1]  # exterior penalties leave an excess in inverse proportion to their factor


@pytest.mark.feature("003-F064")
def test_better_weights_spare_a_joint():
    five = oracle_problem("5bar_A")
    spared = synthesize_phase(
        five.replace(effort=QuadraticEffort(force_weight=0.1, force_scale=1e-2, weights={"C1": 4.0}))
    )
    assert trapezoid(spared.u[:, 0] ** 2, spared.t) < trapezoid(solved("5bar_A").u[:, 0] ** 2, solved("5bar_A").t)


def test_open_loop_is_unreachable():
    five = oracle_problem("5bar_A")
    solution = synthesize_phase(five.replace(start=EndState(five.start.q + 0.1, five.start.v)))
    assert solution.status is PhaseStatus.UNREACHABLE
    assert not solution.converged
    assert "start leaves the loop open by" in solution.message


def test_failure_is_told_with_the_best_iterate():
    problem = oracle_problem("5bar_C")
    options = SynthesisOptions(direct=DirectOptions(max_iterations=2))
    solution = synthesize_phase(problem, options)
    assert solution.status is PhaseStatus.NOT_CONVERGED
    assert "Maximum_Iterations_Exceeded" in solution.message
    assert solution.q.shape == (41, 4)
    assert len(solution.log) >= 2


def test_call_can_be_cancelled():
    stages = []

    def cancel(progress: Progress) -> bool:
        stages.append(progress.stage)
        return True

    solution = synthesize_phase(oracle_problem("5bar_A"), progress=cancel)
    assert solution.status is PhaseStatus.NOT_CONVERGED
    assert len(stages) == 1
    assert solution.message == "stopped"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"duration": -0.1}, "time above 0"),
        ({"duration": math.nan}, "time above 0"),
        ({"duration_range": (1.0, 0.5)}, "least < greatest"),
        ({"mass_scale": 0.0}, "factor above 0"),
        ({"body_scales": {"tail": 2.0}}, "unknown body 'tail'"),
        ({"start": EndState(np.full(4, math.nan), np.zeros(4))}, "finite values"),
        ({"start": EndState(np.zeros(3), np.zeros(3))}, "Give 4 values"),
        ({"effort": QuadraticEffort(weights={"C9": 2.0})}, "unknown control 'C9'"),
        ({"penalties": Penalties(point_weights={"toe": 1.0})}, "unknown clearance point"),
    ],
)
def test_bad_input(changes, words):
    with pytest.raises(InputError, match=words):
        oracle_problem("5bar_A").replace(**changes)


def test_bad_weights():
    bad = ({"torque_weight": 0.0}, {"force_scale": math.nan}, {"weights": {"C1": -1.0}}, {"time_weight": -1.0})
    for changes in bad:
        with pytest.raises(InputError):
            QuadraticEffort(**changes)
    with pytest.raises(InputError):
        Penalties(closure=-1.0)
    with pytest.raises(InputError):
        Obstacle(0.0, 0.1, 0.0)
    with pytest.raises(InputError, match="cross"):
        MODELS["5bar_A"].with_bounds(C1=(1.0, -1.0))


@pytest.mark.feature("003-F065")
def test_force_weight_decides_how_the_load_is_shared():
    """Section 4.2: a light weight on the cut forces is cheap; a heavy one unloads the rear foot altogether."""
    problem = oracle_problem("rabbit_dsp")
    rear = root_point(problem.model, "rear")
    expected = {0.01: (0.010943, 0.062), 1.0: (0.2774, 0.83)}
    least = {}
    for weight, (cost, gap) in expected.items():
        effort = QuadraticEffort(force_weight=weight, force_scale=1e-2)
        solution = synthesize_phase(problem.replace(effort=effort, feet=(rear,)))
        assert solution.cost == pytest.approx(cost, rel=1e-3)
        assert 1e3 * solution.closure_gap.max() == pytest.approx(gap, rel=2e-2)
        least[weight] = float(solution.forces["rear"].normal.min())
    assert least[0.01] > 100.0
    assert abs(least[1.0]) < 10.0


@pytest.mark.feature("003-F079")
def test_slap_and_closure_penalties_compete():
    problem = oracle_problem("bip_dsp_cyclic")
    soft = solved("bip_dsp_cyclic")
    angles = np.degrees(problem.model.slap(soft.sample(np.linspace(0.0, 0.17, 11))[0])[:, 0])
    np.testing.assert_allclose(angles, [11.0, 8.5, 5.9, 3.6, 1.7, 0.0, -1.1, -1.5, -1.3, -0.5, 0.0], atol=0.06)
    hard = synthesize_phase(problem.replace(penalties=Penalties(slap=150.0)))
    assert np.degrees(problem.model.slap(hard.q)).min() == pytest.approx(-0.3, abs=0.05)
    assert 1e3 * hard.closure_gap.max() == pytest.approx(6.3, rel=0.02)


@pytest.mark.feature("003-F078", "003-F097")
def test_closure_gap_falls_with_the_penalty():
    """Residuals fall like 1/r, and factors of 1e4 and 1e6 times gamma are still solved (F-077, F-097)."""
    problem = oracle_problem("5bar_A")
    gaps = [
        float(synthesize_phase(problem.replace(penalties=Penalties(closure=factor))).closure_gap.max())
        for factor in (1.5e4, 1.5e5)
    ]
    assert gaps[0] / gaps[1] == pytest.approx(10.0, rel=0.2)
    for factor in (1e6, 1e8):
        stiff = synthesize_phase(problem.replace(penalties=Penalties(closure=factor)))
        assert stiff.method == "pontryagin"
        assert stiff.hamiltonian_spread < 1e-4
        assert stiff.closure_gap.max() < 2e-7
        assert stiff.cost == pytest.approx(solved("5bar_A").cost, rel=1e-3)


@pytest.mark.feature("003-F101")
def test_a_loop_that_stays_open_is_a_violation():
    """The load's place, told by the planar tree, is off the target by more than the tolerance of 1 mm."""
    problem = oracle_problem("5bar_A").replace(penalties=Penalties(closure=15.0))
    loose = synthesize_phase(problem)
    (closure,) = problem.model.point_closures
    target = np.array([closure.target.real, closure.target.imag])
    open_by = np.linalg.norm(problem.model.points[closure.point].position(loose.q) - target, axis=1)
    assert open_by.max() > 2e-3
    assert loose.status is PhaseStatus.LIMIT_VIOLATION
    (violation,) = loose.violations
    assert violation.kind is ViolationKind.CLOSURE
    assert violation.excess == pytest.approx(1e3 * open_by.max())
    assert violation.time == loose.t[int(np.argmax(open_by > 1e-3))]
    assert f"closure gap exceeded by {1e3 * open_by.max():.3g} mm" in loose.message
    allowed = synthesize_phase(problem, SynthesisOptions(tolerances=Tolerances(closure=1.01 * open_by.max())))
    assert allowed.status is PhaseStatus.CONVERGED


def test_free_transition_costs_no_more_than_a_given_one():
    """The trunk's angle and rate at the end of double support are left to the optimum (F-061)."""
    problem = oracle_problem("rabbit_dsp")
    end = EndState(problem.end.q, problem.end.v, free_q=("trunk",), free_v=("trunk",))
    solution = synthesize_phase(problem.replace(end=end))
    assert solution.method == "pontryagin"
    assert solution.hamiltonian_spread < 1e-5
    assert solution.cost < solved("rabbit_dsp").cost
    assert solution.cost == pytest.approx(solution.direct_cost, rel=1e-4)
    trunk = problem.model.tree.index("trunk")
    assert abs(solution.q[-1, trunk] - problem.end.q[trunk]) > 1e-5
    # Its costates, in angles and rates instead of momenta, vanish: dJ/dq at fixed rates and dJ/dv.
    w_q, w_p = solution.costates[-1, :5], solution.costates[-1, 5:]
    tree, q, v = problem.tree, solution.q[-1], solution.v[-1]
    by_rate = tree.mass_matrix(q) @ w_p
    by_angle = w_q[trunk] + w_p @ tree.mass_derivative(q, trunk) @ v
    assert abs(by_rate[trunk]) < 1e-6 * np.abs(by_rate).max()
    assert abs(by_angle) < 1e-6 * np.abs(w_q).max()


@pytest.mark.feature("003-F024")
def test_single_support_of_rabbit_with_and_without_a_torque_at_the_stance_tip():
    """Section 4.3: with it the trunk stays upright and it hardly rubs; without it, nothing like the plots."""
    problem = oracle_problem("rabbit_ssp_5torques")
    trunk = problem.model.tree.index("trunk")
    held = synthesize_phase(problem.replace(penalties=Penalties(), feet=(root_point(problem.model),)))
    assert held.status is PhaseStatus.CONVERGED
    assert np.abs(np.degrees(held.q[:, trunk]) - 90.0).max() < 3.0
    assert np.abs(held.forces["root"].tangential).max() < 30.0
    assert np.abs(held.forces["root"].normal - 392.4).max() < 140.0
    legs = solved("rabbit_ssp_5torques").energies.per_torque[:4].sum()
    assert legs / solved("rabbit_dsp").energies.total == pytest.approx(2.70, abs=0.02)
    point_foot = problem.replace(model=RABBIT.single_support())
    loose = synthesize_phase(point_foot.replace(feet=(root_point(point_foot.model),)))
    assert loose.method == "pontryagin"
    assert loose.hamiltonian_spread < 1e-5
    assert loose.cost == pytest.approx(loose.direct_cost, rel=1e-4)
    assert loose.status is PhaseStatus.CONTACT_VIOLATION
    assert np.degrees(loose.q[:, trunk]).min() < 72.0
    assert loose.forces["root"].normal.min() < 0.0


@pytest.mark.slow
def test_double_support_of_bip_on_both_feet_within_friction():
    problem = oracle_problem("bip_dsp_cyclic")
    model = BIP.double_support(0.5, friction=0.3, min_toe_force=6.0)
    rear = root_point(model, "rear")
    solution = synthesize_phase(problem.replace(model=model, rows=(*rear.unilateral(10.0), *rear.friction(0.3))))
    assert solution.status is PhaseStatus.CONVERGED
    assert solution.friction_required <= 0.3 * (1.0 + 1e-6)
    assert solution.hamiltonian_spread < 1e-5
    assert solution.cost == pytest.approx(solved("bip_dsp_cyclic").cost, rel=1e-4)
    closed = synthesize_phase(problem.replace(hard_closure=True))
    assert closed.closure_gap.max() < 1e-6
    assert closed.hamiltonian_spread < 1e-5
    assert closed.cost == pytest.approx(closed.direct_cost, rel=1e-4)


def test_shooting_and_continuation_end_at_the_same_solution():
    problem, expected = oracle_problem("5bar_B"), solved("5bar_B")
    shot = synthesize_phase(problem, SynthesisOptions("shooting"))
    assert shot.method == "shooting"
    assert shot.cost == pytest.approx(expected.cost, rel=1e-4)
    assert shot.hamiltonian_spread < 1e-5
    schedule = (Stage("closure", (0.1, 0.4)), Stage("mass_scale", (0.5, 1.0)))
    followed = synthesize_phase(problem, SynthesisOptions(schedule=schedule))
    assert followed.converged
    assert followed.cost == pytest.approx(expected.cost, rel=1e-4)
    assert math.isnan(followed.direct_cost)  # what was transcribed is another problem
    stages = [line.partition("continuation, ")[2].partition(":")[0] for line in followed.log if "continuation" in line]
    assert stages[:3] == ["closure = 0.1", "closure = 0.4", "mass_scale = 1"]
    np.testing.assert_allclose(followed.costates[0], expected.costates[0], rtol=1e-2, atol=1e-4)


def test_a_watch_sees_each_mesh_and_may_stop_there():
    seen: list[Progress] = []

    def watch(progress: Progress) -> bool:
        seen.append(progress)
        return len(seen) == 3

    stopped = synthesize_phase(oracle_problem("5bar_B"), progress=watch)
    assert not stopped.converged
    assert len(stopped.q) > 2  # the best iterate is there
    assert [item.nodes for item in seen[:2]] == [41, 41]
    assert math.isnan(seen[0].residual)
    assert seen[1].residual > 0.0
    assert seen[1].cost == pytest.approx(solved("5bar_B").cost, rel=1e-3)


def test_a_transcription_is_not_made_finer_than_allowed():
    problem = oracle_problem("rabbit_dsp")
    model = problem.model.with_bounds(C12=(-0.01, 0.01), C25=(-0.01, 0.01), C34=(-0.01, 0.01), C53=(-0.01, 0.01))
    options = SynthesisOptions(collocation=CollocationOptions(max_nodes=60), time_limit=1.0)
    tried = synthesize_phase(problem.replace(model=model), options)
    assert not tried.converged
    assert not any("40 intervals" in line for line in tried.log)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "magic"}, "method: is 'magic'. Use one of pontryagin, shooting, direct"),
        ({"method": "direct", "schedule": (Stage("closure", (0.1,)),)}, "schedule: isn't empty"),
    ],
)
def test_methods_that_there_are_not(settings, message):
    with pytest.raises(InputError, match=message):
        SynthesisOptions(**settings)
