# SPDX-License-Identifier: Apache-2.0
"""A mechanism that was dragged moves likewise in the simulator."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixtures.ros_domain import claim_domain

from examples.drag_and_simulate import main, simulate
from humanoid_kinematics import LiveScene, ToolVelocity
from humanoid_kinematics.analysis.recording import Recording


def test_the_simulated_platform_goes_where_it_was_dragged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the node: the same live mechanism, driven here."""
    live = LiveScene.load("gough").mechanisms["gough"]
    motion = Recording()
    for step in range(60):
        speed = 0.05 if step < 30 else -0.05
        live.give(ToolVelocity("frame_1", linear=(speed, 0.0, 0.0)))
        live.tick(0.02)
        motion.add(live.time, live.solver)
    picture = tmp_path / "drag.png"
    assert simulate(live.mechanism, "frame_1", motion, str(picture)) == 0
    assert "holds: gough, 21 joints, 6 drives, 5 loops" in capsys.readouterr().out
    assert picture.stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.ros
def test_the_node_is_dragged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(claim_domain()))
    assert main([str(tmp_path / "drag.png"), "--duration", "3"]) == 0
    assert "tracking: simulated tool within" in capsys.readouterr().out


def test_a_mechanism_without_drives_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["unused.png", "--mechanism", "scara"]) == 2
    assert "has no drives, tool or loop" in capsys.readouterr().err
