# SPDX-License-Identifier: Apache-2.0
"""Walking patterns: multi-body zero-moment point, feet, continuity, and what can't be walked (F157)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from humanoid_control.walking import WalkingPattern, generate_walk, load_walking_pattern, plan_footsteps
from humanoid_model import Robot, load_robot
from humanoid_model.errors import InputError
from humanoid_sim.actuation.trajectory_player import read_joint_trajectory

DT = 5e-3


@pytest.fixture(scope="module")
def hrp2() -> Robot:
    return load_robot("hrp2", geometry=False)


@pytest.fixture(scope="module")
def walk(hrp2: Robot) -> WalkingPattern:
    return generate_walk(hrp2, plan_footsteps(hrp2, "half_sitting"), "half_sitting")


def configurations(robot: Robot, pattern: WalkingPattern, posture: str) -> np.ndarray:
    """Whole configurations, as somebody who only has the pattern puts them together."""
    rows = np.tile(robot.postures[posture], (len(pattern.times), 1))
    for i in range(len(rows)):
        rows[i] = robot.place_base(rows[i], pin.XYZQUATToSE3(pattern.base[i]))
    rows[:, [robot.index_q(name) for name in pattern.joint_names]] = pattern.positions
    return rows


def ground_wrench_zmp(robot: Robot, rows: np.ndarray) -> np.ndarray:
    """Zero-moment point from the base's six efforts in inverse dynamics; motion by finite differences."""
    model = robot.model
    data = model.createData()
    points = np.full((len(rows), 2), np.nan)
    for i in range(1, len(rows) - 1):
        ahead, behind = (pin.difference(model, rows[i], rows[j]) for j in (i + 1, i - 1))
        v, a = (ahead - behind) / (2.0 * DT), (ahead + behind) / DT**2
        base = pin.Force(pin.rnea(model, data, rows[i], v, a)[:6])
        pin.forwardKinematics(model, data, rows[i])
        force = data.oMi[1].act(base)  # about the world's origin
        points[i] = -force.angular[1] / force.linear[2], force.angular[0] / force.linear[2]
    return points


def test_the_ground_can_give_what_the_whole_body_needs(hrp2: Robot, walk: WalkingPattern) -> None:
    """By inverse dynamics of all bodies the point stays on its reference to 3 mm, 6 cm inside of the soles."""
    zmp = ground_wrench_zmp(hrp2, configurations(hrp2, walk, "half_sitting"))
    assert np.nanmax(np.abs(zmp - walk.zmp)) < 1e-3
    assert np.nanmax(np.abs(zmp - walk.zmp_reference)) < 3e-3
    assert walk.margin.min() > 0.06
    single = walk.support.sum(axis=1) == 1
    for i in np.flatnonzero(single)[::10]:
        x, y, _, _ = walk.sole_placements[i, int(np.argmax(walk.support[i]))]
        assert abs(zmp[i, 0] - x) < 0.11 - 0.06
        assert abs(zmp[i, 1] - y) < 0.065
    assert single.sum() * DT == pytest.approx(4.8, abs=0.06)


def test_the_dynamic_filter_is_what_brings_it_there(hrp2: Robot, walk: WalkingPattern) -> None:
    """Without it the zero-moment point is 3 cm off, with one pass a tenth as far in the mean."""
    plan = plan_footsteps(hrp2, "half_sitting")
    errors = [np.sqrt(((walk.zmp - walk.zmp_reference) ** 2).mean(axis=0))[0]]
    for passes in (1, 0):
        pattern = generate_walk(hrp2, plan, "half_sitting", passes=passes)
        errors.append(np.sqrt(((pattern.zmp - pattern.zmp_reference) ** 2).mean(axis=0))[0])
    assert errors[0] < 0.3 * errors[1]
    assert errors[1] < 0.15 * errors[2]
    assert errors[2] > 0.01


