# SPDX-License-Identifier: Apache-2.0
"""A simulation by another scheme than its own step reads like any other; what a scheme doesn't know it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixtures.scenes import ball, box, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_model.scene import PairRule, SceneRobot
from humanoid_sim import Simulation
from humanoid_sim.contact.solve import ContactStatus
from humanoid_sim.state_file import read_state, write_state
from humanoid_studies.baselines.penalty import Penalty, TangentialSprings
from humanoid_studies.integration.extrapolated import Extrapolated
from humanoid_studies.integration.moreau import Moreau
from humanoid_studies.registration import INTEGRATORS

G = 9.8
DT = 1e-3
ONE_COORDINATE = ("studer_ggl", "studer_preconditioned")
INELASTIC = ("anitescu_hart", "foerg", "jean", "penalty", "stewart_trinkle", "studer_preconditioned")
LIFT = """<robot name="lift">
  <link name="rail"/>
  <link name="cage">
    <inertial><mass value="{mass}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <joint name="rise" type="prismatic">
    <parent link="rail"/><child link="cage"/><axis xyz="0 0 1"/>
    <limit lower="{lower}" upper="{upper}" effort="100" velocity="10"/><dynamics friction="{rub}" damping="0"/>
  </joint>
</robot>"""


@pytest.mark.feature("000-F080")
@pytest.mark.parametrize("integrator", ["moreau", "anitescu_hart", "foerg"])
def test_a_standing_robot_is_carried(integrator: str) -> None:
    simulation = Simulation("stand", integrator=integrator)
    simulation.run(0.05)
    contacts = simulation.contacts
    robot = simulation.robots["hrp2"]
    assert len(contacts) == 8
    assert_allclose(contacts.force.sum(axis=0), [0.0, 0.0, robot.robot.total_mass * 9.81], atol=5.0)
    assert simulation.solver is not None
    assert simulation.contact_problem is None
    weight = sum(force[2] for joint, force, _ in simulation.joint_wrenches() if joint > 0)
    assert weight == pytest.approx(contacts.force[:, 2].sum())
    assert abs(simulation.v).max() < 0.05


@pytest.mark.feature("000-F076", "000-F077")
def test_smooth_schemes_fall_as_they_should() -> None:
    """Runge-Kutta is exact for a parabola, explicit Euler lags by half a step."""
    exact, euler = (
        Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 5.0))), integrator=name)
        for name in ("rk4", "explicit_euler")
    )
    for simulation in (exact, euler):
        simulation.run(0.2)
    height = 5.0 - 0.5 * 9.8 * 0.04
    assert exact.bodies["ball"].placement_world_body.translation[2] == pytest.approx(height, abs=1e-12)
    lag = euler.bodies["ball"].placement_world_body.translation[2] - height
    assert lag == pytest.approx(0.5 * 9.8 * 1e-3 * 0.2, rel=1e-9)


def test_a_push_acts_and_a_state_comes_back() -> None:
    simulation = Simulation(
        scene(floor(), box("block", (0.2, 0.2, 0.1), place(0, 0, 0.05), 2.0), friction=0.0), integrator=Moreau()
    )
    simulation.apply_wrench("block", [4.0, 0.0, 0.0], point=[0.0, 0.0, 0.05], duration=0.1)
    state = simulation.save_state()
    simulation.run(0.1)
    assert simulation.v[0] == pytest.approx(0.2, rel=1e-9)
    q = simulation.q.copy()
    simulation.restore_state(state)
    simulation.run(0.1)
    assert np.array_equal(simulation.q, q)


@pytest.mark.parametrize(
    "integrator", ["extrapolated", Penalty(friction=TangentialSprings(1e4, 10.0))], ids=["extrapolated", "springs"]
)
def test_a_scheme_that_keeps_something_repeats_bit_for_bit(integrator: Any, tmp_path: Path) -> None:
    """The length of its parts, the stretch of its springs: from memory, from a file and after a reset."""
    block = box("block", (0.2, 0.2, 0.1), place(0, 0, 0.06), twist=[1.0, 0, 0, 0, 0, 0])
    simulation = Simulation(scene(floor(), block), integrator=integrator)
    start = simulation.save_state()
    simulation.run(0.03)
    once = simulation.q.copy()
    write_state(simulation, tmp_path / "middle.npz")
    middle = simulation.save_state()
    simulation.run(0.03)
    end = simulation.q.copy()
    for again in (
        lambda: simulation.restore_state(middle),
        lambda: read_state(simulation, tmp_path / "middle.npz"),
    ):
        again()
        simulation.run(0.03)
        assert np.array_equal(simulation.q, end)
    for again in (lambda: simulation.restore_state(start), simulation.reset):
        again()
        simulation.run(0.03)
        assert np.array_equal(simulation.q, once)


def lift(folder: Path, lower: float = -1e30, upper: float = 1e30, rub: float = 0.0) -> SceneRobot:
    """A ball of 1 kg on a vertical rail, its middle 0.1 m above the floor at the coordinate 0."""
    (folder / "lift.urdf").write_text(LIFT.format(mass=1.0, lower=lower, upper=upper, rub=rub))
    (folder / "lift.yaml").write_text("actuators: {}\nfloating_base: false\n")
    robot = load_robot(folder / "lift.urdf")
    return SceneRobot("lift", robot, "zero", place(0, 0, 0.1), robot.postures["zero"])


def dropped(name: str, folder: Path, height: float, **options: Any) -> Simulation:
    """A ball of 1 kg that is let go above the floor, on a rail for schemes of one coordinate."""
    if name not in ONE_COORDINATE:
        world = scene(floor(), ball("ball", 0.1, place(0, 0, 0.1 + height)), **options)
        return Simulation(world, DT, integrator=name)
    simulation = Simulation(scene(floor(), robots=(lift(folder),), **options), DT, integrator=name)
    simulation.robots["lift"].set_state([height])
    return simulation


def height_of(simulation: Simulation) -> float:
    """Of the ball's lowest point above the floor [m]."""
    body = "ball" if "ball" in simulation.bodies else "lift/cage"
    return float(simulation.placement(body).translation[2]) - 0.1


