# SPDX-License-Identifier: Apache-2.0
"""Tendons against MuJoCo and against closed forms of springs, limits and drives."""

import copy
import dataclasses
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from humanoid_model import InputError, load_scene
from humanoid_model.actuator import Tendon, TendonPoint
from humanoid_model.scene import without
from humanoid_sim import Simulation
from humanoid_sim.linearisation import linearise
from humanoid_sim.rollout import rollout
from humanoid_sim.state_file import read_state, write_state

FIXTURES = Path(__file__).parents[2] / "fixtures"
SCENE = FIXTURES / "mjcf" / "tendons.xml"
ORACLE = json.loads((FIXTURES / "mjcf_oracles.json").read_text())["motion"]
"""What MuJoCo says, recorded by benchmark/peers/mujoco_mjcf.py."""
G = 9.81


def written(folder, world, tendon, actuator=""):
    path = folder / "scene.xml"
    path.write_text(
        f"<mujoco><worldbody>{world}</worldbody><tendon>{tendon}</tendon><actuator>{actuator}</actuator></mujoco>"
    )
    return path


def hung(folder, tendon="", mass=2.0, **options):
    """A ball 1 m below a point of the world."""
    world = (
        '<site name="above" pos="0 0 3"/><body name="ball" pos="0 0 2"><freejoint/>'
        f'<geom size="0.05" mass="{mass}"/><site name="centre"/></body>'
    )
    rope = f'<spatial name="rope" {tendon}><site site="above"/><site site="centre"/></spatial>'
    return Simulation(written(folder, world, rope), **options)


def height(simulation):
    return simulation.bodies["ball"].placement_world_body.translation[2]


@pytest.mark.feature("000-F010")
def test_tendons_move_as_in_mujoco():
    """Joints, points, a pulley, a range without force, a servo with a gear, classes."""

    def motion(dt):
        simulation, found = Simulation(SCENE, dt=dt), []
        for time in ORACLE["times"]:
            simulation.run(time - simulation.time)
            load = simulation.bodies["load"].placement_world_body.translation
            found.append(np.concatenate([simulation.robots["first"].q, load]))
        return np.array(found)

    coarse, fine = motion(4e-4), motion(2e-4)
    told = np.array(ORACLE["tendons"])[:, :6]
    np.testing.assert_allclose(fine, told, atol=1e-3)
    np.testing.assert_allclose(2.0 * fine - coarse, told, atol=5e-4)  # of first order in the step


def test_a_mass_swings_on_a_spring_as_its_frequency_says(tmp_path):
    simulation = hung(tmp_path, 'stiffness="200"', dt=1e-3)
    assert simulation.modules["tendons"].lengths == pytest.approx(1.0)
    w = np.sqrt(200.0 / 2.0)
    for _ in range(3):
        simulation.run(0.25 * np.pi / w)
        expected = 2.0 - G / w**2 * (1.0 - np.cos(w * simulation.time))
        assert height(simulation) == pytest.approx(expected, abs=1e-5)


@pytest.mark.feature("000-F010")
def test_a_rope_holds_at_its_limit_as_softly_as_it_says(tmp_path):
    simulation = hung(tmp_path, 'range="0 1.2"')
    simulation.run(0.15)
    assert height(simulation) == pytest.approx(2.0 - 0.5 * G * 0.15**2, abs=3e-3)  # slack
    simulation.run(2.0)
    assert height(simulation) == pytest.approx(1.8 - G * 0.02**2, abs=1e-6)
    assert simulation.modules["tendons"].forces == pytest.approx(-2.0 * G)


