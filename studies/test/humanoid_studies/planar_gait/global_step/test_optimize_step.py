# SPDX-License-Identifier: Apache-2.0
"""Steps whose transitions, durations and length are free: kept limits, optimality, and a program written plainly."""

import dataclasses
import functools
import math

import casadi
import numpy as np
import pytest
from fixtures.gait_models import BIP, RABBIT, RABBIT_WALK

from humanoid_model.errors import InputError
from humanoid_model.progress import Progress
from humanoid_studies.planar_gait.global_step.global_gait import (
    GlobalGait,
    GlobalStatus,
    final_problem,
    joined_ends,
    transcribed_gait,
)
from humanoid_studies.planar_gait.global_step.global_problem import Support
from humanoid_studies.planar_gait.global_step.global_settings import GlobalSettings
from humanoid_studies.planar_gait.global_step.optimality import prove_optimality
from humanoid_studies.planar_gait.global_step.optimize_step import optimize_step
from humanoid_studies.planar_gait.global_step.transcribed_conditions import TranscribedConditions, check_transcription
from humanoid_studies.planar_gait.mechanism.casadi_tree import CasadiPhase
from humanoid_studies.planar_gait.optimal_control.penalties import Obstacle
from humanoid_studies.planar_gait.solvers.direct import DirectOptions, solve_direct
from humanoid_studies.planar_gait.specification.phase_spec import cyclic_walk, plan_phase
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker
from humanoid_studies.planar_gait.trajectory.gait_series import gait_series, leg_roles

COARSE = GlobalSettings(double_intervals=10, single_intervals=20)
#: RABBIT's foot passes a narrow hill, which coarser meshes step through.
FINE = GlobalSettings(double_intervals=16, single_intervals=80)
#: RABBIT as the thesis has it, whose joints turn as fast as they like.
FAST = dataclasses.replace(
    RABBIT, joints={name: dataclasses.replace(joint, rate=math.inf) for name, joint in RABBIT.joints.items()}
)


@functools.cache
def rabbit() -> GlobalGait:
    return optimize_step(RabbitWalker(RABBIT), 1.1, None, COARSE, prove=False)


@functools.cache
def proved_rabbit() -> GlobalGait:
    return optimize_step(RabbitWalker(RABBIT), 1.1, None, FINE)


@functools.cache
def bip() -> GlobalGait:
    return optimize_step(BipWalker(BIP), 0.75, None, COARSE, prove=False)


@pytest.mark.parametrize("solved", [rabbit, bip])
def test_the_step_is_what_was_asked(solved):
    found = solved()
    assert found.status is GlobalStatus.CONVERGED, found.message
    assert found.speed == pytest.approx({rabbit: 1.1, bip: 0.75}[solved], rel=1e-6)
    assert found.gait.plan.distance == pytest.approx(found.distance, abs=1e-6)
    assert all(jump.within(1e-4) for jump in found.gait.jumps())  # a transcription's loop is open by its own error
    # The cycle closes: the hip is where and as fast as it was, one step on.
    last = found.gait.phases[-1]
    begin = found.problem.walker.single_from_touch_down(found.gait.plan.phases[0].start)
    np.testing.assert_allclose(last.q[-1], begin.q, atol=1e-5)
    np.testing.assert_allclose(last.v[-1], begin.v, atol=1e-4)
    assert sum(phase.duration for phase in found.gait.phases) == pytest.approx(found.duration)
    assert found.cost == pytest.approx(found.cost_per_metre * found.distance)


@pytest.mark.slow
def test_pontryagins_conditions_prove_the_step():
    proof = proved_rabbit().proof
    assert proof.solved
    assert proof.agrees
    assert proof.close
    assert all(jump.within(1e-6) for jump in proved_rabbit().gait.jumps())  # extremals are closed and joined
    assert proof.cost_gap < 3e-4
    assert proof.jumps.max() < 0.01
    assert proof.length_gap < 1e-3
    assert "clearance of swing_tip" in proof.touched[1]
    assert not any(phase.violations for phase in proof.phases)
    rate = proved_rabbit().cost / proved_rabbit().duration
    assert all(np.ptp(phase.hamiltonian) < 0.02 * rate for phase in proof.phases)