def test_feet_are_at_their_places(hrp2: Robot, walk: WalkingPattern) -> None:
    """Forward kinematics: standing soles rest on their footprints to 1 µm; swinging ones are 5 cm high half way."""
    model = hrp2.model
    data = model.createData()
    plan = plan_footsteps(hrp2, "half_sitting")
    rows = configurations(hrp2, walk, "half_sitting")
    highest = 0.0
    for phase in plan.phases:
        inside = np.flatnonzero((walk.times > phase.start + 1e-9) & (walk.times < phase.end - 1e-9))
        for i in inside[:: max(1, len(inside) // 8)]:
            pin.framesForwardKinematics(model, data, rows[i])
            for foot in phase.supports:
                contact = hrp2.contacts[foot.sole]
                frame = hrp2.parts.links[contact.link].frame_id
                sole = data.oMf[frame] * contact.placement_link_patch
                assert_allclose(sole.homogeneous, foot.placement.homogeneous, atol=1e-6)
            if phase.swing is not None:
                contact = hrp2.contacts[phase.swing[1].sole]
                sole = data.oMf[hrp2.parts.links[contact.link].frame_id] * contact.placement_link_patch
                assert sole.translation[2] > 0.0
                assert sole.rotation[2, 2] > 1.0 - 1e-12
                highest = max(highest, sole.translation[2])
    assert 0.045 < highest <= 0.05 + 1e-9


def test_the_trunk_stays_upright_and_at_its_height(hrp2: Robot, walk: WalkingPattern) -> None:
    """As in the thesis' patterns; the centre of mass bobs by what the legs do to it, and ends between the feet."""
    assert_allclose(walk.base[:, 2], hrp2.postures["half_sitting"][2], atol=1e-12)
    assert_allclose(walk.base[:, 3:6], 0.0, atol=1e-12)
    assert np.ptp(walk.centre_of_mass[:, 2]) < 0.006
    assert_allclose(walk.centre_of_mass[-1, :2], [0.00949 + 5 * 0.225, 0.0], atol=1e-5)
    speed = np.gradient(walk.centre_of_mass[:, 0], walk.times)
    assert 0.22 < speed.max() < 0.35  # the thesis: 0.3 m/s at most


def test_joints_move_continuously_from_rest_to_rest(walk: WalkingPattern) -> None:
    """Velocities have no jump, and accelerations stay below what a jump would make of them."""
    trajectory = walk.trajectory
    times = np.arange(0.0, walk.duration, 1e-3)
    samples = [trajectory.at(float(t)) for t in times]
    velocities = np.array([sample.velocities for sample in samples])
    steps = np.abs(np.diff(velocities, axis=0)).max()
    assert np.abs(velocities).max() > 1.0
    assert steps < 0.06
    assert_allclose(velocities[0], 0.0, atol=1e-9)
    assert_allclose(trajectory.at(walk.duration - 1e-9).velocities, 0.0, atol=1e-6)
    moved = np.ptp(walk.positions, axis=0) > 0.0
    assert all(("LEG" in name) == bool(moves) for name, moves in zip(walk.joint_names, moved, strict=True))


def test_a_pattern_goes_through_files(hrp2: Robot, walk: WalkingPattern, tmp_path: Path) -> None:
    """Saved and read it is the same; as a table of joints it plays the same motion."""
    walk.save(tmp_path / "walk.npz")
    read = load_walking_pattern(tmp_path / "walk.npz")
    for name, value in vars(walk).items():
        assert np.array_equal(getattr(read, name), value), name
    assert type(read.robot) is str
    walk.write_joints(tmp_path / "walk.csv")
    played = read_joint_trajectory(tmp_path / "walk.csv")
    trajectory = walk.trajectory
    for time in np.linspace(0.0, walk.duration, 50):
        one, other = trajectory.at(float(time)), played.at(float(time))
        assert_allclose(other.positions, one.positions, atol=1e-9)
        assert_allclose(other.velocities, one.velocities, atol=1e-4)
    (tmp_path / "no.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"no\.npz.*can't be read"):
        load_walking_pattern(tmp_path / "no.npz")
    np.savez(tmp_path / "other.npz", times=walk.times)
    with pytest.raises(InputError, match=r"holds times.*margin"):
        load_walking_pattern(tmp_path / "other.npz")


def test_bip_walks_on_an_arc() -> None:
    """Another robot, with other legs and feet, turning by 10 degrees at each step."""
    bip = load_robot("bip", geometry=False)
    plan = plan_footsteps(bip, "standing", steps=3, length=0.12, turn=math.radians(10.0))
    pattern = generate_walk(bip, plan, "standing")
    zmp = ground_wrench_zmp(bip, configurations(bip, pattern, "standing"))
    assert np.nanmax(np.abs(zmp - pattern.zmp)) < 2e-3
    assert pattern.margin.min() > 0.05
    heading = 2.0 * np.arctan2(pattern.base[-1, 5], pattern.base[-1, 6])
    assert heading == pytest.approx(math.radians(20.0))


@pytest.mark.parametrize(
    ("posture", "changes", "message"),
    [
        ("half_sitting", {"length": 0.4}, r"step 0: the legs can't reach: 'right_sole' stays \d\d\.\d mm short"),
        ("half_sitting", {"length": 0.3}, r"step 1: the legs can't reach: 'left_sole' stays \d\.\d mm short"),
        ("squat", {"width": 0.5, "length": 0.05}, r"step 2: .*'RLEG_JOINT1' is at -45\.8 degrees, 10\.8 degrees"),
        ("half_sitting", {"width": 0.1}, r"step 1: 'left_sole' is 0\.3 cm inside 'right_sole'"),
        ("half_sitting", {"step_time": 0.35}, r"step 1: the joint 'LLEG_JOINT2' moves at 6\.\d+ rad/s, faster than"),
    ],
)
def test_what_cannot_be_walked_is_said(
    hrp2: Robot, posture: str, changes: dict[str, float], message: str
) -> None:
    """Which step it is, what is wrong with it, and by how much; without the dynamic filter."""
    plan = plan_footsteps(hrp2, posture, steps=3, **changes)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=message):
        generate_walk(hrp2, plan, posture, passes=0)


def test_the_zero_moment_point_is_where_it_is_asked_for(hrp2: Robot) -> None:
    """Middle of the soles: it follows; 3 mm from the outer edges, unfiltered: it leaves them; beyond them: refused."""
    plan = plan_footsteps(hrp2, "half_sitting", steps=2)
    middle = {"right_sole": (0.0, 0.0), "left_sole": (0.0, 0.0)}
    pattern = generate_walk(hrp2, plan, "half_sitting", zmp_points=middle)
    i = int(np.searchsorted(pattern.times, 2.6))
    assert_allclose(pattern.zmp[i], pattern.sole_placements[i, pattern.soles.index("left_sole"), :2], atol=3e-3)
    edges = {"right_sole": (0.0, -0.062), "left_sole": (0.0, 0.062)}
    with pytest.raises(InputError, match=r"step \d: the zero-moment point is [\d.]+ cm outside"):
        generate_walk(hrp2, plan, "half_sitting", zmp_points=edges, passes=0)
    with pytest.raises(InputError, match=r"zmp_points\['left_sole'\].*\[-0\.2, 0\.0\], outside"):
        generate_walk(hrp2, plan, "half_sitting", zmp_points={"left_sole": (-0.2, 0.0)})


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"swing_height": 0.0}, "swing_height is 0"), ({"passes": -1}, "passes"), ({"posture": "x"}, "no posture 'x'")],
)
def test_wrong_numbers_are_named(hrp2: Robot, changes: dict[str, object], message: str) -> None:
    plan = plan_footsteps(hrp2, "half_sitting", steps=1)
    with pytest.raises(InputError, match=message):
        generate_walk(hrp2, plan, **{"posture": "half_sitting", **changes})  # type: ignore[arg-type]
