# SPDX-License-Identifier: Apache-2.0
"""BIP2000's sagittal gait on all its joints: places of soles, zero-moment point, forces and torques."""

import dataclasses
import math

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.lift.bearing import Part
from humanoid_studies.planar_gait.lift.level_walk import (
    LAST,
    STEADY,
    level_settings,
    level_walk,
    level_walker,
    with_reserves,
)
from humanoid_studies.planar_gait.lift.lifted_gait import LiftSettings, lift_gait
from humanoid_studies.planar_gait.lift.whole_trajectory import whole_trajectory
from humanoid_studies.planar_gait.models.sagittal_projection import project_to_sagittal_plane
from humanoid_studies.planar_gait.solvers.phase_solution import closure_gap, find_violations
from humanoid_studies.planar_gait.solvers.synthesize import SynthesisOptions
from humanoid_studies.planar_gait.solvers.synthesize_gait import synthesize_gait
from humanoid_studies.planar_gait.specification.phase_spec import cyclic_walk, walk_through
from humanoid_studies.planar_gait.specification.step_data import load_walk

pytestmark = pytest.mark.feature("003-F031")

ROBOT = load_robot("bip")
PROJECTION = with_reserves(project_to_sagittal_plane(ROBOT))
MASS = ROBOT.total_mass
HALF_WIDTH = 0.11
SETTINGS = LiftSettings(period=0.01, inset=0.02, friction=0.6)


@pytest.fixture(scope="module")
def steady_gait():
    gait = synthesize_gait(level_walker(PROJECTION), cyclic_walk(load_walk(STEADY), 2), level_settings(PROJECTION))
    assert gait.converged
    return gait


@pytest.fixture(scope="module")
def steady(steady_gait):
    return lift_gait(steady_gait, PROJECTION, SETTINGS)


@pytest.fixture(scope="module")
def one_step():
    """From rest over one short double support to rest."""
    last = load_walk(LAST)
    specs = walk_through((last,), last.rest, last.rest, 0.7, 0.6)
    gait = synthesize_gait(level_walker(PROJECTION), specs, level_settings(PROJECTION))
    assert gait.converged
    return lift_gait(gait, PROJECTION, dataclasses.replace(SETTINGS, standing=(1.2, 1.0)))


@pytest.fixture(params=["steady", "one_step"])
def lifted(request):
    return request.getfixturevalue(request.param)


def sole_poses(phase):
    """By sole (K,) placements of its frame."""
    data = ROBOT.model.createData()
    poses = {"right_sole": [], "left_sole": []}
    for q in phase.q:
        pin.forwardKinematics(ROBOT.model, data, q)
        for name, found in poses.items():
            contact = ROBOT.contacts[name]
            link = ROBOT.parts.links[contact.link]
            found.append(data.oMi[link.joint_id] * link.placement_joint_link * contact.placement_link_patch)
    return poses


def test_soles_keep_to_their_lanes_level_and_above_the_ground(lifted):
    for phase in lifted.phases:
        for name, poses in sole_poses(phase).items():
            side = HALF_WIDTH if name == "left_sole" else -HALF_WIDTH
            rpy = np.array([pin.rpy.matrixToRpy(pose.rotation) for pose in poses])
            places = np.array([pose.translation for pose in poses])
            np.testing.assert_allclose(places[:, 1], side, atol=1e-9)
            np.testing.assert_allclose(rpy[:, [0, 2]], 0.0, atol=1e-9)
            heel, toe = (places[:, 2] - x * np.sin(rpy[:, 1]) for x in (-0.12, 0.17))
            assert min(heel.min(), toe.min()) > -1e-3


def test_feet_that_bear_stand_still(lifted):
    for phase in lifted.phases:
        poses = sole_poses(phase)
        for bearing in phase.bearings:
            places = np.array([pose.translation for pose in poses[bearing.sole]])
            pitch = np.array([pin.rpy.matrixToRpy(pose.rotation)[1] for pose in poses[bearing.sole]])
            if bearing.part is Part.WHOLE:
                np.testing.assert_allclose(places - places[0], 0.0, atol=1e-9)
                np.testing.assert_allclose(pitch, 0.0, atol=1e-8)
            else:
                toe = places + 0.17 * np.column_stack([np.cos(pitch), 0.0 * pitch, -np.sin(pitch)])
                np.testing.assert_allclose(toe - toe[0], 0.0, atol=1e-6)
                assert pitch[-1] > 0.2  # the heel rises


