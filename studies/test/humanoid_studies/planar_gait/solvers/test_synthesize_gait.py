# SPDX-License-Identifier: Apache-2.0
"""Whole gaits: RABBIT's step and BIP's five phases against the reference solutions and the thesis' statements."""

import math
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from fixtures.gait_models import BIP, BRAKING, CYCLIC, FROM_UPRIGHT, RABBIT, RABBIT_WALK
from fixtures.gait_oracles import ORACLES

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort
from humanoid_studies.planar_gait.optimal_control.penalties import Penalties
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseStatus
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSettings, PhaseSettings, synthesize_gait
from humanoid_studies.planar_gait.specification.phase_spec import cyclic_walk, walk_between_rests
from humanoid_studies.planar_gait.specification.step_data import load_walk
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker

RABBIT_EFFORT = QuadraticEffort(force_weight=0.1, force_scale=1e-2)
RABBIT_SETTINGS = GaitSettings(
    PhaseSettings(RABBIT_EFFORT), PhaseSettings(RABBIT_EFFORT, Penalties(inequality=0.0)), friction=0.6
)
WALKING = RabbitWalker(RABBIT, ankle_torque=True)


@pytest.fixture(scope="module")
def rabbits():
    return synthesize_gait(WALKING, cyclic_walk(RABBIT_WALK, 3), RABBIT_SETTINGS)


@pytest.mark.feature("003-F055")
def test_a_phase_that_repeats_is_solved_once(rabbits):
    assert rabbits.converged
    assert len(rabbits.phases) == 6
    assert rabbits.phases[0] is rabbits.phases[2] is rabbits.phases[4]
    assert rabbits.phases[0].cost == pytest.approx(ORACLES["rabbit_dsp"]["J_pmp"], rel=1e-4)
    assert rabbits.phases[1].cost == pytest.approx(ORACLES["rabbit_ssp_5torques"]["J_pmp"], rel=1e-4)


@pytest.mark.feature("003-F054")
def test_solved_phases_join(rabbits):  # F-054
    assert len(rabbits.jumps()) == 5
    for jump in rabbits.jumps():
        assert jump.within(1e-8)


@pytest.mark.feature("003-F108")
def test_statements_of_the_thesis_on_rabbit(rabbits):  # sections 4.2 and 4.3
    double, single = rabbits.phases[:2]
    assert double.closure_gap.max() < 2e-4
    assert np.abs(np.rad2deg(double.q[:, 4]) - 90.0).max() < 0.5
    assert 5.0 < double.energies.total < 15.0
    feet = double.forces["rear_tip"].normal[:, 0], double.forces["front_tip"].normal[:, 0]
    assert min(feet[0].min(), feet[1].min()) > 0.0
    np.testing.assert_allclose(feet[0] + feet[1], 392.4, rtol=0.15)
    assert double.friction_required < 0.5
    assert np.abs(single.forces["stance_tip"].tangential).max() < 30.0
    assert np.abs(single.forces["stance_tip"].normal - 392.4).max() < 140.0
    assert np.abs(np.rad2deg(single.q[:, 4]) - 90.0).max() < 3.0
    legs = single.energies.per_torque[:4].sum()
    assert legs / double.energies.total == pytest.approx(2.7, abs=0.05)
    assert rabbits.totals.mean_speed == pytest.approx(0.852, abs=5e-4)
    assert rabbits.duration == pytest.approx(3 * 0.528)
    assert rabbits.totals.distance == pytest.approx(3 * 0.45)


def test_times_of_the_gait(rabbits):
    np.testing.assert_allclose(rabbits.starts[:3], [0.0, 0.103, 0.528])
    index, q, v, u = rabbits.at(0.528)
    assert index == 2
    np.testing.assert_allclose(q, rabbits.phases[2].q[0], atol=1e-12)
    assert (len(v), len(u)) == (5, 6)
    assert rabbits.at(-1.0)[0] == 0
    index, q, _, u = rabbits.at(99.0)
    assert index == 5
    np.testing.assert_allclose(q, rabbits.phases[5].q[-1], atol=1e-12)
    assert len(u) == 5
    with pytest.raises(InputError, match="time: is nan"):
        rabbits.at(math.nan)
    lines = rabbits.report().splitlines()
    assert len(lines) == 7
    assert "0.852 m/s" in lines[-1]