@pytest.mark.slow
def test_pontryagins_conditions_prove_bips_step():
    proof = optimize_step(BipWalker(BIP), 0.75).proof
    assert proof.agrees
    assert proof.cost_gap < 5e-5
    assert proof.hamiltonian_gap < 0.01
    assert proof.jumps.max() < 0.005
    assert proof.length_gap < 1e-3


@pytest.mark.slow
def test_pontryagins_conditions_prove_a_step_that_touches_many_limits():
    """Ranges of both knees, the ankle's rate and the sole's clearance within a quarter of a second."""
    found = optimize_step(BipWalker(BIP), 0.7, 0.5)
    assert {"least angle of stance_knee", "rate of swing_ankle", "clearance of swing_heel"} < set(
        found.proof.touched[2]
    )
    assert found.proof.close
    assert found.proof.cost_gaps.max() < 1e-4
    assert found.proof.jumps.max() < 0.01
    assert all(phase.method == "pontryagin" for phase in found.gait.phases)


@pytest.mark.slow
def test_a_foot_that_lies_flat_for_a_while_is_a_limit_of_the_proof_too():
    """Stairs down: the rear foot may not turn into its tread. Without that H differs by 6 % of the rate of cost."""
    found = optimize_step(BipWalker(BIP), 0.45, 0.42, step_height=-0.06)
    check_stairs(found)
    proof = found.proof
    assert "angle of rear_foot" in proof.touched[0]
    assert proof.close
    assert proof.hamiltonian_gap < 5e-3


@pytest.mark.slow
def test_a_transcription_that_is_too_coarse_is_refined():
    """RABBIT at 1 m/s: 40 intervals step through the ground beside the stance foot and settle for a worse step."""
    found = optimize_step(RabbitWalker(FAST), 1.0)
    assert found.problem.settings.single_intervals > 40
    assert found.problem.settings.double_intervals == 16
    assert found.proof.close
    assert found.proof.cost_gaps.max() < 3e-4
    assert found.cost_per_metre < 0.0895


@pytest.mark.slow
def test_a_step_that_is_not_the_best_one_is_told_apart():
    """A step length, given and not free, away from the best one: the criterion still changes with it."""
    given = optimize_step(RabbitWalker(RABBIT), 1.1, 0.5, FINE, prove=False)
    assert given.cost_per_metre > proved_rabbit().cost_per_metre * 1.02
    problem = dataclasses.replace(given.problem, step_lengths=proved_rabbit().problem.step_lengths)
    ends = joined_ends(problem, given.iterate)
    finals = [final_problem(problem, given.iterate, i, both) for i, both in enumerate(ends)]
    # The multiplier of its bound says that it is held; as if it were free, it isn't.
    bounds = given.iterate.bound_multipliers.copy()
    bounds[-1] = 0.0
    proof = prove_optimality(problem, dataclasses.replace(given.iterate, bound_multipliers=bounds), finals)
    assert proof.length_gap > 5.0 * proved_rabbit().proof.length_gap