def test_trunk_and_hips_move_in_the_plane_as_planned(lifted):
    """Only the base's y is free, and its x by as much as the dynamic filter asks for."""
    for phase in lifted.phases:
        np.testing.assert_allclose(phase.q[:, 2:7], phase.sagittal.q[:, 2:7], atol=1e-12)
        assert np.abs(phase.q[:, 0] - phase.sagittal.q[:, 0]).max() < 0.02
        for joint in ("hip_pitch", "knee", "ankle_pitch"):
            for side in "lr":
                at = ROBOT.index_q(f"{side}_{joint}")
                assert np.abs(phase.q[:, at] - phase.sagittal.q[:, at]).max() < math.radians(6.0)


def test_positions_velocities_and_accelerations_belong_together(lifted):
    for phase in lifted.phases:
        h = np.diff(phase.t)[:, None]
        moved = np.array([pin.difference(ROBOT.model, a, b) for a, b in zip(phase.q[:-1], phase.q[1:], strict=True)])
        of_position = np.abs(moved / h - 0.5 * (phase.v[:-1] + phase.v[1:]))
        of_velocity = np.abs(np.diff(phase.v, axis=0) / h - 0.5 * (phase.a[:-1] + phase.a[1:]))
        # Trapezoids on samples 10 ms apart: what is left is h² / 12 times second derivatives, which feet have most of
        # as they leave and land.
        assert of_position.max() < 0.2
        assert of_position.mean() < 2e-3
        assert of_velocity.max() < 0.15 * np.abs(phase.a).max() + 1e-9
        assert of_velocity.mean() < 0.3


def test_phases_join(lifted):
    for first, second in zip(lifted.phases[:-1], lifted.phases[1:], strict=True):
        assert first.t[-1] == pytest.approx(second.t[0], abs=1e-12)
        np.testing.assert_allclose(first.q[-1], second.q[0], atol=1e-6)
        np.testing.assert_allclose(first.v[-1], second.v[0], atol=1e-5)


def test_two_steady_steps_end_as_they_begin_two_steps_ahead(steady):
    first, last = steady.phases[0], steady.phases[-1]
    ahead = last.q[-1] - first.q[0]
    assert ahead[0] == pytest.approx(0.8, abs=1e-6)
    np.testing.assert_allclose(ahead[1:], 0.0, atol=1e-6)
    np.testing.assert_allclose(last.v[-1], first.v[0], atol=1e-5)


def zero_moment_points(phase):
    """(K, 2) from the wrench that inverse dynamics asks for at the base, not from momenta."""
    data, points = ROBOT.model.createData(), []
    for q, v, a in zip(phase.q, phase.v, phase.a, strict=True):
        tau = pin.rnea(ROBOT.model, data, q, v, a)
        wrench = ROBOT.placement_base(q).act(pin.Force(np.array(tau[:6])))
        points.append([-wrench.angular[1] / wrench.linear[2], wrench.angular[0] / wrench.linear[2]])
    return np.array(points)


def test_the_zero_moment_point_is_where_it_is_said_to_be_and_inside_of_what_bears(lifted):
    for phase in lifted.phases:
        points = zero_moment_points(phase)
        np.testing.assert_allclose(phase.zmp, points, atol=1e-9)
        assert np.abs(points - phase.zmp_reference).max() < 4e-3
        if len(phase.bearings) == 1:
            pose = sole_poses(phase)[phase.bearings[0].sole][0].translation
            x, y = (points - pose[:2]).T
            inside = np.minimum(np.minimum(x + 0.12, 0.17 - x), 0.06 + 0.03 * (x + 0.12) / 0.29 - np.abs(y))
            assert inside.min() > 0.03
            assert phase.margin.min() == pytest.approx(inside.min(), abs=2e-3)
    assert lifted.margin > 0.02


def test_the_dynamic_filter_shrinks_the_error_pass_by_pass(steady):
    errors = steady.filter_errors
    assert errors[0] > 5e-3
    assert errors[2] < 0.2 * errors[0]
    assert errors[-1] < 1e-3


