# SPDX-License-Identifier: Apache-2.0
"""Experiment E8 of specification 000 §27; the parametrisations themselves are tested in ``rotation``."""

from __future__ import annotations

import numpy as np

from humanoid_sim import Simulation
from humanoid_studies.simulator import ball_joint


def test_quaternion_stays_three_angles_go_astray() -> None:
    result = ball_joint.run(duration=3.0)
    assert result.passes, result.table()
    assert result.row("quaternion: out of the plane").ours < 1e-9
    assert result.row("three angles: out of the plane").ours > 1e-3
    assert len(result.panels) == 3


def test_the_avatar_with_hinges_stands_like_the_one_with_balls() -> None:
    ours, hinged = Simulation("avatar"), Simulation(ball_joint.hinged_avatar())
    assert ours.v.shape == hinged.v.shape
    assert hinged.q.size == ours.q.size - 8  # three angles in place of four numbers, for eight joints
    for link in ("head", "r_palm", "l_foot"):
        at = [s.placement(f"avatar/{link}").translation for s in (ours, hinged)]
        np.testing.assert_allclose(at[0], at[1], atol=1e-9)
