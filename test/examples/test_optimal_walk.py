# SPDX-License-Identifier: Apache-2.0
"""BIP2000, HRP-2, TALOS and G1 walk on their feet and stand (issue of the optimal gaits, part 7)."""

from pathlib import Path

import numpy as np
import pytest
from fixtures.ros_domain import claim_domain

from examples.optimal_walk import draw, main, own_scene, plan, planned, sloping_floor, walk
from humanoid_model import load_robot
from humanoid_model.files import resolve_mesh_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--steps", "0"], "steps: is 0. Give a number from 1 to 1000"),
        (["--steps", "100000"], "steps: is 100000. Give a number from 1 to 1000"),
        (["--stride", "2"], "stride"),
        (["--stride", "nan"], "stride"),
        (["--slope", "89"], "slope: is 89 degrees. Give one from -30 to 30 degrees"),
        (["--slope", "nan"], "slope: is nan degrees"),
        (["--bridge"], "bridge: is for HRP-2 on a level floor"),
        (["nowhere/walk.png"], "'nowhere' isn't a folder. Give a .png in a folder that exists"),
        (["walk.docx"], "'.docx' is no format of pictures"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line_before_anything_is_planned(words, said, capsys, monkeypatch, tmp_path):
    def never(*_):
        raise AssertionError("a phase is solved")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("humanoid_planner.gait.solvers.synthesize_gait.synthesize_phase", never)
    assert main(words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    (line,) = told.err.splitlines()
    assert line.startswith("optimal_walk: ")
    assert said in line


def test_a_folder_is_no_picture(capsys, tmp_path):
    assert main([str(tmp_path)]) == 2
    assert "picture: is a folder" in capsys.readouterr().err


@pytest.fixture(scope="module")
def gait():
    return plan(10)


@pytest.mark.slow
def test_bip2000_walks_ten_steps_at_half_a_metre_per_second_and_stands(gait, tmp_path):
    walked = walk(gait)
    assert walked.fallen is None
    assert walked.steps == 14  # ten steady ones, two before and two after them
    assert walked.speed > 0.52
    assert (walked.astray < [0.01, 0.01, 2e-3]).all()
    assert walked.joint_error < np.radians(0.5)
    assert walked.margin > 0.015
    assert max(walked.peaks.values()) < 0.99
    # It stands still in the end, both feet level where the last step put them.
    np.testing.assert_allclose(walked.postures[-1], walked.postures[-50], atol=1e-4)
    np.testing.assert_allclose(walked.postures[-1][:2], gait.phases[-1].q[-1][:2], atol=0.01)
    draw(gait.robot, walked, str(tmp_path / "walk.png"))
    assert (tmp_path / "walk.png").stat().st_size > 20_000


@pytest.mark.slow
def test_it_takes_a_stabiliser_to_walk_up_a_slope():
    """2 degrees, which puts the feet 14 mm higher than planned at each step; on half of it luck may do."""
    gait, slope = plan(4), sloping_floor(own_scene(load_robot("bip")), 2.0)
    assert walk(gait, scene=slope).fallen is not None
    stabilised = walk(gait, stabilise=True, scene=slope)
    assert stabilised.fallen is None
    assert stabilised.speed > 0.47
    assert max(stabilised.peaks.values()) <= 1.0 + 1e-9


@pytest.mark.slow
def test_hrp2_walks_a_similar_walk():
    """The same Froude number: legs of 0.6 m instead of 0.82 m."""
    gait = plan(6, "hrp2")
    assert f"zero-moment point at least {1e3 * gait.margin:.0f} mm inside" in planned(gait)
    walked = walk(gait)
    assert walked.fallen is None
    assert walked.steps == 10
    assert walked.speed == pytest.approx(0.53 * np.sqrt(0.6 / 0.82), rel=0.03)
    assert (walked.astray < [0.01, 0.01, 2e-3]).all()
    assert walked.joint_error < np.radians(0.5)
    assert walked.margin > 0.015
    assert max(walked.peaks.values()) < 0.99
    np.testing.assert_allclose(walked.postures[-1], walked.postures[-50], atol=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::humanoid_model.errors.RobotWarning")
@pytest.mark.parametrize(
    ("robot", "leg", "steady", "how", "share", "margin"),
    [
        # With a slower start than BIP2000's: its hips would need 103 % of their limits.
        ("talos", 0.705, 4, {"swing": 0.75}, 1.0, 10e-3),
        # Its soles are 5 cm wide, its feet 24 cm apart, its ankles weak.
        ("g1", 0.637, 2, {"stride": 0.75}, 0.95, 5e-3),
    ],
)
def test_robots_of_other_proportions_walk(robot, leg, steady, how, share, margin):
    if resolve_mesh_path("package://example-robot-data/package.xml", Path()) is None:
        pytest.skip("example-robot-data is not installed")
    gait = plan(steady, robot, **how)
    efforts = gait.robot.limits.effort[6:]
    assert max(np.abs(phase.torques[:, 6:] / efforts).max() for phase in gait.phases) < share
    walked = walk(gait)
    assert walked.fallen is None
    assert walked.steps == steady + 4
    assert walked.speed == pytest.approx(how.get("stride", 1.0) * 0.53 * np.sqrt(leg / 0.82), rel=0.03)
    assert (walked.astray < [0.01, 0.01, 2e-3]).all()
    assert walked.margin > margin


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.timeout(900)
def test_hrp2_walks_through_the_bridge(tmp_path, capsys, monkeypatch):
    """At a quarter of real time: on a busy machine windows come too late otherwise."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(claim_domain()))
    assert main([str(tmp_path / "walk.png"), "--robot", "hrp2", "--steps", "2", "--bridge", "--pace", "0.25"]) == 0
    told = capsys.readouterr().out
    assert "bridge: the end is reached" in told
    assert "; stands; " in told
