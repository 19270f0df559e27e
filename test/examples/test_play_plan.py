# SPDX-License-Identifier: Apache-2.0
"""Plans of hands, feet and a seat as motions that the simulated robot's servos play."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.ros_domain import claim_domain

from examples.play_plan import SCENARIOS, displaced, main
from humanoid_model import Contact, ContactKind, Stance, load_robot
from humanoid_model.whole_body_trajectory import ContactSpan, WholeBodyTrajectory
from humanoid_planner.motion import MotionSettings, PlannedPostures, generate_motion
from humanoid_planner.posture import NearReference, generate_posture
from humanoid_sim import Simulation
from humanoid_sim.playback import play_motion


@pytest.mark.feature("001-F011", "001-F016", "001-F253")
def test_the_seat_bears_what_is_planned_and_gives_it_to_the_feet() -> None:
    """The first step of rising from the chair; the whole of it is a slow test."""
    scenario = SCENARIOS["chair"]()
    seated = scenario.problem.start
    rising = Stance(
        tuple(
            replace(contact, kind=ContactKind.RELEASED) if contact.location.name == "seat" else contact
            for contact in seated.contacts
        )
    )
    postures = [scenario.problem.start_posture]
    for stance in (seated, rising):
        found = generate_posture(
            scenario.robot,
            stance,
            scene=scenario.scene,
            initial=postures[-1],
            criterion=NearReference(scenario.kinematics, postures[-1], base=True),
            collisions=scenario.problem.collisions,
            torque_limits=True,
        )
        assert found.success, found.explanation
        postures.append(found.q)
    motion = generate_motion(
        scenario.robot,
        scenario.scene,
        PlannedPostures([seated, rising], postures[1:]),
        settings=MotionSettings(durations={0: 0.4}),
        collisions=scenario.problem.collisions,
    )
    assert motion.success, motion.explanation
    played = play_motion(Simulation(scenario.scene), "hrp2", motion.trajectory, after=0.05)
    seat = played.locations.index("seat")
    # The first looks are at the landing on surfaces that are a hair's breadth off.
    begun = played.times > 0.02
    np.testing.assert_allclose(played.measured[begun], played.planned[begun], atol=10.0)
    assert played.measured[begun][0, seat] > 50.0
    assert played.measured[-1, seat] < 1.0
    assert max(played.slip.values()) < 1e-3
    assert played.goal_base < 1e-3


@pytest.mark.feature("001-F011", "001-F016", "001-F250", "001-F253", "001-F254")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["back", "can", "chair", "gap", "glass", "ladder", "rail"])
def test_the_robot_ends_in_its_goal_posture(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By servos alone, through the search, the verifier and the simulator."""
    picture, film = tmp_path / "picture.png", tmp_path / "film.gif"
    assert main([name, str(picture), "--film", str(film)]) == 0
    told = capsys.readouterr().out
    assert "verified: 0 violations" in told
    assert "stands; 0.0" in told
    assert picture.stat().st_size > 10_000
    assert film.stat().st_size < 1_500_000


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.timeout(900)
def test_it_rises_through_the_bridge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first steps, at a quarter of real time: on a busy machine windows come too late otherwise."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(claim_domain()))
    picture = tmp_path / "picture.png"
    assert main(["chair", str(picture), "--stances", "3", "--bridge", "--pace", "0.25"]) == 0
    told = capsys.readouterr().out
    assert "bridge: the end is reached" in told
    assert "stands; 0.0" in told
    assert picture.stat().st_size > 10_000


@pytest.mark.feature("001-F252")
@pytest.mark.slow
@pytest.mark.timeout(3600)  # thousands of postures verified and 100 s simulated: beside other work over ten minutes
def test_the_robot_goes_under_the_table_and_stands_up_behind_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All 69 steps, without a film; the first ones of a chair are played above."""
    assert main(["table", str(tmp_path / "picture.png")]) == 0
    told = capsys.readouterr().out
    assert "verified: 0 violations" in told
    assert "stands; 0.0" in told


def test_bodies_are_displaced_by_so_much_at_most_but_for_those_that_the_robot_begins_on() -> None:
    scene, robot = SCENARIOS["rail"]().scene, load_robot("hrp2")
    floor = next(surface for surface in scene.surfaces if surface.name == "floor")
    q, rest = [robot.postures["half_sitting"]] * 2, np.zeros((2, robot.model.nv))
    stands = ContactSpan(Contact(robot.contacts["left_sole"], floor, 0.0, 0.0, 0.0), 0.0, 1.0)
    motion = WholeBodyTrajectory(robot, [0.0, 1.0], q, rest, rest, [stands])
    ways, turns = [], []
    for seed in range(20):
        moved = displaced(scene, motion, 0.01, 0.03, np.random.default_rng(seed))
        for before, after in zip(scene.bodies, moved.bodies, strict=True):
            here = [s.placement_body_surface for s in scene.surfaces if s.body == before.name]
            change = after.placement_world_body * before.placement_world_body.inverse()
            if before.name == "floor" or not here:
                assert change.isIdentity(1e-12)
                continue
            middle = (before.placement_world_body * here[0]).translation
            ways.append(float(np.linalg.norm(change.act(middle) - middle)))
            turns.append(float(np.linalg.norm(pin.log3(change.rotation))))
    assert 0.007 < max(ways) <= 0.01
    assert 0.02 < max(turns) <= 0.03


@pytest.mark.slow
@pytest.mark.feature("003-F031")
def test_what_begins_in_stride_holds_and_is_played_by_servos(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The verifier finds nothing, and the robot stands in the middle of its plan."""
    assert main(["chair", str(tmp_path / "stride.png"), "--stances", "4", "--in-stride"]) == 0
    told = capsys.readouterr().out
    assert "steps in stride." in told
    assert "verified: 0 violations, efforts" in told
    assert "; stands" in told