@pytest.mark.feature("003-F035")
def test_bip_keeps_every_limit_of_its_feet_joints_and_trunk():
    found = bip()
    settings = found.problem.settings
    assert [phase.support for phase in found.problem.phases] == [Support.HEEL, Support.FLAT, Support.ONE_FOOT]
    for planned, solution in zip(found.gait.plan.phases, found.gait.phases, strict=True):
        model = planned.model
        assert not solution.violations, solution.violations
        for series in solution.forces.values():
            assert series.min_normal > settings.force_lower - 0.1
            assert series.required_friction < settings.friction * 1.01
        rates = np.abs(model.joint_rates(solution.v)).max(axis=0)
        assert (rates < model.rate_limit + 0.05).all()
        trunk = solution.q[:, model.tree.index("trunk")]
        assert np.abs(trunk - math.pi / 2).max() < settings.trunk_lean + 1e-3
        knees = [j for j, name in enumerate(model.joint_names) if name.endswith("knee")]
        assert model.robot_angles(solution.q)[:, knees].min() > settings.min_knee_flexion - 2e-3
    heel, flat, single = found.gait.phases
    front = heel.problem.model.points["front_toe"].position(heel.q)[:, 1]
    assert front.min() > -1e-4
    assert "F_B2" not in heel.problem.model.control_names  # no force at a toe that isn't down
    foot = flat.problem.model.points
    for name in ("front_heel", "front_toe"):
        np.testing.assert_allclose(foot[name].position(flat.q)[:, 1], 0.0, atol=1e-5)
    points = single.problem.model.points
    sole = [points[name].position(single.q) for name in ("swing_heel", "swing_toe")]
    assert min(place[:, 1].min() for place in sole) > -1e-3
    passing = np.abs(sole[0][:, 0] + 0.5 * BIP.foot.length) < 0.01
    assert sole[0][passing, 1].min() > 0.9 * settings.swing_clearance
    # Without impact: heel at rest at touch-down, toe at lift-off.
    np.testing.assert_allclose(points["swing_heel"].jacobian(single.q[-1]) @ single.v[-1], 0.0, atol=1e-4)
    np.testing.assert_allclose(points["swing_toe"].jacobian(single.q[0]) @ single.v[0], 0.0, atol=1e-4)


@pytest.mark.feature("003-F061")
def test_free_transitions_cost_less_than_published_ones():
    """RABBIT's published step, its phases solved one by one within the same limits, against the free one (F-061)."""
    walker = RabbitWalker(RABBIT)
    settings = COARSE.replace(swing_clearance=0.0, friction=5.0, force_lower=0.0, min_knee_flexion=0.0)
    speed, length = RABBIT_WALK.mean_speed, RABBIT_WALK.step.step_length
    free = optimize_step(walker, speed, length, settings, prove=False)
    assert free.converged, free.message
    fixed = 0.0
    for phase in free.problem.phases:
        own = phase.problem.replace(duration_range=None, start=phase.problem.start, end=phase.problem.end)
        start, end = (
            dataclasses.replace(state, free_q=(), free_v=()) for state in (own.start, own.end)
        )
        spec = phase.planned.spec
        result = solve_direct(own.replace(start=start, end=end, duration=spec.duration), DirectOptions(20))
        assert result.converged
        fixed += result.cost
    assert free.cost < 0.5 * fixed


