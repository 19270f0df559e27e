# SPDX-License-Identifier: Apache-2.0
"""Joint limits, dry friction, loops and laws beyond Coulomb's in the running simulation, against closed forms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import ball, body, box, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_model import load_robot
from humanoid_model.description import Box, Cylinder
from humanoid_model.errors import InputError, RobotError
from humanoid_model.scene import PairRule, SceneRobot
from humanoid_sim import Simulation

SLIDER = """<robot name="slider">
  <link name="rail"/>
  <link name="cart">
    <inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
  </link>
  <joint name="slide" type="prismatic">
    <parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
    <limit lower="-0.1" upper="0.1" effort="100" velocity="10"/><dynamics friction="{friction}" damping="0"/>
  </joint>
</robot>"""


def rod(name: str, length: float, mass: float) -> str:
    """A link whose rod lies along z below its frame."""
    inertia = mass * length**2 / 12.0
    return f"""<link name="{name}"><inertial><origin xyz="0 0 {-0.5 * length}"/><mass value="{mass}"/>
      <inertia ixx="{inertia}" ixy="0" ixz="0" iyy="{inertia}" iyz="0" izz="1e-5"/></inertial></link>"""


def pin_joint(name: str, parent: str, child: str, xyz: str) -> str:
    return f"""<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
      <origin xyz="{xyz}"/><axis xyz="0 1 0"/></joint>"""


def fixed_robot(folder: Path, name: str, urdf: str, yaml: str = "actuators: {}\nfloating_base: false\n") -> SceneRobot:
    """A robot bolted to the world, none of whose joints is driven."""
    (folder / f"{name}.urdf").write_text(urdf)
    (folder / f"{name}.yaml").write_text(yaml)
    robot = load_robot(folder / f"{name}.urdf")
    return SceneRobot(name, robot, "zero", pin.SE3.Identity(), robot.postures["zero"])


@pytest.mark.feature("000-F163")
def test_a_joint_stops_at_its_limit(tmp_path: Path) -> None:
    """The end stop gives exactly the force that holds the cart; it lets go at once."""
    simulation = Simulation(scene(robots=(fixed_robot(tmp_path, "slider", SLIDER.format(friction=0)),)))
    robot = simulation.robots["slider"]
    simulation.apply_wrench("slider/cart", [30.0, 0.0, 0.0], duration=0.5)
    simulation.run(0.5)
    assert robot.q[0] == pytest.approx(0.1, abs=1e-9)
    assert abs(robot.v[0]) < 1e-12
    assert_allclose(simulation.constraint_efforts, [-30.0], atol=1e-6)
    simulation.apply_wrench("slider/cart", [-30.0, 0.0, 0.0], duration=0.01)
    simulation.run(0.01)
    assert robot.v[0] == pytest.approx(-15.0 * 0.01, rel=1e-9)
    simulation.run(2.0)
    assert robot.q[0] == pytest.approx(-0.1, abs=1e-9)


def test_a_joint_beyond_its_limit_comes_back_without_a_kick(tmp_path: Path) -> None:
    simulation = Simulation(scene(robots=(fixed_robot(tmp_path, "slider", SLIDER.format(friction=0)),)))
    robot = simulation.robots["slider"]
    robot.set_state([0.13])
    simulation.run(1.0)
    assert robot.q[0] == pytest.approx(0.1, abs=2e-6)
    assert abs(robot.v[0]) < 1e-9


@pytest.mark.feature("000-F144")
def test_dry_friction_holds_and_lets_go(tmp_path: Path) -> None:
    simulation = Simulation(scene(robots=(fixed_robot(tmp_path, "slider", SLIDER.format(friction=8)),)))
    robot = simulation.robots["slider"]
    simulation.apply_wrench("slider/cart", [7.9, 0.0, 0.0], duration=1.0)
    simulation.run(1.0)
    assert abs(robot.q[0]) < 1e-12
    simulation.apply_wrench("slider/cart", [10.0, 0.0, 0.0], duration=0.1)
    simulation.run(0.1)
    assert robot.v[0] == pytest.approx((10.0 - 8.0) / 2.0 * 0.1, rel=1e-9)
    simulation.run(0.025)
    assert abs(robot.v[0]) < 1e-12  # it stops, and stays


FOUR_BAR = (
    '<robot name="four_bar"><link name="ground"/>'
    + rod("crank", 0.3, 0.4)
    + rod("rocker", 0.3, 0.4)
    + rod("coupler", 0.5, 0.6)
    + pin_joint("left", "ground", "crank", "0 0 1")
    + pin_joint("right", "ground", "rocker", "0.5 0 1")
    + """<joint name="elbow" type="continuous"><parent link="crank"/><child link="coupler"/>
      <origin xyz="0 0 -0.3" rpy="0 -1.5707963267948966 0"/><axis xyz="0 1 0"/></joint></robot>"""
)
PARALLELOGRAM_LOOP = """actuators: {}
floating_base: false
loops:
  far_elbow:
    a: {link: coupler, xyz: [0, 0, -0.5]}
    b: {link: rocker, xyz: [0, 0, -0.3]}
    rows: [%s]