@pytest.mark.feature("000-F079", "000-F084", "000-F086", "000-F087", "000-F089")
@pytest.mark.parametrize("name", INTEGRATORS)
def test_every_scheme_falls(name: str, tmp_path: Path) -> None:
    """Off the parabola by the half step of a scheme of first order at most; nothing touches, and this reads as such."""
    simulation = dropped(name, tmp_path, 5.0)
    simulation.run(0.05)
    assert height_of(simulation) == pytest.approx(5.0 - 0.5 * G * 0.05**2, abs=0.5 * G * DT * 0.05 * 1.001)
    assert len(simulation.contacts) == 0
    assert simulation.solver is None
    assert not simulation.constraint_efforts.any()


@pytest.mark.feature("000-F076", "000-F083", "000-F088")
@pytest.mark.parametrize("name", INTEGRATORS)
def test_every_scheme_bounces_or_refuses(name: str, tmp_path: Path) -> None:
    """From 5 cm with a restitution of 0.5 it comes back to a quarter.

    A scheme that doesn't locate the impact sees it up to two steps late, at a velocity and a height that are wrong by
    what these change in them.
    """
    if name in INELASTIC:
        with pytest.raises(InputError, match=f"'{name}' doesn't know restitution: the pair '.*' - 'floor' has 0.5"):
            dropped(name, tmp_path, 0.05, restitution=0.5)
        return
    simulation = dropped(name, tmp_path, 0.05, restitution=0.5)
    arrival = np.sqrt(2.0 * 0.05 / G)
    simulation.run(arrival + 0.01)
    heights = []
    simulation.run(arrival - 0.02, lambda now: heights.append(height_of(now)))
    speed = G * arrival
    assert max(heights) == pytest.approx(0.25 * 0.05, abs=2.0 * DT * (speed + 0.25 * speed))