@functools.cache
def plainly(step_length: float, speed: float) -> tuple[float, np.ndarray]:
    """RABBIT's step as one writes it in casadi: states (q, p), all derivatives automatic."""
    friction, least, lean, bent = 0.6, 6.0, 0.2, 0.05
    double, single = RABBIT.double_support(step_length), RABBIT.single_support()
    effort = COARSE.effort
    opti = casadi.Opti()
    costs, durations, states = 0.0, [], []
    for model, intervals in ((double, 4), (single, 8)):
        n, phase, P = 5, CasadiPhase(model), 2 * intervals + 1
        x, u = casadi.SX.sym("x", 10), casadi.SX.sym("u", model.control_count)
        q, v = x[:n], phase.tree.velocity(x[:n], x[n:])
        a = phase.acceleration(q, v, u)
        gap = phase.closure(q)
        rate = casadi.mtimes(casadi.jacobian(gap, q), v)
        centre = phase.tree.position(model.tree.centre, q)
        w = casadi.SX.sym("w", n)

        def second(
            of: casadi.SX, q: casadi.SX = q, v: casadi.SX = v, a: casadi.SX = a, w: casadi.SX = w
        ) -> casadi.SX:
            J = casadi.jacobian(of, q)
            bias = casadi.mtimes(casadi.jacobian(casadi.mtimes(J, w), q), w)
            return casadi.substitute(bias, w, v) + casadi.mtimes(J, a)

        bend, pull = second(gap), second(centre)
        ground = model.tree.mass * (pull + casadi.DM([0.0, model.tree.gravity]))
        front = casadi.vertcat(u[5], u[4]) if model is double else casadi.DM.zeros(2)
        rear = ground - front
        joints = phase.joint_angles(q)
        lower, upper = model.joint_lower.copy(), model.joint_upper.copy()
        for j, joint in enumerate(model.joints):
            if joint.name.endswith("knee") and joint.sign > 0:
                lower[j] = bent
            elif joint.name.endswith("knee"):
                upper[j] = -bent
        limits = [rear[1] - least, friction * rear[1] - rear[0], friction * rear[1] + rear[0]]
        if model is double:
            limits += [front[1] - least, friction * front[1] - front[0], friction * front[1] + front[0]]
        inside = [(joints - lower)[j] for j in range(joints.numel()) if np.isfinite(lower[j])]
        inside += [(upper - joints)[j] for j in range(joints.numel()) if np.isfinite(upper[j])]
        running = 0.5 * casadi.dot(casadi.DM(effort.diagonal(model)), u**2)
        height = phase.point("swing_tip", q)[1] if model is single else casadi.SX(1.0)
        at = casadi.Function(
            "at",
            [x, u],
            [
                casadi.vertcat(v, phase.momentum_rate(q, v, u)),
                running,
                casadi.vertcat(*limits, *inside),
                bend,
                height,
            ],
        )
        ends = casadi.Function("ends", [x], [gap, rate, v])
        T, X, U = opti.variable(), opti.variable(10, P), opti.variable(model.control_count, P)
        F, L, C, G, H = at.map(P)(X, U)
        h = T / intervals
        left, middle, right = slice(0, P - 1, 2), slice(1, P, 2), slice(2, P, 2)
        opti.subject_to(
            casadi.vec(X[:, right] - X[:, left] - h / 6.0 * (F[:, left] + 4.0 * F[:, middle] + F[:, right])) == 0
        )
        mean, slope = 0.5 * (X[:, left] + X[:, right]), F[:, left] - F[:, right]
        opti.subject_to(casadi.vec(X[:, middle] - mean - h / 8.0 * slope) == 0)
        opti.subject_to(casadi.vec(C) >= 0)
        if model is double:
            opti.subject_to(casadi.vec(G) == 0)
            opti.subject_to(ends(X[:, 0])[0] == 0)
            opti.subject_to(ends(X[:, 0])[1] == 0)
        else:
            opti.subject_to(casadi.vec(H[1:-1]) >= 0)
        opti.subject_to(opti.bounded(math.pi / 2 - lean, casadi.vec(X[4, :]), math.pi / 2 + lean))
        opti.subject_to((0.04 if model is double else 0.2) <= T)
        costs += h / 6.0 * casadi.sum2(L[left] + 4.0 * L[middle] + L[right])
        durations.append(T)
        states.append((X[:, 0], X[:, P - 1], ends))
        planned = plan_phase(RabbitWalker(RABBIT), cyclic_walk(RABBIT_WALK)[0 if model is double else 1])
        first, last = (model.state(state.q, state.v) for state in (planned.start, planned.end))
        opti.set_initial(X, first[:, None] + np.linspace(0.0, 1.0, P) * (last - first)[:, None])
        opti.set_initial(T, planned.spec.duration)
    double_state, single_state = states
    order = [3, 2, 1, 0, 4]
    shift = casadi.DM([math.pi, math.pi, -math.pi, -math.pi, 0.0])
    opti.subject_to(single_state[0][:5] == double_state[1][:5][order] + shift)
    opti.subject_to(single_state[2](single_state[0])[2] == double_state[2](double_state[1])[2][order])
    opti.subject_to(double_state[0][:5] == single_state[1][:5])
    opti.subject_to(double_state[2](double_state[0])[2] == single_state[2](single_state[1])[2])
    opti.subject_to(speed * (durations[0] + durations[1]) == step_length)
    opti.minimize(costs / step_length * 1e3)
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "tol": 1e-6, "max_iter": 1000})
    solved = opti.solve()
    return float(solved.value(costs)), np.array([solved.value(T) for T in durations])


