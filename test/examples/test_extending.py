# SPDX-License-Identifier: Apache-2.0
"""What docs/extending.md adds to the stack does what it says, and by the one line that it tells."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import floor, scene, standing
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from examples.extending import magnetometer, projected_gradient, screw, stribeck
from examples.extending.links_apart import LinksApart
from examples.extending.potentials import HeightOf, SurfacePenalty
from humanoid_kinematics import JointGoal, MechanismSolver, load_mechanism
from humanoid_kinematics.mad.load import EXTENSIONS
from humanoid_model import InputError, load_robot, load_scene, register_sensor
from humanoid_model.robot_file import read_robot_file
from humanoid_model.sensor import Noise, Sensor
from humanoid_model.sensor_kind import SENSOR_KINDS
from humanoid_model.urdf import read_urdf
from humanoid_planner.contacts.stance import Couples, Hold, PlannedStance, Role
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.tasks.state import ForceModel, PostureState
from humanoid_sim import ContactProblem, Simulation, rollout, solve_contacts
from humanoid_sim.contact.solve import SOLVERS, ContactStatus
from humanoid_sim.sensing import NoisySensors

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def known():
    """What is known by name, as it was before."""
    tables = (SENSOR_KINDS, SOLVERS)
    before, keywords = [dict(table) for table in tables], list(EXTENSIONS)
    yield
    EXTENSIONS[:] = keywords
    for table, old in zip(tables, before, strict=True):
        table.clear()
        table.update(old)


def with_compass(noise):
    robot = load_robot("hrp2")
    turn = pin.utils.rpyToMatrix(0.3, -0.2, 1.1)
    compass = Sensor("compass", "magnetometer", "CHEST_LINK1", pin.SE3(turn, np.zeros(3)), noise=noise)
    return dataclasses.replace(robot, sensors={**robot.sensors, "compass": compass}), turn


@pytest.mark.feature("000-F006", "000-F147")
def test_a_sensor_reads_the_field_in_its_own_frame_with_its_noise():
    magnetometer.register()
    robot, turn = with_compass({"field": Noise(bias=(1e-6, 0.0, -2e-6))})
    simulation = Simulation(scene(floor(), robots=(standing(robot),), friction=0.8))
    measured = NoisySensors(seed=1)
    simulation.add_module(measured)
    simulation.run(0.01)
    hrp2 = simulation.robots["hrp2"]
    rotation = (hrp2.placement("CHEST_LINK1").rotation @ turn)
    ideal = hrp2.reading("compass")["field"]
    assert_allclose(ideal, rotation.T @ [20e-6, 0.0, -44e-6], atol=1e-8)
    assert_allclose(np.linalg.norm(ideal), np.hypot(20e-6, 44e-6), rtol=1e-12)
    assert_allclose(measured.reading("hrp2", "compass")["field"], ideal + np.array([1e-6, 0.0, -2e-6]), atol=1e-8)
    assert set(measured.reading("hrp2", "imu")) == {"orientation", "angular_velocity", "linear_acceleration"}
    with pytest.raises(InputError, match=r"measures nothing by a sensor 'nose'. It does by .*compass"):
        measured.reading("hrp2", "nose")
    rolled = rollout(simulation, [simulation.save_state()], 2, sensors=["hrp2/compass"])
    assert rolled.sensors["hrp2/compass"].shape == (1, 2, 3)


@pytest.mark.feature("000-F006", "000-F147")
def test_a_robots_file_names_the_sensor_once_it_is_known(tmp_path):
    urdf = '<robot name="r"><link name="body"/></robot>'
    text = "sensors: {compass: {type: magnetometer, link: body, noise: {field: {bias: [1.0e-6, 0, 0]}}}}"
    (tmp_path / "r.yaml").write_text(text)
    with pytest.raises(InputError, match=r"is 'magnetometer'. Use one of imu, force_torque, camera"):
        read_robot_file(tmp_path / "r.yaml", read_urdf(urdf))
    magnetometer.register()
    compass = read_robot_file(tmp_path / "r.yaml", read_urdf(urdf)).sensors["compass"]
    assert compass.type == "magnetometer"
    assert compass.noise["field"].bias == (1e-6, 0.0, 0.0)
    with pytest.raises(InputError, match="there are sensors of type 'magnetometer' already"):
        magnetometer.register()


@pytest.mark.feature("000-F006", "000-F147")
@pytest.mark.parametrize("quantities", [{}, {"field": 0}])
def test_a_sensor_measures_something(quantities):
    class Nothing(magnetometer.Magnetometer):
        name = "nothing"

    Nothing.quantities = quantities
    with pytest.raises(InputError, match="quantities are"):
        register_sensor(Nothing())


def test_the_node_can_send_what_the_sensor_reads():
    messages = pytest.importorskip("sensor_msgs.msg")
    message = messages.MagneticField()
    magnetometer.Magnetometer().fill(message, {"field": np.array([1.0, 2.0, 3.0])})
    assert (message.magnetic_field.x, message.magnetic_field.y, message.magnetic_field.z) == (1.0, 2.0, 3.0)


@pytest.mark.feature("000-F025")
def test_a_contact_solver_finds_the_forces_of_the_default():
    projected_gradient.register()
    rng = np.random.default_rng(3)
    A = rng.normal(size=(12, 30))
    problem = ContactProblem(A @ A.T / 30 + 0.5 * np.eye(12), rng.normal(size=12) - np.tile([1.0, 0.0, 0.0], 4), 0.5)
    found = solve_contacts(problem, "projected_gradient", tolerance=1e-10, max_iterations=20000)
    assert found.status is ContactStatus.CONVERGED
    assert_allclose(found.impulses, solve_contacts(problem, tolerance=1e-12).impulses, atol=1e-8)


@pytest.mark.feature("000-F006", "000-F025")
@pytest.mark.parametrize("speed", [0.05, 0.3, 2.0])
def test_a_friction_law_brakes_a_block_as_its_curve_says(speed):
    """One contact under its weight: the slip at the end solves v = v0 - g dt mu(v)."""
    stribeck.register()
    dt, mass, mu = 1e-3, 2.0, 0.6
    problem = ContactProblem(dt / mass * np.eye(3), [-9.81 * dt, 0.6 * speed, 0.8 * speed], mu)
    found = solve_contacts(problem, "stribeck", tolerance=1e-10)
    slip = brentq(lambda v: v - speed + 9.81 * dt * mu * (1 - 0.3 * (1 - np.exp(-v / 0.1))), 0.0, speed, xtol=1e-14)
    assert found.status is ContactStatus.APPROXIMATE  # another law than Coulomb's
    assert_allclose(found.velocities[0], [0.0, 0.6 * slip, 0.8 * slip], atol=1e-9)
    assert_allclose(found.impulses[0, 0], mass * 9.81, rtol=1e-9)


def test_a_simulation_takes_the_friction_law_by_its_name():
    stribeck.register()
    robot = load_robot("hrp2")
    simulation = Simulation(scene(floor(), robots=(standing(robot),), friction=0.8), method="stribeck")
    simulation.run(0.02)
    assert simulation.method == "stribeck"
    assert simulation.contacts.force[:, 2].sum() == pytest.approx(robot.total_mass * 9.81, rel=0.05)


@pytest.mark.feature("002-F033")
def test_a_mad_file_has_a_screw(tmp_path):
    """A nut that begins 10 mm up slides by 5 mm for a turn, from where the file has it."""
    text = """RAFF v1.1 nut
