# SPDX-License-Identifier: Apache-2.0
"""Bodies in contact: rest, slide, stack, bounce, drop; and what the simulation refuses."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import ball, body, box, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_model import load_robot
from humanoid_model.description import Box, Capsule, Cylinder, Shape
from humanoid_model.errors import InputError, SceneError, SimulationError
from humanoid_model.scene import PairRule, Scene, SceneRobot
from humanoid_sim import Simulation
from humanoid_sim.stepping.contacts import ContactState

G = 9.8


def tilted(degrees: float) -> tuple[float, float, float]:
    """Gravity of a slope that goes down towards +x."""
    angle = math.radians(degrees)
    return (G * math.sin(angle), 0.0, -G * math.cos(angle))


def box_on_slope(degrees: float, friction: float = 0.4) -> Simulation:
    return Simulation(
        scene(floor(), box("box", (0.5, 0.5, 0.1), place(0, 0, 0.05)), gravity=tilted(degrees), friction=friction)
    )


@pytest.mark.feature("000-F055")
@pytest.mark.parametrize(
    ("degrees", "normal", "tangent", "velocity"),
    [
        (0.0, 9.8, 0.0, 0.0),
        (20.0, 9.20898768, -3.35179740, 0.0),
        (25.0, 8.88181631, -3.55272653, 5.889324e-4),
    ],
)
def test_first_step_on_a_slope(degrees: float, normal: float, tangent: float, velocity: float) -> None:
    """The oracle of specification 000 §9.9, through the whole simulator."""
    simulation = box_on_slope(degrees)
    simulation.step()
    assert_allclose(simulation.contacts.force.sum(axis=0), [tangent, 0.0, normal], atol=2e-8)
    assert_allclose(simulation.v[:3], [velocity, 0.0, 0.0], atol=1e-10)
    states = {ContactState(s) for s in simulation.contacts.state}
    assert states == ({ContactState.SLIP} if velocity else {ContactState.STICK})


@pytest.mark.parametrize("share", [0.5, 0.95, 0.99])
def test_box_within_its_cone_does_not_creep(share: float) -> None:
    """10 s on a slope of 50, 95 and 99 % of the critical one: less than a nanometre."""
    simulation = box_on_slope(math.degrees(math.atan(0.4 * share)))
    simulation.run(10.0)
    moved = simulation.bodies["box"].placement_world_body.translation - [0.0, 0.0, 0.05]
    assert np.linalg.norm(moved) < 1e-9


def test_box_slides_as_coulomb_says() -> None:
    """On 25 degrees it accelerates at g (sin - mu cos); on the flat it stops after v^2 / (2 mu g)."""
    simulation = box_on_slope(25.0)
    simulation.run(1.0)
    assert_allclose(simulation.v[:3], [0.5889324, 0.0, 0.0], atol=1e-7)
    simulation = Simulation(
        scene(floor(), box("box", (0.5, 0.5, 0.1), place(0, 0, 0.05), twist=np.array([1.0, 0, 0, 0, 0, 0])))
    )
    simulation.run(0.5)
    # velocity-level stepping with the end velocity stops half a step's travel early: 0.5 mm at 1 m/s
    assert simulation.bodies["box"].placement_world_body.translation[0] == pytest.approx(
        1.0 / (2 * 0.4 * G), abs=6e-4
    )
    assert_allclose(simulation.v, 0.0, atol=1e-10)


@pytest.mark.feature("000-F073")
def test_stack_carries_the_weight_above() -> None:
    """Four turned boxes on each other: 1, 2, 3, 4 times the weight through the interfaces, no drift."""
    boxes = [box(f"b{i}", (0.3, 0.3, 0.1), place(0.01 * i, 0, 0.05 + 0.1 * i, yaw=0.1 * i)) for i in range(4)]
    simulation = Simulation(scene(floor(), *boxes, friction=0.5))
    simulation.run(1.0)
    contacts = simulation.contacts
    below = {0: "floor", 1: "b0", 2: "b1", 3: "b2"}
    for i in range(4):
        pair = {f"b{i}", below[i]}
        rows = [set(names) == pair for names in contacts.bodies]
        assert np.abs(contacts.force[rows].sum(axis=0)[2]) == pytest.approx((4 - i) * G, abs=1e-5)
        moved = simulation.bodies[f"b{i}"].placement_world_body.translation - [0.01 * i, 0, 0.05 + 0.1 * i]
        assert np.linalg.norm(moved) < 1e-8


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("shape", "lift"),
    [
        (Box(np.array([0.5, 0.3, 0.2])), 1e-6),
        (Capsule(0.1, 0.3), 1e-6),
        # A disc that wobbles through the upright is held by four points of its rim and sinks a few tenths of a
        # millimetre between them before it is lifted again.
        (Cylinder(0.15, 0.3), 5e-5),
    ],
    ids=["box", "capsule", "cylinder"],
)
def test_energy_never_grows_in_a_passive_drop(shape: Shape, lift: float, seed: int) -> None:
    """Thrown tumbling on the floor, no step adds energy but what lifts a penetration, and that is tiny.

    ``lift`` is the share of the initial energy that one step's position correction may give back in height.
    """
    rng = np.random.default_rng(seed)
    twist = np.array([0.5, 0.0, 0.0, *rng.uniform(-2, 2, 3)])
    placement = place(0, 0, 0.7, *rng.uniform(-1, 1, 3))
    thrown = body("thrown", shape, 1.0, np.diag([0.02, 0.02, 0.01]), placement, twist)
    simulation = Simulation(scene(floor(), thrown, friction=0.5))
    energies = [simulation.energy().total]
    simulation.run(2.5, lambda s: energies.append(s.energy().total))
    steps = np.diff(energies)
    assert steps.max() < lift * energies[0]
    assert (np.array(energies) - np.minimum.accumulate(energies)).max() < 1e-3 * energies[0]
    assert energies[-1] < 0.5 * energies[0]


@pytest.mark.feature("000-F045")
def test_free_flight_conserves_momentum_of_a_spinning_body() -> None:
    """One second at 7 rad/s without gravity: linear velocity exactly, spin energy to 1 %."""
    twist = np.array([1.0, 0.5, -0.2, 3.0, 5.0, -4.0])
    thrown = box("box", (0.5, 0.3, 0.2), place(0, 0, 5, 0.3, 0.2, 0.1), twist=twist)
    simulation = Simulation(scene(thrown, gravity=(0, 0, 0)))
    before = simulation.energy().kinetic
    R = simulation.bodies["box"].placement_world_body.rotation
    simulation.run(1.0)
    after = simulation.bodies["box"]
    assert_allclose(after.placement_world_body.rotation @ after.twist[:3], R @ twist[:3], atol=1e-12)
    assert_allclose(after.placement_world_body.translation, [0, 0, 5] + R @ twist[:3], atol=1e-9)
    assert simulation.energy().kinetic == pytest.approx(before, rel=0.01)


def test_ball_rolls_without_losing_speed() -> None:
    """Pushed off sliding at 1 m/s it ends rolling at 5/7 m/s and stays so, at height zero."""
    pushed = ball("ball", 0.1, place(0, 0, 0.1), twist=np.array([1.0, 0, 0, 0, 0, 0]))
    simulation = Simulation(scene(floor(), pushed))
    simulation.run(2.0)
    assert simulation.v[0] == pytest.approx(5 / 7, abs=1e-6)
    assert simulation.v[4] == pytest.approx(50 / 7, abs=1e-5)
    assert simulation.q[2] == pytest.approx(0.1, abs=2e-9)


@pytest.mark.feature("000-F068")
def test_ball_bounces_to_e_squared() -> None:
    """Oracle N17: peaks of a ball dropped from 1 m with e = 0.8."""
    simulation = Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 1.1)), restitution=0.8), dt=1e-4)
    heights: list[float] = []
    simulation.run(2.2, lambda s: heights.append(s.q[2] - 0.1))
    peaks = [b for a, b, c in zip(heights, heights[1:], heights[2:], strict=False) if a < b >= c]
    assert_allclose(peaks[:3], [0.64, 0.4096, 0.2621], atol=5e-4)


@pytest.mark.feature("000-F085")
def test_gap_is_closed_without_passing_the_floor() -> None:
    """A box that falls flat touches down at height zero, whatever its speed."""
    for height in (0.0503, 0.0601, 0.3):
        simulation = Simulation(scene(floor(), box("box", (0.2, 0.2, 0.1), place(0, 0, height))))
        lowest: list[float] = []
        simulation.run(0.4, lambda s, lowest=lowest: lowest.append(s.q[2] - 0.05))
        assert min(lowest) > -1e-9
        assert lowest[-1] == pytest.approx(0.0, abs=1e-8)


def test_bad_start_is_lifted_slowly_and_without_speed() -> None:
    """A box that starts 1 cm inside the floor comes out within a second and never jumps."""
    simulation = Simulation(scene(floor(), box("box", (0.2, 0.2, 0.1), place(0, 0, 0.04))))
    speeds: list[float] = []
    simulation.run(1.0, lambda s: speeds.append(float(np.abs(s.v).max())))
    assert max(speeds) < 1e-6
    assert simulation.q[2] == pytest.approx(0.05, abs=2e-6)


@pytest.mark.feature("000-F015", "000-F069")
def test_rules_decide_friction_and_what_collides() -> None:
    boxes = [box(name, (0.2, 0.2, 0.1), place(x, 0, 0.05)) for x, name in enumerate(["ice", "rubber", "ghost"])]
    rules = (PairRule("ice", "floor", friction=0.0), PairRule("floor", "ghost", collide=False))
    simulation = Simulation(scene(floor(), *boxes, gravity=(1.0, 0.0, -9.8), rules=rules))
    simulation.run(0.1)
    assert simulation.bodies["ice"].twist[0] == pytest.approx(0.1)
    assert_allclose(simulation.bodies["rubber"].twist, 0.0, atol=1e-9)
    assert simulation.bodies["ghost"].twist[2] == pytest.approx(-0.98)


@pytest.mark.feature("000-F014")
def test_a_body_that_is_not_simulated_stays() -> None:
    """It keeps its place in the air and carries what falls on it."""
    shelf = dataclasses.replace(box("shelf", (1.0, 1.0, 0.1), place(0, 0, 1.0)), simulated=False)
    simulation = Simulation(scene(floor(), shelf, box("box", (0.2, 0.2, 0.1), place(0, 0, 1.2))))
    simulation.run(0.5)
    assert simulation.bodies["shelf"].fixed
    assert_allclose(simulation.bodies["shelf"].placement_world_body.translation, [0, 0, 1.0], atol=0.0)
    assert simulation.bodies["box"].placement_world_body.translation[2] == pytest.approx(1.1, abs=1e-6)


@pytest.mark.feature("000-F016")
def test_time_step_is_the_scenes_or_the_callers() -> None:
    thing = scene(floor(), box("box", (0.5, 0.5, 0.1), place(0, 0, 0.05)))
    assert Simulation(thing).dt == 1e-3
    assert Simulation(dataclasses.replace(thing, time_step=5e-4)).dt == 5e-4
    simulation = Simulation(dataclasses.replace(thing, time_step=5e-4), dt=2e-3)
    simulation.run(0.1)
    assert simulation.step_count == 50
    assert simulation.time == pytest.approx(0.1)


@pytest.mark.feature("000-F042", "000-F116")
def test_applied_wrench_moves_a_free_body_as_newton_says() -> None:
    simulation = Simulation(scene(box("box", (0.2, 0.2, 0.1), place(0, 0, 5.0), mass=2.0), gravity=(0, 0, 0)))
    simulation.apply_wrench("box", [3.0, 0.0, 0.0], duration=0.1)
    simulation.run(0.2)
    assert_allclose(simulation.v, [0.15, 0, 0, 0, 0, 0], atol=1e-12)
    simulation.reset()
    simulation.apply_wrench("box", [0.0, 0.0, 0.0], [0.0, 0.0, 0.01], duration=0.1)
    simulation.run(0.1)
    assert simulation.v[5] == pytest.approx(0.01 * 0.1 / (2.0 / 12.0 * 0.08))
    simulation.reset()
    simulation.apply_wrench("box", [0.0, 1e-3, 0.0], point=[0.1, 0.0, 5.0], duration=1e-3)
    simulation.step()
    assert simulation.v[5] == pytest.approx(0.1 * 1e-6 / (2.0 / 12.0 * 0.08))


@pytest.mark.feature("000-F116")
def test_a_point_of_a_turned_body_is_the_worlds() -> None:
    """A quarter turn about z: the lever is still along x, where the point is in the world."""
    turned = place(0, 0, 5.0, 0.0, 0.0, 0.5 * np.pi)
    simulation = Simulation(scene(box("box", (0.2, 0.2, 0.1), turned, mass=2.0), gravity=(0, 0, 0)))
    simulation.apply_wrench("box", [0.0, 1e-3, 0.0], point=[0.1, 0.0, 5.0], duration=1e-3)
    simulation.step()
    assert simulation.v[5] == pytest.approx(0.1 * 1e-6 / (2.0 / 12.0 * 0.08))


@pytest.mark.feature("000-F001", "000-F002")
def test_two_runs_and_a_restored_run_agree_bit_for_bit() -> None:
    def throw() -> Simulation:
        return Simulation(
            scene(
                floor(),
                box("a", (0.3, 0.2, 0.1), place(0, 0, 0.4, 0.3, 0.2), twist=np.array([1.0, 0, 0, 3, 2, 1])),
                box("b", (0.3, 0.3, 0.1), place(0.3, 0, 0.05)),
            )
        )

    first, second = throw(), throw()
    first.run(0.3)
    second.run(0.3)
    saved = second.save_state()
    first.run(0.5)
    second.run(0.5)
    assert first.q.tobytes() == second.q.tobytes()
    second.restore_state(saved)
    assert second.time == pytest.approx(0.3)
    second.run(0.5)
    assert first.q.tobytes() == second.q.tobytes()
    assert first.v.tobytes() == second.v.tobytes()
    second.reset()
    assert second.step_count == 0
    second.run(0.8)
    assert first.q.tobytes() == second.q.tobytes()


def test_profile_shares_add_up() -> None:
    simulation = box_on_slope(25.0)
    simulation.run(0.1)
    assert simulation.profile.steps == 100
    assert sum(simulation.profile.stages.values()) == pytest.approx(simulation.profile.mean)
    assert min(seconds for stage, seconds in simulation.profile.stages.items() if stage != "modules") > 0.0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"body": "bos", "force": [1, 0, 0], "duration": 1.0}, "no body 'bos'.*box"),
        ({"body": "floor", "force": [1, 0, 0], "duration": 1.0}, "'floor' is fixed"),
        ({"body": "box", "force": [math.nan, 0, 0], "duration": 1.0}, r"force is \[nan"),
        ({"body": "box", "force": [1, 0], "duration": 1.0}, "force is .*three"),
        ({"body": "box", "force": [1, 0, 0], "torque": [math.inf, 0, 0], "duration": 1.0}, "torque"),
        ({"body": "box", "force": [1, 0, 0], "point": [0, 0, math.nan], "duration": 1.0}, "point"),
        ({"body": "box", "force": [1, 0, 0], "duration": 0.0}, "duration is 0"),
        ({"body": "box", "force": [1, 0, 0], "duration": math.nan}, "duration is nan"),
    ],
)
def test_bad_wrenches_are_refused(arguments: dict, says: str) -> None:
    simulation = box_on_slope(0.0)
    with pytest.raises(InputError, match=says):
        simulation.apply_wrench(**arguments)
    simulation.step()
    assert_allclose(simulation.v, 0.0, atol=1e-10)


def test_bad_options_and_states_are_refused() -> None:
    thing = scene(floor(), box("box", (0.5, 0.5, 0.1), place(0, 0, 0.05)))
    for dt in (0.0, -1e-3, math.nan):
        with pytest.raises(InputError, match="dt is"):
            Simulation(thing, dt=dt)
    with pytest.raises(InputError, match="no contact solver"):
        Simulation(thing, method="hope")
    with pytest.raises(SceneError, match="nothing moves"):
        Simulation(scene(floor()))
    simulation = Simulation(thing)
    with pytest.raises(InputError, match="duration is -1"):
        simulation.run(-1.0)
    with pytest.raises(InputError, match="fixed"):
        simulation.bodies["floor"].set_state(pin.SE3.Identity())
    with pytest.raises(InputError, match="state of 'box'"):
        simulation.bodies["box"].set_state(pin.SE3.Identity(), [0, 0, math.nan, 0, 0, 0])
    other = Simulation(scene(ball("ball", 0.1, place(0, 0, 1)), ball("other", 0.1, place(1, 0, 1))))
    with pytest.raises(InputError, match="another scene"):
        simulation.restore_state(other.save_state())
    with pytest.raises(InputError, match="body 'ghost': inertia"):
        Simulation(scene(body("ghost", Box(np.ones(3)), 1e-320, np.zeros((3, 3)))))


def test_a_joint_without_inertia_is_named(tmp_path: Path) -> None:
    path = tmp_path / "flag.urdf"
    path.write_text(
        """<robot name="flag"><link name="pole"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><link name="cloth"/>
        <joint name="turn" type="continuous"><parent link="pole"/><child link="cloth"/><axis xyz="0 0 1"/></joint>
        </robot>"""
    )
    robot = load_robot(path)
    placed = SceneRobot("flag", robot, "zero", pin.SE3.Identity(), pin.neutral(robot.model))
    with pytest.raises(SimulationError, match=r"flag/turn\) moves no inertia"):
        Simulation(scene(floor(), robots=(placed,)))


def test_state_that_explodes_is_kept_from_before() -> None:
    simulation = Simulation(scene(box("box", (0.5, 0.5, 0.1), place(0, 0, 5.0))))
    joint = simulation.world.find_body("box").joint  # a user can give no such wrench
    simulation.stepping.wrenches.add_to_joint(joint, [0.0] * 3, [1e308, 1e308, 0.0, 1e308, 0.0, 0.0], 1000)
    before = simulation.q.copy()
    states = [before]
    with pytest.raises(SimulationError, match="box"):
        simulation.run(0.02, lambda s: states.append(s.q.copy()))
    before = states[-1]
    assert np.isfinite(simulation.q).all()
    assert_allclose(simulation.q, before, atol=0.0)
    assert len(simulation.contacts) == 0
    assert simulation.solver is None


def test_no_pinocchio_data_is_made_for_a_world_of_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size grows with the cube of the number of coordinates: 100 free boxes would need 20 GB."""

    def refuse(model: pin.Model) -> None:
        raise AssertionError("Pinocchio's data of the whole world")

    monkeypatch.setattr(pin.Model, "createData", refuse)
    simulation = Simulation(scene(floor(), box("box", (0.2, 0.2, 0.2), place(0, 0, 0.1))))
    simulation.run(0.01)
    assert len(simulation.contacts) == 4


