# SPDX-License-Identifier: Apache-2.0
"""What can't be simulated is refused by field, value and remedy; a step that fails leaves the state as it was."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import ball, box, floor, place, scene

from humanoid_model import load_robot, load_scene
from humanoid_model.errors import HumanoidError, InputError, RobotError, SceneError, SimulationError
from humanoid_model.scene import PairRule, Scene
from humanoid_sim import Simulation
from humanoid_sim.__main__ import main

NAN, INF = float("nan"), float("inf")


def block(**changes: Any) -> Scene:
    """A box on the floor with something wrong about it."""
    return scene(floor(), dataclasses.replace(box("block", (0.2, 0.2, 0.2), place(0, 0, 0.1)), **changes))


def moved(rotation: float, height: float) -> pin.SE3:
    return pin.SE3(rotation * np.eye(3), np.array([0.0, 0.0, height]))


# Scenes made in Python ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"mass": NAN}, "body 'block': mass: is nan. Give a positive mass [kg]"),
        ({"mass": -1.0}, "body 'block': mass: is -1.0. Give a positive mass [kg]"),
        ({"mass": INF}, "body 'block': mass: is inf"),
        ({"mass": 0.0}, "nothing moves in the scene 'test'. Add a robot, or a body with a mass"),
        ({"inertia": np.zeros((3, 3))}, "body 'block': inertia: is [[0.0, 0.0, 0.0]"),
        ({"inertia": -np.eye(3)}, "inertia: is not positive: its principal moments are (-1, -1, -1)"),
        ({"inertia": np.diag([1.0, 1.0, 5.0])}, "inertia: violates the triangle inequality"),
        ({"inertia": NAN * np.eye(3)}, "inertia: is [[nan, nan, nan]"),
        ({"inertia": np.eye(3) + np.eye(3, k=1)}, "which is not symmetric. Give the inertia about the centre of mass"),
        ({"com": np.array([NAN, 0.0, 0.0])}, "body 'block': com: is [nan, 0.0, 0.0]. Give finite numbers"),
        ({"twist": np.full(6, INF)}, "body 'block': twist: is [inf"),
        ({"twist": np.zeros(5)}, "twist: has the shape (5,). Give numbers of the shape (6,)"),
        ({"placement_world_body": moved(1.0, NAN)}, "placement_world_body.translation: is [0.0, 0.0, nan]"),
        ({"placement_world_body": moved(2.0, 0.1)}, "placement_world_body.rotation: is [[2.0, 0.0, 0.0]"),
        ({"placement_world_body": moved(-1.0, 0.1)}, "Give a rotation matrix"),
    ],
)
def test_bodies_that_cannot_be(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(SceneError) as caught:
        Simulation(block(**changes))
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("friction", -0.1, "0 or more"),
        ("friction", NAN, "0 or more"),
        ("friction", INF, "finite"),
        ("dynamic_friction", -1.0, "0 or more"),
        ("restitution", 1.1, "0..1"),
        ("restitution", -0.1, "0..1"),
        ("torsional_friction", -1.0, "0 or more"),
        ("rolling_friction", NAN, "0 or more"),
        ("viscous_friction", -1.0, "0 or more"),
        ("compliance", -1e-6, "0 or more"),
        ("method", "magic", "patch, distance, boolean, penetration, continuous"),
    ],
)
def test_pairs_that_cannot_be(name: str, value: Any, remedy: str) -> None:
    rule = PairRule("block", "floor", **{name: value})
    with pytest.raises(SceneError) as caught:
        Simulation(dataclasses.replace(block(), rules=(rule,)))
    assert f"pair 'block' - 'floor': {name}: is " in str(caught.value)
    assert str(value) in str(caught.value)
    assert remedy in str(caught.value)


def test_gravity_sizes_and_names_that_cannot_be() -> None:
    with pytest.raises(SceneError, match=r"gravity: is \[0.0, 0.0, nan\]"):
        Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 1)), gravity=(0.0, 0.0, NAN)))
    with pytest.raises(SceneError, match=r"body 'ball': Sphere.radius: is 0.0. Give positive lengths"):
        Simulation(scene(ball("ball", 0.0, place(0, 0, 1), mass=1.0), box("b", (1, 1, 1), place(0, 0, 3))))
    with pytest.raises(SceneError, match=r"Box.size: is \[1.0, -1.0, 1.0\]"):
        Simulation(
            dataclasses.replace(block(), bodies=(box("b", (1, 1, 1), place(0, 0, 0)), resized(block(), (1, -1, 1))))
        )
    with pytest.raises(SceneError, match="the name 'ball' is taken already"):
        Simulation(scene(ball("ball", 0.1, place(0, 0, 1)), ball("ball", 0.1, place(1, 0, 1))))


def resized(of: Scene, size: tuple[float, float, float]) -> Any:
    """The block with another size and the inertia that it had."""
    (geometry,) = of.bodies[1].geometries
    shape = dataclasses.replace(geometry.shape, size=np.array(size, dtype=float))  # type: ignore[type-var]
    return dataclasses.replace(of.bodies[1], geometries=(dataclasses.replace(geometry, shape=shape),))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda q: q.__setitem__(9, NAN), r"robot 'hrp2': q: is \[0.0"),
        (lambda q: q.__setitem__(slice(3, 7), 0.0), "q: has a quaternion or a cosine-sine pair that is not of unit"),
    ],
)
def test_starts_that_cannot_be(change: Callable[[np.ndarray], None], problem: str) -> None:
    stand = load_scene("stand")
    q = np.array(stand.robots[0].q)
    change(q)
    with pytest.raises(SceneError, match=problem):
        Simulation(dataclasses.replace(stand, robots=(dataclasses.replace(stand.robots[0], q=q),)))
    with pytest.raises(SceneError, match=r"has the shape \(3,\). Give numbers of the shape \(37,\)"):
        Simulation(dataclasses.replace(stand, robots=(dataclasses.replace(stand.robots[0], q=q[:3]),)))


@pytest.mark.feature("000-F002")
@pytest.mark.parametrize("dt", [0.0, -1e-3, NAN, INF])
def test_time_steps_that_cannot_be(dt: float) -> None:
    with pytest.raises(InputError, match=f"dt is {dt}. Give a positive time step in seconds"):
        Simulation(block(), dt)
    with pytest.raises(InputError, match=f"dt is {dt}"):
        Simulation(dataclasses.replace(block(), time_step=dt))


# Files --------------------------------------------------------------------------------------------

YAML = """bodies:
  floor: {{shapes: [{{half_space: true}}]}}
  block: {{mass: {mass}, xyz: [0, 0, {z}], shapes: [{{box: [0.2, 0.2, 0.2]}}]{more}}}
{rest}"""


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"mass": ".nan"}, ":3: bodies.block.mass: is .nan. Give a finite number"),
        ({"mass": "-1"}, ":3: bodies.block.mass: is -1. Give 0 or more"),
        ({"z": ".inf"}, ":3: bodies.block.xyz[2]: is .inf"),
        ({"more": ", twist: [.nan, 0, 0, 0, 0, 0]"}, ":3: bodies.block.twist[0]: is .nan"),
        ({"more": ", inertia: [-1, 0, 0, 0, 1, 0, 0, 0, 1]"}, ":3: bodies.block.inertia: inertia is not positive"),
        ({"rest": 'pairs: [{between: ["*", "*"], friction: -0.5}]'}, ":4: pairs[0].friction: is -0.5. Give 0 or more"),
        ({"rest": "pairs: [{between: [block, moon], friction: 1}]"}, "nothing in the scene is called 'moon'"),
        ({"rest": "time_step: 0"}, ":4: time_step: is 0. Give more than 0"),
        ({"rest": "time_step: -0.001"}, ":4: time_step: is -0.001. Give more than 0"),
        ({"rest": "gravity: [0, 0, .inf]"}, ":4: gravity[2]: is .inf"),
    ],
)
def test_scene_files_and_the_command(
    fields: dict[str, str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "scene.yaml"
    path.write_text(YAML.format(**{"mass": "1", "z": "0.1", "more": "", "rest": "", **fields}))
    with pytest.raises(SceneError) as caught:
        Simulation(path)
    assert problem in str(caught.value)
    assert main(["run", str(path), "--duration", "0.01"]) == 2
    assert problem in capsys.readouterr().err
    assert main(["info", str(path)]) == 2


@pytest.mark.parametrize(
    ("mass", "ixx", "problem"),
    [
        ("-2", "1", "<mass>: of <link name='arm'> is -2 kg"),
        ("nan", "1", "attribute 'value' is 'nan'"),
        ("1", "-1", "inertia"),
        ("1", "nan", "'nan'"),
    ],
)
def test_urdfs(mass: str, ixx: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(
        f'<robot name="arm"><link name="arm"><inertial><mass value="{mass}"/>'
        f'<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>'
    )
    with pytest.raises(RobotError) as caught:
        load_robot(path)
    assert "arm.urdf:1" in str(caught.value)
    assert problem in str(caught.value)


def test_a_scenario_that_raises_tells_where_and_keeps_the_state(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "push.py"
    path.write_text(
        "from humanoid_sim.scenario import Scenario\n\nclass Push(Scenario):\n"
        '    scene, duration = "boxes", 0.05\n    def loop(self, simulation):\n'
        '        simulation.apply_wrench("moon", [float(simulation.time), 0, 0], duration=0.1)\n'
    )
    assert main(["run", str(path)]) == 1
    error = capsys.readouterr().err
    assert "push.py:6: loop: InputError: body: there is no body 'moon'. Name one of floor, stack_1" in error
    assert (tmp_path / "push.failed.npz").is_file()


# A running simulation -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def running() -> Simulation:
    return Simulation(
        scene(floor(), box("block", (0.2, 0.2, 0.2), place(0, 0, 0.1)), ball("ball", 0.1, place(1, 0, 2)))
    )


@pytest.fixture
def simulation(running: Simulation) -> Simulation:
    running.reset()
    running.run(0.01)
    return running


def set_entry(name: str, index: int, value: float) -> Callable[[Simulation], None]:
    def change(simulation: Simulation) -> None:
        getattr(simulation, name)[index] = value

    return change


def overload(simulation: Simulation) -> None:
    """Turn the ball by a torque that a user can't give."""
    joint = simulation.world.find_body("ball").joint
    simulation.stepping.wrenches.add_to_joint(joint, [0.0] * 3, [0.0, 0.0, 0.0, 1e200, 0.0, 0.0], 1000)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (set_entry("q", 0, NAN), r"q\[0\] is nan before the step from t = 0.01 s"),
        (set_entry("q", 9, INF), r"q\[9\] is inf before"),
        (set_entry("v", 11, NAN), r"v\[11\] is nan before"),
        (set_entry("v", 8, -INF), r"v\[8\] is -inf before"),
        (set_entry("v", 8, 1e300), r"velocity of coordinate 6 \(ball/translation\) became"),
        (overload, r"q\[10\] \(ball\) became nan in the step from t = 0.01 s; the state is kept"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_state_that_is_no_state_stops_the_step(
    simulation: Simulation, change: Callable[[Simulation], None], problem: str
) -> None:
    change(simulation)
    states: list[tuple[np.ndarray, np.ndarray, int]] = []

    def steps() -> None:
        for _ in range(5):
            states.append((simulation.q.copy(), simulation.v.copy(), simulation.step_count))
            simulation.step()

    with pytest.raises(SimulationError, match=problem):
        steps()
    q, v, count = states[-1]
    np.testing.assert_array_equal(simulation.q, q)
    np.testing.assert_array_equal(simulation.v, v)
    assert simulation.step_count == count
    simulation.reset()
    simulation.run(0.01)
    assert np.all(np.isfinite(simulation.q))


@pytest.mark.feature("000-F002")
@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"body": "moon"}, "body: there is no body 'moon'. Name one of floor, block, ball"),
        ({"body": "floor"}, "'floor' is fixed to the world. Push something that can move"),
        ({"force": [NAN, 0, 0]}, "force is [nan, 0.0, 0.0]. Give three finite numbers"),
        ({"force": [1, 0]}, "force is [1.0, 0.0]. Give three finite numbers"),
        ({"torque": [0, INF, 0]}, "torque is [0.0, inf, 0.0]"),
        ({"point": [0, 0, NAN]}, "point is [0.0, 0.0, nan]"),
        ({"duration": 0.0}, "duration is 0.0. Give a positive time in seconds"),
        ({"duration": NAN}, "duration is nan"),
        ({"duration": "long"}, "duration is 'long'. Give a positive time"),
        ({"force": "up"}, "force is 'up'. Give three finite numbers"),
        ({"force": [0, 1e12, 0]}, "force is [0.0, 1000000000000.0, 0.0]. Give three numbers of at most 1e+09"),
        ({"torque": [-2e9, 0, 0]}, "torque is [-2000000000.0, 0.0, 0.0]. Give three numbers of at most 1e+09"),
    ],
)
def test_wrenches_that_cannot_be(simulation: Simulation, fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        simulation.apply_wrench(**{"body": "block", "force": [1, 0, 0], "duration": 0.1, **fields})
    assert problem in str(caught.value)


@pytest.mark.feature("000-F002")
@pytest.mark.parametrize(
    ("act", "problem"),
    [
        (lambda s: s.bodies["moon"], "there is no body 'moon'. There are floor, block, ball"),
        (lambda s: s.robots["r2d2"], "there is no robot 'r2d2'. There are none"),
        (lambda s: s.placement("moon"), "there is no body 'moon'"),
        (lambda s: s.bodies["floor"].set_state(pin.SE3.Identity()), "the body 'floor' is fixed"),
        (lambda s: s.bodies["ball"].set_state(moved(1.0, NAN)), "the state of 'ball' is [0.0, 0.0, nan"),
        (lambda s: s.bodies["ball"].set_state(moved(0.0, 1.0)), "the rotation of 'ball' is [[0.0"),
        (lambda s: s.bodies["ball"].set_state(moved(1.0, 1.0), [NAN] * 6), "[nan, nan"),
        (lambda s: s.run(-1.0), "duration is -1.0. Give a time in seconds, 0 or more"),
        (lambda s: s.run(INF), "duration is inf"),
        (lambda s: s.run("1 s"), "duration is '1 s'. Give a time in seconds"),
        (lambda s: s.run(4e-4), "duration is 0.0004 s, less than half a step of 0.001 s. Give at least half a step"),
        (lambda s: s.step(2.5), "count is 2.5. Give a whole number of steps, 0 or more; run() takes a time"),
        (lambda s: s.step(-1), "count is -1. Give a whole number of steps"),
        (lambda s: s.step("3"), "count is '3'. Give a whole number of steps"),
        (lambda s: setattr(s, "q", np.zeros(3)), "q: is [0.0, 0.0, 0.0]. Give 14 finite numbers"),
        (lambda s: setattr(s, "q", np.zeros(14)), "a quaternion or a cosine-sine pair of q is not of unit length"),
        (lambda s: setattr(s, "q", "home"), "q: is 'home'. Give 14 finite numbers"),
        (lambda s: setattr(s, "v", [NAN] * 12), "v: is [nan, nan"),
        (lambda s: setattr(s, "v", np.zeros(14)), "Give 12 finite numbers"),
    ],
)
def test_requests_that_make_no_sense(simulation: Simulation, act: Callable[[Simulation], Any], problem: str) -> None:
    before = simulation.q.copy()
    with pytest.raises(InputError) as caught:
        act(simulation)
    assert problem in str(caught.value)
    np.testing.assert_array_equal(simulation.q, before)


@pytest.mark.feature("000-F002")
def test_no_steps_are_no_mistake(simulation: Simulation) -> None:
    """None are made for the rest that a difference of times leaves; whole numbers and times may be numpy's."""
    simulation.run(0.3 - 0.2 - 0.1)  # -3e-17
    simulation.run(1e-12)
    simulation.step(0)
    assert simulation.step_count == 10
    simulation.step(np.int64(2))
    simulation.run(np.float32(0.003))
    assert simulation.step_count == 15


@pytest.mark.feature("000-F002")
def test_a_state_that_is_given_is_a_copy(simulation: Simulation) -> None:
    q, v = simulation.q.copy(), np.zeros(12)
    simulation.q, simulation.v = q, v
    q[0] = v[0] = 5.0
    assert simulation.q[0] != 5.0
    assert simulation.v[0] == 0.0


def test_commands_that_cannot_be() -> None:
    robot = Simulation("stand").robots["hrp2"]
    for act, problem in (
        (lambda: robot.set_position_target(np.full(30, NAN)), r"positions\[0\] is nan. Give finite numbers"),
        (lambda: robot.set_position_target([0.1]), "positions has 1 values. Give 30"),
        (lambda: robot.set_position_target([0.1], joints=["TAIL"]), "no joint 'TAIL'"),
        (lambda: robot.set_effort([INF], joints=["HEAD_JOINT0"]), r"efforts\[0\] is inf"),
        (lambda: robot.set_gains([-1.0], [1.0], joints=["HEAD_JOINT0"]), r"stiffness\[0\] is -1.0. Gains are zero or"),
        (lambda: robot.set_state(np.full(37, NAN)), r"q\[0\] is nan"),
        (lambda: robot.set_state(np.zeros(37)), "not of unit length"),
    ):
        with pytest.raises(HumanoidError, match=problem):
            act()


# Starts within each other -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bodies",
    [
        (box("a", (0.2, 0.2, 0.2), place(0, 0, 0.05)),),
        (box("a", (0.2, 0.2, 0.2), place(0, 0, 0.1)), box("b", (0.2, 0.2, 0.2), place(0.15, 0, 0.1))),
        (ball("a", 0.1, place(0, 0, 0.1)), ball("b", 0.1, place(0.15, 0, 0.1))),
    ],
    ids=["box in the floor", "box in box", "ball in ball"],
)
def test_what_starts_within_another_comes_apart_without_a_kick(bodies: tuple[Any, ...]) -> None:
    simulation = Simulation(scene(floor(), *bodies))
    fastest: list[float] = []
    simulation.run(0.8, lambda s: fastest.append(float(np.abs(s.v).max())))
    assert max(fastest) < 1e-3
    assert simulation.contacts.gap.min() > -1e-4
    heights = [b.placement_world_body.translation[2] for b in simulation.bodies.values() if not b.fixed]
    np.testing.assert_allclose(heights, 0.1, atol=1e-4)