@pytest.mark.feature("000-F079", "000-F080", "000-F084", "000-F086", "000-F087", "000-F089")
@pytest.mark.parametrize("name", INTEGRATORS)
def test_every_scheme_rests(name: str, tmp_path: Path) -> None:
    """The floor carries the weight, in the mean for collisions; a spring gives way by weight over stiffness."""
    simulation = dropped(name, tmp_path, 0.0)
    simulation.run(0.1)
    forces, heights = [], []

    def look(now: Simulation) -> None:
        forces.append(now.contacts.force[:, 2].sum())
        heights.append(height_of(now))

    simulation.run(0.03, look)
    assert np.mean(forces) == pytest.approx(G, rel=0.02)
    sinks = G / Penalty().stiffness if name == "penalty" else 0.0
    assert_allclose(heights, -sinks, atol=1e-5)


@pytest.mark.feature("000-F077", "000-F078", "000-F081", "000-F082", "000-F083", "000-F085", "000-F086")
@pytest.mark.parametrize("name", INTEGRATORS)
def test_every_scheme_stops_at_a_joint_limit_or_refuses(name: str, tmp_path: Path) -> None:
    """A cage falls 2 cm to the end of its rail, and is carried there; it sinks in by one step's way at most."""
    world = scene(robots=(lift(tmp_path, lower=-0.02, upper=0.2),))
    if name == "penalty":
        with pytest.raises(InputError, match=r"'penalty' doesn't know joint limits: the joint 'lift/rise' stops at -0"):
            Simulation(world, DT, integrator=name)
        return
    simulation = Simulation(world, DT, integrator=name)
    simulation.run(0.1)
    efforts = []
    simulation.run(0.03, lambda now: efforts.append(now.constraint_efforts[0]))
    assert np.mean(efforts) == pytest.approx(G, rel=0.02)
    assert simulation.robots["lift"].q[0] == pytest.approx(-0.02, abs=DT * np.sqrt(2.0 * G * 0.02))
    assert abs(simulation.robots["lift"].v[0]) < 2.0 * G * DT
    assert len(simulation.contacts) == 0


@pytest.mark.feature("000-F080", "000-F088")
@pytest.mark.parametrize("name", INTEGRATORS)
def test_every_scheme_rolls_or_refuses(name: str) -> None:
    """A ball rolls down 20 degrees at 5/7 of what it would slide with; schemes of one coordinate can't have it."""
    slope = np.deg2rad(20.0)
    tilted = (G * np.sin(slope), 0.0, -G * np.cos(slope))
    world = scene(floor(), ball("ball", 0.1, place(0, 0, 0.1)), gravity=tilted)
    if name in ONE_COORDINATE:
        with pytest.raises(InputError, match="defined for one coordinate and one contact, not 6 and 1"):
            Simulation(world, DT, integrator=name)
        return
    simulation = Simulation(world, DT, integrator=name)
    simulation.run(0.1)
    acceleration = 5.0 / 7.0 * G * np.sin(slope)
    # Springs creep at about their speed of 1 mm/s, and the ball slides until they have settled.
    off = 1e-3 if name == "penalty" else acceleration * DT * 0.1
    assert simulation.placement("ball").translation[0] == pytest.approx(0.5 * acceleration * 0.1**2, abs=off)


LAWS = {
    "dynamic_friction": 0.3,
    "torsional_friction": 0.01,
    "rolling_friction": 0.02,
    "viscous_friction": 0.5,
    "compliance": 1e-5,
}


@pytest.mark.feature("000-F080")
@pytest.mark.parametrize("law", LAWS)
def test_laws_beyond_coulombs_are_refused_by_name(law: str) -> None:
    """By every scheme; a rule about nothing that can touch is none."""
    rule = PairRule("ball", "floor", friction=0.5, **{law: LAWS[law]})
    world = scene(floor(), ball("ball", 0.1, place(0, 0, 0.1)), rules=(rule,))
    for name in INTEGRATORS:
        with pytest.raises(InputError, match=f"'{name}' doesn't know {law}: the pair 'ball' - 'floor' has {LAWS[law]}"):
            Simulation(world, integrator=name)
    apart = PairRule("ball", "floor", collide=False)
    Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 0.1)), rules=(rule, apart)), integrator="moreau")
    Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 0.1)), rules=(PairRule("b*", "b*", **{law: LAWS[law]}),)),
               integrator="moreau")  # fmt: skip