robot nut {
  base { }
  link 1 { parameters { theta 90 r 0 alpha 0 d 0 } type 2 pred 0 }
  link 2 { parameters { theta 0 r 10 alpha 0 d 0 } type 1 pred 1 }
  screw ( 1 2 5.0 )
}
"""
    (tmp_path / "nut.mad").write_text(text)
    with pytest.raises(InputError, match="screw"):
        load_mechanism(tmp_path / "nut.mad")
    screw.register()
    mechanism = load_mechanism(tmp_path / "nut.mad")
    solver = MechanismSolver(mechanism)
    angle = mechanism.robot.index_q("joint_1")
    assert mechanism.initial[angle] == pytest.approx(np.pi / 2)
    for turns in (0.1, 0.2, 0.25):
        for _ in range(30):
            solver.command(JointGoal("joint_1", np.pi / 2 + turns * 2 * np.pi))
        q = solver.q
        moved = (q[angle] - np.pi / 2) / (2 * np.pi)
        assert moved == pytest.approx(turns, abs=1e-3)
        assert q[mechanism.robot.index_q("joint_2")] == pytest.approx(0.010 + 0.005 * moved, abs=1e-9)
    with pytest.raises(InputError, match="MAD has the keyword 'screw' already"):
        screw.register()


def slopes(function, state, x, h=1e-6):
    """Central differences of a function of the state by its variables, in rows by variable."""
    rows = []
    for e in h * np.eye(len(x)):
        state.set(x + e)
        ahead = np.array(function(state), dtype=float)
        state.set(x - e)
        rows.append((ahead - function(state)) / (2 * h))
    state.set(x)
    return np.array(rows)


@pytest.mark.feature("001-F045", "001-F152")
def test_derivatives_of_a_task_and_of_a_potential_are_their_slopes():
    robot = load_robot("hrp2")
    kinematics = RobotKinematics(robot)
    state = PostureState(kinematics, ForceModel(kinematics, (), (), np.array([0, 0, -9.81])))
    x = kinematics.coordinates(robot.postures["half_sitting"])
    x = x + np.random.default_rng(2).normal(size=len(x), scale=0.1)
    task, potential = LinksApart("RARM_LINK6", "LARM_LINK6", 0.5), HeightOf("WAIST", 1.2)
    state.set(x)
    J, g, H = task.jacobian(state), potential.gradient(state), potential.hessian(state)
    assert_allclose(J[0], slopes(task.value, state, x)[:, 0], atol=1e-7)
    assert_allclose(g, slopes(potential.value, state, x), atol=1e-7)
    assert np.abs(J).max() > 0.1
    assert np.abs(g).max() > 0.1
    assert np.linalg.eigvalsh(H).min() > -1e-9
    assert_allclose(H, 2 * np.outer(g, g) / (4 * potential.value(state)), atol=1e-9)


@pytest.mark.feature("001-F174")
def test_a_term_counts_the_contacts_of_a_stance_on_a_surface():
    soles = ["left_sole", "right_sole"]
    couples = Couples(load_robot("hrp2"), load_scene("can_on_table"), soles, ["platform", "table_top"])
    holds = [("left_sole", "platform"), ("right_sole", "table_top")]
    stance = PlannedStance(tuple(Hold(couples.number_of(*names), 0.0, 0.0, 0.0, Role.BEARING) for names in holds))
    assert SurfacePenalty("platform", 0.5).value(stance, couples) == 0.5
    assert SurfacePenalty("wall", 0.5).value(stance, couples) == 0.0


INSTALLED = """
from pathlib import Path
from humanoid_kinematics.mad.load import EXTENSIONS, load_mechanism
from humanoid_model.robot_file import read_robot_file
from humanoid_model.urdf import read_urdf
from humanoid_sim.contact.solve import solver_names