@pytest.mark.slow
def test_a_program_written_plainly_finds_the_same_step():
    """RABBIT again: (q, p) with the mass matrix inverted, forces from the centre of mass, linked by hand."""
    length, speed = 0.4, 0.8
    cost, durations = plainly(length, speed)
    settings = COARSE.replace(swing_clearance=0.0, double_intervals=4, single_intervals=8)
    ours = optimize_step(RabbitWalker(FAST), speed, length, settings, prove=False)
    assert ours.cost == pytest.approx(cost, rel=1e-6)
    np.testing.assert_allclose([motion.duration for motion in ours.iterate.phases], durations, rtol=1e-5)


def test_feedback_is_told_and_cancels():
    told = []

    def feedback(progress: Progress) -> bool:
        told.append((progress.stage, progress.residual, progress.cost))
        return len(told) >= 5

    found = optimize_step(RabbitWalker(RABBIT), 0.8, 0.4, COARSE, feedback)
    assert found.status is GlobalStatus.CANCELLED
    assert len(told) == 5
    assert told[0][0] == "coarse mesh, iteration 0"
    assert all(math.isfinite(residual) and math.isfinite(cost) for _, residual, cost in told)
    assert found.gait.phases[0].q.shape[1] == 5  # the best iterate is there
    assert not found.gait.converged


def test_what_the_feedback_raises_comes_out():
    def feedback(progress: Progress) -> bool:
        raise RuntimeError("the watcher broke")

    with pytest.raises(RuntimeError, match="watcher broke"):
        optimize_step(RabbitWalker(RABBIT), 0.8, 0.4, COARSE, feedback)


