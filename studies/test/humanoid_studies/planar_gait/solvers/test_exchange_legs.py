# SPDX-License-Identifier: Apache-2.0
"""Gaits of robots whose legs differ: masses in each other's parts, the conditions on their feet, what isn't solved."""

from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from fixtures.gait_models import BIP, CYCLIC, RABBIT, RABBIT_WALK

from humanoid_model import load_robot
from humanoid_model.progress import Progress
from humanoid_studies.planar_gait.models.sagittal_projection import project_to_sagittal_plane
from humanoid_studies.planar_gait.optimal_control.penalties import Penalties
from humanoid_studies.planar_gait.solvers.direct import DirectOptions
from humanoid_studies.planar_gait.solvers.exchange_legs import exchange_legs
from humanoid_studies.planar_gait.solvers.synthesize import SynthesisOptions
from humanoid_studies.planar_gait.solvers.synthesize_gait import (
    GaitSettings,
    GaitSolution,
    PhaseSettings,
    phase_problem,
    synthesize_gait,
)
from humanoid_studies.planar_gait.specification.gait_plan import plan_gait
from humanoid_studies.planar_gait.specification.phase_spec import cyclic_walk, walk_between_rests
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker

DIRECT = SynthesisOptions("direct")
SETTINGS = GaitSettings(synthesis=DIRECT)


@pytest.fixture(scope="module")
def gait() -> GaitSolution:
    return synthesize_gait(BipWalker(BIP, min_toe_force=6.0), cyclic_walk(CYCLIC), SETTINGS)


@pytest.fixture(scope="module")
def exchanged(gait: GaitSolution) -> GaitSolution:
    return exchange_legs(gait, DIRECT, cycles=2)


def test_legs_are_those_of_the_robot_projected_the_other_way_round() -> None:
    robot = load_robot("bip_planar")
    one, other = (
        project_to_sagittal_plane(robot, legs=legs).bip
        for legs in (("rear_leg", "front_leg"), ("front_leg", "rear_leg"))
    )
    for name, segment in one.with_legs_exchanged().segments.items():
        expected = other.segments[name]
        for field in ("mass", "centre", "inertia"):
            assert getattr(segment, field) == pytest.approx(getattr(expected, field), abs=1e-9), (name, field)
    twice = BIP.with_legs_exchanged().with_legs_exchanged()
    for name, segment in BIP.segments.items():
        assert twice.segments[name].centre == pytest.approx(segment.centre)
        assert twice.segments[name].inertia == pytest.approx(segment.inertia)


def test_rabbits_legs_are_alike_unless_they_are_told_apart() -> None:
    other = RABBIT.with_legs_exchanged()
    for name in ("rear_shank", "rear_thigh", "front_thigh", "front_shank"):
        assert getattr(other, name).centre == pytest.approx(getattr(RABBIT, name).centre)
        assert getattr(other, name).inertia == pytest.approx(getattr(RABBIT, name).inertia)
    heavy = dataclasses.replace(RABBIT, front_shank=RABBIT.front_shank.with_mass(5.0))
    turned = heavy.with_legs_exchanged()
    assert (turned.rear_shank.mass, turned.front_shank.mass) == (5.0, RABBIT.rear_shank.mass)
    # Hung at the knee both are the same pendulum: the rear one's axis begins at its tip.
    assert turned.rear_shank.central_inertia == pytest.approx(heavy.front_shank.central_inertia)
    assert turned.rear_shank.length - turned.rear_shank.centre.real == pytest.approx(heavy.front_shank.centre.real)


def test_the_problems_are_those_of_the_exchanged_walker() -> None:
    """Model and rows are the same as those of a gait planned for it, feet of two weights included."""
    feet = BIP.segments | {"front_foot": BIP.segments["front_foot"].with_mass(4.0)}
    walker = BipWalker(dataclasses.replace(BIP, segments=feet), 0.7, 6.0)
    held = PhaseSettings(penalties=Penalties(), min_root_force=20.0, root_friction=0.7)
    coarse = SynthesisOptions("direct", DirectOptions(intervals=3))
    settings = GaitSettings(held, held, 0.7, coarse)
    before = synthesize_gait(walker, cyclic_walk(CYCLIC), settings, progress=lambda _: True)
    found = exchange_legs(before, coarse, 2, lambda _: True)
    other = walker.with_legs_exchanged()
    changed = 0.0
    for planned, phase, old_phase in zip(
        plan_gait(other, cyclic_walk(CYCLIC)).phases, found.phases, before.phases, strict=True
    ):
        expected, problem = phase_problem(other, planned, settings), phase.problem
        np.testing.assert_allclose(problem.model.tree.inertia, expected.model.tree.inertia, atol=1e-12)
        np.testing.assert_allclose(problem.start.q, expected.start.q, atol=1e-12)
        rows = zip(problem.rows, expected.rows, old_phase.problem.rows, strict=True)
        for row, same, old in rows:
            assert row.name == same.name
            np.testing.assert_allclose(row.controls, same.controls, atol=1e-12)
            assert row.ground == pytest.approx(same.ground)
            assert row.constant == pytest.approx(same.constant, abs=1e-9)
            changed = max(changed, abs(row.constant - old.constant))
        for foot, same_foot in zip(problem.checked_feet, expected.checked_feet, strict=True):
            assert [row.constant for row in foot.normal] == pytest.approx([row.constant for row in same_foot.normal])
    assert changed > 1.0


