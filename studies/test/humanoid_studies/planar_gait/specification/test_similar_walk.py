# SPDX-License-Identifier: Apache-2.0
"""Walks carried over to robots of other sizes: the laws of similarity, and robots that are copies of one another."""

import dataclasses
import math

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.lift.level_walk import (
    LAST,
    MADE_FOR,
    MASS,
    START,
    STEADY,
    level_settings,
    level_step,
    level_walker,
    with_reserves,
)
from humanoid_studies.planar_gait.models.foot_triangle import FootTriangle
from humanoid_studies.planar_gait.models.sagittal_projection import project_to_sagittal_plane
from humanoid_studies.planar_gait.solvers.synthesize_gait import synthesize_gait
from humanoid_studies.planar_gait.specification.phase_spec import cyclic_walk
from humanoid_studies.planar_gait.specification.seven_link import double_support_end, double_support_start, rest
from humanoid_studies.planar_gait.specification.similar_walk import (
    LegSize,
    centre_from_hips,
    legs_of,
    lowered_walk,
    similar_walk,
)
from humanoid_studies.planar_gait.specification.step_data import load_walk

BIP2000 = project_to_sagittal_plane(load_robot("bip"))


def copy_of(projection, length, mass):
    """The robot, all of it longer and heavier by factors; the joints' ranges stay, their rates go with time."""
    inertia = mass * length**2
    bip = projection.bip
    segments = {
        name: dataclasses.replace(
            segment,
            length=length * segment.length,
            mass=mass * segment.mass,
            centre=length * segment.centre,
            inertia=inertia * segment.inertia,
        )
        for name, segment in bip.segments.items()
    }
    foot = FootTriangle(*(length * getattr(bip.foot, name) for name in ("ankle_toe", "length", "ankle_height")))
    joints = {
        name: dataclasses.replace(
            joint,
            rate=joint.rate / math.sqrt(length),
            damping=inertia / math.sqrt(length) * joint.damping,
            rotor=inertia * joint.rotor,
        )
        for name, joint in bip.joints.items()
    }
    return dataclasses.replace(projection, bip=dataclasses.replace(bip, segments=segments, foot=foot, joints=joints))


def test_the_walk_is_made_for_bip2000():
    size = legs_of(BIP2000.bip)
    assert size.leg == pytest.approx(MADE_FOR.leg, rel=1e-12)
    assert BIP2000.bip.mass == pytest.approx(MASS, rel=1e-12)
    assert size.ankle == pytest.approx(MADE_FOR.ankle, rel=1e-12)
    for name in (START, STEADY, LAST):
        walk = load_walk(name)
        centre = centre_from_hips(BIP2000.bip, walk.step.initial_trunk_angle).real
        assert centre == pytest.approx(MADE_FOR.centre, abs=1e-6)
        same = level_step(name, with_reserves(BIP2000))
        assert same.step.initial_hip == pytest.approx(walk.step.initial_hip, abs=1e-6)
        assert same.rest.hip_height == pytest.approx(walk.rest.hip_height, abs=1e-6)


@pytest.mark.parametrize("name", ["bip", "hrp2"])
def test_centre_of_mass_is_the_whole_robots(name):
    projection = project_to_sagittal_plane(load_robot(name))
    model = projection.robot.model
    centre = pin.centerOfMass(model, model.createData(), projection.reference) - projection.hip_reference
    assert centre_from_hips(projection.bip) == pytest.approx(complex(centre[0], centre[2]), abs=1e-9)


def test_same_size_same_walk():
    walk = load_walk("bip2000_first")
    same = similar_walk(walk, MADE_FOR, MADE_FOR)
    for made, was in ((same, walk), (same.step, walk.step), (same.rest, walk.rest)):
        for field in dataclasses.fields(was):
            if not dataclasses.is_dataclass(getattr(was, field.name)):
                assert getattr(made, field.name) == pytest.approx(getattr(was, field.name), rel=1e-12)


def test_froude_number_and_ankle_stay():
    walk, size = load_walk("bip_cyclic"), LegSize(0.6, -0.14 + 0.105j)
    small = similar_walk(walk, MADE_FOR, size)
    ratio = size.leg / MADE_FOR.leg
    assert small.mean_speed**2 / size.leg == pytest.approx(walk.mean_speed**2 / MADE_FOR.leg)
    assert small.step.step_length / size.leg == pytest.approx(walk.step.step_length / MADE_FOR.leg)
    for end in ("initial_hip", "final_hip"):
        place, was = getattr(small.step, end) - size.ankle, getattr(walk.step, end) - MADE_FOR.ankle
        assert place / size.leg == pytest.approx(was / MADE_FOR.leg)
    assert (small.rest.hip_height - 0.105) / 0.6 == pytest.approx((walk.rest.hip_height - 0.083) / 0.82)
    assert small.step.final_rear_foot_rate * small.double_support == pytest.approx(
        walk.step.final_rear_foot_rate * walk.double_support
    )
    for name in ("initial_trunk_angle", "final_rear_foot_angle"):
        assert getattr(small.step, name) == getattr(walk.step, name)
    assert small.single_support == pytest.approx(math.sqrt(ratio) * walk.single_support)


