# SPDX-License-Identifier: Apache-2.0
"""A motion that walks has no fault, and each thing that is broken in it is told with its size, place and time."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import Contact, Surface, load_robot
from humanoid_model.ground_profile import LEVEL, GroundProfile
from humanoid_model.motion_verdict import judge_motion
from humanoid_model.violation import ViolationKind
from humanoid_model.whole_body_trajectory import ContactSpan, PlannedForce, WholeBodyTrajectory

pytestmark = pytest.mark.feature("003-F106")

FILE = Path(__file__).parents[1] / "fixtures/rabbit_step.npz"
BASE = 3
"""The joint that carries the base: along x, along z, about y."""
MIDDLE = 60
"""A sample in single support of the rear leg's swing."""


@pytest.fixture(scope="module")
def motion() -> WholeBodyTrajectory:
    """RABBIT's best step at 0.5 m/s, as the planar engine of the studies found it."""
    robot = load_robot("rabbit", geometry=False)
    floor = Surface("ground", "ground", pin.SE3.Identity())
    with np.load(FILE) as file:
        names = [str(name) for name in file["locations"]]
        forces: list[list[PlannedForce]] = [[] for _ in file["times"]]
        for k, location, *values in file["forces"]:
            place, normal, force = np.split(np.array(values[:9]), 3)
            forces[int(k)].append(
                PlannedForce(names[int(location)], "ground", place, normal, force, values[9], bool(values[10]))
            )
        contacts = [
            ContactSpan(Contact(robot.contacts[names[int(own)]], floor, x, y, theta), start, end, "tip")
            for own, start, end, x, y, theta in file["contacts"]
        ]
        rows = [file[name] for name in ("times", "q", "v", "a")]
        return WholeBodyTrajectory(robot, *rows, contacts, tau=file["tau"], forces=forces, base=BASE)


def changed(motion: WholeBodyTrajectory, **changes: Any) -> WholeBodyTrajectory:
    """Return the motion with other arrays, forces or contacts."""
    given = {name: getattr(motion, name) for name in ("times", "q", "v", "a", "contacts", "tau", "forces")}
    given |= changes
    first = [given.pop(name) for name in ("times", "q", "v", "a", "contacts")]
    return WholeBodyTrajectory(motion.robot, *first, base=motion.base, **given)


def shifted(motion: WholeBodyTrajectory, field: str, row: int | slice, name: str, by: float) -> WholeBodyTrajectory:
    """Return the motion with one joint's coordinate off by so much."""
    values = getattr(motion, field).copy()
    values[row, motion.robot.index_q(name)] += by
    return changed(motion, **{field: values})


def pushed(
    motion: WholeBodyTrajectory, change: Callable[[PlannedForce], PlannedForce], rows: Sequence[int] = (MIDDLE,)
) -> WholeBodyTrajectory:
    """Return the motion with other forces at some samples."""
    forces = [
        tuple(change(force) for force in sample) if k in rows else sample for k, sample in enumerate(motion.forces)
    ]
    return changed(motion, forces=forces)


def worst(motion: WholeBodyTrajectory, kind: ViolationKind, friction: float = 0.6) -> Any:
    """Return the worst violation of a kind."""
    found = judge_motion(motion, LEVEL, friction)
    assert [item.severity for item in found] == sorted((item.severity for item in found), reverse=True)
    return next(item for item in found if item.kind is kind)


def test_a_step_that_walks_has_no_fault(motion: WholeBodyTrajectory) -> None:
    assert judge_motion(motion, LEVEL, 0.6) == ()


@pytest.mark.parametrize("backwards", [False, True])
def test_a_joint_beyond_its_range_is_told_with_place_and_time(motion: WholeBodyTrajectory, backwards: bool) -> None:
    low, high = (
        bound[motion.robot.index_q("front_knee")] for bound in (motion.robot.limits.lower, motion.robot.limits.upper)
    )
    end = low if backwards else high
    here = motion.q[MIDDLE, motion.robot.index_q("front_knee")]
    value = end + (-0.3 if backwards else 0.3)
    item = worst(shifted(motion, "q", MIDDLE, "front_knee", value - here), ViolationKind.RANGE)
    assert item.what == f"front_knee: {'least' if backwards else 'greatest'} position"
    assert (item.value, item.limit, item.time) == pytest.approx((value, end, motion.times[MIDDLE]))
    assert item.excess == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("field", "kind", "most"), [("v", ViolationKind.RATE, 12.0), ("tau", ViolationKind.BOUND, 150.0)]
)
def test_speeds_and_efforts_are_held_against_the_robots_limits(
    motion: WholeBodyTrajectory, field: str, kind: ViolationKind, most: float
) -> None:
    by = -1.05 * most - getattr(motion, field)[MIDDLE, motion.robot.index_v("rear_hip")]
    item = worst(shifted(motion, field, MIDDLE, "rear_hip", by), kind)
    assert item.what.startswith("rear_hip: ")
    assert (item.value, item.limit) == pytest.approx((1.05 * most, most))
    near = shifted(motion, field, MIDDLE, "rear_hip", by + 0.055 * most)
    assert all(one.kind is not kind for one in judge_motion(near, LEVEL, 0.6))


def test_what_a_player_refuses_is_a_jump(motion: WholeBodyTrajectory) -> None:
    (twice,) = np.flatnonzero(np.diff(motion.times) == 0.0)
    for by, found in ((0.5e-6, False), (2e-6, True)):
        velocities = motion.v.copy()
        velocities[twice + 1 :, motion.robot.index_v("rear_knee")] += by
        kinds = [item.kind for item in judge_motion(changed(motion, v=velocities), LEVEL, 0.6)]
        assert (ViolationKind.JUMP in kinds) is found


