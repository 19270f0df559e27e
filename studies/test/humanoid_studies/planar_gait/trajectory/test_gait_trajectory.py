# SPDX-License-Identifier: Apache-2.0
"""Gaits as trajectories of RABBIT, the planar BIP and BIP in space: Pinocchio, differences, and what must repeat."""

import json
import math

import numpy as np
import pinocchio as pin
import pytest
from fixtures.gait_models import BIP, BRAKING, CYCLIC, RABBIT, RABBIT_WALK
from scipy.integrate import trapezoid

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.models.sagittal_projection import project_to_sagittal_plane
from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort
from humanoid_studies.planar_gait.optimal_control.penalties import Penalties
from humanoid_studies.planar_gait.solvers.synthesize import SynthesisOptions
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSettings, PhaseSettings, synthesize_gait
from humanoid_studies.planar_gait.specification.phase_spec import cyclic_walk, walk_between_rests
from humanoid_studies.planar_gait.specification.step_data import StepData, WalkData
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker
from humanoid_studies.planar_gait.trajectory import (
    gait_trajectory,
    load_gait_trajectory,
    save_gait_trajectory,
    write_gait_json,
    write_joints,
)

EFFORT = QuadraticEffort(force_weight=0.1, force_scale=1e-2)
SETTINGS = GaitSettings(PhaseSettings(EFFORT), PhaseSettings(EFFORT, Penalties(inequality=0.0)))
SCALE = 0.97


@pytest.fixture(scope="module")
def gaits():
    robots = {name: load_robot(name) for name in ("rabbit", "bip_planar", "bip")}
    projection = project_to_sagittal_plane(robots["bip"])
    step = StepData(
        0.4 * SCALE,
        SCALE * (0.056 + 0.83j),
        SCALE * (0.16 + 0.815j),
        0.6 - 0.1j,
        0.6 + 0.04j,
        initial_sole_angle=math.radians(5.0),
        final_rear_foot_angle=math.radians(-15.0),
        final_rear_foot_rate=-2.0,
        step_height=0.03,
    )
    return {
        "rabbit": (synthesize_gait(RabbitWalker(RABBIT), cyclic_walk(RABBIT_WALK), SETTINGS), robots["rabbit"]),
        "bip_planar": (
            synthesize_gait(BipWalker(BIP, min_toe_force=6.0), cyclic_walk(CYCLIC)),
            robots["bip_planar"],
        ),
        "projected": (
            synthesize_gait(BipWalker(BIP, min_toe_force=6.0), cyclic_walk(CYCLIC)),
            project_to_sagittal_plane(robots["bip_planar"]),
        ),
        "bip": (
            synthesize_gait(BipWalker(projection.bip, min_toe_force=6.0), cyclic_walk(WalkData(step, 0.2, 0.5))),
            projection,
        ),
    }


ALL = ("rabbit", "bip_planar", "projected", "bip")


def robot_of(target):
    return getattr(target, "robot", target)


@pytest.mark.parametrize("name", ALL)
def test_derivatives(gaits, name):
    """Velocities and accelerations are differences of postures and velocities, on the base's manifold as well.

    Solutions are told between their samples with controls as straight lines, whose kinks differences don't see.
    """
    gait, target = gaits[name]
    model = robot_of(target).model
    step = 2e-5
    middles = np.setdiff1d(np.linspace(0.01, gait.duration - 0.01, 40), gait.starts)
    times = np.sort((middles + step * np.array([[-1.0], [0.0], [1.0]])).ravel())
    trajectory = gait_trajectory(gait, target, times=times)
    misses = []
    for middle in middles:
        k = int(np.argmin(np.abs(trajectory.times - middle)))

        changes = [
            (pin.difference(model, trajectory.q[k - 1], trajectory.q[k + 1]), trajectory.v),
            (trajectory.base[k + 1] - trajectory.base[k - 1], trajectory.base_velocity),
            (trajectory.v[k + 1] - trajectory.v[k - 1], trajectory.acceleration),
            (trajectory.base_velocity[k + 1] - trajectory.base_velocity[k - 1], trajectory.base_acceleration),
        ]
        misses.append(
            [
                np.abs(change / (2.0 * step) - told[k]).max() / max(1.0, np.abs(told[k]).max())
                for change, told in changes
            ]
        )
    assert (np.max(misses, axis=0)[:2] < 1e-3).all()
    assert (np.median(misses, axis=0) < [1e-4, 1e-5, 5e-3, 1e-3]).all()


