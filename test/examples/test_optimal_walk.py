# SPDX-License-Identifier: Apache-2.0
"""BIP2000, HRP-2, TALOS and G1 walk on their feet and stand (issue of the optimal gaits, part 7)."""

from pathlib import Path

import numpy as np
import pytest

from examples.optimal_walk import draw, plan, sloping_floor, walk
from humanoid_model import load_scene
from humanoid_model.mesh_path import resolve_mesh_path
from humanoid_model.resources import find_resource


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
    gait, slope = plan(4), sloping_floor("bip_walk", 2.0)
    assert walk(gait, scene=slope).fallen is not None
    stabilised = walk(gait, stabilise=True, scene=slope)
    assert stabilised.fallen is None
    assert stabilised.speed > 0.47
    assert max(stabilised.peaks.values()) <= 1.0 + 1e-9


@pytest.mark.slow
def test_hrp2_walks_a_similar_walk():
    """The same Froude number: legs of 0.6 m instead of 0.82 m."""
    walked = walk(plan(6, "hrp2"))
    assert walked.fallen is None
    assert walked.steps == 10
    assert walked.speed == pytest.approx(0.53 * np.sqrt(0.6 / 0.82), rel=0.03)
    assert (walked.astray < [0.01, 0.01, 2e-3]).all()
    assert walked.joint_error < np.radians(0.5)
    assert walked.margin > 0.015
    assert max(walked.peaks.values()) < 0.99
    np.testing.assert_allclose(walked.postures[-1], walked.postures[-50], atol=1e-4)


def floor_with(robot, posture, directory):
    """The scene of HRP-2's stand with a robot of example-robot-data in its place; skips where that is missing."""
    if resolve_mesh_path("package://example-robot-data/package.xml", Path()) is None:
        pytest.skip("example-robot-data is not installed")
    stand = find_resource("config/scenes/stand.yaml").read_text()
    hrp2 = "hrp2: {robot: hrp2, posture: half_sitting}"
    assert hrp2 in stand
    path = directory / f"{robot}.yaml"
    path.write_text(stand.replace(hrp2, f"{robot}: {{robot: {robot}, posture: {posture}}}"))
    return load_scene(path)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::humanoid_model.errors.RobotWarning")
@pytest.mark.parametrize(
    ("robot", "posture", "leg", "steady", "how", "share", "margin"),
    [
        # With a slower start than BIP2000's: its hips would need 103 % of their limits.
        ("talos", "half_sitting", 0.705, 4, {"swing": 0.75}, 1.0, 10e-3),
        # Its soles are 5 cm wide, its feet 24 cm apart, its ankles weak.
        ("g1", "standing", 0.637, 2, {"stride": 0.75}, 0.95, 5e-3),
    ],
)
def test_robots_of_other_proportions_walk(robot, posture, leg, steady, how, share, margin, tmp_path):
    floor = floor_with(robot, posture, tmp_path)
    gait = plan(steady, robot, **how)
    efforts = gait.robot.limits.effort[6:]
    assert max(np.abs(phase.torques[:, 6:] / efforts).max() for phase in gait.phases) < share
    walked = walk(gait, scene=floor)
    assert walked.fallen is None
    assert walked.steps == steady + 4
    assert walked.speed == pytest.approx(how.get("stride", 1.0) * 0.53 * np.sqrt(leg / 0.82), rel=0.03)
    assert (walked.astray < [0.01, 0.01, 2e-3]).all()
    assert walked.margin > margin
