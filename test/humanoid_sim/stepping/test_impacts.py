# SPDX-License-Identifier: Apache-2.0
"""Impacts as a stage of their own (specification 000 §8.1, features F065 to F068): closed forms, dense matrices."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import ball, body, box, floor, place, scene, standing
from numpy.testing import assert_allclose
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from humanoid_model import load_robot
from humanoid_model.description import Box, Sphere
from humanoid_model.errors import InputError
from humanoid_model.scene import PairRule, Scene, SceneRobot
from humanoid_model.scene_file import load_scene
from humanoid_sim import Simulation

WEIGHTLESS = (0.0, 0.0, 0.0)


def moving(*linear: float) -> np.ndarray:
    return np.array([*linear, 0.0, 0.0, 0.0])


def separate(of: Scene, dt: float = 1e-3, **options: object) -> Simulation:
    return Simulation(of, dt=dt, impacts="separate", **options)


def velocity_after_impacts(simulation: Simulation) -> np.ndarray:
    """Of all joints, before gravity, servos and contacts acted in the last step."""
    return simulation.stepping.stepper.state.v.copy()


def normal_rows(simulation: Simulation, q: np.ndarray) -> np.ndarray:
    """Normal Jacobian of the contacts of the last step by Pinocchio, shape (m, nv)."""
    model, contacts = simulation.world.model, simulation.contacts
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    rows = np.zeros((len(contacts.gap), model.nv))
    for i, names in enumerate(contacts.bodies):
        for sign, name in zip((1.0, -1.0), names, strict=True):
            joint = simulation.world.bodies[simulation.world.index[name]].joint
            if joint > 0:
                J = pin.getJointJacobian(model, data, joint, pin.WORLD)
                rows[i] += sign * contacts.normal[i] @ (J[:3] + np.cross(J[3:].T, contacts.position[i]).T)
    return rows


def dense_impact(M: np.ndarray, J: np.ndarray, v: np.ndarray, e: float) -> np.ndarray:
    """Velocity after (3.7) and (3.9) as a least-squares problem with non-negative impulses: unique for any J."""
    L = cholesky(M, lower=True)
    columns = solve_triangular(L, J.T, lower=True)
    impulses, _ = nnls(columns, -(1.0 + e) * L.T @ v, maxiter=10_000)
    return v + np.linalg.solve(M, J.T @ impulses)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_flat_box(e: float) -> None:
    """N7: the impulses sum to (1 + e) m v; the velocities of the corners and of the box agree (3.8, 3.9)."""
    falling = box("box", (0.5, 0.5, 0.1), place(0, 0, 0.05), mass=2.0, twist=moving(0, 0, -3.0))
    simulation = separate(scene(floor(), falling, restitution=e))
    simulation.step()
    impacts = simulation.impacts
    assert impacts.impulse.sum() == pytest.approx((1.0 + e) * 2.0 * 3.0, rel=1e-12)
    assert_allclose(impacts.approach, -3.0, atol=1e-12)
    assert_allclose(impacts.rebound, 3.0 * e, atol=1e-12)
    assert_allclose(impacts.restitution, e)
    assert_allclose(velocity_after_impacts(simulation), moving(0, 0, 3.0 * e), atol=1e-12)
    assert set(impacts.bodies) == {("box", "floor")}
    assert_allclose(impacts.normal, np.tile([0, 0, 1.0], (len(impacts), 1)), atol=1e-12)
    assert impacts.residual < 1e-9


@pytest.mark.parametrize("e", [0.0, 0.7, 1.0])
def test_rod_at_one_end(e: float) -> None:
    """N8: impulse (1 + e) m v / 4 on a rod of length l; it leaves turning at 6 p / (m l)."""
    m, length, speed = 3.0, 1.0, 2.0
    inertia = m * length**2 / 12.0 * np.diag([1e-3, 1.0, 1.0])
    rod = body("rod", Box(np.array([1.2, 0.02, 0.02])), m, inertia, place(0, 0, 0.11), moving(0, 0, -speed))
    post = body("post", Sphere(0.1), 0.0, np.zeros((3, 3)), place(0.5 * length, 0, 0))
    simulation = separate(scene(rod, post, restitution=e, gravity=WEIGHTLESS))
    simulation.step()
    impulse = (1.0 + e) * m * speed / 4.0
    assert_allclose(simulation.impacts.impulse, [impulse], rtol=1e-9)
    assert_allclose(simulation.impacts.rebound, [e * speed], atol=1e-9)
    after = velocity_after_impacts(simulation)
    assert after[2] == pytest.approx(impulse / m - speed, rel=1e-9)
    assert abs(after[4]) == pytest.approx(6.0 * impulse / (m * length), rel=1e-9)


@pytest.mark.feature("000-F067")
def test_bounces_reach_e_squared() -> None:
    """N17: from 1 m with e = 0.8 to 0.64 and 0.4096, within the way of one step."""
    dropped = ball("ball", 0.1, place(0, 0, 1.1))
    simulation = separate(scene(floor(), dropped, restitution=0.8, gravity=(0, 0, -9.81)), dt=1e-4)
    heights: list[float] = []
    simulation.run(1.6, lambda s: heights.append(s.q[2] - 0.1))
    z = np.array(heights)
    tops = z[1:-1][(z[1:-1] > z[:-2]) & (z[1:-1] >= z[2:])]
    assert_allclose(tops, [0.64, 0.4096], atol=1e-4 * 4.43)
    assert z.min() > -1e-9


@pytest.mark.parametrize(("gap", "after"), [(0.0, [-1 / 3, 2 / 3, 2 / 3]), (1e-4, [0, 0, 1]), (5e-3, [0, 0, 1])])
def test_row_of_balls(gap: float, after: list[float]) -> None:
    """Balls that touch are struck at once, (3.7) for both; with the least gap one after the other, within one step.

    A gap of more than a step's travel takes several.
    """
    row = [
        ball(f"b{i}", 0.1, place((0.2 + gap) * i, 0, 0), twist=moving(0.0 if i else 1.0, 0, 0)) for i in range(3)
    ]
    simulation = separate(scene(*row, restitution=1.0, gravity=WEIGHTLESS))
    for _ in range(12 if gap > 1e-3 else 1):
        simulation.step()
    # the contact law counts a nanometre as touching: 1e-6 of the way of a step
    assert_allclose(simulation.v.reshape(3, 6)[:, 0], after, atol=2e-6 if gap > 1e-3 else 1e-9)
    assert simulation.energy().kinetic == pytest.approx(0.5, rel=2e-6 if gap > 1e-3 else 1e-9)


def test_what_is_thrown_in_a_step_meets_what_was_out_of_reach() -> None:
    """At 10 m/s a ball crosses 5 mm within the step: contacts are looked for again after the first blow."""
    row = [
        ball(f"b{i}", 0.1, place(x, 0, 0), twist=moving(0.0 if i else 10.0, 0, 0))
        for i, x in enumerate((0.0, 0.2, 0.405))
    ]
    simulation = separate(scene(*row, restitution=1.0, gravity=WEIGHTLESS))
    simulation.step()
    assert simulation.impacts.rounds == 2
    assert_allclose(simulation.v.reshape(3, 6)[:, 0], [0, 0, 10], atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_two_bodies_that_collide_keep_their_momentum(seed: int) -> None:
    """Turned boxes: momentum, moment of momentum, and Newton's law at each point that pushes; no energy is gained."""
    rng = np.random.default_rng(seed)
    e = rng.uniform(0.1, 1.0)
    boxes = [
        box(
            name, tuple(rng.uniform(0.1, 0.3, 3)), place(x, 0, 0, *rng.uniform(-1, 1, 3)), rng.uniform(0.5, 5.0),
            twist=np.concatenate([np.zeros(3), rng.uniform(-3, 3, 3)]),
        )
        for name, x in (("a", -0.4), ("b", 0.4))
    ]  # fmt: skip
    simulation = separate(scene(*boxes, restitution=e, gravity=WEIGHTLESS))
    simulation.v[0] = 4.0
    model = simulation.world.model

    def momentum(v: np.ndarray) -> np.ndarray:
        data = model.createData()
        pin.computeCentroidalMomentum(model, data, simulation.q_before, v)
        total = data.hg.vector.copy()
        total[3:] += np.cross(data.com[0], total[:3])
        return total

    for _ in range(300):
        simulation.step()
        if len(simulation.impacts):
            break
    impacts, after = simulation.impacts, velocity_after_impacts(simulation)
    assert len(impacts) > 0
    assert_allclose(momentum(after), momentum(simulation.v_before), atol=1e-9)
    if impacts.rounds == 1:
        assert_allclose(impacts.rebound, -e * impacts.approach, atol=1e-9)
    M = pin.crba(model, model.createData(), simulation.q_before, pin.Convention.WORLD)
    M = np.triu(M) + np.triu(M, 1).T
    assert after @ M @ after <= simulation.v_before @ M @ simulation.v_before * (1.0 + 1e-12)


