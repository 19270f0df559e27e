# SPDX-License-Identifier: Apache-2.0
"""A picture shows what the equations of a pinhole say, and follows bodies, camera and lights."""

import numpy as np
import pinocchio as pin
import pytest
import trimesh
from fixtures.scenes import seer
from PIL import Image

from humanoid_model import Camera, InputError, Scene, SceneBody
from humanoid_model.description import Box, Cylinder, Geometry, HalfSpace, Mesh, Sphere
from humanoid_model.scene import Light
from humanoid_sim import Simulation
from humanoid_sim.imaging.picture import BACKGROUND, DrawnShapes, take_depth, take_picture

RED, WHITE = np.array([1.0, 0.0, 0.0, 1.0]), np.ones(4)
SIZE = (160, 120)
ALONG_X = Camera(pin.SE3(np.array([[0.0, 0, -1], [-1, 0, 0], [0, 1, 0]]), np.zeros(3)), 2 * np.arctan(0.5))
"""Looks along x, z up, a focal length of 120 pixels in a picture that is 120 pixels high."""
FOCAL = 120.0
DARK = np.array([0.0, 0.0, 0.0, 1.0])


def at(x, y, z):
    return pin.SE3(np.eye(3), np.array([x, y, z], dtype=float))


def rays():
    """Directions of the pixels' middles in the world, 1 along x, shape (height, width, 3)."""
    column, row = np.meshgrid(np.arange(160) + 0.5 - 80, np.arange(120) + 0.5 - 60)
    return np.stack([np.ones_like(row), -column / FOCAL, -row / FOCAL], axis=-1)


def shapes(*items):
    return DrawnShapes.of((0, shape, placement, colour) for shape, placement, colour in items)


def picture(drawn, lights=(), camera=ALONG_X):
    return take_picture(drawn, np.eye(3)[None], np.zeros((1, 3)), camera, SIZE, lights)


def depth(drawn, camera=ALONG_X):
    return take_depth(drawn, np.eye(3)[None], np.zeros((1, 3)), camera, SIZE)


def light(position, ambient=DARK, diffuse=DARK, specular=DARK):
    return Light(np.array(position, dtype=float), ambient, diffuse, specular)


def body(name, shape, placement, colour=WHITE, mass=1.0):
    geometry = Geometry("", shape, pin.SE3.Identity(), colour)
    return SceneBody(name, name, mass, np.zeros(3), 0.01 * np.eye(3), placement, np.zeros(6), (geometry,))


@pytest.fixture(scope="module")
def simulation():
    bodies = (body("box", Box(np.full(3, 0.2)), at(2, 0, 0), RED), body("wall", Box(np.ones(3)), at(9, 0, 0), mass=0.0))
    return Simulation(Scene("pictures", bodies=bodies, camera=ALONG_X))


@pytest.mark.feature("000-F012")
def test_a_box_covers_the_pixels_of_the_pinhole_equation(simulation):
    simulation.reset()
    image = simulation.image(size=SIZE).astype(int)
    half = 0.1 * FOCAL / 1.9  # of its front face, 1.9 m away: 6.3 pixels
    far, seen = simulation.depth_image(size=SIZE)
    names = np.array([own.name for own in simulation.world.bodies])
    box = names[seen] == "box"
    rows, columns = np.nonzero(box)
    assert (columns.min(), columns.max()) == (round(80 - half), round(80 + half) - 1)
    assert (rows.min(), rows.max()) == (round(60 - half), round(60 + half) - 1)
    assert box.sum() == (2 * round(half)) ** 2
    np.testing.assert_allclose(far[box], 1.9, rtol=1e-12)
    red = image[..., 0] - image[..., 1]
    assert (red[box] > 100).all()
    box[rows.min() - 1 : rows.max() + 2, columns.min() - 1 : columns.max() + 2] = True  # mixed with the background
    assert (red[~box] < 5).all()
    assert names[seen[60, 86]] == "wall"
    assert far[60, 86] == pytest.approx(8.5)
    assert (seen[0] == -1).all()
    assert np.isinf(far[0]).all()
    np.testing.assert_array_equal(image[0, 0], np.round(255 * BACKGROUND))