def without_rotors(robot, exchanged):
    """Pinocchio's model without rotors, on request with the masses of both legs exchanged."""
    model = robot.model.copy()
    model.armature = np.zeros(model.nv)
    if exchanged:
        for first, second in zip(robot.limbs["rear_leg"], robot.limbs["front_leg"], strict=True):
            i, j = model.getJointId(first), model.getJointId(second)
            model.inertias[i], model.inertias[j] = pin.Inertia(model.inertias[j]), pin.Inertia(model.inertias[i])
    return model


def rear_foot(trajectory, phase):
    """Index of the rear or stance foot: the legs change parts where a single support begins."""
    return sum(kind == "single_support" for kind in trajectory.kinds[: phase + 1]) % 2


@pytest.mark.feature("003-F111")
@pytest.mark.parametrize("name", ["rabbit", "bip_planar", "projected"])
@pytest.mark.parametrize("first", ["rear_leg", "front_leg"])
def test_torques_are_pinocchios(gaits, name, first):
    """Inverse dynamics of the URDF under the planned contact forces yields the torques, and no force on the base.

    Front and rear leg of the thesis' tables differ: where they have changed parts, so have their masses in the model.
    """
    gait, target = gaits[name]
    robot = robot_of(target)
    trajectory = gait_trajectory(gait, target, rate=100.0, cycles=2, first_leg=first)
    check_inverse_dynamics(trajectory, robot, lambda rear: trajectory.legs[rear] == "front_leg")