def test_forces_carry_the_robot_within_friction(lifted):
    data = ROBOT.model.createData()
    for phase in lifted.phases:
        force, moment = phase.forces.sum(axis=1), np.cross(phase.places, phase.forces).sum(axis=1)
        for i, (q, v, a) in enumerate(zip(phase.q, phase.v, phase.a, strict=True)):
            rate = pin.computeCentroidalMomentumTimeVariation(ROBOT.model, data, q, v, a)
            needed = rate.linear + np.array([0.0, 0.0, 9.81 * MASS])
            np.testing.assert_allclose(force[i], needed, atol=1e-4)
            np.testing.assert_allclose(moment[i], rate.angular + np.cross(data.com[0], needed), atol=1e-4)
        assert phase.forces[..., 2].min() > -1e-6
        assert (np.hypot(phase.forces[..., 0], phase.forces[..., 1]) <= 0.6 * phase.forces[..., 2] + 1e-6).all()


def test_torques_and_forces_give_the_accelerations(lifted):
    """Forward dynamics, which knows nothing of how torques were found."""
    data = ROBOT.model.createData()
    for phase in lifted.phases:
        names = [bearing.sole for bearing in phase.bearings for _ in range(4 if bearing.part is Part.WHOLE else 2)]
        joints = [ROBOT.parts.links[ROBOT.contacts[name].link].joint_id for name in names]
        for i in range(0, len(phase.t), 5):
            q, v = phase.q[i], phase.v[i]
            pin.forwardKinematics(ROBOT.model, data, q)
            outer = [pin.Force.Zero() for _ in range(ROBOT.model.njoints)]
            for joint, place, force in zip(joints, phase.places[i], phase.forces[i], strict=True):
                outer[joint] += data.oMi[joint].actInv(pin.Force(force, np.cross(place, force)))
            np.testing.assert_allclose(phase.torques[i][:6], 0.0, atol=1e-6)
            acceleration = pin.aba(ROBOT.model, data, q, v, phase.torques[i], outer)
            np.testing.assert_allclose(acceleration, phase.a[i], atol=1e-4)


def test_joints_stay_within_ranges_and_torques_within_efforts(lifted):
    limits = ROBOT.limits
    for phase in lifted.phases:
        assert (phase.q[:, 7:] >= limits.lower[7:]).all()
        assert (phase.q[:, 7:] <= limits.upper[7:]).all()
        assert (np.abs(phase.torques[:, 6:]) <= limits.effort[6:]).all()


def test_a_walk_from_rest_begins_and_ends_standing_straight(one_step):
    first, last = one_step.phases[0], one_step.phases[-1]
    assert first.kind == last.kind == "standing"
    for phase, i in ((first, 0), (last, -1)):
        centre = pin.centerOfMass(ROBOT.model, ROBOT.model.createData(), phase.q[i])
        np.testing.assert_allclose(phase.v[i], 0.0, atol=1e-9)
        assert centre[1] == pytest.approx(0.0, abs=1e-9)
        np.testing.assert_allclose(phase.zmp[i], centre[:2], atol=2e-3)


def test_the_trajectory_says_the_same_as_the_lifted_gait(one_step):
    trajectory = whole_trajectory(one_step)
    assert trajectory.kinds == ("standing", "start", "double_support", "stop", "standing")
    assert trajectory.feet == ("right_sole", "left_sole")
    assert len(trajectory.joint_names) == 15
    np.testing.assert_allclose(
        trajectory.total_normal, np.concatenate([phase.forces[..., 2].sum(axis=1) for phase in one_step.phases])
    )
    double = one_step.phases[2]
    rows = trajectory.phase == 2
    np.testing.assert_allclose(trajectory.normal[rows][:, 0, 0], 0.0)  # the rear heel is up
    assert trajectory.normal[rows][:, 0, 1].max() > 100.0
    np.testing.assert_allclose(trajectory.centre_of_pressure[rows], double.zmp[:, 0], atol=1e-6)
    assert [(c.foot, c.part) for c in trajectory.contacts] == [
        ("right_sole", "sole"),
        ("left_sole", "sole"),
        ("right_sole", "toe"),
        ("left_sole", "sole"),
        ("right_sole", "sole"),
    ]
    assert trajectory.next_offset[0] == pytest.approx(0.25, abs=0.03)
    quarter = trajectory.at([2.05])
    np.testing.assert_allclose(quarter.base[0, 1], 0.85, atol=0.03)


def test_an_inset_narrows_the_sway(steady_gait, steady):
    wide = lift_gait(steady_gait, PROJECTION, dataclasses.replace(SETTINGS, inset=0.0))
    sway, wide_sway = (np.ptp(np.concatenate([phase.q[:, 1] for phase in one.phases])) for one in (steady, wide))
    assert wide_sway == pytest.approx(sway * 0.11 / 0.09, rel=0.05)


