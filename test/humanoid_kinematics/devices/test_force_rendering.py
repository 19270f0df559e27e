# SPDX-License-Identifier: Apache-2.0
"""Forces of stops, singularities, contacts and targets, by hand and by virtual work; a hand that is stopped by them."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import DeviceSelection, JointGoal, MechanismSolver, ToolMotion, load_mechanism
from humanoid_kinematics.analysis.dexterity import free_motions
from humanoid_kinematics.analysis.obstacles import Obstacles
from humanoid_kinematics.devices.force_rendering import ForceRendering, ForceRules, HapticLoop
from humanoid_kinematics.devices.syntaxeur import MAX_FORCE, WRIST_RANGE, Syntaxeur
from humanoid_model import InputError
from humanoid_model.description import Sphere

pytestmark = pytest.mark.filterwarnings("ignore:.*graphic file")
NOTHING = {"lag": 0.0, "turning": 0.0, "stop": 0.0, "singular": 0.0, "contact": 0.0, "attraction": 0.0}
TRANSLATIONS = np.eye(6)[:3]
ALONG = (True, True, True, False, False, False)


def only(**rules):
    """Return rules of some forces alone."""
    return ForceRules(**{**NOTHING, **rules})


def arm_2r(tmp_path, limits="", initial=(30, 60)):
    path = tmp_path / "arm.mad"
    path.write_text(
        "RAFF v1.1 arm\nrobot arm {\nbase { }\n"
        f"link 1 {{ parameters {{ theta {initial[0]} r 0 alpha 0 d 0 }} type 2 pred 0 {limits} filename ( auto ) }}\n"
        f"link 2 {{ parameters {{ theta {initial[1]} r 0 alpha 0 d 300 }} type 2 pred 1 filename ( auto ) }}\n"
        "frame 3 { pos { 200 0 0 } ori { 0 0 0 } pred 2 filename ( ) }\n}\n"
    )
    return MechanismSolver(load_mechanism(path))


@pytest.mark.feature("002-F113")
def test_a_joint_before_its_stop_pushes_the_tool_by_virtual_work(tmp_path):
    arm = arm_2r(tmp_path, "limits { -90 31 }")
    rules = only(stop=20.0, stop_margin=np.radians(3.0))
    (wrench,) = ForceRendering(arm, "frame_3", rules).wrenches(led=TRANSLATIONS).values()
    torque = -20.0 * np.radians(2.0)  # two degrees within the margin, inward
    J = arm.tool_jacobian("frame_3")[:2]
    np.testing.assert_allclose(wrench[:2], np.linalg.solve(J.T, [torque, 0.0]), atol=1e-9)
    arm.lock("joint_2")  # one motion is left: its whole force is along that
    (wrench,) = ForceRendering(arm, "frame_3", rules).wrenches(led=TRANSLATIONS).values()
    np.testing.assert_allclose(wrench[:2], J[:, 0] * torque / (J[:, 0] @ J[:, 0]), atol=1e-9)
    arm.unlock("joint_2")
    arm.command(JointGoal("joint_1", np.radians(27.0)))
    assert ForceRendering(arm, "frame_3", rules).wrenches(led=TRANSLATIONS) == {}


@pytest.mark.feature("002-F113")
def test_a_slider_before_its_stop_pushes_the_plate_through_the_loops():
    cross = MechanismSolver(load_mechanism("cross"))
    k = cross.mechanism.robot.index_v("joint_1")
    cross.set_limits("joint_1", cross.positions[k] - 0.01, 0.0)  # 10 mm from its lower stop
    rules = only(stop=100.0, stop_margin=0.02 / cross.length)
    (wrench,) = ForceRendering(cross, "link_5", rules).wrenches(led=TRANSLATIONS).values()
    free = free_motions(cross) * cross.scale[:, None]
    work = (100.0 * 0.01) * free[k]  # pushes up, away from the stop
    np.testing.assert_allclose((cross.tool_jacobian("link_5") @ free).T @ wrench, work, atol=1e-9)


@pytest.mark.feature("002-F113")
def test_damping_rises_towards_a_singularity_and_opposes_the_motion(tmp_path):
    forces = []
    for bend in (90.0, 12.0, 6.0, 1.0):
        arm = arm_2r(tmp_path, initial=(0, bend))
        rendering = ForceRendering(arm, "frame_3", only(singular=20.0, singular_below=0.15))
        found = rendering.wrenches((0.1, 0.0, 0.0), led=TRANSLATIONS[:2])
        forces.append(found["singularity"][0] if found else 0.0)
    assert forces[0] == 0.0
    assert 0.0 > forces[1] > forces[2] > forces[3] > -2.0
    assert forces[3] == pytest.approx(-2.0, abs=0.3)  # 20 N s/m at 0.1 m/s


@pytest.mark.feature("002-F113")
@pytest.mark.parametrize("link", ["tool", "elbow"])
def test_an_obstacle_pushes_as_far_as_it_is_entered_wherever_on_the_arm(tmp_path, link):
    arm = arm_2r(tmp_path)
    part = Obstacles(arm, {"probe": (Sphere(0.001), pin.SE3(np.eye(3), np.array([5.0, 0.0, 0.0])))})
    assert part.nearest()["probe"].distance > 1.0
    beyond = arm.placement("frame_3" if link == "tool" else "link_2")
    along = beyond.rotation[:, 1] if link == "tool" else np.array([np.cos(np.radians(-15)), np.sin(np.radians(-15)), 0])
    place = beyond.translation + 0.062 * along
    obstacles = Obstacles(arm, {"ball": (Sphere(0.05), pin.SE3(np.eye(3), place))})
    nearest = obstacles.nearest()["ball"]
    rules = only(contact=400.0, contact_distance=nearest.distance + 0.004)
    (wrench,) = ForceRendering(arm, "frame_3", rules, obstacles=obstacles).wrenches(led=TRANSLATIONS[:2]).values()
    # Its work on any motion of the joints is that of 1.6 N at the nearest point.
    away = nearest.point_on_part - nearest.point_on_obstacle
    force = 400.0 * 0.004 * away / np.linalg.norm(away)
    body, h = arm.frame(nearest.part.split("/")[0])[0], 1e-6
    model, data = arm.mechanism.model, arm.mechanism.model.createData()
    for k in range(2):
        ends = []
        for sign in (1.0, -1.0):
            pin.forwardKinematics(model, data, arm.q)
            on_body = data.oMi[body].actInv(nearest.point_on_part)
            pin.forwardKinematics(model, data, arm.q + sign * h * np.eye(2)[k])
            ends.append(data.oMi[body].act(on_body))
        work = force @ (ends[0] - ends[1]) / (2 * h)
        assert arm.tool_jacobian("frame_3")[:, k] @ wrench == pytest.approx(work, abs=1e-6)
    assert (
        ForceRendering(arm, "frame_3", only(contact=400.0, contact_distance=0.0), obstacles=obstacles).wrenches() == {}
    )


@pytest.mark.feature("002-F113")
def test_a_target_pulls_within_its_radius(tmp_path):
    arm = arm_2r(tmp_path)
    tip = arm.placement("frame_3").translation
    for away, pull in ((0.01, 100.0 * 0.8 * 0.01), (0.06, 0.0)):
        targets = {"hole": tip + np.array([away, 0.0, 0.0])}
        found = ForceRendering(arm, "frame_3", only(attraction=100.0), targets=targets).wrenches()
        assert found.get("attraction to hole", np.zeros(6))[0] == pytest.approx(pull)


def haptic(solver, tool, rules, scale=1.0, **things):
    selection = DeviceSelection("syntaxeur", tool, linear_scale=scale, mask=ALONG)
    return HapticLoop(Syntaxeur(), selection, ForceRendering(solver, tool, rules, **things))


@pytest.mark.feature("002-F112")
def test_a_hand_that_leads_a_slide_into_its_stop_rests_where_its_pull_and_the_wall_balance():
    solver = MechanismSolver(load_mechanism("scara"))
    slide = next(j for j in solver.mechanism.robot.joint_names if not solver.angles[solver.mechanism.robot.index_v(j)])
    tool = solver.mechanism.tools[0].name
    z = solver.placement(tool).translation[2]
    k = solver.mechanism.robot.index_v(slide)
    solver.set_limits(slide, solver.positions[k] - 0.01, solver.positions[k] + 0.01)
    loop = haptic(solver, tool, only(lag=700.0))
    for tick in range(3000):
        wanted = [0.0, 0.0, 0.03 * min(tick / 1000.0, 1.0)]
        felt = loop.tick(wanted, np.zeros(3), 0.001)
    assert felt.status in ("nearest", "stuck")
    assert felt.tool[2] - z == pytest.approx(0.01, abs=1e-9)
    # Hand 300 N/m to 30 mm, wall 700 N/m from 10 mm.
    handle = (300.0 * 0.03 + 700.0 * 0.01) / 1000.0
    assert loop.syntaxeur.position[2] == pytest.approx(handle, abs=1e-5)
    assert felt.force[2] == pytest.approx(-700.0 * (handle - 0.01), rel=1e-3)
    assert abs(loop.syntaxeur.velocity).max() < 1e-6
    arm = loop.syntaxeur
    np.testing.assert_allclose(
        16.0 * arm.motor_torques, arm.arm.jacobian(arm.angles).T @ (arm.mount.T @ felt.force), atol=1e-12
    )
    for _ in range(1500):  # a hand that comes back brings the tool back, without a way made up for
        felt = loop.tick(np.zeros(3), np.zeros(3), 0.001)
    assert felt.tool[2] == pytest.approx(z, abs=1e-6)
    assert np.abs(felt.force).max() < 1e-3


@pytest.mark.feature("002-F113")
@pytest.mark.parametrize("scale", [0.5, 20.0])
@pytest.mark.parametrize("stiffness", [50.0, 1e4])
def test_a_wall_feels_alike_whatever_the_scale_and_no_harder_than_the_motors_push(scale, stiffness):
    solver = MechanismSolver(load_mechanism("scara"))
    solver.lock(*solver.mechanism.robot.joint_names)
    loop = haptic(solver, solver.mechanism.tools[0].name, only(lag=stiffness), scale)
    for _ in range(800):
        felt = loop.tick([0.0, 0.05, 0.0], np.zeros(3), 0.001)
    handle = loop.syntaxeur.position[1]
    assert handle == pytest.approx(max(300.0 * 0.05 / (300.0 + stiffness), 0.05 - MAX_FORCE / 300.0), rel=1e-3)
    assert -felt.force[1] == pytest.approx(min(stiffness * handle, MAX_FORCE), rel=1e-3)


@pytest.mark.feature("002-F113")
def test_a_wrist_turns_the_tool_at_a_speed_and_feels_turns_that_can_not_be_made():
    solver = MechanismSolver(load_mechanism("puma"))
    tool = solver.mechanism.tools[0].name
    before = solver.placement(tool)
    selection = DeviceSelection("syntaxeur", tool)
    loop = HapticLoop(Syntaxeur(), selection, ForceRendering(solver, tool, only(turning=0.1)))
    for _ in range(200):
        felt = loop.tick(np.zeros(3), [0.0, 0.0, WRIST_RANGE], 0.001)
    turned = pin.log3(solver.placement(tool).rotation @ before.rotation.T)
    np.testing.assert_allclose(turned, [0.0, 0.0, 0.5 * 0.2], atol=1e-4)
    np.testing.assert_allclose(felt.torque, 0.0, atol=1e-3)
    solver.lock(*solver.mechanism.robot.joint_names)
    felt = loop.tick(np.zeros(3), [0.0, 0.0, WRIST_RANGE], 0.001)
    np.testing.assert_allclose(felt.torque, [0.0, 0.0, -0.1 * 0.5], atol=1e-6)


def test_a_hand_of_numbers_that_are_not_finite_is_refused_and_the_handle_stays():
    device = Syntaxeur()
    device.move([0.01, 0.0, 0.0], np.zeros(3), 0.001)
    before = device.position.copy()
    for hand, wrist in (([np.nan, 0, 0], [0, 0, 0]), ([0, 0, 0], [np.inf, 0, 0])):
        with pytest.raises(InputError, match="3 finite numbers"):
            device.move(hand, wrist, 0.001)
    with pytest.raises(InputError, match="force"):
        device.display([np.nan, 0, 0])
    np.testing.assert_array_equal(device.position, before)


def test_the_handle_stays_in_its_workspace_and_moves_no_further_than_it():
    device = Syntaxeur()
    for _ in range(2000):
        device.move([1.0, 0.3, -2.0], np.zeros(3), 0.001)
    x, y, z = device.position
    assert x == pytest.approx(0.075)  # half of 150 mm, away from the vertical base plate
    assert np.hypot(y, z) == pytest.approx(0.170)
    assert device.angles.shape == (3,)
    read = device.read(0.001)
    assert np.isfinite([*read.linear, *read.angular]).all()


@pytest.mark.feature("002-F113")
def test_every_tick_has_its_forces_while_all_things_are_felt_at_once():
    """A tick for each millisecond: three times as many wrenches as a hand discerns (300 a second)."""
    cross = MechanismSolver(load_mechanism("cross"))
    place = cross.placement("link_5").translation
    ball = Obstacles(cross, {"ball": (Sphere(0.1), pin.SE3(np.eye(3), place + np.array([-0.15, 0.0, 0.3])))})
    rendering = ForceRendering(cross, "link_5", obstacles=ball, targets={"rock": place + np.array([0.0, 0.05, 0.0])})
    loop = HapticLoop(Syntaxeur(), DeviceSelection("syntaxeur", "link_5", linear_scale=4.0, mask=ALONG), rendering)
    seen = set()
    for tick in range(600):
        t = tick / 600.0
        felt = loop.tick([-0.05 * t, 0.02 * np.sin(6 * t), 0.1 * t], np.zeros(3), 0.001)
        seen |= set(felt.wrenches)
        assert np.isfinite(felt.force).all()
        assert np.linalg.norm(felt.force) <= MAX_FORCE + 1e-9
    assert {"attraction to rock", "contact with ball", "lag"} <= seen
    motion = cross.command(ToolMotion("link_5"))
    assert motion.loop_gap <= 1e-10