def dropped_robot(e: float) -> Simulation:
    robot = load_robot("hrp2")
    simulation = separate(scene(floor(), robots=(standing(robot),), restitution=e))
    rng = np.random.default_rng(3)
    simulation.v[:] = rng.normal(0.0, 0.3, simulation.v.size)
    simulation.v[2] -= 1.5
    return simulation


@pytest.mark.feature("000-F066")
@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_a_robot_lands_as_the_dense_problem_says(e: float) -> None:
    """HRP-2 on eight points, all joints moving: velocities of all joints by Pinocchio's matrices (F066)."""
    simulation = dropped_robot(e)
    simulation.step()
    impacts, q, v = simulation.impacts, simulation.q_before, simulation.v_before
    assert len(impacts) >= 3
    M = pin.crba(simulation.world.model, simulation.world.model.createData(), q, pin.Convention.WORLD)
    M = np.triu(M) + np.triu(M, 1).T
    J = normal_rows(simulation, q)
    assert_allclose(simulation.contacts.gap, 0.0, atol=1e-9)  # all eight take part
    expected = dense_impact(M, J, v, e)
    if e > 0.0:  # what was parting before may approach now, and strikes in a second round
        for _ in range(impacts.rounds - 1):
            expected = dense_impact(M, J, expected, e)
    after = velocity_after_impacts(simulation)
    assert_allclose(after, expected, atol=1e-8 * np.abs(expected).max())
    assert (J @ after).min() > -0.02 - 1e-9
    assert after @ M @ after <= v @ M @ v * (1.0 + 1e-12)
    # the mean of the impulses is part of what the sensors feel: the effort of the base's translation
    total = sum(force for joint, force, _ in simulation.joint_wrenches() if joint > 0)
    model = simulation.world.model
    turning = simulation.stepping.stepper.flight.mean  # between after the impacts and the end of the step
    efforts = pin.rnea(model, model.createData(), q, turning, simulation.acceleration)
    assert_allclose(total, efforts[:3], atol=1e-7 * np.linalg.norm(total))


