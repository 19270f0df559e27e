# SPDX-License-Identifier: Apache-2.0
"""Centre of mass and of pressure against Pinocchio and by hand; marks lie where they say."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.urdf import read_urdf
from humanoid_ros.viewer.drawing.balance_drawing import (
    BalanceDrawing,
    centre_of_mass,
    centre_of_pressure,
)
from humanoid_ros.viewer.drawing.contact_drawing import ContactView
from humanoid_ros.viewer.page import Page


def view(position: list, normal_force: list) -> ContactView:
    m = len(position)
    return ContactView(
        position=np.array(position, dtype=float).reshape(m, 3),
        normal=np.tile([0.0, 0.0, 1.0], (m, 1)),
        force=np.column_stack([np.zeros((m, 2)), normal_force]),
        friction=np.full(m, 0.5),
        slipping=np.zeros(m, dtype=bool),
        bodies=(("foot", "floor"),) * m,
    )


def test_centre_of_mass_is_pinocchios(urdf: str) -> None:
    model = pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer())
    data = model.createData()
    q = pin.integrate(model, pin.neutral(model), np.linspace(-0.7, 0.9, model.nv))
    expected = pin.centerOfMass(model, data, q)
    pin.updateFramePlacements(model, data)
    description = read_urdf(urdf)
    placements = {link: data.oMf[model.getFrameId(link)] for link in description.links}
    np.testing.assert_allclose(centre_of_mass(description, placements), expected, atol=1e-12)


def test_centre_of_mass_needs_every_heavy_link(urdf: str) -> None:
    assert centre_of_mass(read_urdf(urdf), {"base": pin.SE3.Identity()}) is None


def test_centre_of_pressure_is_the_weighted_mean() -> None:
    pressure = centre_of_pressure(view([[0, 0, 0], [0.2, 0, 0], [0, 0.1, 0]], [10, 20, 10]))
    np.testing.assert_allclose(pressure, [0.1, 0.025, 0.0])
    assert centre_of_pressure(view([[0, 0, 0]], [0.0])) is None
    assert centre_of_pressure(ContactView.empty()) is None


def test_marks_lie_on_the_ground_below(page: Page) -> None:
    drawing = BalanceDrawing(page.server.scene, "r")
    nodes = page.server.scene._handle_from_node_name
    drawing.update(np.array([0.3, -0.1, 0.8]), view([[0, 0, 0.05], [0.2, 0, 0.05]], [1, 3]))
    np.testing.assert_allclose(nodes["/balance/r/com"].position, [0.3, -0.1, 0.8])
    np.testing.assert_allclose(nodes["/balance/r/com_mark"].position[:2], [0.3, -0.1])
    np.testing.assert_allclose(nodes["/balance/r/pressure_mark"].position[:2], [0.15, 0.0])
    for mark in ("com_mark", "pressure_mark"):
        assert 0.0 < nodes[f"/balance/r/{mark}"].position[2] - 0.05 < 0.01
        assert nodes[f"/balance/r/{mark}"].visible


@pytest.mark.parametrize("com", [None, np.array([0.0, 0.0, 1.0])])
def test_without_contacts_nothing_is_marked_on_the_ground(page: Page, com: np.ndarray | None) -> None:
    drawing = BalanceDrawing(page.server.scene, "r")
    drawing.update(com, ContactView.empty())
    nodes = page.server.scene._handle_from_node_name
    assert nodes["/balance/r/com"].visible == (com is not None)
    assert not nodes["/balance/r/com_mark"].visible
    assert not nodes["/balance/r/pressure_mark"].visible