"""


@pytest.mark.parametrize("rows", ["x, z", "x, y, z", "x, y, z, rx, rz"])
def test_a_parallelogram_swings_like_its_pendulum(tmp_path: Path, rows: str) -> None:
    """Cranks of equal length: the coupler only translates, so that the loop is one compound pendulum.

    In three dimensions the rows out of the plane are redundant. The loop must stay closed all the time.
    """
    placed = fixed_robot(tmp_path, "four_bar", FOUR_BAR, PARALLELOGRAM_LOOP % rows)
    simulation = Simulation(scene(robots=(placed,)), dt=2.5e-4)
    robot = simulation.robots["four_bar"]
    angle = 0.6
    index = [placed.robot.index_q(name) for name in ("left", "right", "elbow")]
    q = np.zeros(3)
    q[index[0]] = q[index[1]] = angle
    q[index[2]] = -angle
    robot.set_state(q)
    # I alpha = -m g l sin: two rods about their ends, the coupler's mass at the end of the crank
    inertia = 2.0 * 0.4 * 0.3**2 / 3.0 + 0.6 * 0.3**2
    moment = (2.0 * 0.4 * 0.15 + 0.6 * 0.3) * 9.8
    theta, omega, dt = angle, 0.0, simulation.dt
    energy = simulation.energy().total
    for _ in range(4000):
        simulation.step()
        omega -= dt * moment / inertia * np.sin(theta)
        theta += dt * omega
    assert robot.q[index[0]] == pytest.approx(theta, abs=2e-3)
    assert robot.q[index[1]] == pytest.approx(robot.q[index[0]], abs=1e-6)
    gap = (
        robot.placement("coupler").act(np.array([0, 0, -0.5])) - robot.placement("rocker").act(np.array([0, 0, -0.3]))
    )
    assert np.linalg.norm(gap) < 1e-6
    assert simulation.energy().total == pytest.approx(energy, abs=2e-3 * moment)


def test_loops_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RobotError, match=r"unknown|no link"):
        fixed_robot(tmp_path, "four_bar", FOUR_BAR, PARALLELOGRAM_LOOP.replace("rocker", "pedal") % "x")
    with pytest.raises(RobotError, match="joins 'coupler' with itself"):
        fixed_robot(tmp_path, "four_bar", FOUR_BAR, PARALLELOGRAM_LOOP.replace("rocker", "coupler") % "x")


def test_a_weld_hangs_a_body_on_another(tmp_path: Path) -> None:
    """A bar on one pin, welded to the ground at its far end: the weld takes what statics says."""
    urdf = (
        '<robot name="bar"><link name="ground"/>' + rod("bar", 1.0, 3.0)
        + pin_joint("hinge", "ground", "bar", "0 0 0") + "</robot>"
    )  # fmt: skip
    loop = """actuators: {}
floating_base: false
loops:
  weld:
    a: {link: bar, xyz: [0, 0, -1]}
    b: {link: ground, xyz: [-1, 0, 0], rpy: [0, 1.5707963267948966, 0]}
    rows: [x, y, z, rx, ry, rz]