def test_a_picture_follows_what_moves(simulation):
    simulation.reset()
    simulation.bodies["box"].set_state(at(2.1, 0.5, 0.25))
    image = simulation.image(size=SIZE).astype(int)
    rows, columns = np.nonzero(image[..., 0] - image[..., 1] > 60)
    # Corners of its face in front, at x = 2 m, and of the one behind it, at 2.2 m.
    assert abs(columns.min() - (80 - 0.6 * FOCAL / 2.0)) <= 1
    assert abs(columns.max() + 1 - (80 - 0.4 * FOCAL / 2.2)) <= 1
    assert abs(rows.min() - (60 - 0.35 * FOCAL / 2.0)) <= 1
    assert abs(rows.max() + 1 - (60 - 0.15 * FOCAL / 2.2)) <= 1


@pytest.mark.feature("000-F012")
def test_a_body_carries_a_camera(simulation):
    simulation.reset()
    simulation.bodies["box"].set_state(at(5, 0, 0) * pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, np.pi / 2), np.zeros(3)))
    forward = Camera(pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.0, -np.pi / 2), np.zeros(3)) * ALONG_X.placement)
    far, seen = simulation.depth_image(forward, size=SIZE, body="box")
    assert simulation.world.bodies[seen[60, 80]].name == "wall"  # its own faces are seen from outside alone
    assert far[60, 80] == pytest.approx(3.5)
    with pytest.raises(InputError, match="there is no body 'bax'"):
        simulation.image(body="bax")


def test_a_camera_on_a_link_sees_what_its_pinhole_says(tmp_path):
    """The box's middle is at 1.9 m along the axis; a head turned to the left by 0.2 sees it further to the right."""
    simulation = seer(tmp_path)
    eye = simulation.robots["seer"]
    assert eye.image("eye").shape == (120, 160, 3)
    for angle in (0.0, 0.2):
        eye.set_state(np.array([angle]))
        far, seen = eye.depth_image("eye")
        rows, columns = np.nonzero(seen == simulation.world.index["box"])
        place = pin.SE3(pin.rpy.rpyToMatrix(0, 0, angle), np.zeros(3)) * at(0.1, 0, 0)
        corners = [place.actInv(np.array([x, y, 0.0])) for x in (1.9, 2.1) for y in (-0.1, 0.1)]
        sides = [80.0 - FOCAL * corner[1] / corner[0] for corner in corners]
        assert (columns.min(), columns.max() + 1) == pytest.approx((min(sides), max(sides)), abs=1.0)
        assert rows.min() + rows.max() == 119
        assert far[rows, columns].min() == pytest.approx(min(corner[0] for corner in corners), abs=0.01)
    with pytest.raises(InputError, match=r"no camera sensor 'nose'. It has eye"):
        eye.image("nose")


def test_the_depth_of_a_ball_is_that_of_its_equation():
    radius, far = 0.5, 3.0
    found, _ = depth(shapes((Sphere(radius), at(far, 0.3, 0), WHITE)))
    directions = rays()
    centre = np.array([far, 0.3, 0.0])
    a, b = np.einsum("ijk,ijk->ij", directions, directions), directions @ centre
    root = b**2 - a * (centre @ centre - radius**2)
    inside = root > 0.05
    expected = (b[inside] - np.sqrt(root[inside])) / a[inside]
    assert inside.sum() > 800
    np.testing.assert_allclose(found[inside], expected, atol=5e-3)  # a polyhedron of 1280 faces
    assert np.isinf(found[root < -0.05]).all()


def test_the_ground_under_the_camera_needs_no_clipping():
    found, seen = depth(shapes((HalfSpace(), at(0, 0, -0.2), WHITE)))
    down = -rays()[..., 2]
    inside = down > 0.025  # up to the edge of what is drawn of it, 10 m away
    np.testing.assert_allclose(found[inside], 0.2 / down[inside], rtol=1e-9)
    assert (seen[down < 0.0] == -1).all()