def test_the_motion_is_optimal_for_the_other_legs(gait: GaitSolution, exchanged: GaitSolution) -> None:
    solved = synthesize_gait(gait.plan.walker.with_legs_exchanged(), cyclic_walk(CYCLIC), SETTINGS)
    assert exchanged.converged
    for phase, expected, before in zip(exchanged.phases, solved.phases, gait.phases, strict=True):
        assert phase.cost == pytest.approx(expected.cost, rel=1e-6)
        assert phase.cost != pytest.approx(before.cost, rel=1e-3)
        assert phase.duration == before.duration
        np.testing.assert_allclose(phase.q[-1], before.q[-1], atol=1e-9)


def test_only_what_is_walked_with_legs_exchanged_is_solved(gait: GaitSolution) -> None:
    told: list[int] = []

    def watch(progress: Progress) -> None:
        told.append(progress.part)

    once = exchange_legs(gait, DIRECT, progress=watch)
    assert once.phases[0] is gait.phases[0]
    assert once.phases[1] is not gait.phases[1]
    assert set(told) == {1}
    rabbit = synthesize_gait(RabbitWalker(RABBIT), cyclic_walk(RABBIT_WALK), GaitSettings(synthesis=DIRECT))
    assert exchange_legs(rabbit, DIRECT, 2).phases == rabbit.phases


def test_phases_that_repeat_are_solved_once(gait: GaitSolution) -> None:
    twice = synthesize_gait(gait.plan.walker, cyclic_walk(CYCLIC, 3), SETTINGS)
    found = exchange_legs(twice, DIRECT)
    assert twice.plan.legs_exchanged() == (False, True, True, False, False, True)
    assert found.phases[1] is found.phases[5] is not gait.phases[1]
    assert [found.phases[index] is twice.phases[index] for index in range(6)] == [True, False, False, True, True, False]


def test_a_cancelled_exchange_has_not_converged(gait: GaitSolution) -> None:
    found = exchange_legs(gait, DIRECT, progress=lambda _: True)
    assert not found.converged
    assert not exchange_legs(gait, dataclasses.replace(DIRECT, time_limit=1e-3)).converged


def test_legs_change_parts_where_single_support_begins() -> None:
    rests = walk_between_rests(CYCLIC, CYCLIC, 1)
    plan = plan_gait(BipWalker(BIP), rests)
    assert plan.legs_exchanged() == (False, False, True, True, False)
    assert plan_gait(BipWalker(BIP), cyclic_walk(CYCLIC)).legs_exchanged(3) == (False, True, True, False, False, True)


def test_exchanged_legs_weigh_what_pinocchios_do() -> None:
    """The planar BIP's mass matrix with its legs exchanged is Pinocchio's with theirs."""
    robot = load_robot("bip_planar")
    model = robot.model.copy()
    model.armature = np.zeros(model.nv)
    for first, second in zip(robot.limbs["rear_leg"], robot.limbs["front_leg"], strict=True):
        i, j = model.getJointId(first), model.getJointId(second)
        model.inertias[i], model.inertias[j] = pin.Inertia(model.inertias[j]), pin.Inertia(model.inertias[i])
    projection = project_to_sagittal_plane(robot)
    own = projection.bip.with_legs_exchanged().double_support(0.4)
    rng = np.random.default_rng(3)
    for _ in range(3):
        q = rng.uniform(0.8, 2.2, own.n)
        v = rng.normal(size=own.n)
        posture, velocity = projection.state(own, q, v, 0.0, False)
        data = model.createData()
        energy = pin.computeKineticEnergy(model, data, posture, velocity)
        assert 0.5 * v @ own.tree.mass_matrix(q) @ v == pytest.approx(energy, rel=1e-9)
