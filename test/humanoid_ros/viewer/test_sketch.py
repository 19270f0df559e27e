# SPDX-License-Identifier: Apache-2.0
"""The picture without a browser shows robot, arrows and cones where they are."""

import numpy as np
import pinocchio as pin

from humanoid_model.urdf import read_urdf
from humanoid_ros.viewer.camera import Camera
from humanoid_ros.viewer.drawing.contact_drawing import STICK_COLOUR, ContactView
from humanoid_ros.viewer.sketch import sketch

CAMERA = Camera(np.array([3.0, 0.0, 0.5]), np.array([0.0, 0.0, 0.5]))
CONTACT = ContactView(
    position=np.array([[0.0, 0.5, 0.0]]),
    normal=np.array([[0.0, 0.0, 1.0]]),
    force=np.array([[0.0, 0.0, 100.0]]),
    friction=np.array([0.5]),
    slipping=np.array([False]),
    bodies=(("r/base", "floor"),),
)


def drawn(urdf: str, contacts: ContactView, placements: dict[str, pin.SE3]) -> np.ndarray:
    image = sketch(
        read_urdf(urdf),
        placements,
        contacts,
        CAMERA,
        cone_scale=0.002,
        arrow_scale=0.004,
        size=(400, 300),
    )
    return np.asarray(image).astype(int)


def test_robot_is_where_its_links_are(urdf: str) -> None:
    picture = drawn(urdf, ContactView.empty(), {"base": pin.SE3.Identity()})
    red = (picture[..., 0] > 120) & (picture[..., 1] < 60)
    rows, columns = np.nonzero(red)
    # The red box: 0.2 m wide, from -0.05 m to 0.25 m, its front face 2.95 m away.
    corners = np.array([[0.05, -0.1, -0.05], [0.05, 0.1, 0.25]])
    expected = CAMERA.project(corners, 400, 300)
    assert abs(columns.min() - expected[0, 0]) < 4 or abs(columns.min() - expected[1, 0]) < 4
    np.testing.assert_allclose(np.ptp(columns), abs(expected[1, 0] - expected[0, 0]), atol=4)
    np.testing.assert_allclose(rows.min(), expected[1, 1], atol=4)


def test_nothing_is_drawn_of_links_without_a_place(urdf: str) -> None:
    picture = drawn(urdf, ContactView.empty(), {})
    assert not ((picture[..., 0] > 120) & (picture[..., 1] < 60)).any()


def test_arrow_has_the_length_of_its_force_and_the_cone_its_height(urdf: str) -> None:
    picture = drawn(urdf, CONTACT, {})
    rows, _ = np.nonzero((picture == STICK_COLOUR).all(axis=2))
    base, tip = CAMERA.project(np.array([[0.0, 0.5, 0.0], [0.0, 0.5, 0.4]]), 400, 300)
    assert abs(rows.max() - base[1]) < 4
    assert abs((rows.max() - rows.min()) - (base[1] - tip[1])) < 14  # the head adds 10 px
    rows, columns = np.nonzero((picture[..., 0] - picture[..., 1] > 40) & (picture[..., 2] > 30))
    rim = CAMERA.project(np.array([[0.0, 0.4, 0.2], [0.0, 0.6, 0.2]]), 400, 300)
    np.testing.assert_allclose(np.ptp(columns), abs(rim[1, 0] - rim[0, 0]), atol=4)
