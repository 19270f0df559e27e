# SPDX-License-Identifier: Apache-2.0
"""Locations, surfaces and stances to messages and back, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import Point
from humanoid_stack.msg import Contact as ContactMessage
from humanoid_stack.msg import ContactLocation as LocationMessage
from humanoid_stack.msg import Stance as StanceMessage
from humanoid_stack.msg import Surface as SurfaceMessage

from humanoid_model import Contact, ContactKind, Robot, Scene, Stance, load_robot, load_scene
from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import placement
from humanoid_ros.messages.stance_messages import (
    WORLD,
    contact_location_message,
    contact_locations,
    request_scene,
    stance,
    stance_message,
    surface_message,
)

TRIANGLE = [Point(), Point(x=0.1), Point(y=0.1)]
SQUARE = [Point(x=x, y=y) for x, y in ((-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1))]
CYLINDER, SPHERE = SurfaceMessage.CYLINDER, SurfaceMessage.SPHERE
NAN = float("nan")


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("hrp2", geometry=False)


@pytest.fixture(scope="module")
def stairs() -> Scene:
    return load_scene("stairs")


def read(robot: Robot, scene: Scene, *contacts: ContactMessage) -> Stance:
    return stance(StanceMessage(contacts=list(contacts)), robot.contacts, scene.surfaces, "stance")


def test_locations_and_surfaces_come_back(robot: Robot, stairs: Scene) -> None:
    for location in robot.contacts.values():
        message = contact_location_message(location)
        message.name = "again"
        again = contact_locations([message], robot, "locations")["again"]
        assert again.link == location.link
        np.testing.assert_allclose(again.vertices_link, location.vertices_link, atol=1e-12)
    for surface in (*stairs.surfaces, *load_scene("rail_and_step").surfaces):
        message = surface_message(surface)
        message.body = "floor"
        message.name = "again"
        again = request_scene(stairs, [message], robot, "surfaces").surfaces[-1]
        assert (again.form, again.radius) == (surface.form, surface.radius)
        assert again.placement_body_surface.isApprox(surface.placement_body_surface, 1e-12)
        assert (again.polygon is None) == (surface.polygon is None)
        if surface.polygon is not None:
            np.testing.assert_array_equal(again.polygon, surface.polygon)


def test_a_stance_comes_back_and_tells_where_it_slid_to(robot: Robot, stairs: Scene) -> None:
    surfaces = {surface.name: surface for surface in stairs.surfaces}
    held = Stance(
        (
            Contact(robot.contacts["left_sole"], surfaces["floor"], 0.1, 0.2, 0.3, ContactKind.SLIDING),
            Contact(robot.contacts["right_sole"], surfaces["step_1"], 0.0, -0.1, 0.0),
            Contact(
                robot.contacts["right_hand_fingers"], surfaces["step_4"], 0.0, 0.1, 0.0, ContactKind.RELAXED, True, 0.1
            ),
        )
    )
    tilted = pin.SE3(pin.utils.rotate("y", 0.3), np.array([1.0, 2.0, 3.0]))
    placements = {c.location.name: (tilted * c.placement_surface_patch, tilted) for c in held.contacts}
    local = pin.SE3(pin.utils.rotate("z", -0.4), np.array([-0.3, 0.05, 0.0]))
    placements["left_sole"] = (tilted * local, tilted)
    message = stance_message(held, placements)
    for contact in message.contacts:
        where = placement(contact.pose, "pose")
        assert where.isApprox(placements[contact.location][0], 1e-9)
    again = read(robot, stairs, *message.contacts)
    for one, other in zip(again.contacts, held.contacts, strict=True):
        assert (one.location, one.surface, one.kind) == (other.location, other.surface, other.kind)
        assert (one.bilateral, one.tolerance, one.distance) == (other.bilateral, other.tolerance, other.distance)
        if other.kind is not ContactKind.SLIDING:
            np.testing.assert_allclose((one.x, one.y, one.theta), (other.x, other.y, other.theta), atol=1e-9)
    slid = again.find("left_sole")
    assert slid is not None
    np.testing.assert_allclose((slid.x, slid.y, slid.theta), (-0.3, 0.05, -0.4), atol=1e-9)


@pytest.mark.feature("001-F009")
@pytest.mark.parametrize("form", [CYLINDER, SPHERE])
def test_places_on_curved_surfaces_are_lengths_along_them(robot: Robot, stairs: Scene, form: int) -> None:
    ball = surface(form=form, radius=0.1, polygon=SQUARE)
    [found] = request_scene(stairs, [ball], robot, "surfaces").surfaces[len(stairs.surfaces) :]
    held = Contact(robot.contacts["right_hand_fingers"], found, 0.0, 0.0, 0.0, ContactKind.SLIDING)
    # A third of a right angle round the axis along x, which is 0.1 below the origin.
    turn = pin.utils.rotate("x", -np.pi / 6)
    patch = pin.SE3(turn, 0.1 * turn[:, 2] - np.array([0.0, 0.0, 0.1]))
    [slid] = stance_message(Stance((held,)), {"right_hand_fingers": (patch, pin.SE3.Identity())}).contacts
    np.testing.assert_allclose((slid.x, slid.y, slid.theta), (0.0, 0.1 * np.pi / 6, 0.0), atol=1e-12)


def test_a_surface_may_be_fixed_in_the_world_without_a_body(robot: Robot, stairs: Scene) -> None:
    message = SurfaceMessage(name="there", body=WORLD)
    message.pose.position.z = 0.8
    scene = request_scene(stairs, [message, SurfaceMessage(name="here", body=WORLD)], robot, "surfaces")
    (body,) = (body for body in scene.bodies if body.name == WORLD)
    assert body.fixed
    assert body.placement_world_body == pin.SE3.Identity()
    assert not body.geometries
    assert scene.surfaces[-2].placement_body_surface.translation[2] == 0.8
    assert [surface.name for surface in stairs.surfaces] == [surface.name for surface in scene.surfaces[:-2]]
    assert request_scene(stairs, [], robot, "surfaces") is stairs


def location(**fields: Any) -> LocationMessage:
    return LocationMessage(**{"name": "elbow", "link": "RARM_LINK3", "patch": [Point()], **fields})


def surface(**fields: Any) -> SurfaceMessage:
    return SurfaceMessage(**{"name": "wall", "body": WORLD, **fields})


def test_a_patch_may_be_a_point_or_an_edge(robot: Robot) -> None:
    edge = location(name="edge", patch=[Point(), Point(x=0.1)])
    found = contact_locations([location(), edge], robot, "locations")
    assert found["elbow"].patch.shape == (1, 2)
    np.testing.assert_array_equal(found["edge"].patch, [[0.0, 0.0], [0.1, 0.0]])
    assert set(found) == {*robot.contacts, "elbow", "edge"}


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (location(name=" "), "locations[0].name: is empty. Give the contact location a name."),
        (location(name="right_sole"), "locations[0].name: there is already a contact location 'right_sole'"),
        (location(link="NOSE"), "locations[0].link: there is no link 'NOSE'. Known are: "),
        (location(patch=[]), "locations[0].patch: is empty. Give a point, an edge"),
        (location(patch=[Point(z=0.1)]), "locations[0].patch[0]: z is 0.1. Give vertices with z = 0."),
        (location(patch=[Point(x=float("nan"))]), "locations[0].patch[0]: is [nan, 0.0, 0.0]. Give finite numbers."),
        (location(patch=[Point(), Point()]), "locations[0].patch: two vertices coincide"),
        (location(patch=TRIANGLE[::-1]), "locations[0].patch: vertices are not a convex outline in counter-clockwise"),
    ],
)
def test_bad_locations_are_refused(robot: Robot, message: LocationMessage, problem: str) -> None:
    with pytest.raises(InputError) as error:
        contact_locations([message], robot, "locations")
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (surface(name=""), "surfaces[0].name: is empty"),
        (surface(name="floor"), "surfaces[0].name: there is already a surface 'floor'"),
        (surface(body="moon"), "surfaces[0].body: there is no body 'moon'. Give 'world', a body of the scene (floor, "),
        (surface(body="hrp2/NOSE"), "surfaces[0].body: there is no body 'hrp2/NOSE'"),
        (surface(polygon=TRIANGLE[:2]), "surfaces[0].polygon: has 2 vertices. Give three or more, or none"),
        (surface(polygon=TRIANGLE[::-1]), "surfaces[0].polygon: vertices are not a convex outline"),
        (surface(form=3), "surfaces[0].form: is 3. Give one of 0 (PLANE), 1 (CYLINDER), 2 (SPHERE)"),
        (surface(radius=0.1), "surfaces[0].radius: is 0.1 for a plane. Leave it at 0, or give another form."),
        (surface(radius=NAN), "surfaces[0].radius: is nan. Give a finite number of 0 or more [m]"),
        (surface(form=CYLINDER, radius=-0.1), "surfaces[0].radius: is -0.1. Give a finite number of 0 or more [m]"),
        (surface(form=SPHERE, polygon=SQUARE), "surfaces[0].radius: is 0 for a sphere. Give a length above 0 [m]"),
        (surface(form=SPHERE, radius=0.1), "surfaces[0].polygon: doesn't fit a sphere: there is none. Give a"),
        (surface(form=CYLINDER, radius=0.1, polygon=TRIANGLE), "polygon: doesn't fit a cylinder: it is no"),
        (surface(form=CYLINDER, radius=0.05, polygon=SQUARE), "polygon: doesn't fit a cylinder: it is 0.2 m wide"),
    ],
)
def test_bad_surfaces_are_refused(robot: Robot, stairs: Scene, message: SurfaceMessage, problem: str) -> None:
    with pytest.raises(InputError) as error:
        request_scene(stairs, [message], robot, "surfaces")
    assert problem in str(error.value)


def test_bad_poses_are_refused(robot: Robot, stairs: Scene) -> None:
    def turned(message: Any) -> Any:
        message.pose.orientation.x = 1.0
        return message

    with pytest.raises(InputError, match=r"locations\[0\]\.pose\.orientation: .*length 1\.41"):
        contact_locations([turned(location())], robot, "locations")
    with pytest.raises(InputError, match=r"surfaces\[0\]\.pose\.orientation: .*length 1\.41"):
        request_scene(stairs, [turned(surface())], robot, "surfaces")


def contact(**fields: Any) -> ContactMessage:
    return ContactMessage(**{"location": "right_sole", "surface": "floor", **fields})


@pytest.mark.parametrize(
    ("contacts", "problem"),
    [
        ([contact(location="nose")], "stance.contacts[0].location: there is no contact location 'nose'. Known are: "),
        ([contact(surface="moon")], "stance.contacts[0].surface: there is no surface 'moon'. Known are: floor, step_1"),
        ([contact(kind=5)], "stance.contacts[0].kind: is 5. Give one of 0 (FIXED), 1 (SLIDING)"),
        ([contact(x=float("inf"))], "stance.contacts[0].x: is inf. Give a finite number."),
        ([contact(theta=float("nan"))], "stance.contacts[0].theta: is nan"),
        ([contact(kind=2, tolerance=-0.1)], "stance.contacts[0].tolerance: is -0.1. Give a finite number of 0 or more"),
        ([contact(kind=3, distance=-0.1)], "stance.contacts[0].distance: is -0.1. Give a finite number of 0 or more"),
        ([contact(tolerance=0.1)], "stance.contacts[0].tolerance: is 0.1 for a contact of kind FIXED"),
        ([contact(distance=0.1)], "stance.contacts[0].distance: is 0.1 for a contact of kind FIXED"),
        ([contact(kind=4, bilateral=True)], "stance.contacts[0].bilateral: is true for a contact of kind RELEASED"),
        ([contact(), contact()], "stance.contacts[1].location: 'right_sole' and 'right_sole' are both on the link"),
        ([contact(), contact(location="right_toe")], "'right_toe' and 'right_sole' are both on the link 'RLEG_LINK5'"),
    ],
)
def test_bad_stances_are_refused(robot: Robot, stairs: Scene, contacts: list[ContactMessage], problem: str) -> None:
    with pytest.raises(InputError) as error:
        read(robot, stairs, *contacts)
    assert problem in str(error.value)


def test_a_link_cannot_stand_on_itself(robot: Robot, stairs: Scene) -> None:
    scene = request_scene(stairs, [surface(body="hrp2/RLEG_LINK5")], robot, "surfaces")
    with pytest.raises(InputError, match=r"contacts\[0\]\.surface: the surface 'wall' is on the link of 'right_sole'"):
        read(robot, scene, contact(surface="wall"))
    assert read(robot, scene, contact(surface="wall", location="left_hand_back")).contacts[0].surface.name == "wall"