SLIDER = """<robot name="slider"><link name="rail"/>
  <link name="cart">
    <inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <joint name="slide" type="prismatic"><parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
    <limit lower="-0.1" upper="{upper}" effort="1e6" velocity="10"/><dynamics friction="500" damping="0"/></joint>
</robot>"""


def fixed_robot(folder: Path, name: str, urdf: str, yaml: str) -> SceneRobot:
    (folder / f"{name}.urdf").write_text(urdf)
    (folder / f"{name}.yaml").write_text(yaml + "floating_base: false\n")
    robot = load_robot(folder / f"{name}.urdf")
    return SceneRobot(name, robot, "zero", pin.SE3.Identity(), robot.postures["zero"])


@pytest.mark.parametrize(
    ("upper", "cart_after", "ball_after", "impulse", "stop"), [(0.1, 0.5, 0.0, 1.0, 0.0), (0.0, 0.0, -0.5, 1.5, -1.5)]
)
def test_end_stops_take_part_and_servos_do_not(
    tmp_path: Path, upper: float, cart_after: float, ball_after: float, impulse: float, stop: float
) -> None:
    """A cart of 2 kg on a stiff servo and dry friction is struck as if it were free; at its end stop, as a wall.

    e = 1/2 and 1 kg: the impulse is (1 + e) m_1 m_2 / (m_1 + m_2) = 1, and (1 + e) m_1 at the stop.
    """
    placed = fixed_robot(tmp_path, "slider", SLIDER.format(upper=upper), "actuators: {slide: {}}\n")
    thrown = ball("ball", 0.1, place(-0.2, 0, 0), 1.0, twist=moving(1.0, 0, 0))
    simulation = separate(scene(thrown, robots=(placed,), restitution=0.5, gravity=WEIGHTLESS))
    simulation.servos.stiffness[:], simulation.servos.damping[:] = 1e6, 1e3
    cart, thrown_ball = simulation.world.robots["slider"].v, simulation.world.free_bodies["ball"].v
    simulation.step()
    after = velocity_after_impacts(simulation)
    assert after[cart] == pytest.approx([cart_after], abs=1e-9)
    assert after[thrown_ball][0] == pytest.approx(ball_after, abs=1e-9)
    assert_allclose(simulation.impacts.impulse, [impulse], rtol=1e-9)
    own = simulation.stepping.stepper.state.thrusts[cart][0]  # without impacts: dry friction brakes afterwards
    assert (simulation.constraint_efforts[cart][0] - own) * simulation.dt == pytest.approx(stop, abs=1e-9)


