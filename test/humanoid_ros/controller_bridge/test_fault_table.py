# SPDX-License-Identifier: Apache-2.0
"""Whatever fails in the middle of a motion stops it, is told, and leaves the bridge free.

The table is that of ``test/bridge_faults.py``. Its bounds are stretched: the figures are the program's.
"""

from __future__ import annotations

import signal

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from bridge_faults import FAULTS, MIXTURES, Run, applies, play, press_before, staged
from diagnostic_msgs.msg import DiagnosticStatus

from test.humanoid_ros.conftest import wait_until

pytestmark = pytest.mark.ros
PATIENCE = 5.0
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