@pytest.mark.feature("000-F099")
@pytest.mark.parametrize("delassus", ["auto", "unit_forces", "chang_khatib", "unit_wrenches"])
def test_one_group_gives_the_forces_of_many(delassus: str) -> None:
    """Stacked, sliding and lone boxes."""
    world = scene(
        floor(),
        box("below", (0.3, 0.3, 0.2), place(0, 0, 0.1)),
        box("above", (0.2, 0.2, 0.1), place(0.02, 0, 0.25)),
        box("sliding", (0.2, 0.2, 0.2), place(2, 0, 0.1), twist=np.array([1.0, 0.3, 0, 0, 0, 0])),
    )
    options = {"method": "nsgs", "delassus": delassus, "tolerance": 1e-12}
    many, one = (Simulation(world, groups=groups, **options) for groups in (True, False))
    for simulation in (many, one):
        simulation.run(0.05)
    assert_allclose(one.q, many.q, atol=1e-9)
    assert_allclose(one.contacts.force, many.contacts.force, atol=1e-6)
    assert one.contact_problem.W.shape == many.contact_problem.W.shape == (36, 36)
    assert [int(simulation.stepping.stepper.groups.counts[0]) for simulation in (many, one)] == [2, 1]


def falling_boxes() -> Scene:
    """Boxes that land on each other: contacts, groups and operators grow on the way."""
    boxes = [box(f"b{i}", (0.2, 0.2, 0.1), place(0.02 * i, 0.01 * i, 0.06 + 0.13 * i, 0.05 * i)) for i in range(12)]
    return scene(floor(), *boxes)


