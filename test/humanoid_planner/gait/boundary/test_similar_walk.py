# SPDX-License-Identifier: Apache-2.0
"""Walks carried over to robots of other sizes: the laws of similarity, and robots that are copies of one another."""

import dataclasses
import math

import pytest

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_planner.gait.boundary.similar_walk import LegSize, legs_of, similar_walk
from humanoid_planner.gait.boundary.step_data import load_walk
from humanoid_planner.gait.lift.level_walk import (
    MADE_FOR,
    MASS,
    STEADY,
    level_settings,
    level_step,
    level_walker,
    with_reserves,
)
from humanoid_planner.gait.models.foot_triangle import FootTriangle
from humanoid_planner.gait.models.sagittal_projection import project_to_sagittal_plane
from humanoid_planner.gait.phases.phase_spec import cyclic_walk
from humanoid_planner.gait.phases.synthesize_gait import synthesize_gait

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
    for end in ("hip_start", "hip_end"):
        place, was = getattr(small.step, end) - size.ankle, getattr(walk.step, end) - MADE_FOR.ankle
        assert place / size.leg == pytest.approx(was / MADE_FOR.leg)
    assert (small.rest.hip_height - 0.105) / 0.6 == pytest.approx((walk.rest.hip_height - 0.083) / 0.82)
    assert small.step.rear_foot_rate * small.double_support == pytest.approx(
        walk.step.rear_foot_rate * walk.double_support
    )
    assert (small.step.trunk_start, small.step.rear_foot_turn) == (walk.step.trunk_start, walk.step.rear_foot_turn)
    assert small.single_support == pytest.approx(math.sqrt(ratio) * walk.single_support)


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
    ],
)
def test_bad_sizes_are_refused(changes, words):
    with pytest.raises(InputError, match=words):
        dataclasses.replace(MADE_FOR, **changes)
