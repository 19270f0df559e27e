# SPDX-License-Identifier: Apache-2.0
"""Joints of a simulated robot put elsewhere, ball joints included."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_sim import Simulation


@pytest.fixture(scope="module", params=["stand", "avatar"])
def simulation(request: pytest.FixtureRequest) -> Simulation:
    return Simulation(request.param)


def test_joints_are_read_where_they_were_put(simulation: Simulation) -> None:
    """Positions and velocities come back as given, and the other joints stay."""
    simulation.reset()
    (robot,) = simulation.robots.values()
    rng = np.random.default_rng(0)
    chosen = list(rng.permutation(robot.joint_names)[:7])
    positions, velocities = rng.uniform(-0.3, 0.3, 7), rng.normal(size=7)
    before = dict(zip(robot.joint_names, robot.joint_positions, strict=True))
    robot.set_state(*robot.place_joints(robot.q, robot.v, positions, velocities, chosen))
    after = dict(zip(robot.joint_names, robot.joint_positions, strict=True))
    rates = dict(zip(robot.joint_names, robot.joint_velocities, strict=True))
    np.testing.assert_allclose([after[name] for name in chosen], positions, atol=1e-9)
    np.testing.assert_allclose([rates[name] for name in chosen], velocities, atol=1e-9)
    for name in set(robot.joint_names) - set(chosen):
        assert after[name] == pytest.approx(before[name], abs=1e-9)
        assert rates[name] == pytest.approx(0.0, abs=1e-9)


def test_the_given_state_is_left_alone(simulation: Simulation) -> None:
    (robot,) = simulation.robots.values()
    q, v = robot.q, robot.v
    kept = q.copy(), v.copy()
    robot.place_joints(q, v, np.full(len(robot.joint_names), 0.1))
    np.testing.assert_array_equal(q, kept[0])
    np.testing.assert_array_equal(v, kept[1])


@pytest.mark.parametrize(
    ("joints", "positions", "message"),
    [
        (["TAIL"], [0.0], "has no joint 'TAIL'"),
        (None, [0.0], "positions has 1 values"),
    ],
)
def test_refused(simulation: Simulation, joints: list[str] | None, positions: list[float], message: str) -> None:
    (robot,) = simulation.robots.values()
    with pytest.raises(InputError, match=message):
        robot.place_joints(robot.q, robot.v, positions, None, joints)


@pytest.mark.feature("000-F029")
def test_gains_of_a_target_last_until_the_next_one() -> None:
    """A joint in the air, on feed-forward and gains of the target's own: its effort is that of the law."""
    simulation = Simulation("bip_stand")
    robot = simulation.robots["bip"]
    name = robot.joint_names[0]
    own = simulation.servos.stiffness.copy()
    robot.set_position_target([0.3], [0.2], [name], [0.5], [[3.0], [0.1]])
    simulation.step()
    q, v = robot.joint_positions[0], robot.joint_velocities[0]
    assert robot.joint_efforts[0] == pytest.approx(0.5 + 3.0 * (0.3 - q) + 0.1 * (0.2 - v), abs=1e-9)
    for bad, words in (([[-1.0], [0.0]], "stiffness\\[0\\] is -1.0"), ([[1.0], [np.nan]], "damping\\[0\\] is nan")):
        with pytest.raises(InputError, match=words):
            robot.set_position_target([0.3], joints=[name], gains=bad)
    robot.set_position_target([0.3], joints=[name])
    np.testing.assert_array_equal(simulation.servos.stiffness, own)
