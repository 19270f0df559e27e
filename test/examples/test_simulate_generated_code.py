# SPDX-License-Identifier: Apache-2.0
"""Generated C code controls a simulation, and gives the same motion by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from examples.simulate_generated_code import GeneratedCode, main
from humanoid_model import load_robot


def test_the_simulator_runs_on_the_code_and_the_code_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "code.png"
    assert main([str(picture), "--robot", "robot_2r_a", "--duration", "1.0"]) == 0
    told = capsys.readouterr().out
    assert "agree: efforts of C and Pinocchio" in told
    assert picture.stat().st_size > 10_000


def test_the_code_is_the_robots(tmp_path: Path) -> None:
    """Both functions through ctypes, against Pinocchio."""
    robot = load_robot("robot_2r_b", floating_base=False)
    code, data = GeneratedCode(robot, tmp_path), robot.model.createData()
    q, v, a = np.random.default_rng(1).uniform(-2.0, 2.0, (3, robot.model.nv))
    tau = pin.rnea(robot.model, data, q, v, a)
    np.testing.assert_allclose(code.inverse_dynamics(q, v, a), tau, rtol=1e-12)
    np.testing.assert_allclose(code.direct_dynamics(q, v, tau), a, rtol=1e-12)


def test_robots_that_the_code_cant_stand_for_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["unused.png", "--robot", "avatar"]) == 2
    assert "ball joints" in capsys.readouterr().err
