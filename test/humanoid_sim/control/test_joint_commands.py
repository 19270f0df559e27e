# SPDX-License-Identifier: Apache-2.0
"""Who has which joint."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.control.joint_commands import JointCommands


class Owner:
    """Notes why it lost its joints."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def release(self, reason: str) -> None:
        self.reasons.append(reason)


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return Simulation("stand")


@pytest.fixture
def commands(simulation: Simulation) -> JointCommands:
    simulation.reset()
    return JointCommands(simulation.robots["hrp2"])


def test_the_last_one_has_the_joint(commands: JointCommands) -> None:
    head, leg, whole = Owner(), Owner(), Owner()
    head_joints = commands.indices(["HEAD_JOINT0", "HEAD_JOINT1"])
    leg_joints = commands.indices(["RLEG_JOINT0"])
    commands.take(head_joints, head, "1")
    commands.take(head_joints, head, "2")
    commands.take(leg_joints, leg, "3")
    assert head.reasons == leg.reasons == []
    commands.take(commands.indices(commands.joint_names), whole, "all")
    assert head.reasons == leg.reasons == ["all"]
    # One joint is enough to stop it, and it is told once.
    commands.take(head_joints, None, "topic")
    commands.take(leg_joints, None, "again")
    assert whole.reasons == ["topic"]


def test_targets_reach_the_servos(simulation: Simulation, commands: JointCommands) -> None:
    indices = commands.indices(["HEAD_JOINT1", "HEAD_JOINT0"])
    commands.set_positions(indices, np.array([0.1, 0.2]))
    np.testing.assert_array_equal(commands.positions[indices], [0.1, 0.2])
    simulation.run(0.5)
    positions, velocities = commands.joint_state()
    np.testing.assert_allclose(positions[indices], [0.1, 0.2], atol=5e-3)
    np.testing.assert_allclose(velocities[indices], 0.0, atol=1e-2)


def test_effort_leaves_the_target_where_the_joint_is(simulation: Simulation, commands: JointCommands) -> None:
    indices = commands.indices(["HEAD_JOINT0"])
    commands.set_efforts(indices, np.array([1.0]))
    simulation.run(0.1)
    moved = simulation.robots["hrp2"].joint_positions[indices]
    assert moved[0] > 0.01
    commands.set_efforts(indices, np.array([0.0]))
    np.testing.assert_array_equal(commands.positions[indices], moved)


def test_restart_forgets(simulation: Simulation, commands: JointCommands) -> None:
    owner = Owner()
    indices = commands.indices(["HEAD_JOINT0"])
    commands.take(indices, owner, "")
    commands.set_positions(indices, np.array([0.5]))
    simulation.reset()
    commands.restart("reset")
    assert owner.reasons == ["reset"]
    assert commands.positions[indices[0]] == 0.0


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["TAIL"], "names: there is no joint 'TAIL'. Joints are RLEG_JOINT0, "),
        (["HEAD_JOINT0", "HEAD_JOINT0"], "names: 'HEAD_JOINT0' occurs twice. Name each joint once"),
    ],
)
def test_refused(commands: JointCommands, names: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        commands.indices(names)