def test_many_steps_in_one_call_are_those_of_single_calls() -> None:
    """Bit for bit, while arrays grow in the middle of it; and the profile counts them all."""
    many, single, watched = Simulation(falling_boxes()), Simulation(falling_boxes()), Simulation(falling_boxes())
    many.run(0.3)
    for _ in range(300):
        single.step()
    seen: list[float] = []
    watched.run(0.3, lambda s: seen.append(s.time))
    assert len(many.contacts) > 40
    for other in (single, watched):
        assert_allclose(many.q, other.q, atol=0.0, rtol=0.0)
        assert_allclose(many.v, other.v, atol=0.0, rtol=0.0)
        assert_allclose(many.q_before, other.q_before, atol=0.0, rtol=0.0)
        assert_allclose(many.contacts.force, other.contacts.force, atol=0.0, rtol=0.0)
    assert many.step_count == single.step_count == many.profile.steps == single.profile.steps == len(seen) == 300
    assert many.profile.longest < sum(many.profile.sums.values())


def test_an_explosion_among_many_steps_keeps_the_state_before_it() -> None:
    """The same state as with single steps, of the same step."""
    states = []
    for single in (False, True):
        simulation = Simulation(scene(box("box", (0.5, 0.5, 0.1), place(0, 0, 5.0)), gravity=(0.0, 0.0, -1e306)))
        with pytest.raises(SimulationError, match="box"):
            simulation.run(0.5, (lambda s: None) if single else None)
        assert np.isfinite(simulation.q).all()
        assert np.isfinite(simulation.v).all()
        states.append((simulation.step_count, simulation.q))
    assert states[0][0] == states[1][0] >= 1  # not the first step of the call
    assert_allclose(states[0][1], states[1][1], rtol=0.0)