def rod(name: str, length: float, mass: float, extra: str = "") -> str:
    inertia = mass * length**2 / 12.0
    return f"""<link name="{name}"><inertial><origin xyz="0 0 {-0.5 * length}"/><mass value="{mass}"/>
      <inertia ixx="{inertia}" ixy="0" ixz="0" iyy="{inertia}" iyz="0" izz="1e-5"/></inertial>{extra}</link>"""


def pin_joint(name: str, parent: str, child: str, xyz: str) -> str:
    return f"""<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>
      <origin xyz="{xyz}"/><axis xyz="0 1 0"/></joint>"""


def test_loops_take_part(tmp_path: Path) -> None:
    """A parallelogram hit at its rocker: all of its inertia answers, and the loop stays closed after the impact."""
    bumper = '<collision><origin xyz="0 0 -0.3"/><geometry><sphere radius="0.05"/></geometry></collision>'
    urdf = (
        '<robot name="four_bar"><link name="ground"/>' + rod("crank", 0.3, 0.4) + rod("rocker", 0.3, 0.4, bumper)
        + rod("coupler", 0.5, 0.6) + pin_joint("left", "ground", "crank", "0 0 1")
        + pin_joint("right", "ground", "rocker", "0.5 0 1")
        + """<joint name="elbow" type="continuous"><parent link="crank"/><child link="coupler"/>
          <origin xyz="0 0 -0.3" rpy="0 -1.5707963267948966 0"/><axis xyz="0 1 0"/></joint></robot>"""
    )  # fmt: skip
    loop = """actuators: {}
loops:
  far_elbow: {a: {link: coupler, xyz: [0, 0, -0.5]}, b: {link: rocker, xyz: [0, 0, -0.3]}, rows: [x, z]}
"""
    placed = fixed_robot(tmp_path, "four_bar", urdf, loop)
    m, e, speed = 1.5, 0.6, 2.0
    thrown = ball("ball", 0.05, place(0.6, 0, 0.7), m, twist=moving(-speed, 0, 0))
    simulation = separate(scene(thrown, robots=(placed,), restitution=e))
    simulation.step()
    inertia = 2.0 * 0.4 * 0.3**2 / 3.0 + 0.6 * 0.3**2  # one compound pendulum, see test_constraints
    impulse = (1.0 + e) * speed / (1.0 / m + 0.3**2 / inertia)
    assert_allclose(simulation.impacts.impulse, [impulse], rtol=1e-6)
    after = velocity_after_impacts(simulation)
    joints = simulation.world.robots["four_bar"].joints
    rates = {name: after[simulation.world.model.joints[joints[name]].idx_v] for name in ("left", "right", "elbow")}
    turn = 0.3 * impulse / inertia
    assert_allclose([rates["left"], rates["right"], rates["elbow"]], [turn, turn, -turn], rtol=1e-6)


def test_only_groups_with_an_impact_change() -> None:
    """A box that rests, and one that lands beside it."""
    resting = box("resting", (0.2, 0.2, 0.1), place(0, 0, 0.05))
    landing = box("landing", (0.2, 0.2, 0.1), place(1, 0, 0.05), twist=moving(0.3, 0, -1.0))
    simulation = separate(scene(floor(), resting, landing, restitution=0.5))
    simulation.step()
    after = velocity_after_impacts(simulation).reshape(2, 6)
    assert np.array_equal(after[0], np.zeros(6))
    assert {names[0] for names in simulation.impacts.bodies} == {"landing"}
    # without friction: the sideways motion is untouched until the contacts act
    assert_allclose(after[1], moving(0.3, 0, 0.5), atol=1e-12)


