# SPDX-License-Identifier: Apache-2.0
"""Whatever fails in the middle of a motion stops it, is told, and leaves the bridge free.

The table is that of ``test/bridge_faults.py``. Its bounds are stretched: the figures are the program's.
"""

from __future__ import annotations

import signal

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from bridge_faults import FAULTS, MIXTURES, Run, applies, play, press_before, staged
from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from trajectory_msgs.msg import JointTrajectoryPoint

from humanoid_ros.client import HumanoidStack
from humanoid_ros.messages.conversions import duration
from test.humanoid_ros.conftest import wait_until

pytestmark = [pytest.mark.ros, pytest.mark.feature("000-F029")]
PATIENCE = 5.0
BUSY = "another trajectory is being executed: cancel it, or wait."
QUICK = {
    "action + topic": ("second controller dead", "the client is gone", "the base tilts"),
    "forward_position + topic": (
        "emergency stop, best effort", "one joint not measured any more", "bridge hangs",
    ),
}  # fmt: skip


def check(runs: dict[str, Run]) -> None:
    assert {fault: (run.problem, run.words) for fault, run in runs.items() if run.problem} == {}


@pytest.mark.parametrize("mixture", QUICK)
def test_faults_of_mixed_controllers_stop_are_told_and_leave_the_bridge_free(mixture: str) -> None:
    """Their joint states come best effort."""
    with staged(mixture, quality="best effort", patience=PATIENCE) as stage:
        check({fault: play(stage, fault) for fault in QUICK[mixture]})


@pytest.mark.slow
@pytest.mark.parametrize("mixture", MIXTURES)
def test_every_fault_stops_is_told_and_leaves_the_bridge_free(mixture: str) -> None:
    with staged(mixture, patience=PATIENCE) as stage:
        check({fault: play(stage, fault) for fault in FAULTS if applies(fault, mixture)})


@pytest.mark.parametrize(
    ("emergency", "quality"),
    [
        ("emergency_stop", "latched"),
        pytest.param("{latched: true}", "reliable", marks=pytest.mark.slow),
        pytest.param("{heartbeat: 2.0}", "best effort", marks=pytest.mark.slow),
    ],
)
def test_a_press_from_before_the_start_is_heard_or_assumed(emergency: str, quality: str) -> None:
    check({"pressed before": press_before(emergency, quality)})


def test_a_client_of_python_that_lives_moves_the_robot_and_one_that_has_gone_doesnt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with staged("topic", patience=PATIENCE) as stage:
        assert stage.ask() == ""
        monkeypatch.setenv("ROS_DOMAIN_ID", str(stage.domain))
        message = stage.goal().trajectory
        with HumanoidStack("robot_2r_a", patience=60.0) as stack:
            result = stack.execute(message, dead_man=2.0)
            while "is lost" in result.message:  # on a busy machine what is simulated here may be late
                assert stage.mend() == ""
                result = stack.execute(message, dead_man=2.0)
            assert result.success, result.message
            assert stage.mend() == ""
            stack.begin_execute(message, dead_man=2.0)
            wait_until(lambda: bool(stage.robot.motion), "it doesn't move")
        wait_until(lambda: stage.ask(0.0) != BUSY, "it goes on without its client", timeout=60.0)
        assert stage.robot.joint_positions[0] < 1.4  # of 1.65


def test_a_bridge_that_is_deactivated_while_it_checks_a_motion_doesnt_begin_it() -> None:
    with staged("topic", patience=PATIENCE) as stage:
        assert stage.ask() == ""
        goal = stage.goal()
        goal.trajectory.joints.points = [
            JointTrajectoryPoint(positions=[0.1 * share] * 2, time_from_start=duration(6.0 * share))
            for share in np.linspace(0.0, 1.0, 20_000)
        ]
        _, answer = stage.send(goal)
        stage.change.call_async(ChangeState.Request(transition=Transition(id=Transition.TRANSITION_DEACTIVATE)))
        result = answer.result().result
        assert result.code == result.STOPPED
        assert "the bridge is inactive: activate it" in result.message
        assert not stage.robot.motion


def test_diagnostics_tell_what_keeps_it_from_moving() -> None:
    with staged("action + topic", patience=PATIENCE) as stage:

        def wait_for(level: bytes, words: str) -> None:
            stage.health.clear()
            wait_until(
                lambda: any(item.level == level and words in item.message for item in list(stage.health)),
                f"diagnostics don't tell: {words}",
            )

        assert stage.ask() == ""
        wait_for(DiagnosticStatus.OK, "idle")
        stage.robot.press(True)
        wait_for(DiagnosticStatus.WARN, "the emergency stop is pressed")
        stage.robot.press(False)
        stage.robot.unmeasured = {"joint2"}
        wait_for(DiagnosticStatus.ERROR, "joint 'joint2' was measured")
        stage.robot.heal()
        stage.robot.silent = True
        wait_for(DiagnosticStatus.ERROR, "the newest joint states are")
        ages = [float(value.value) for value in stage.health[-1].values if value.key.startswith("age of the newest")]
        assert ages[0] > 0.9
        stage.robot.heal()
        stage.bridge.send_signal(signal.SIGINT)
        assert stage.bridge.wait(60.0) == 0