@pytest.mark.feature("000-F013")
def test_lights_shine_by_the_cosine_and_in_their_colour():
    ball = shapes((Sphere(0.5), at(3, 0, 0), np.array([0.8, 0.6, 0.4, 1.0])))
    sun = light([-1.0, 1.0, 0.0, 0.0], ambient=np.array([0.1, 0.1, 0.3, 1]), diffuse=np.array([0.5, 0.25, 0.0, 1]))
    image, (far, _) = picture(ball, (sun,)), depth(ball)
    place = rays() * np.where(np.isinf(far), 0.0, far)[..., None]
    normal = (place - [3.0, 0.0, 0.0]) / 0.5
    facing = np.maximum(normal @ np.array([-1.0, 1.0, 0.0]) / np.sqrt(2.0), 0.0)
    inside = np.isfinite(far) & (np.einsum("ijk,ijk->ij", normal, rays()) < -0.2)  # edges are mixed with the background
    expected = np.array([0.8, 0.6, 0.4]) * (np.array([0.1, 0.1, 0.3]) + facing[..., None] * np.array([0.5, 0.25, 0.0]))
    lit = inside & (facing > 0.2)
    assert lit.sum() > 200
    np.testing.assert_allclose(image[lit], expected[lit], atol=0.02)
    dark = inside & (facing == 0.0)
    np.testing.assert_allclose(image[dark], np.tile([0.08, 0.06, 0.12], (dark.sum(), 1)), atol=5e-3)


@pytest.mark.feature("000-F013")
def test_a_light_is_reflected_where_a_mirror_would_reflect_it():
    mirror = shapes((Box(np.array([0.1, 4.0, 4.0])), at(2.05, 0, 0), np.array([0.0, 0.0, 0.0, 1.0])))
    lamp = light([0.0, 0.8, 0.4, 1.0], specular=np.array([1.0, 1.0, 0.0, 1.0]))
    image = picture(mirror, (lamp,))
    row, column = np.unravel_index(image[..., 0].argmax(), image.shape[:2])
    place = 2.0 * rays()[row, column]  # half way between the eye and the lamp, which are equally far from it
    np.testing.assert_allclose(place[1:], [0.4, 0.2], atol=0.02)
    assert image[row, column, 0] == pytest.approx(0.2, abs=2e-3)
    assert (image[..., 2] == 0.0).all()


@pytest.mark.feature("000-F013")
@pytest.mark.parametrize("position", [[0.0, 0.0, 1.0, 0.0], [2.0, 0.0, 4.5, 1.5]])
def test_what_is_behind_something_is_in_its_shadow(position):
    ground = HalfSpace(), at(0, 0, -0.5), WHITE
    board = Box(np.array([0.5, 0.5, 0.02])), at(2.0 if position[3] == 0.0 else 4.0 / 3.0, 0, 0.5), RED
    lamp = light(position, ambient=np.full(4, 0.2), diffuse=np.full(4, 0.5))
    image = picture(shapes(ground, board), (lamp,))

    def shown(x, y):
        row, column = 60 + FOCAL * 0.5 / x, 80 - FOCAL * y / x
        return image[int(row), int(column), 1]

    if position[3] == 0.0:  # straight from above
        assert shown(2.0, 0.0) == pytest.approx(0.2, abs=1e-6)
        assert shown(2.0, 0.35) == pytest.approx(0.7, abs=1e-6)
    else:  # a lamp at (4/3, 0, 3): the board's shadow is 3.5 / 2.5 of its size
        middle = 4.0 / 3.0
        assert shown(middle, 0.31) == pytest.approx(0.2, abs=1e-6)
        assert shown(middle, 0.42) == pytest.approx(0.2 + 0.5 * 3.5 / np.hypot(3.5, 0.42), abs=5e-3)


def test_one_looks_through_what_is_not_opaque():
    flat = light([-1.0, 0.0, 0.0, 0.0], ambient=np.ones(4))
    glass = Box(np.full(3, 0.4)), at(2, 0, 0), np.array([1.0, 0.0, 0.0, 0.25])
    wall = Box(np.full(3, 0.5)), at(4, 0, 0), np.array([0.0, 0.0, 1.0, 1.0])
    for order in ((glass, wall), (wall, glass)):
        image = picture(shapes(*order), (flat,))
        np.testing.assert_allclose(image[60, 80], [0.25, 0.0, 0.75], atol=1e-9)
    np.testing.assert_allclose(picture(shapes(glass), (flat,))[60, 80], 0.25 * RED[:3] + 0.75 * BACKGROUND)


