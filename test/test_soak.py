# SPDX-License-Identifier: Apache-2.0
"""What `make soak` finds wrong, and a round of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.ros_domain import claim_domain
from soak import judge

MIB = 2.0**20


def test_memory_that_grows_is_told() -> None:
    flat = [80.0 * MIB] + [100.0 * MIB] * 29
    leaking = [100.0 * MIB * 1.01**k for k in range(30)]
    assert judge({"simulator": flat}, [1.0] * 30) == []
    (wrong,) = judge({"simulator": flat, "viewer": leaking}, [1.0] * 30)
    assert wrong.startswith("viewer grew from 116 to 12")


def test_a_simulation_that_falls_behind_is_told() -> None:
    assert judge({}, [1.0, 0.5, 1.0, 0.99, 1.0, 1.0]) == []
    assert judge({}, [0.5] * 6) == ["the simulation ran at 0.50 of real time"]


@pytest.mark.slow
def test_a_round_ends_well() -> None:
    program = [sys.executable, str(Path(__file__).with_name("soak.py")), "--minutes", "0.1"]
    environment = {**os.environ, "ROS_DOMAIN_ID": str(claim_domain())}
    done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().endswith("nothing is wrong")