def test_what_stands_below_takes_the_blow_at_once() -> None:
    """A ball on a box on the floor: the floor holds the box in the same problem, as (3.7) has it."""
    standing_box = box("box", (0.2, 0.2, 0.1), place(0, 0, 0.05), 1.0)
    falling = ball("ball", 0.05, place(0, 0, 0.15), 1.0, twist=moving(0, 0, -1.0))
    simulation = separate(scene(floor(), standing_box, falling, restitution=0.5))
    simulation.step()
    assert simulation.impacts.rounds == 1
    blows = simulation.impacts.impulse
    below = np.array(["floor" in names for names in simulation.impacts.bodies])
    assert blows[below].sum() == pytest.approx(1.5, rel=1e-9)
    assert blows[~below].sum() == pytest.approx(1.5, rel=1e-9)
    assert_allclose(velocity_after_impacts(simulation)[:6], 0.0, atol=1e-12)


def test_restitution_is_the_pairs() -> None:
    """Two equal boxes, and what each makes of the same floor."""
    boxes = [
        box(name, (0.2, 0.2, 0.1), place(x, 0, 0.05), twist=moving(0, 0, -1.0))
        for name, x in (("steel", 0.0), ("clay", 1.0))
    ]
    rules = (PairRule("steel", "floor", restitution=0.9), PairRule("clay", "floor", restitution=0.0))
    simulation = separate(scene(floor(), *boxes, rules=rules))
    simulation.step()
    after = velocity_after_impacts(simulation).reshape(2, 6)[:, 2]
    assert_allclose(after, [0.9, 0.0], atol=1e-12)


@pytest.mark.parametrize("other", [1.0, 0.0])
def test_unequal_coefficients_gain_no_energy(other: float) -> None:
    """A rod lands elastically on one end while the other, closed but leaving, is thrown back.

    With e = 1 at both ends (3.7) keeps the energy. With e = 0 at the second, which must not approach then, Newton's law
    would gain some: the rebound of the first end is what the energy allows.
    """
    m, length = 3.0, 1.0
    inertia = m * length**2 / 12.0 * np.diag([1e-3, 1.0, 1.0])
    ends = np.array([-1.0, 0.5])  # velocities of the ends
    twist = np.array([0, 0, ends.mean(), 0, (ends[1] - ends[0]) / length, 0])
    thrown = body("rod", Box(np.array([1.2, 0.02, 0.02])), m, inertia, place(0, 0, 0.11), twist)
    posts = [
        body(name, Sphere(0.1), 0.0, np.zeros((3, 3)), place(x, 0, 0)) for name, x in (("first", 0.5), ("second", -0.5))
    ]
    rules = (PairRule("rod", "first", restitution=1.0), PairRule("rod", "second", restitution=other))
    simulation = separate(scene(thrown, *posts, gravity=WEIGHTLESS, rules=rules))
    before = simulation.energy().kinetic
    simulation.step()
    assert simulation.energy().kinetic == pytest.approx(before, rel=1e-9)
    if other == 0.0:  # (1, 0) by Newton's law: T / m = 1/6 of its square, 1/8 before
        assert_allclose(simulation.impacts.rebound, [np.sqrt(0.75), 0.0], atol=1e-9)


def test_compliant_contacts_have_no_impacts() -> None:
    rule = PairRule("ball", "floor", compliance=1e-5, restitution=0.9)
    falling = ball("ball", 0.1, place(0, 0, 0.1), twist=moving(0, 0, -1.0))
    simulation = separate(scene(floor(), falling, rules=(rule,)))
    simulation.step()
    assert len(simulation.impacts) == 0
    assert simulation.stepping.impact_stage._rounds == 0  # it isn't even tried
    assert simulation.v[2] < 0.0


def test_soft_soles_have_no_impacts() -> None:
    """Never at a deformable part (thesis §4.3.5): a robot that comes down on its soles, in both ways."""
    ends = []
    for impacts in ("with_contacts", "separate"):
        simulation = Simulation("soft_soles", impacts=impacts)
        simulation.v[2] -= 0.3
        simulation.run(0.005)
        assert len(simulation.contacts) > 50
        assert len(simulation.impacts) == 0
        ends.append(simulation.v.copy())
    assert_allclose(ends[1], ends[0], atol=1e-9)