def test_a_mesh_has_its_texture(tmp_path):
    corners = np.array([[0.0, 1, 0], [0.0, 0, 0], [0, 0, 1], [0, 1, 1]])
    plate = trimesh.Trimesh(corners, [[0, 1, 2], [0, 2, 3]], process=False)  # seen along x, y to the left
    coordinates = np.column_stack([1.0 - corners[:, 1], corners[:, 2]])
    quarters = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 0]]], np.uint8)
    plate.visual = trimesh.visual.TextureVisuals(coordinates, image=Image.fromarray(quarters))
    plate.export(tmp_path / "plate.glb")
    drawn = shapes((Mesh(tmp_path / "plate.glb", np.ones(3)), at(2, -0.5, -0.5), WHITE))
    image = picture(drawn, (light([-1.0, 0.0, 0.0, 0.0], ambient=np.ones(4)),))
    for row, column, colour in ((45, 65, [1, 0, 0]), (45, 95, [0, 1, 0]), (75, 65, [0, 0, 1]), (75, 95, [1, 1, 0])):
        np.testing.assert_allclose(image[row, column], colour, atol=1e-9)


def test_round_sides_are_smooth_and_edges_sharp():
    drawn = shapes((Cylinder(0.3, 1.0), at(0, 0, 0), WHITE))
    radial = drawn.corners * [1.0, 1.0, 0.0]
    side = np.abs(drawn.normals[..., 2]) < 0.5
    np.testing.assert_allclose(drawn.normals[side], (radial / 0.3)[side], atol=0.02)
    np.testing.assert_allclose(np.abs(drawn.normals[~side]), np.tile([0, 0, 1], ((~side).sum(), 1)), atol=1e-9)
    assert (~side).any()


def test_without_a_camera_all_that_moves_is_in_the_picture():
    bodies = (body("a", Sphere(0.1), at(1, 1, 0.1)), body("b", Sphere(0.1), at(-1, 0, 0.9)),
              body("floor", HalfSpace(), at(0, 0, 0), mass=0.0))  # fmt: skip
    _, seen = Simulation(Scene("overview", bodies=bodies)).depth_image(size=SIZE)
    border = np.concatenate([seen[0], seen[-1], seen[:, 0], seen[:, -1]])
    assert {0, 1} <= set(seen.reshape(-1))
    assert not {0, 1} & set(border)


def test_a_robot_is_in_its_picture_and_moves_in_it():
    simulation = Simulation("stand")
    before = simulation.image(size=SIZE).astype(int)
    _, seen = simulation.depth_image(size=SIZE)
    links = {simulation.world.bodies[number].name for number in np.unique(seen[seen >= 0])}
    assert {"hrp2/HEAD_LINK1", "hrp2/LLEG_LINK5", "floor"} <= links
    np.testing.assert_array_equal(simulation.image(size=SIZE), before)
    q = simulation.robots["hrp2"].q
    q[2] += 0.3
    simulation.robots["hrp2"].set_state(q)
    _, lifted = simulation.depth_image(size=SIZE)
    head = simulation.world.index["hrp2/HEAD_LINK1"]
    assert np.nonzero(lifted == head)[0].mean() < np.nonzero(seen == head)[0].mean() - 5
    assert np.abs(simulation.image(size=SIZE).astype(int) - before).max() > 100


@pytest.mark.parametrize(
    ("camera", "size", "message"),
    [
        (None, (0, 3), "size is (0, 3). Give width and height"),
        (None, (2.5, 3), "size is (2.5, 3)"),
        (Camera(pin.SE3.Identity(), 4.0), (4, 3), "camera: field_of_view is 4. Give an angle between 0 and pi"),
    ],
)
def test_a_picture_that_cant_be_is_refused(simulation, camera, size, message):
    for take in (simulation.image, simulation.depth_image):
        with pytest.raises(InputError) as caught:
            take(camera, size=size)
        assert message in str(caught.value)