# Ten thousand contacts ----------------------------------------------------------------------------


def grid(count: int, height: float) -> list[Any]:
    side = int(np.ceil(np.sqrt(count)))
    return [box(f"box{i}", (0.1, 0.1, 0.1), place(0.2 * (i % side), 0.2 * (i // side), height)) for i in range(count)]


def test_ten_thousand_contacts() -> None:
    simulation = Simulation(scene(floor(), *grid(2500, 0.05)))
    simulation.step()
    contacts = simulation.contacts
    assert len(contacts) == 10_000
    assert contacts.normal_force.sum() == pytest.approx(2500 * 9.8, rel=1e-6)
    assert simulation.solver is not None
    assert simulation.solver.converged
    assert abs(simulation.energy().kinetic) < 1e-12


def test_thousands_of_contacts_of_one_group_with_torsional_friction_are_refused() -> None:
    """Their operator would be one matrix of more than 14412 rows; the message says how large, and what may be."""
    plate = box("plate", (12.0, 12.0, 0.1), place(5, 5, 0.05), mass=100.0)
    rule = PairRule("plate", "floor", torsional_friction=0.01)
    with pytest.raises(SimulationError, match=r"contacts and joints push on each other at once.* need 1.7 GB, mo"):
        Simulation(scene(floor(), plate, *grid(1200, 0.15), rules=(rule,)))
