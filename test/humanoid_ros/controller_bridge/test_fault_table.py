# SPDX-License-Identifier: Apache-2.0
"""Whatever fails in the middle of a motion stops it, is told, and leaves the bridge free.

The table is that of ``test/bridge_faults.py``. Its bounds are stretched: the figures are the program's.
"""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from bridge_faults import FAULTS, MIXTURES, Run, applies, play, press_before, staged

pytestmark = pytest.mark.ros
PATIENCE = 5.0
QUICK = {
    "action + topic": ("joint states silent", "second controller dead", "the client is gone", "the base tilts"),
    "forward_position + topic": (
        "emergency stop, best effort", "one joint not measured any more", "second controller dead", "bridge hangs",
    ),
}  # fmt: skip


def check(runs: dict[str, Run]) -> None:
    assert {fault: (run.problem, run.words) for fault, run in runs.items() if run.problem} == {}


@pytest.mark.parametrize("mixture", QUICK)
def test_faults_of_mixed_controllers_stop_are_told_and_leave_the_bridge_free(mixture: str) -> None:
    with staged(mixture, patience=PATIENCE) as stage:
        check({fault: play(stage, fault) for fault in QUICK[mixture]})


@pytest.mark.slow
@pytest.mark.parametrize("mixture", MIXTURES)
def test_every_fault_stops_is_told_and_leaves_the_bridge_free(mixture: str) -> None:
    with staged(mixture, patience=PATIENCE) as stage:
        check({fault: play(stage, fault) for fault in FAULTS if applies(fault, mixture)})


def test_best_effort_joint_states_are_heard() -> None:
    with staged("topic", quality="best effort", patience=PATIENCE) as stage:
        check({"silent": play(stage, "joint states silent")})


@pytest.mark.parametrize(
    ("emergency", "quality"),
    [("emergency_stop", "latched"), ("{latched: true}", "reliable"), ("{heartbeat: 2.0}", "best effort")],
)
def test_a_press_from_before_the_start_is_heard_or_assumed(emergency: str, quality: str) -> None:
    check({"pressed before": press_before(emergency, quality)})