def test_cancelling():
    def stop(progress):
        heard.append(progress.stage)
        return True

    heard = []
    gait = synthesize_gait(WALKING, cyclic_walk(RABBIT_WALK), RABBIT_SETTINGS, progress=stop)
    assert not gait.converged
    assert heard[0].startswith("double_support: transcription")
    assert {solution.status for solution in gait.phases} == {PhaseStatus.NOT_CONVERGED}


def test_on_an_executor():
    with ThreadPoolExecutor(1) as pool:
        heard = []
        gait = synthesize_gait(
            WALKING,
            cyclic_walk(RABBIT_WALK),
            RABBIT_SETTINGS,
            pool,
            lambda progress: heard.append(progress.stage),
        )
    assert gait.converged
    assert heard == ["double_support: done", "single_support: done"]


@pytest.mark.slow
def test_on_processes():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        gait = synthesize_gait(WALKING, cyclic_walk(RABBIT_WALK), RABBIT_SETTINGS, pool)
    assert gait.converged
    assert gait.phases[0].cost == pytest.approx(ORACLES["rabbit_dsp"]["J_pmp"], rel=1e-4)


@pytest.mark.feature("003-F056", "003-F057", "003-F058", "003-F059", "003-F105", "003-F109")
def test_five_phases_of_bip():  # B1 to B6, section 4.5
    walker = BipWalker(BIP, min_toe_force=6.0)
    gait = synthesize_gait(walker, walk_between_rests(FROM_UPRIGHT, BRAKING))
    assert gait.converged
    cases = ["bip_ssp_start", "bip_dsp_cyclic", "bip_ssp_cyclic", "bip_dsp_brake", "bip_ssp_stop"]
    for solution, case in zip(gait.phases, cases, strict=True):
        assert solution.cost == pytest.approx(ORACLES[case]["J_pmp"], rel=1e-3)
        assert solution.energies.total == pytest.approx(ORACLES[case]["E_abs"], rel=5e-3)
        assert solution.hamiltonian_spread < 1e-4
        assert np.abs(np.rad2deg(solution.q[:, -1]) - 90.0).max() < 5.0
    for jump in gait.jumps():
        assert jump.within(1e-8)
    totals = gait.totals
    assert totals.duration == pytest.approx(1.806)
    assert totals.energy == pytest.approx(504.9, rel=0.35)
    step = gait.phases[1].energies.total + gait.phases[2].energies.total
    assert step == pytest.approx(205.8, rel=0.35)
    for solution in (gait.phases[1], gait.phases[3]):
        assert 1e3 * solution.closure_gap.max() < 1.0
        assert solution.forces["rear_toe"].min_normal > 0.0
        assert solution.forces["front_foot"].min_normal >= -1e-6
    # Without constraint on the stance foot its heel pulls in start and cyclic step, and presses in the stop.
    assert gait.phases[0].status is PhaseStatus.CONTACT_VIOLATION
    assert gait.phases[2].forces["stance"].min_normal == pytest.approx(-366.0, rel=0.05)
    assert gait.phases[4].forces["stance"].min_normal == pytest.approx(187.0, rel=0.05)