def test_soft_soles_yield_to_an_impact_elsewhere() -> None:
    """A ball strikes the chest of a robot that stands on them: the soles answer by their forces only."""
    thrown = ball("ball", 0.05, place(0.5, 0, 1.1), 1.0, twist=moving(-20.0, 0, 0))
    standing_robot = load_scene("soft_soles")
    simulation = separate(dataclasses.replace(standing_robot, bodies=(*standing_robot.bodies, thrown)))
    for _ in range(30):
        simulation.step()
        if len(simulation.impacts):
            break
    assert {name for names in simulation.impacts.bodies for name in names if name.startswith("hrp2/")}
    assert all("ball" in names for names in simulation.impacts.bodies)


def test_slow_contacts_and_other_modes_have_none() -> None:
    """Below the impact speed the contact law acts, without a bounce; the default mode has no impacts to tell."""
    falling = ball("ball", 0.1, place(0, 0, 0.1), twist=moving(0, 0, -0.1))
    for options, expected in (
        ({"impacts": "separate"}, 0.05), ({"impacts": "separate", "impact_speed": 0.2}, 0.0),
        ({"impact_speed": 0.2}, 0.0), ({}, 0.05),
    ):  # fmt: skip
        simulation = Simulation(scene(floor(), falling, restitution=0.5), **options)
        simulation.step()
        assert simulation.v[2] == pytest.approx(expected, abs=0.011)
        assert len(simulation.impacts) == (1 if options == {"impacts": "separate"} else 0)


def test_what_falls_without_bounce_lands_on_the_floor() -> None:
    """With a gap left at the start of the step the body closes it and no more, as with the contact law."""
    falling = box("box", (0.2, 0.2, 0.1), place(0, 0, 0.0507), twist=moving(0.2, 0, -1.0))
    simulation = separate(scene(floor(), falling, friction=0.0))
    simulation.step()
    assert len(simulation.impacts) > 0
    assert_allclose(simulation.contacts.gap, 7e-4, atol=1e-9)
    assert simulation.q[2] == pytest.approx(0.05, abs=1e-8)
    simulation.step()
    assert simulation.impacts.impulse.sum() == pytest.approx(0.7, rel=1e-4)
    assert_allclose(simulation.v[:3], [0.2, 0.0, 0.0], atol=1e-9)


def test_without_impacts_the_step_is_the_same_bit_for_bit() -> None:
    """Standing and pushed: the stage changes nothing where nothing strikes."""
    reference, other = Simulation("stand"), Simulation("stand", impacts="separate")
    for simulation in (reference, other):
        simulation.apply_wrench("hrp2/CHEST_LINK1", [40.0, 0.0, 0.0], duration=0.05)
        simulation.run(0.1)
    assert_allclose(other.q, reference.q, atol=1e-12)
    assert len(other.impacts) == 0


def test_pinocchios_dynamics_and_other_solvers_know_impacts_too() -> None:
    ends = []
    for options in ({}, {"dynamics": "pinocchio"}, {"method": "nsgs"}, {"method": "alart_curnier_global"}):
        falling = box("box", (0.3, 0.2, 0.1), place(0, 0, 0.2, 0.3, 0.2, 0.0), twist=moving(0.5, 0, -1.0))
        simulation = separate(scene(floor(), falling, restitution=0.6), **options)
        simulation.run(0.3)
        ends.append(simulation.q.copy())
    for end in ends[1:]:
        assert_allclose(end, ends[0], atol=1e-6)


def test_a_restored_run_repeats_bit_for_bit() -> None:
    falling = box("box", (0.3, 0.2, 0.1), place(0, 0, 0.2, 0.3, 0.2, 0.0), twist=moving(0.5, 0, -1.0))
    simulation = separate(scene(floor(), falling, restitution=0.6))
    while not len(simulation.impacts):
        simulation.step()
    state = simulation.save_state()
    simulation.run(0.3)
    end = simulation.q.copy()
    simulation.restore_state(state)
    assert len(simulation.impacts) == 0  # what was read of the last step is gone
    assert_allclose(simulation.constraint_efforts, 0.0)
    simulation.run(0.3)
    assert np.array_equal(simulation.q, end)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"impacts": "elastic"}, "impacts: is 'elastic'"),
        ({"impact_speed": 0.0}, "impact_speed: is 0"),
        ({"impact_speed": float("nan")}, "impact_speed: is nan"),
        ({"impact_speed": float("inf")}, "impact_speed: is inf"),
        ({"impacts": "separate", "integrator": "moreau"}, "impacts is 'separate'"),
    ],
)
def test_bad_options_are_refused(options: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 1))), **options)