def check_inverse_dynamics(trajectory, robot, exchanged):
    for k, phase in enumerate(trajectory.phase):
        rear = rear_foot(trajectory, phase)
        model = without_rotors(robot, exchanged(rear))
        data = model.createData()
        efforts = pin.rnea(model, data, trajectory.q[k], trajectory.v[k], trajectory.acceleration[k])
        pin.computeJointJacobians(model, data, trajectory.q[k])
        for foot in range(2):
            joint = robot.parts.links[robot.contacts[trajectory.feet[foot]].link].joint_id
            J = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)
            # Along the ground a foot is held where it touches: the rear one of a double support by its toe.
            on_toe = foot == rear and trajectory.kinds[phase] == "double_support"
            for column in range(len(trajectory.foot_places)):
                along = trajectory.tangential[k, foot] if column == (-1 % len(trajectory.foot_places)) * on_toe else 0.0
                arm = trajectory.places[k, foot, column] - data.oMi[joint].translation[[0, 2]]
                linear = J[:3] - pin.skew(np.array([arm[0], 0.0, arm[1]])) @ J[3:]
                efforts -= linear.T @ np.array([along, 0.0, trajectory.normal[k, foot, column]])
        expected = trajectory.tau[k]
        np.testing.assert_allclose(efforts, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.feature("003-F111")
@pytest.mark.parametrize("name", ALL)
def test_transitions_are_continuous_and_told_from_both_sides(gaits, name):
    gait, target = gaits[name]
    trajectory = gait_trajectory(gait, target, rate=200.0, cycles=3)
    assert len(trajectory.transitions) == 5
    for index, time in enumerate(trajectory.transitions):
        k = int(np.flatnonzero(trajectory.times == time)[0])
        assert trajectory.times[k + 1] == time
        assert (trajectory.phase[k], trajectory.phase[k + 1]) == (index, index + 1)
        for series in ("q", "v", "base", "base_velocity"):
            np.testing.assert_allclose(
                getattr(trajectory, series)[k + 1], getattr(trajectory, series)[k], atol=1e-8, err_msg=series
            )
        for series in ("tau", "tangential"):
            assert np.abs(getattr(trajectory, series)[k + 1] - getattr(trajectory, series)[k]).max() > 1.0
        before, after = trajectory.at(time, "before"), trajectory.at(time)
        np.testing.assert_allclose(before.torques[0], trajectory.torques[k], atol=1e-9)
        np.testing.assert_allclose(after.torques[0], trajectory.torques[k + 1], atol=1e-9)
        np.testing.assert_allclose(before.normal[0], trajectory.normal[k], atol=1e-9)
        np.testing.assert_allclose(after.accelerations[0], trajectory.accelerations[k + 1], atol=1e-6)
        assert (before.phase[0], after.phase[0]) == (index, index + 1)


@pytest.mark.parametrize("name", ALL)
def test_cycles_repeat(gaits, name):
    """Each cycle is the first one ahead by the step, the legs' parts exchanged."""
    gait, target = gaits[name]
    robot = robot_of(target)
    times = np.linspace(0.0, gait.duration, 23)[1:-1]
    once = gait_trajectory(gait, target, times=times)
    starts = gait.duration * np.arange(3)
    thrice = gait_trajectory(gait, target, times=(times + starts[:, None]).ravel(), cycles=3)
    step = gait.plan.phases[0].spec.own
    np.testing.assert_allclose(once.next_offset, [step.step_length, step.step_height], atol=1e-15)
    np.testing.assert_allclose(thrice.next_offset, 3 * once.next_offset)
    assert thrice.duration == pytest.approx(3 * once.duration)
    K = len(once.times)
    second, third = slice(K, 2 * K), slice(2 * K, None)
    ahead = np.array([*(2 * once.next_offset), 0.0])
    np.testing.assert_allclose(thrice.base[third], once.base + ahead, atol=1e-9)
    np.testing.assert_allclose(thrice.places[third], once.places + ahead[:2], atol=1e-9)
    for series in ("times", "positions", "velocities", "accelerations", "torques", "normal", "tangential"):
        again = getattr(thrice, series)[third] - (2 * gait.duration if series == "times" else 0.0)
        np.testing.assert_allclose(again, getattr(once, series), atol=1e-6, err_msg=series)
    exchanged = [joint for leg in reversed(once.legs) for joint in robot.limbs[leg]]
    for leg in (0, 1):
        own = [once.joint_names.index(joint) for joint in robot.limbs[once.legs[leg]]]
        other = [once.joint_names.index(joint) for joint in exchanged[len(own) * leg :][: len(own)]]
        np.testing.assert_allclose(thrice.positions[second][:, own], once.positions[:, other], atol=1e-9)
        np.testing.assert_allclose(thrice.torques[second][:, own], once.torques[:, other], atol=1e-6)
    np.testing.assert_allclose(thrice.tangential[second], once.tangential[:, ::-1], atol=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_places_are_the_robots(gaits, name):
    """Heels and toes are where forward kinematics of the whole robot has its soles' corners."""
    gait, target = gaits[name]
    robot = robot_of(target)
    trajectory = gait_trajectory(gait, target, rate=30.0, cycles=2)
    data = robot.model.createData()
    for k in range(len(trajectory.times)):
        pin.forwardKinematics(robot.model, data, trajectory.q[k])
        for foot in range(2):
            sole = robot.contacts[trajectory.feet[foot]]
            link = robot.parts.links[sole.link]
            placed = data.oMi[link.joint_id] * link.placement_joint_link
            corners = np.array([placed.act(vertex) for vertex in sole.vertices_link])[:, [0, 2]]
            for place in trajectory.places[k, foot]:
                assert np.linalg.norm(corners - place, axis=1).min() < 1e-7


def test_contact_schedule(gaits):
    gait, robot = gaits["bip_planar"]
    trajectory = gait_trajectory(gait, robot, cycles=2)
    rear, front = trajectory.feet
    assert (rear, front) == ("rear_sole", "front_sole")
    spans = [(c.foot, c.part, round(c.start, 6), round(c.end, 6)) for c in trajectory.contacts]
    down = next(c.end for c in trajectory.contacts if c.part == "heel")
    assert 0.06 < down < 0.09
    index, q, _, _ = gait.at(down)
    toe = gait.phases[index].problem.model.points["front_toe"].position(q)
    assert toe[1] == pytest.approx(1e-3, abs=1e-5)
    down = round(down, 6)
    assert spans == [
        (rear, "toe", 0.0, 0.17),
        (front, "heel", 0.0, down),
        (front, "sole", down, 0.67),
        (front, "toe", 0.67, 0.84),
        (rear, "heel", 0.67, round(down + 0.67, 6)),
        (rear, "sole", round(down + 0.67, 6), 1.34),
    ]
    assert trajectory.contacts[2].parts == ("heel", "toe")
    other = gait_trajectory(gait, robot, first_leg="front_leg")
    assert (other.feet, other.legs) == (("front_sole", "rear_sole"), ("front_leg", "rear_leg"))
    np.testing.assert_allclose(
        other.positions[:, other.joint_names.index("front_knee")],
        gait_trajectory(gait, robot).positions[:, other.joint_names.index("rear_knee")],
    )


def test_forces_bear_the_weight(gaits):
    """Over a cycle, which ends as it begins, the ground bears the weight, and its pressure is between the feet."""
    for name in ("rabbit", "bip_planar"):
        gait, target = gaits[name]
        robot = robot_of(target)
        trajectory = gait_trajectory(gait, target)
        mean = trapezoid(trajectory.total_normal, trajectory.times) / trajectory.duration
        assert mean == pytest.approx(robot.total_mass * 9.81, rel=2e-3)
        level = trapezoid(trajectory.tangential.sum(axis=1), trajectory.times)
        assert level == pytest.approx(0.0, abs=1e-2 * robot.total_mass)
        double = trajectory.phase == 0
        places = trajectory.places[double, :, :, 0]
        pressure = trajectory.centre_of_pressure[double]
        assert (pressure > places.min(axis=(1, 2))).all()
        assert (pressure < places.max(axis=(1, 2))).all()
        single = ~double
        stance = trajectory.normal[single].sum(axis=2).argmax(axis=1)
        np.testing.assert_allclose(
            trajectory.centre_of_pressure[single],
            np.take_along_axis(trajectory.foot_centres_of_pressure[single], stance[:, None], 1)[:, 0],
        )


def test_interpolation_meets_the_solution(gaits):
    gait, robot = gaits["bip_planar"]
    coarse = gait_trajectory(gait, robot, rate=200.0)
    times = np.array([0.0333, 0.1234, 0.33333, 0.6012])
    fine = gait_trajectory(gait, robot, times=times)
    exact = [int(np.flatnonzero(fine.times == time)[0]) for time in times]
    sample = coarse.at(times)
    np.testing.assert_allclose(sample.positions, fine.positions[exact], atol=2e-6)
    np.testing.assert_allclose(sample.velocities, fine.velocities[exact], atol=2e-3)
    np.testing.assert_allclose(sample.torques, fine.torques[exact], atol=0.5)
    np.testing.assert_allclose(sample.base, fine.base[exact], atol=2e-6)


def test_files(gaits, tmp_path):
    gait, robot = gaits["bip_planar"]
    trajectory = gait_trajectory(gait, robot, rate=100.0, cycles=2)
    save_gait_trajectory(trajectory, tmp_path / "gait.npz")
    again = load_gait_trajectory(tmp_path / "gait.npz")
    for name, value in vars(trajectory).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(again, name), value)
        else:
            assert getattr(again, name) == value, name
    write_joints(trajectory, tmp_path / "gait.csv")
    lines = (tmp_path / "gait.csv").read_text().splitlines()
    assert lines[0] == "time,rear_hip,rear_knee,rear_ankle,front_hip,front_knee,front_ankle"
    rows = np.loadtxt(lines[1:], delimiter=",")
    assert (np.diff(rows[:, 0]) > 0.0).all()
    np.testing.assert_array_equal(rows[:, 1:], trajectory.positions[trajectory.increasing])
    write_gait_json(trajectory, tmp_path / "gait.json")
    content = json.loads((tmp_path / "gait.json").read_text())
    assert [phase["kind"] for phase in content["phases"]] == ["double_support", "single_support"] * 2
    assert content["contacts"][0] == {"foot": "rear_sole", "part": "toe", "start": 0.0, "end": 0.17}
    np.testing.assert_allclose(content["forces"]["front_sole"]["toe"], trajectory.normal[:, 1, 1])
    np.testing.assert_allclose(content["joints"]["front_knee"]["torques"], trajectory.torques[:, 4])
    assert len(content["times"]) == len(trajectory.times)


def test_torques_beside_joints_jump_at_transitions(gaits, tmp_path):
    gait, robot = gaits["rabbit"]
    trajectory = gait_trajectory(gait, robot, rate=100.0)
    write_joints(trajectory, tmp_path / "gait.csv", torques=True)
    lines = (tmp_path / "gait.csv").read_text().splitlines()
    names = ["rear_hip", "rear_knee", "front_hip", "front_knee"]
    assert lines[0].split(",") == ["time", *names, *(f"effort:{name}" for name in names)]
    rows = np.loadtxt(lines[1:], delimiter=",")
    np.testing.assert_array_equal(rows[:, 0], trajectory.times)
    np.testing.assert_array_equal(rows[:, 5:], trajectory.torques)


def test_legs_that_differ(gaits):
    """With the gait of the exchanged legs inverse dynamics of the robot as it is yields the torques, on either leg."""
    bip = gaits["bip_planar"][1]
    gaits_of_legs = []
    for legs in (("rear_leg", "front_leg"), ("front_leg", "rear_leg")):
        own = project_to_sagittal_plane(bip, legs=legs).bip
        walker = BipWalker(own, min_toe_force=6.0)
        gaits_of_legs.append(
            synthesize_gait(walker, cyclic_walk(CYCLIC), GaitSettings(synthesis=SynthesisOptions("direct")))
        )
    assert gaits_of_legs[1].phases[1].cost != pytest.approx(gaits_of_legs[0].phases[1].cost, rel=1e-2)
    trajectory = gait_trajectory(gaits_of_legs[0], bip, rate=50.0, cycles=2, exchanged=gaits_of_legs[1])
    check_inverse_dynamics(trajectory, bip, lambda rear: False)
    with pytest.raises(InputError, match="exchanged: has other phases"):
        gait_trajectory(gaits_of_legs[0], bip, exchanged=gaits["rabbit"][0])


def test_what_is_refused(gaits, tmp_path):
    gait, robot = gaits["rabbit"]
    with pytest.raises(InputError, match="cycles: is 0"):
        gait_trajectory(gait, robot, cycles=0)
    for rate in (0.0, math.nan):
        with pytest.raises(InputError, match="rate: is"):
            gait_trajectory(gait, robot, rate=rate)
    with pytest.raises(InputError, match="times: don't increase"):
        gait_trajectory(gait, robot, times=[0.1, 0.1])
    with pytest.raises(InputError, match="times: run from 0 to 9 s"):
        gait_trajectory(gait, robot, times=[0.0, 9.0])
    with pytest.raises(InputError, match="first_leg: is 'left_leg'"):
        gait_trajectory(gait, robot, first_leg="left_leg")
    with pytest.raises(InputError, match="its base doesn't move along x and z"):
        gait_trajectory(gait, load_robot("hrp2"))
    with pytest.raises(InputError, match="joint 'rear_ankle' is none of its legs"):
        gait_trajectory(gaits["bip_planar"][0], robot)
    stopped = synthesize_gait(RabbitWalker(RABBIT), cyclic_walk(RABBIT_WALK), SETTINGS, progress=lambda _: True)
    with pytest.raises(InputError, match="double_support: isn't solved"):
        gait_trajectory(stopped, robot)
    trajectory = gait_trajectory(gait, robot)
    for time in (-0.1, 7.0, math.nan):
        with pytest.raises(InputError, match="is not within the gait"):
            trajectory.at(time)
    with pytest.raises(InputError, match="side: is 'left'"):
        trajectory.at(0.1, "left")
    (tmp_path / "gait.npz").write_text("walk")
    with pytest.raises(InputError, match="can't be read"):
        load_gait_trajectory(tmp_path / "gait.npz")
    np.savez(tmp_path / "other.npz", q=np.zeros(3))
    with pytest.raises(InputError, match="holds q"):
        load_gait_trajectory(tmp_path / "other.npz")


def test_walk_between_rests_does_not_repeat():
    specs = walk_between_rests(CYCLIC, BRAKING, 2)
    gait = synthesize_gait(
        BipWalker(BIP, min_toe_force=6.0), specs, GaitSettings(synthesis=SynthesisOptions("direct"))
    )
    robot = load_robot("bip_planar")
    trajectory = gait_trajectory(gait, robot, rate=100.0)
    assert trajectory.kinds == ("start", *("double_support", "single_support") * 2, "double_support", "stop")
    assert np.abs(trajectory.v[[0, -1]]).max() < 1e-8
    # Standing again, the hips three steps and the way from one rest to the other ahead.
    assert trajectory.base[-1, 0] - trajectory.base[0, 0] == pytest.approx(3 * 0.5 - 0.05)
    assert [c.foot for c in trajectory.contacts if c.part == "sole"] == [
        "rear_sole", "front_sole", "rear_sole", "front_sole",
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"start: begins .* Repeat only gaits that end as they begin"):
        gait_trajectory(gait, robot, cycles=2)