@pytest.mark.feature("003-F034", "003-F056", "003-F057", "003-F058", "003-F109")
def test_five_phases_whose_feet_press_and_hold():
    """From a leaning rest (G-10) all feet press all along, with a friction of 0.3 (T-oracles of 4.5)."""
    walker = BipWalker(BIP, friction=0.3, min_toe_force=6.0)
    single = PhaseSettings(penalties=Penalties(range_weight=1.0, rate_weight=1.0), min_root_force=6.0)
    gait = synthesize_gait(walker, walk_between_rests(CYCLIC, BRAKING), GaitSettings(single=single, friction=0.3))
    assert [solution.status for solution in gait.phases] == [PhaseStatus.CONVERGED] * 5
    thesis = [81.9, 96.3, 109.5, 112.1, 105.1]
    for solution, energy in zip(gait.phases, thesis, strict=True):
        assert energy / 2.5 < solution.energies.total < energy * 2.5
        assert np.abs(np.rad2deg(solution.q[:, -1]) - 90.0).max() < 5.0
        assert min(series.min_normal for series in solution.forces.values()) > 0.0
    assert gait.totals.energy == pytest.approx(504.9, rel=0.10)
    assert gait.friction_required < 0.301
    assert gait.phases[2].friction_required < 0.15
    start = gait.phases[0]
    assert np.abs(start.u).max(axis=0).argmax() == 1  # the stance knee is the most loaded
    assert start.forces["stance"].total_normal[0] > 1.3 * 1028.2  # the initial impulse
    # It starts with the hips 0.80 m high and 0.05 m ahead of the ankles, and stands with them 0.85 m above the ankles.
    for solution, sample, hip in ((start, 0, (0.05, 0.80)), (gait.phases[4], -1, (0.0, 0.85))):
        points = solution.problem.model.points
        np.testing.assert_allclose(solution.v[sample], 0.0, atol=1e-7)
        ankles = [points[f"{leg}_ankle"].position(solution.q[sample]) for leg in ("stance", "swing")]
        np.testing.assert_allclose(ankles[0], ankles[1], atol=1e-7)
        above = points["hip"].position(solution.q[sample]) - [ankles[0][0], 0.0]
        np.testing.assert_allclose(above, hip, atol=1e-7)
    for jump in gait.jumps():
        assert jump.within(1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bip_stairs_up", "bip_stairs_down"])
def test_stairs(name):
    """BIP climbs stairs and comes down: feet press and hold, the swinging one passes the edges."""
    walk = load_walk(name)
    single = PhaseSettings(penalties=Penalties(range_weight=1.0), min_root_force=0.0)
    walker = BipWalker(BIP, friction=0.5, min_toe_force=6.0)
    gait = synthesize_gait(walker, cyclic_walk(walk, 2), GaitSettings(single=single, friction=0.5))
    assert gait.converged
    height = walk.step.step_height
    for solution in gait.phases:
        assert min(series.min_normal for series in solution.forces.values()) > -0.5
    swing = gait.phases[1]
    toe, heel = (swing.problem.model.points[point].position(swing.q) for point in ("swing_toe", "swing_heel"))
    for foot in (toe, heel):  # stance foot from -0.29 to 0, its stair's edges where the feet leave most room
        for x, y in foot:
            if height > 0.0:
                ground = -height if x < -0.29 else (0.0 if x < 0.42 - 0.29 else height)
            else:
                ground = -height if x < -0.42 else (0.0 if x < 0.0 else height)
            assert y > ground - 3e-3
    np.testing.assert_allclose(toe[0], [-0.42, -height], atol=1e-9)
    np.testing.assert_allclose(heel[-1], [0.42 - 0.29, height], atol=1e-9)
    np.testing.assert_allclose(gait.plan.next_offset, [0.84, 2.0 * height], atol=1e-12)


def test_cyclic_swing_with_feet_that_press():  # B3 with hard unilaterality: required friction about 0.1
    walker = BipWalker(BIP, min_toe_force=6.0)
    settings = GaitSettings(single=PhaseSettings(min_root_force=6.0), friction=0.3)
    gait = synthesize_gait(walker, cyclic_walk(CYCLIC), settings)
    single = gait.phases[1]
    assert single.converged
    assert single.cost == pytest.approx(0.793, rel=5e-3)
    assert single.energies.total == pytest.approx(128.9, rel=1e-2)
    assert single.forces["stance"].min_normal >= 6.0 - 0.5
    assert single.friction_required == pytest.approx(0.099, abs=0.01)
    assert single.friction_required <= 0.15
