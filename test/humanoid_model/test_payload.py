# SPDX-License-Identifier: Apache-2.0
"""A load is in the robot's model and in its description, where it was put."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import InputError, Scene, load_robot, load_scene, with_robot
from humanoid_model.payload import with_payload

pytestmark = pytest.mark.feature("003-F031")


def test_the_centre_of_mass_is_that_of_both() -> None:
    robot = load_robot("hrp2", geometry=False)
    place = (0.1, 0.0, 0.2)
    loaded, q = with_payload(robot, 5.0, place, "RARM_LINK6"), robot.default_posture
    inertial = robot.description.links["RARM_LINK6"].inertial
    assert inertial is not None
    at = robot.link_placements(q)["RARM_LINK6"].act(inertial.placement_link_com.translation + place)
    alone = pin.centerOfMass(robot.model, robot.model.createData(), q)
    expected = (robot.total_mass * alone + 5.0 * at) / (robot.total_mass + 5.0)
    np.testing.assert_allclose(pin.centerOfMass(loaded.model, loaded.model.createData(), q), expected, atol=1e-12)
    assert loaded.total_mass == pytest.approx(robot.total_mass + 5.0)


def test_the_description_gives_the_same_inertia() -> None:
    robot = with_payload(load_robot("bip", geometry=False), 8.0)
    scene: Scene = with_robot(load_scene("stand"), robot)
    own = scene.robots[0].robot
    q, v = own.default_posture, np.zeros(own.model.nv)
    efforts = pin.rnea(own.model, own.model.createData(), q, v, v)
    assert efforts[2] == pytest.approx(9.81 * own.total_mass, rel=1e-9)
    masses = sum(link.inertial.mass for link in own.description.links.values() if link.inertial is not None)
    assert masses == pytest.approx(sum(inertia.mass for inertia in own.model.inertias))


@pytest.mark.parametrize(
    ("mass", "link", "message"), [(0.0, None, "mass"), (np.nan, None, "mass"), (1.0, "x", "Links are")]
)
def test_what_cannot_be_carried_is_refused(mass: float, link: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        with_payload(load_robot("bip", geometry=False), mass, link=link)