"""
    placed = fixed_robot(tmp_path, "bar", urdf, loop)
    simulation = Simulation(scene(robots=(placed,)))
    simulation.robots["bar"].set_state([np.pi / 2.0])  # the bar lies along -x
    simulation.run(0.2)
    assert simulation.robots["bar"].q[0] == pytest.approx(np.pi / 2.0, abs=1e-9)
    assert abs(simulation.robots["bar"].v[0]) < 1e-9


@pytest.mark.feature("000-F070")
def test_static_friction_is_higher_than_dynamic(tmp_path: Path) -> None:
    """A block sticks up to mu_s, then slides with mu_d (F070)."""
    rule = PairRule("block", "floor", friction=0.5, dynamic_friction=0.3)
    simulation = Simulation(scene(floor(), box("block", (0.2, 0.2, 0.1), place(0, 0, 0.05), 2.0), rules=(rule,)))
    weight = 2.0 * 9.8
    simulation.apply_wrench("block", [0.49 * weight, 0, 0], point=[0, 0, 0.0], duration=0.2)
    simulation.run(0.2)
    assert abs(simulation.bodies["block"].placement_world_body.translation[0]) < 1e-9
    simulation.apply_wrench("block", [0.52 * weight, 0, 0], point=[0, 0, 0.0], duration=1.0)
    simulation.run(0.6)
    before = simulation.bodies["block"].twist[0]
    simulation.run(0.1)
    assert (simulation.bodies["block"].twist[0] - before) / 0.1 == pytest.approx((0.52 - 0.3) * 9.8, rel=1e-3)


@pytest.mark.feature("000-F071")
def test_a_disc_spins_down_by_torsional_friction() -> None:
    """A ball on the floor has one contact: only torsional friction brakes its spin, by c f_n (F071)."""
    rule = PairRule("ball", "floor", torsional_friction=0.004)
    turning = ball("ball", 0.1, place(0, 0, 0.1), 2.0, twist=np.array([0, 0, 0, 0, 0, 20.0]))
    simulation = Simulation(scene(floor(), turning, rules=(rule,)))
    simulation.run(0.1)
    deceleration = 0.004 * 2.0 * 9.8 / (0.4 * 2.0 * 0.1**2)
    assert simulation.bodies["ball"].twist[5] == pytest.approx(20.0 - deceleration * 0.1, rel=1e-6)
    assert simulation.contacts.torque[0, 2] == pytest.approx(-0.004 * 2.0 * 9.8, rel=1e-6)
    simulation.run(5.0)
    assert np.abs(simulation.bodies["ball"].twist).max() < 1e-9


@pytest.mark.feature("000-F071")
@pytest.mark.parametrize(
    ("shape", "corner", "more_than_uniform"),
    [
        (Cylinder(0.1, 0.04), 0.1, 1.5),
        (Box(np.array([0.2, 0.2, 0.04])), np.hypot(0.1, 0.1), 1.85),
        (Box(np.array([0.3, 0.1, 0.04])), np.hypot(0.15, 0.05), 1.92),
    ],
)
def test_what_lies_flat_turns_against_the_friction_of_its_corners(
    shape: Cylinder | Box, corner: float, more_than_uniform: float
) -> None:
    """The pressure is where the support ends: docs/scenes.md tells how much more that holds than a uniform one."""
    inertia = 0.02 * np.eye(3)
    turning = body("it", shape, 2.0, inertia, place(0, 0, 0.02), twist=np.array([0, 0, 0, 0, 0, 20.0]))
    simulation = Simulation(scene(floor(), turning, friction=0.5))
    simulation.run(0.02)
    before = simulation.bodies["it"].twist[5]
    simulation.run(0.02)
    arm = 0.02 * (before - simulation.bodies["it"].twist[5]) / 0.02 / (0.5 * 2.0 * 9.8)
    assert arm == pytest.approx(corner, rel=5e-3)
    if isinstance(shape, Cylinder):
        uniform = 2.0 / 3.0 * shape.radius
    else:
        x, y = (np.linspace(-0.5, 0.5, 401)[1::2] * side for side in shape.size[:2])
        uniform = float(np.hypot(x[:, None], y).mean())
    assert arm / uniform == pytest.approx(more_than_uniform, rel=5e-3)


@pytest.mark.feature("000-F071")
def test_a_rolling_ball_is_braked_by_rolling_friction() -> None:
    """Rolling without slip: deceleration c g / (R (1 + 2/5)), then rest."""
    rule = PairRule("ball", "floor", friction=0.8, rolling_friction=0.002)
    rolling = ball("ball", 0.1, place(0, 0, 0.1), 2.0, twist=np.array([1.0, 0, 0, 0, 10.0, 0]))
    simulation = Simulation(scene(floor(), rolling, rules=(rule,)))
    simulation.run(1.0)
    assert np.linalg.norm(simulation.v[:3]) == pytest.approx(1.0 - 0.002 * 9.8 / 0.1 / 1.4, rel=1e-3)
    simulation.run(12.0)
    assert np.abs(simulation.v).max() < 1e-9


@pytest.mark.feature("000-F071")
def test_viscous_friction_brakes_in_proportion() -> None:
    """On ice only the viscous term acts: the speed decays exponentially."""
    rule = PairRule("block", "floor", friction=0.0, viscous_friction=1.5)
    sliding = box("block", (0.4, 0.4, 0.02), place(0, 0, 0.01), 2.0, twist=np.array([1.0, 0, 0, 0, 0, 0]))
    simulation = Simulation(scene(floor(), sliding, rules=(rule,)))
    simulation.run(0.5)
    # four corners, implicit steps
    assert simulation.v[0] == pytest.approx((1.0 + 1e-3 * 4 * 1.5 / 2.0) ** -500, rel=1e-3)


@pytest.mark.feature("000-F072")
def test_compliant_contacts_yield_by_their_compliance() -> None:
    """Four corners that give way by 1e-6 m/N each: a box of 40 N sinks by 10 micrometres (F072)."""
    rule = PairRule("block", "floor", compliance=1e-6)
    simulation = Simulation(scene(floor(), box("block", (0.2, 0.2, 0.1), place(0, 0, 0.05), 4.0), rules=(rule,)))
    simulation.run(1.0)
    depth = 0.05 - simulation.bodies["block"].placement_world_body.translation[2]
    assert depth == pytest.approx(4.0 * 9.8 / 4.0 * 1e-6, rel=0.02)
    assert_allclose(simulation.contacts.normal_force.sum(), 4.0 * 9.8, rtol=1e-6)


@pytest.mark.feature("000-F099")
def test_groups_are_solved_apart() -> None:
    """Boxes that don't touch each other get operators of their own, of the same forces as alone (E7)."""
    boxes = [box(f"box{i}", (0.2, 0.2, 0.1), place(i, 0, 0.05), 1.0 + i) for i in range(5)]
    simulation = Simulation(scene(floor(), *boxes))
    simulation.run(0.01)
    groups = simulation.stepping.stepper.groups
    assert groups.counts[0] == 5
    assert groups.counts[3] == 5 * 12 * 12
    forces = simulation.contacts
    for i, single in enumerate(boxes):
        own = [k for k, pair in enumerate(forces.bodies) if f"box{i}" in pair]
        assert_allclose(forces.normal_force[own].sum(), 9.8 * (1.0 + i), rtol=1e-9)
        assert single.name == f"box{i}"
    stacked = [box(f"box{i}", (0.2, 0.2, 0.1), place(0, 0, 0.05 + 0.1 * i)) for i in range(3)]
    simulation = Simulation(scene(floor(), *stacked))
    simulation.run(0.01)
    assert simulation.stepping.stepper.groups.counts[0] == 1