def test_dry_friction_is_refused_also_when_it_comes_later(tmp_path: Path) -> None:
    message = r"'moreau' doesn't know dry joint friction: the joint 'lift/rise' has 2 N m or N.*own step"
    with pytest.raises(InputError, match=message):
        Simulation(scene(robots=(lift(tmp_path, rub=2.0),)), integrator="moreau")
    simulation = Simulation(scene(robots=(lift(tmp_path),)), integrator="moreau")
    simulation.servos.dry_friction[0] = 2.0
    with pytest.raises(InputError, match="the joint 'lift/rise' has 2"):
        simulation.step()


@pytest.mark.parametrize(
    ("scene_name", "message"),
    [("soft_soles", "know deformable soles: 'hrp2' has"), ("bip_screws_stand", "know loops: the scene has")],
)
def test_loops_and_soles_are_refused(scene_name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Simulation(scene_name, integrator="moreau")


def test_schemes_that_know_a_feature_are_named() -> None:
    world = scene(floor(), ball("ball", 0.1, place(0, 0, 1)), restitution=0.5)
    with pytest.raises(InputError) as caught:
        Simulation(world, integrator="foerg")
    offered = str(caught.value).split("own step or one of ")[1].rstrip(".").split(", ")
    assert offered == sorted(set(INTEGRATORS) - set(INELASTIC))
    with pytest.raises(InputError, match="Extrapolated' doesn't know restitution"):
        Simulation(world, integrator=Extrapolated(Penalty()))


@pytest.mark.parametrize(
    ("integrator", "options", "refused"),
    [
        ("moreau", {"dynamics": "pinocchio"}, "dynamics is 'pinocchio'"),
        ("moreau", {"delassus": "chang_khatib"}, "delassus is 'chang_khatib'"),
        ("moreau", {"time_budget": 1e-3}, "time_budget is 0.001"),
        ("moreau", {"impacts": "separate"}, "impacts is 'separate'"),
        ("moreau", {"impact_speed": 0.1}, "impact_speed is 0.1"),
        ("moreau", {"groups": False}, "groups is False"),
        ("penalty", {"method": "nsgs"}, "method is 'nsgs'"),
        ("studer_ggl", {"tolerance": 1e-6}, "tolerance is 1e-06"),
        (Moreau(), {"method": "nsgs"}, "method is 'nsgs'"),
        (Moreau(), {"max_iterations": 5}, "max_iterations is 5"),
    ],
)
def test_options_that_a_scheme_does_not_use_are_refused(integrator: Any, options: dict[str, Any], refused: str) -> None:
    with pytest.raises(InputError, match=f"{refused}, which the integrator '.*' doesn't use"):
        Simulation("box_on_slope", integrator=integrator, **options)


@pytest.mark.feature("000-F089")
@pytest.mark.parametrize("name", ["moreau", "extrapolated"])
def test_the_contact_solver_is_the_one_that_is_told(name: str) -> None:
    """A solver that is stopped after one sweep says so, through the scheme and through a scheme around a scheme."""
    world = scene(floor(), box("block", (0.3, 0.2, 0.1), place(0, 0, 0.05)))
    stopped = Simulation(world, integrator=name, method="jacobi", max_iterations=1)
    stopped.step()
    assert stopped.method == f"{name}/jacobi"
    assert stopped.solver is not None
    assert stopped.solver.status is ContactStatus.NOT_CONVERGED
    assert Simulation(world, integrator=name).method == f"{name}/nsgs_newton"
    assert Simulation(world, integrator=Moreau()).method == "Moreau/nsgs"
    assert Simulation(world, integrator="penalty").method == "penalty"


def test_unknown_integrators_are_refused() -> None:
    with pytest.raises(InputError, match="no integrator 'euler'"):
        Simulation("stand", integrator="euler")