@pytest.mark.feature("000-F010")
@pytest.mark.parametrize(("coefficient", "limits"), [(2.0, "-0.1 1"), (-2.0, "-1 0.1")])
def test_joints_stop_where_their_tendon_is_shortest_or_longest(coefficient, limits, tmp_path):
    world = '<body name="lift"><joint name="z" type="slide" axis="0 0 1"/><geom size="0.1" mass="3"/></body>'
    tendon = f'<fixed name="t" range="{limits}"><joint joint="z" coef="{coefficient}"/></fixed>'
    simulation = Simulation(written(tmp_path, world, tendon))
    simulation.run(2.0)
    assert simulation.robots["lift"].q[0] == pytest.approx(-0.05 - G * 0.02**2, abs=1e-6)


def test_a_limit_holds_where_nothing_can_give_way(tmp_path):
    """A rope between two walls that is too long, and one along a bar that points away from where it is tied."""
    world = (
        '<site name="a"/><site name="b" pos="1 0 0"/><body name="bar" pos="0 0 2"><joint name="j" axis="0 1 0"/>'
        '<geom type="capsule" fromto="0 0 0 0 0 -1" size="0.05"/><site name="end" pos="0 0 -1"/></body>'
        '<site name="above" pos="0 0 2.5"/>'
    )
    ropes = (
        '<spatial range="0 0.5"><site site="a"/><site site="b"/></spatial>'
        '<spatial range="0 1.4"><site site="above"/><site site="end"/></spatial>'
    )
    simulation = Simulation(written(tmp_path, world, ropes))
    with np.errstate(all="raise"):
        simulation.run(1.0)
    assert np.isfinite(simulation.q).all()
    assert simulation.modules["tendons"].forces[0] == 0.0


TWO_WHEELS = "".join(
    f'<body name="w{i}" pos="{i} 0 1"><joint name="j{i}" axis="0 1 0"/>'
    f'<geom type="cylinder" size="0.2 0.02" mass="1" euler="90 0 0"/></body>'
    for i in range(2)
)
LAW = '<fixed name="law"><joint joint="j0" coef="0.5"/><joint joint="j1" coef="-2"/></fixed>'


def test_a_motor_on_a_tendon_turns_its_joints_by_their_coefficients(tmp_path):
    simulation = Simulation(written(tmp_path, TWO_WHEELS, LAW, '<motor tendon="law" ctrlrange="-3 3" gear="2"/>'))
    tendons = simulation.modules["tendons"]
    tendons.set_force("law", 1.2)
    simulation.run(0.1)
    inertia = 0.5 * 0.2**2
    rates = [simulation.robots[name].v[0] for name in ("w0", "w1")]
    assert rates == pytest.approx([0.5 * 1.2 / inertia * 0.1, -2.0 * 1.2 / inertia * 0.1], rel=1e-9)
    tendons.set_force("law", 100.0)
    simulation.step()
    assert tendons.forces == pytest.approx(6.0)
    state = simulation.save_state()
    simulation.reset()
    simulation.run(0.1)
    assert simulation.robots["w0"].v == pytest.approx(0.0)
    simulation.restore_state(state)
    simulation.step()
    assert tendons.forces == pytest.approx(6.0)


def test_a_servo_on_a_tendon_holds_the_start_and_goes_where_it_is_told(tmp_path):
    servo = '<position tendon="law" kp="20" kv="0.6"/>'
    simulation = Simulation(written(tmp_path, TWO_WHEELS, LAW, servo))
    simulation.run(0.2)
    assert simulation.modules["tendons"].lengths == pytest.approx(0.0, abs=1e-12)
    simulation.modules["tendons"].set_length("law", 0.3)
    simulation.run(2.0)
    q = [simulation.robots[name].q[0] for name in ("w0", "w1")]
    assert 0.5 * q[0] - 2.0 * q[1] == pytest.approx(0.3, abs=1e-6)
    assert q[0] / 0.5 == pytest.approx(q[1] / -2.0)