def test_shorter_strides_take_as_long_and_keep_all_heights():
    walk, size = load_walk(STEADY), LegSize(0.6, -0.14 + 0.105j)
    whole, short = (similar_walk(walk, MADE_FOR, dataclasses.replace(size, centre=0.6 / 0.82 * MADE_FOR.centre), stride)
                    for stride in (1.0, 0.7))
    assert short.mean_speed == pytest.approx(0.7 * whole.mean_speed)
    assert short.duration == pytest.approx(whole.duration)
    for end in ("initial_hip", "final_hip"):
        for ankle in (0.0, 1.0):  # from either foot
            one, other = (getattr(w.step, end) - size.ankle - ankle * w.step.step_length for w in (whole, short))
            assert other == pytest.approx(complex(0.7 * one.real, one.imag))
    for speed in ("initial_hip_velocity", "final_hip_velocity"):
        one, other = (getattr(w.step, speed) for w in (whole, short))
        assert other == pytest.approx(complex(0.7 * one.real, one.imag))


def test_mass_further_ahead_moves_the_hips_back_as_far_as_legs_reach():
    walk = load_walk(STEADY)
    heavy = dataclasses.replace(MADE_FOR, centre=MADE_FOR.centre + 0.04)
    places = {stride: similar_walk(walk, MADE_FOR, heavy, stride).step.initial_hip.real for stride in (1.0, 0.9, 0.75)}
    # The whole stride has no room; that of nine tenths a tenth of the way from the hips to the front ankle.
    assert places[1.0] == pytest.approx(walk.step.initial_hip.real)
    for stride, back in ((0.9, 0.1 * (0.4 - 0.17 + 0.0083)), (0.75, 0.04)):
        straight = similar_walk(walk, MADE_FOR, MADE_FOR, stride).step.initial_hip.real
        assert straight - places[stride] == pytest.approx(back)
    light = dataclasses.replace(MADE_FOR, centre=MADE_FOR.centre - 0.04)
    assert similar_walk(walk, MADE_FOR, light, 0.75).step.initial_hip.real > straight


def least_flexion(bip, walk):
    """Of both knees at the ends of double support and at rest [rad]."""
    q = [double_support_start(bip, walk.step).q, double_support_end(bip, walk.step).q]
    knees = [np.abs([p[1] - p[2], p[4] - p[3]]) for p in q]
    standing = rest(bip, walk.rest).q
    return min(float(np.min(knees)), abs(float(standing[0] - standing[1])))


def test_hips_are_lowered_until_knees_bend_as_much_as_they_have_to():
    walk, bip = load_walk(STEADY), BIP2000.bip
    assert lowered_walk(walk, bip) == walk
    knee = dataclasses.replace(bip.joints["knee"], lower=0.8)
    bent = dataclasses.replace(bip, joints={**bip.joints, "knee": knee})
    low = lowered_walk(walk, bent)
    assert least_flexion(bip, walk) < 0.7
    assert least_flexion(bip, low) == pytest.approx(0.8, abs=1e-9)
    drop = walk.step.initial_hip - low.step.initial_hip
    assert drop.real == 0.0
    assert drop.imag > 0.01
    assert walk.step.final_hip - low.step.final_hip == pytest.approx(drop)
    assert walk.rest.hip_height - low.rest.hip_height == pytest.approx(drop.imag)


def test_feet_that_no_height_of_the_hips_reaches_are_refused():
    walk = load_walk(STEADY)
    far = dataclasses.replace(walk, step=walk.step.replace(step_length=1.2))
    with pytest.raises(InputError, match=r"step.initial_hip: is 1\.0.. m away"):
        lowered_walk(far, BIP2000.bip)


@pytest.mark.parametrize("stride", [0.0, -0.5, 1.1, math.nan])
def test_bad_strides_are_refused(stride):
    with pytest.raises(InputError, match="stride"):
        similar_walk(load_walk(STEADY), MADE_FOR, MADE_FOR, stride)


def test_a_copy_of_the_robot_walks_a_copy_of_the_walk():
    """Effort is counted in units of the robot's weight and legs; penalties and limits have to go along."""
    length, mass = 0.7, 0.4
    gaits = [
        synthesize_gait(level_walker(robot), cyclic_walk(level_step(STEADY, robot), 1), level_settings(robot))
        for robot in (with_reserves(BIP2000), copy_of(with_reserves(BIP2000), length, mass))
    ]
    assert all(gait.converged for gait in gaits)
    for one, other in zip(gaits[0].phases, gaits[1].phases, strict=True):
        assert other.duration == pytest.approx(math.sqrt(length) * one.duration)
        assert other.cost == pytest.approx(math.sqrt(length) * one.cost, rel=1e-5)
        assert other.friction_required == pytest.approx(one.friction_required, rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"leg": 0.0}, "size.leg"),
        ({"leg": math.nan}, "size.leg"),
        ({"ankle": complex(math.inf, 0.0)}, "size.ankle"),
        ({"centre": math.nan}, "size.centre"),
    ],
)
def test_bad_sizes_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        dataclasses.replace(MADE_FOR, **changes)