def test_the_other_leg_may_bear_first(steady_gait, steady):
    """The centre of mass sways to the other side; BIP2000's trunk isn't symmetric, its joints aren't exchanged."""
    other = lift_gait(steady_gait, PROJECTION, dataclasses.replace(SETTINGS, right_first=False))
    data = ROBOT.model.createData()
    for one, two in zip(steady.phases, other.phases, strict=True):
        assert [bearing.sole for bearing in two.bearings] != [bearing.sole for bearing in one.bearings]
        for q, p in zip(one.q, two.q, strict=True):
            sway = [pin.centerOfMass(ROBOT.model, data, posture)[1] for posture in (q, p)]
            assert sway[0] == pytest.approx(-sway[1], abs=2e-3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"inset": math.nan}, "inset"),
        ({"passes": -1}, "passes"),
        ({"friction": 0.0}, "friction"),
    ],
)
def test_bad_settings_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        LiftSettings(**changes)


def test_what_cannot_be_lifted_is_refused(steady_gait):
    with pytest.raises(InputError, match="period"):
        lift_gait(steady_gait, PROJECTION, LiftSettings(period=0.0))
    with pytest.raises(InputError, match=r"is \d+\.\d cm inside the support, but .* friction of 0\.01"):
        lift_gait(steady_gait, PROJECTION, dataclasses.replace(SETTINGS, friction=0.01, passes=0))
    with pytest.raises(InputError, match=r"no forces of the ground .* is \d+\.\d cm outside the support"):
        lift_gait(steady_gait, PROJECTION, dataclasses.replace(SETTINGS, inset=-0.12, passes=0))
    with pytest.raises(InputError, match="soles in place"):
        lift_gait(steady_gait, PROJECTION, dataclasses.replace(SETTINGS, inset=-0.9))
    half = dataclasses.replace(
        steady_gait,
        plan=dataclasses.replace(steady_gait.plan, phases=steady_gait.plan.phases[:2]),
        phases=steady_gait.phases[:2],
    )
    with pytest.raises(InputError, match="even number"):
        lift_gait(half, PROJECTION, SETTINGS)
    with pytest.raises(InputError, match="steady"):
        level_walk(PROJECTION, 0)


def test_a_gait_that_leaves_its_loop_open_is_refused(steady_gait):
    """Its feet would slide by the gap: the third phase, a double support, is told to be 20 mm open."""
    third = steady_gait.phases[2]
    (point,) = third.problem.model.point_closures
    open_by = third.problem.model.replace(point_closures=(dataclasses.replace(point, target=point.target + 0.02),))
    problem = third.problem.replace(model=open_by)
    contacts, limits = find_violations(
        problem, third.t, third.q, third.v, third.u, third.forces, SynthesisOptions().tolerances
    )
    opened = dataclasses.replace(third, violations=(*contacts, *limits), closure_gap=closure_gap(open_by, third.q))
    phases = (*steady_gait.phases[:2], opened, steady_gait.phases[3])
    with pytest.raises(InputError, match=r"phase 3, double_support: leaves its loop open by (19|20)\.\d mm"):
        lift_gait(dataclasses.replace(steady_gait, phases=phases), PROJECTION, SETTINGS)


def test_reserves_that_leave_no_range_are_refused():
    knee = dataclasses.replace(PROJECTION.bip.joints["knee"], lower=0.0, upper=0.3)
    bip = dataclasses.replace(PROJECTION.bip, joints={**PROJECTION.bip.joints, "knee": knee})
    with pytest.raises(InputError, match="knee"):
        with_reserves(dataclasses.replace(PROJECTION, bip=bip))


def test_the_load_goes_over_as_in_the_sagittal_gait(steady, one_step):
    for phase in steady.phases:
        if len(phase.bearings) == 2:
            loads = phase.forces[..., 2]
            share = loads[:, 2:].sum(axis=1) / loads.sum(axis=1)  # the rear toe's two corners come first
            assert np.abs(share - phase.sagittal.transferred).max() < 0.06
            assert share[0] == pytest.approx(phase.sagittal.transferred[0], abs=0.01)
    loads = one_step.phases[0].forces[..., 2]
    assert loads[-1, 4:].sum() < 0.02 * loads[-1].sum()  # nothing is left on the foot that is about to swing