@pytest.mark.parametrize(("field", "what"), [("v", "velocity that isn't"), ("a", "change of velocity that no")])
def test_derivatives_that_are_none_are_told(motion: WholeBodyTrajectory, field: str, what: str) -> None:
    values = getattr(motion, field) * 1.3
    item = worst(changed(motion, **{field: values}), ViolationKind.JUMP)
    assert item.what.startswith(what)


def test_soles_in_the_ground_above_it_and_sliding(motion: WholeBodyTrajectory) -> None:
    base = motion.robot.index_q("base_z")
    for by, kind, what in (
        (-3e-3, ViolationKind.CLEARANCE, "height of the held front_tip"),
        (3e-3, ViolationKind.CLOSURE, "height of tip of front_tip, which bears,"),
    ):
        postures = motion.q.copy()
        postures[:, base] += by
        found = [item for item in judge_motion(changed(motion, q=postures), LEVEL, 0.6) if item.what == what]
        assert [item.kind for item in found] == [kind]
        assert found[0].excess == pytest.approx(3e-3, abs=1e-4)
    postures = motion.q.copy()
    postures[:, motion.robot.index_q("base_x")] += 5e-3 * motion.times / motion.times[-1]
    item = worst(changed(motion, q=postures), ViolationKind.CLOSURE)
    assert item.what.startswith("slide of tip of")


def test_a_swinging_foot_that_skims_the_ground_stumbles(motion: WholeBodyTrajectory) -> None:
    """Of a bump under the foot's way all but 0.2 mm is left; at the ends of the swing none has to be."""
    (span,) = [span for span in motion.contacts if span.location == "rear_tip"]
    own = np.flatnonzero(motion.times > span.end)
    tip = np.array([0.0, 0.0, -0.4])
    tips = np.array([motion.robot.link_placements(motion.q[k])["rear_shank"].act(tip) for k in own])
    share = (motion.times[own] - motion.times[own[0]]) / (motion.times[-1] - motion.times[own[0]])
    alone = np.sort(np.abs(tips[:, None, 0] - tips[None, :, 0]), axis=1)[:, 1] > 4e-3
    way = np.flatnonzero((share > 0.15) & (share < 0.85) & alone)
    lowest = way[int(tips[way, 2].argmin())]
    x, height = tips[lowest, 0], tips[lowest, 2] - 2e-4
    bump = GroundProfile(np.array([x - 2e-3, x + 2e-3]), np.array([0.0, height, 0.0]))
    (item,) = [item for item in judge_motion(motion, bump, 0.6) if "swinging rear_tip" in item.what]
    assert (item.value, item.limit) == pytest.approx((2e-4, 5e-4), abs=1e-5)
    assert item.worst == motion.times[own[lowest]]


def test_forces_that_pull_slip_or_come_from_the_air(motion: WholeBodyTrajectory) -> None:
    def lifted(force: PlannedForce) -> PlannedForce:
        return dataclasses.replace(force, place=force.place + np.array([0.0, 0.0, 0.02]))

    pull = pushed(motion, lambda force: dataclasses.replace(force, force=-force.force))
    (force,) = motion.forces[MIDDLE]
    parts = tuple(dataclasses.replace(force, force=share * force.force) for share in (2.0, -1.0))
    torn = changed(motion, forces=[parts if k == MIDDLE else sample for k, sample in enumerate(motion.forces)])
    for broken in (pull, torn):
        assert worst(broken, ViolationKind.ROOT_FOOT_PULLS).value == pytest.approx(-motion.forces[MIDDLE][0].force[2])
    item = worst(pull, ViolationKind.ROOT_FOOT_PULLS)
    assert item.what == "front_tip: normal force"
    assert item.value == pytest.approx(-motion.forces[MIDDLE][0].force[2])
    assert item.worst == motion.times[MIDDLE]
    ratio = max(
        abs(force.force[0]) / force.force[2] for sample in motion.forces for force in sample if force.force[2] > 5
    )
    assert all(one.kind is not ViolationKind.FRICTION for one in judge_motion(motion, LEVEL, 1.01 * ratio))
    assert worst(motion, ViolationKind.FRICTION, 0.95 * ratio).what.endswith(f"friction {0.95 * ratio:g}")
    item = worst(pushed(motion, lifted), ViolationKind.CLOSURE)
    assert item.what == "front_tip: height of a force above the ground"
    assert item.value == pytest.approx(0.02, abs=1e-3)


def test_a_force_that_is_not_planned_leaves_the_base_without_its_cause(motion: WholeBodyTrajectory) -> None:
    missing = [sample if k != MIDDLE else () for k, sample in enumerate(motion.forces)]
    item = worst(changed(motion, forces=missing), ViolationKind.DYNAMICS)
    assert item.what == "base_z: effort that nothing gives"
    assert item.value == pytest.approx(sum(force.force[2] for force in motion.forces[MIDDLE]), rel=1e-6)


def test_a_step_down_is_no_hole_under_the_foot_at_its_edge(motion: WholeBodyTrajectory) -> None:
    """A sole that ends where a stair begins stands on either, whatever rounding makes of its place."""
    x = float(motion.forces[MIDDLE][0].place[0])
    for edge in (x - 1e-9, x + 1e-9):
        for heights in ([0.0, -0.2], [-0.2, 0.0], [0.0, 0.2], [0.2, 0.0]):
            ground = GroundProfile(np.array([edge]), np.array(heights))
            assert [i for i in judge_motion(motion, ground, 0.6) if "front_tip" in i.what and i.unit == "m"] == []