@pytest.mark.feature("000-F094")
@pytest.mark.parametrize("delassus", ["unit_forces", "chang_khatib", "unit_wrenches"])
def test_all_ways_to_the_operator_give_the_same_motion(delassus: str) -> None:
    reference, other = Simulation("stand"), Simulation("stand", delassus=delassus)
    for simulation in (reference, other):
        simulation.apply_wrench("hrp2/CHEST_LINK1", [60.0, 30.0, 0.0], duration=0.05)
        simulation.run(0.2)
    assert_allclose(other.q, reference.q, atol=1e-8)


@pytest.mark.feature("000-F090")
@pytest.mark.parametrize(("name", "duration"), [("stand", 0.1), ("boxes", 0.03)])
def test_pinocchios_matrices_give_the_same_motion(name: str, duration: float) -> None:
    reference, plain = Simulation(name), Simulation(name, dynamics="pinocchio")
    for simulation in (reference, plain):
        if name == "stand":
            simulation.apply_wrench("hrp2/CHEST_LINK1", [60.0, 30.0, 0.0], duration=0.05)
        simulation.run(duration)
    assert_allclose(plain.q, reference.q, atol=1e-8)
    assert_allclose(plain.contacts.force.sum(axis=0), reference.contacts.force.sum(axis=0), atol=1e-4)