sensor = read_robot_file(Path("r.yaml"), read_urdf('<robot name="r"><link name="body"/></robot>')).sensors["compass"]
load_mechanism("fourbar")
print(sensor.type, "stribeck" in solver_names(), EXTENSIONS[-1].keyword)
"""
PANELS = """
from humanoid_ros.viewer.feature import FEATURES, known_features

FEATURES.clear()
print([kind("the view") for kind in known_features()])
"""


def installed(folder, code):
    """What a program prints beside a package whose entry points are those of docs/extending.md."""
    points = {
        "sensors": "examples.extending.magnetometer:register",
        "contact_solvers": "examples.extending.stribeck:register",
        "mad_statements": "examples.extending.screw:register",
        "panels": "mine:register",
    }
    (folder / "mine.py").write_text(
        "from humanoid_ros.viewer import register_feature\n\ndef register():\n    register_feature(str.upper)\n"
    )
    information = folder / "mine-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    lines = [f"[humanoid_stack.{group}]\nmine = {function}\n" for group, function in points.items()]
    (information / "entry_points.txt").write_text("".join(lines))
    (folder / "r.yaml").write_text("sensors: {compass: {type: magnetometer, link: body}}")
    path = os.pathsep.join([str(folder), str(ROOT), os.environ.get("PYTHONPATH", "")])
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.feature("000-F006", "000-F007")
def test_what_an_installed_package_registers_is_found(tmp_path):
    assert installed(tmp_path, INSTALLED) == "magnetometer True screw"


@pytest.mark.ros
@pytest.mark.feature("000-F006")
def test_the_page_has_the_panels_of_an_installed_package(tmp_path):
    pytest.importorskip("rclpy")
    assert installed(tmp_path, PANELS) == "['THE VIEW']"
