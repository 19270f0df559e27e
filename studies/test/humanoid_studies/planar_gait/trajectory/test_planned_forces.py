# SPDX-License-Identifier: Apache-2.0
"""Forces place by place: what acts along the ground is shared between what presses and is never lost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from humanoid_studies.planar_gait.trajectory.contact_schedule import ContactInterval
from humanoid_studies.planar_gait.trajectory.planned_forces import planned_forces

pytestmark = pytest.mark.feature("003-F106")


def trajectory(normal: tuple[float, float], tangential: float, part: str = "sole") -> Any:
    """One foot at one time, its heel at 0 and its toe at 0.2 m; the other one is in the air."""
    contact = ContactInterval("left", part, 0.0, 1.0)
    return SimpleNamespace(
        feet=("left", "right"),
        foot_places=("heel", "toe"),
        normal=np.array([[normal, (0.0, 0.0)]]),
        tangential=np.array([[tangential, 0.0]]),
        places=np.array([[[[0.0, 0.0], [0.2, 0.0]], [[0.5, 0.1], [0.7, 0.1]]]]),
        phase=np.array([0]),
        starts=np.array([0.0, 1.0]),
        times=np.array([0.5]),
        contacts=(contact,),
    )


@pytest.mark.parametrize(
    ("normal", "part", "along"),
    [
        ((300.0, 100.0), "sole", [150.0, 50.0]),
        ((300.0, 100.0), "toe", [0.0, 200.0]),  # what isn't down takes nothing
        ((-300.0, 100.0), "sole", [0.0, 200.0]),  # what pulls neither
        ((0.0, 0.0), "sole", [100.0, 100.0]),  # nothing presses: told all the same
        ((0.0, 0.0), "toe", [200.0]),
        ((0.0, 400.0), "heel", [200.0, 0.0]),
    ],
)
def test_what_acts_along_the_ground_is_all_there(normal: tuple[float, float], part: str, along: list[float]) -> None:
    forces = planned_forces(trajectory(normal, 200.0, part), 0, 0.6, (0.1, -0.1))
    assert [force.force[0] for force in forces] == pytest.approx(along)
    assert sum(force.force[2] for force in forces) == pytest.approx(sum(normal))
    assert {force.location for force in forces} == {"left"}
    assert {force.place[1] for force in forces} == {0.1}
    assert all(force.slips == (0.6 * sum(normal) < 200.0) for force in forces)


def test_no_force_is_none() -> None:
    assert planned_forces(trajectory((0.0, 0.0), 0.0), 0, 0.6, (0.1, -0.1)) == []