def test_what_rests_needs_no_operator() -> None:
    """Forces that still solve the next step are kept without an operator; a push brings it back."""
    resting, reference = Simulation("stand"), Simulation("stand", dynamics="pinocchio")
    for simulation in (resting, reference):
        simulation.run(1.0)
    W = resting.stepping.stepper.groups.W
    W[:] = np.nan
    forces = resting.contacts.force
    resting.step()
    assert np.isnan(W).all()
    assert_allclose(resting.contacts.force, forces, atol=1e-5)
    resting.run(0.05)
    reference.run(0.051)
    assert_allclose(resting.q, reference.q, atol=1e-8)
    resting.apply_wrench("hrp2/CHEST_LINK1", [60.0, 0.0, 0.0], duration=0.05)
    resting.step()
    assert np.isfinite(W[: 24 * 24]).all()
    assert resting.solver is not None
    assert resting.solver.residuals.natural_map <= 1e-9


@pytest.mark.parametrize("method", ["nsgs", "projection", "alart_curnier_global", "jacobi"])
def test_solvers_of_contacts_alone_take_turns_with_the_other_laws(method: str) -> None:
    """A ball that rolls and spins with torsional and rolling friction moves the same whoever solves its contact."""
    rule = PairRule("ball", "floor", friction=0.8, torsional_friction=0.004, rolling_friction=0.002)
    turning = ball("ball", 0.1, place(0, 0, 0.1), 2.0, twist=np.array([1.0, 0, 0, 0, 10.0, 20.0]))
    reference, other = (
        Simulation(scene(floor(), turning, rules=(rule,)), method=name) for name in ("nsgs_newton", method)
    )
    for simulation in (reference, other):
        simulation.run(0.3)
    assert other.v[5] < 19.0
    assert_allclose(other.v, reference.v, atol=1e-8)


def test_dry_friction_beside_another_solver(tmp_path: Path) -> None:
    """No contact at all: what is left is the other law."""
    placed = fixed_robot(tmp_path, "slider", SLIDER.format(friction=8))
    simulation = Simulation(scene(robots=(placed,)), method="projection")
    simulation.apply_wrench("slider/cart", [10.0, 0.0, 0.0], duration=0.1)
    simulation.run(0.1)
    assert simulation.robots["slider"].v[0] == pytest.approx((10.0 - 8.0) / 2.0 * 0.1, rel=1e-6)


def test_the_contact_problem_of_several_groups_is_the_one_that_was_solved() -> None:
    boxes = [box(f"box{i}", (0.2, 0.2, 0.1), place(i, 0, 0.05), 1.0 + i) for i in range(3)]
    simulation = Simulation(scene(floor(), *boxes))
    simulation.run(0.01)
    problem, contacts = simulation.contact_problem, simulation.contacts
    assert problem is not None
    # the floor's frames: the normal comes first; friction carries nothing here
    forces = np.zeros(3 * len(contacts))
    forces[::3] = contacts.normal_force
    assert_allclose((problem.W @ forces + problem.v_free)[::3], 0.0, atol=1e-12)
    groups = [int(pair[0][-1]) for pair in contacts.bodies]
    for i, a in enumerate(groups):
        for j, b in enumerate(groups):
            assert bool(problem.W[3 * i : 3 * i + 3, 3 * j : 3 * j + 3].any()) == (a == b)


def test_unknown_dynamics_and_operators_are_named() -> None:
    with pytest.raises(InputError, match=r"dynamics: is 'newton'.*articulated_body, pinocchio"):
        Simulation("stand", dynamics="newton")
    with pytest.raises(InputError, match="delassus: is 'fast'"):
        Simulation("stand", delassus="fast")


def test_a_cylinder_is_told_apart_from_its_rim() -> None:
    """Spin of an upright cylinder: its rim's points brake it by Coulomb friction alone."""
    inertia = np.diag([1.0, 1.0, 0.5 * 2.0 * 0.1**2])
    disc = body("disc", Cylinder(0.1, 0.05), 2.0, inertia, place(0, 0, 0.025), twist=np.array([0, 0, 0, 0, 0, 30.0]))
    simulation = Simulation(scene(floor(), disc))
    simulation.run(0.1)
    deceleration = 0.4 * 2.0 * 9.8 * 0.1 / inertia[2, 2]
    assert simulation.bodies["disc"].twist[5] == pytest.approx(30.0 - 0.1 * deceleration, rel=1e-3)