def test_what_is_too_stiff_is_refused_with_the_step_that_does(tmp_path):
    with pytest.raises(InputError, match=r"tendon 'rope'.*too stiff for steps of 0.002 s.*below 0.0001 s") as caught:
        hung(tmp_path, 'stiffness="4e8"')
    assert "less stiffness" in str(caught.value)
    with pytest.raises(InputError, match=r"below 0\.001 s"):
        hung(tmp_path, 'damping="4e3"')
    simulation = hung(tmp_path, 'stiffness="4e6" springlength="1"', dt=0.95e-3)
    simulation.run(1.0)
    assert height(simulation) == pytest.approx(2.0, abs=1e-5)


def test_a_state_file_knows_the_tendons_and_their_commands(tmp_path):
    simulation, path = Simulation(SCENE), tmp_path / "state"
    simulation.modules["tendons"].set_length("rope", 0.8)
    simulation.run(0.05)
    write_state(simulation, path)
    simulation.run(0.05)
    again = Simulation(SCENE)
    read_state(again, path)
    again.run(0.05)
    np.testing.assert_array_equal(again.q, simulation.q)
    scene = load_scene(SCENE)
    stiffer = dataclasses.replace(scene.tendons[0], stiffness=30.0)
    with pytest.raises(InputError, match="scene"):
        read_state(Simulation(dataclasses.replace(scene, tendons=(stiffer, *scene.tendons[1:]))), path)


def test_copies_and_rollouts_go_on_with_the_tendons_and_their_commands():
    simulation = Simulation(SCENE)
    simulation.modules["tendons"].set_length("rope", 0.8)
    simulation.run(0.05)
    start, twin, other = simulation.save_state(), copy.copy(simulation), pickle.loads(pickle.dumps(simulation))
    assert twin.modules["tendons"] is not simulation.modules["tendons"]
    simulation.modules["tendons"].set_length("rope", 0.9)  # not the copy's
    twin.run(0.05)
    other.run(0.05)
    several = rollout(simulation, [start, start], round(0.05 / simulation.dt))
    simulation.restore_state(start)
    simulation.run(0.05)
    np.testing.assert_array_equal(twin.q, simulation.q)
    np.testing.assert_array_equal(other.q, simulation.q)
    for q in several.q:
        np.testing.assert_array_equal(q[-1], simulation.q)
    with pytest.raises(InputError, match="tendons do can't be differentiated"):
        linearise(simulation)
    simulation.remove_module("tendons")
    for slack in (copy.copy(simulation), pickle.loads(pickle.dumps(simulation))):  # it lacks them too
        assert list(slack.modules) == []


def test_what_carries_a_tendon_takes_it_along(tmp_path):
    scene = load_scene(SCENE)
    assert [tendon.name for tendon in scene.tendons] == ["coupling", "rope", "hanger"]
    assert [tendon.name for tendon in without(scene, "load").tendons] == ["coupling", "rope"]
    assert [tendon.name for tendon in without(scene, "first").tendons] == ["hanger"]


@pytest.mark.parametrize(
    ("tendon", "told"),
    [
        (Tendon("t", joints=(("first/no", 1.0),)), "tendon 't': 'first/no' is no joint of one coordinate"),
        (Tendon("t", branches=((1.0, (TendonPoint("", np.zeros(3)), TendonPoint("no", np.zeros(3)))),)), "body 'no'"),
    ],
)
def test_unknown_names_of_tendons_are_refused(tendon, told):
    with pytest.raises(InputError, match=told):
        Simulation(dataclasses.replace(load_scene(SCENE), tendons=(tendon,)))


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (lambda tendons: tendons.set_length("no", 1.0), "no tendon 'no'. Known are: coupling, rope, hanger"),
        (lambda tendons: tendons.set_length("hanger", 1.0), "tendon 'hanger': has no position servo"),
        (lambda tendons: tendons.set_force("coupling", 1.0), "tendon 'coupling': has no drive"),
        (lambda tendons: tendons.set_length("rope", float("nan")), "tendon 'rope': is nan"),
    ],
)
def test_commands_that_cant_be_are_refused(command, told):
    with pytest.raises(InputError, match=told):
        command(Simulation(SCENE).modules["tendons"])