def test_what_cannot_be_says_which_limit():
    weak = COARSE.replace(torque_limits={"knee": 5.0, "hip": 5.0}, max_iterations=80)
    found = optimize_step(RabbitWalker(RABBIT), 0.8, 0.4, weak)
    assert found.status in (GlobalStatus.INFEASIBLE, GlobalStatus.NOT_CONVERGED)
    assert "violated most" in found.message
    assert found.iterate.infeasibility > 1e-4
    assert found.proof is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"speed": -1.0}, "speed"),
        ({"speed": math.nan}, "speed"),
        ({"speed": 5.0}, "takes steps of"),
        ({"step_length": 0.0}, "step_length"),
        ({"speed": 0.5, "step_length": 3.0}, "leg|takes steps"),
        ({"step_height": math.inf}, "step_height"),
        ({"step_height": 0.1}, "stairs"),
        ({"settings": GlobalSettings(torque_limits={"elbow": 3.0})}, "elbow"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        optimize_step(BipWalker(BIP), **arguments)


def check_stairs(found):
    """What the stairs' own step data don't keep: 6 rad/s at the ankle, and no sole within a stair."""
    assert found.converged, found.message
    assert not any(solution.violations for solution in found.gait.phases)


@pytest.mark.slow
def test_stairs_keep_rates_and_clearance():
    """Up; those down are proved above."""
    check_stairs(optimize_step(BipWalker(BIP), 0.45, 0.42, step_height=0.08, prove=False))


@pytest.mark.slow
def test_an_obstacle_is_stepped_over():
    bump = Obstacle(-0.145, 0.06, 0.10)
    found = optimize_step(BipWalker(BIP), 0.6, 0.6, GlobalSettings(obstacles=(bump,)), prove=False)
    assert found.converged, found.message
    swing = found.gait.phases[-1]
    points = swing.problem.model.points
    heel, toe = (points[name].position(swing.q) for name in ("swing_heel", "swing_toe"))
    for share in np.linspace(0.0, 1.0, 30):
        place = (1.0 - share) * heel + share * toe
        assert (place[:, 1] - bump.envelope(place[:, 0])).min() > -2e-3
    assert found.cost > optimize_step(BipWalker(BIP), 0.6, 0.6, prove=False).cost


def test_reports_take_a_double_support_of_two_phases():
    """The legs change parts once, and on the heel the front foot's force is at its heel."""
    gait = bip().gait
    assert [leg_roles(gait.plan, index) for index in range(3)] == [
        {"rear": "left", "front": "right"},
        {"rear": "left", "front": "right"},
        {"stance": "right", "swing": "left"},
    ]
    series = gait_series(gait)
    on_heel = series.phase == 0
    assert series.forces["right"].normal[on_heel, 0].min() > 5.0
    assert np.abs(series.forces["right"].normal[on_heel, 1]).max() == 0.0
    hip = series.points["hip"]
    assert np.abs(np.diff(hip, axis=0)).max() < 0.06  # nothing leaps where a phase hands over


def conditions(given: GlobalGait, stretched: float = 1.0) -> TranscribedConditions:
    """Along the transcription, with other costates if asked."""
    phases = [
        dataclasses.replace(motion, costates=motion.costates * (1.0 + (stretched - 1.0) * motion.s[:, None]))
        for motion in given.iterate.phases
    ]
    iterate = dataclasses.replace(given.iterate, phases=tuple(phases))
    ends = joined_ends(given.problem, iterate)
    finals = [final_problem(given.problem, iterate, i, both) for i, both in enumerate(ends)]
    return check_transcription(given.problem, iterate, finals, transcribed_gait(given.problem, iterate, "").phases)


def test_conditions_hold_along_the_transcription_as_it_is():
    found = conditions(bip())
    assert found.worst_maximality.max() < 1e-6
    assert found.maximality.min() > -1e-6
    assert found.adjoint.max() < 0.05
    assert found.hamiltonian_spread.max() < 0.2
    assert found.jumps.max() < 0.01
    assert found.length_gap < 1e-3
    assert not found.coarse_phases
    assert "no proof" in found.report()


def test_costates_that_are_not_right_are_told_apart():
    found = conditions(bip(), stretched=1.2)
    right = conditions(bip())
    assert found.maximality.min() > 1e-3
    assert (found.adjoint > 1.5 * right.adjoint).all()
    assert found.jumps.max() > 0.02


def test_a_proof_out_of_time_proves_nothing():
    given = bip()
    ends = joined_ends(given.problem, given.iterate)
    finals = [final_problem(given.problem, given.iterate, i, both) for i, both in enumerate(ends)]
    proof = prove_optimality(given.problem, given.iterate, finals, time_limit=0.0)
    assert not proof.solved
    assert not proof.agrees
    assert np.isnan(proof.jumps).all()
    assert "not met" in proof.report()


def test_a_proof_that_takes_too_long_leaves_the_step_as_it_was_transcribed():
    found = optimize_step(RabbitWalker(RABBIT), 1.1, None, COARSE.replace(proof_time_limit=1e-3))
    assert found.status is GlobalStatus.CONVERGED
    assert found.cost == pytest.approx(rabbit().cost, rel=1e-9)
    assert found.proof is not None
    assert not found.proof.solved
    assert {phase.method for phase in found.gait.phases} == {phase.method for phase in rabbit().gait.phases}


def test_a_step_out_of_time_is_told_with_its_iterate():
    """A millisecond is enough for a few of IPOPT's iterations on the coarse mesh, and for no proof."""
    found = optimize_step(BipWalker(BIP), 0.8, settings=GlobalSettings(time_limit=1e-3))
    assert found.status is GlobalStatus.NOT_CONVERGED
    assert "Maximum_WallTime_Exceeded" in found.message
    assert found.proof is None
    assert len(found.log) == 1
    assert np.isfinite(found.iterate.x).all()
