# SPDX-License-Identifier: Apache-2.0
"""Features of shapes, and their lowest points against support functions worked out independently."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import body, floor, place, scene
from numpy.testing import assert_allclose
from scipy.spatial import ConvexHull

from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Shape, Sphere
from humanoid_sim import Simulation
from humanoid_sim.detection.contact_points import ContactPoints, PairTable, PointTable
from humanoid_sim.detection.half_space import (
    SLOTS_PER_FEATURE,
    PlaneTable,
    feature_table,
    features_of,
    half_space_contacts,
)
from humanoid_sim.detection.shape_table import JointMotion

DT = 1e-3


def contacts(
    shape: Shape, placement: pin.SE3, margin: float, twist: np.ndarray | None = None, method: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, gaps and slots of a shape above the half-space z <= 0."""
    features = features_of(shape)
    room = len(features) * SLOTS_PER_FEATURE
    R, p = np.array([np.eye(3), placement.rotation]), np.array([np.zeros(3), placement.translation])
    twists = np.zeros((2, 6))
    if twist is not None:
        twists[1] = twist
    table = feature_table([(1, 7, features)])
    plane = PlaneTable(
        np.zeros(1, dtype=np.int64), np.full(1, 3, dtype=np.int64), np.array([[0.0, 0.0, 1.0]]), np.zeros((1, 3))
    )
    points = PointTable.of_points(ContactPoints(room))
    count = half_space_contacts(
        table,
        plane,
        PairTable(
            np.arange(8),
            np.zeros(8, dtype=np.int64),
            np.full((1, 1), method, dtype=np.int64),
            np.full((1, 1), 0.5),
            np.zeros((1, 1)),
        ),
        JointMotion(R, p, twists),
        margin,
        DT,
        points,
    )
    assert_allclose(points.normals[:count], np.tile([0.0, 0.0, 1.0], (count, 1)))
    assert (points.body_a[:count] == 7).all()
    assert (points.body_b[:count] == 3).all()
    assert len(set(points.slots[:count])) == count
    return points.positions[:count], points.gaps[:count], points.slots[:count]


def lowest(shape: Shape, R: np.ndarray) -> float:
    """Support function of the shape downwards."""
    down = -R[2]
    if isinstance(shape, Box):
        return -float(0.5 * np.abs(down) @ shape.size)
    if isinstance(shape, Sphere):
        return -shape.radius
    if isinstance(shape, Capsule):
        return -(shape.radius + 0.5 * shape.length * abs(down[2]))
    if isinstance(shape, Ellipsoid):
        return -float(np.linalg.norm(down * shape.radii))
    assert isinstance(shape, Cylinder)
    return -(shape.radius * np.hypot(down[0], down[1]) + 0.5 * shape.length * abs(down[2]))


@pytest.mark.feature("000-F100")
@pytest.mark.parametrize(
    "shape",
    [
        Box(np.array([0.3, 0.2, 0.1])), Sphere(0.1), Capsule(0.05, 0.2), Cylinder(0.05, 0.2),
        Ellipsoid(np.array([0.3, 0.1, 0.03])),
    ],
)  # fmt: skip
def test_lowest_point_is_found_in_any_attitude(shape: Shape) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        R = pin.Quaternion(rng.normal(size=4)).normalized().matrix()
        placement = pin.SE3(R, np.array([0.1, 0.2, 1.0 - lowest(shape, R)]))
        positions, gaps, _ = contacts(shape, placement, margin=2.0)
        assert gaps.min() == pytest.approx(1.0, abs=1e-12)
        assert_allclose(positions[:, 2], gaps, atol=1e-12)


def test_an_ellipsoid_touches_where_its_surface_is_level() -> None:
    rng, radii = np.random.default_rng(1), np.array([0.3, 0.1, 0.03])
    for _ in range(50):
        R = pin.Quaternion(rng.normal(size=4)).normalized().matrix()
        place = pin.SE3(R, np.array([0.1, 0.2, 0.4]))
        positions, _, _ = contacts(Ellipsoid(radii), place, margin=1.0)
        local = R.T @ (positions[0] - place.translation)
        assert np.sum((local / radii) ** 2) == pytest.approx(1.0)
        slope = R @ (local / radii**2)
        assert_allclose(slope / np.linalg.norm(slope), [0, 0, -1], atol=1e-12)


def test_flat_shapes_rest_on_four_points() -> None:
    for shape, height in ((Box(np.array([0.3, 0.2, 0.1])), 0.05), (Cylinder(0.05, 0.2), 0.1)):
        for yaw in (0.0, 0.4, 2.0):
            placement = pin.SE3(pin.rpy.rpyToMatrix(0, 0, yaw), np.array([0, 0, height]))
            _, gaps, _ = contacts(shape, placement, margin=1e-3)
            assert_allclose(gaps, np.zeros(4), atol=1e-12)


def test_fast_approach_is_seen_earlier() -> None:
    """A ball 5 cm up is out of the margin at rest, and within two steps' reach at 30 m/s."""
    placement = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.15]))
    assert len(contacts(Sphere(0.1), placement, 1e-3)[1]) == 0
    fast = np.array([0.0, 0.0, -30.0, 0.0, 0.0, 0.0])
    assert_allclose(contacts(Sphere(0.1), placement, 1e-3, fast)[1], [0.05])


def test_mesh_touches_as_its_convex_hull(tmp_path: Path) -> None:
    """A tetrahedron with a vertex inside: the inner one never touches."""
    path = tmp_path / "tetrahedron.obj"
    path.write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0.1 0.1 0.1\n"
        "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 5 4\nf 5 3 4\nf 2 3 5\n"
    )
    vertices = np.array([feature.centre for feature in features_of(Mesh(path, np.full(3, 2.0)))])
    assert sorted(map(tuple, vertices)) == [(0, 0, 0), (0, 0, 2), (0, 2, 0), (2, 0, 0)]


def test_method_distance_keeps_the_lowest_point() -> None:
    placement = pin.SE3(pin.rpy.rpyToMatrix(0.01, 0.02, 0.3), np.array([0.1, 0.2, 0.05]))
    box = Box(np.array([0.3, 0.2, 0.1]))
    all_positions, all_gaps, _ = contacts(box, placement, 1.0)
    positions, gaps, _ = contacts(box, placement, 1.0, method=1)
    assert_allclose(gaps, [all_gaps.min()])
    assert_allclose(positions, all_positions[[all_gaps.argmin()]])


def test_placement_that_is_not_finite_touches_nothing() -> None:
    placement = pin.SE3(np.eye(3), np.array([0.0, np.nan, 0.0]))
    assert len(contacts(Box(np.ones(3)), placement, 1.0)[1]) == 0


def test_lying_mesh_of_many_vertices_keeps_eight_points(tmp_path: Path) -> None:
    """A prism of 100 sides on its end face: points at its rim, and nine tenths of a circle's area between them."""
    angles = 2.0 * np.pi * np.arange(100) / 100
    rim = 0.1 * np.column_stack([np.cos(angles), np.sin(angles)])
    vertices = np.vstack([np.column_stack([rim, np.full(100, z)]) for z in (0.0, 0.1)])
    faces = ConvexHull(vertices).simplices + 1
    path = tmp_path / "prism.obj"
    path.write_text("".join("v {} {} {}\n".format(*vertex) for vertex in vertices))
    with path.open("a") as file:
        file.writelines("f {} {} {}\n".format(*face) for face in faces)
    positions, gaps, slots = contacts(Mesh(path, np.ones(3)), pin.SE3.Identity(), margin=1e-3)
    assert len(slots) == 8
    assert_allclose(gaps, np.zeros(8), atol=1e-12)
    assert_allclose(np.linalg.norm(positions[:, :2], axis=1), np.full(8, 0.1))
    assert ConvexHull(positions[:, :2]).volume > 0.89 * np.pi * 0.1**2


@pytest.mark.feature("000-F103")
@pytest.mark.parametrize("higher", [1e-5, 1e-4, 1e-3, 3e-3])
def test_a_body_that_lies_on_points_amid_higher_ones_comes_to_rest(tmp_path: Path, higher: float) -> None:
    """Two low corners inside a higher rim: it lies on both and on one of the rim, and neither rocks nor sinks."""
    angles = np.arange(8) * np.pi / 4.0
    rim = np.column_stack([0.1 * np.cos(angles), 0.1 * np.sin(angles), np.full(8, higher)])
    corners = np.vstack([rim, [[0.05, 0.0, 0.0], [-0.05, 0.0, 0.0], [0.0, 0.0, 0.05]]])
    faces = ConvexHull(corners).simplices + 1
    file = tmp_path / "body.obj"
    file.write_text(
        "".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(f"f {a} {b} {c}\n" for a, b, c in faces)
    )
    shape = Geometry("", Mesh(file, np.ones(3)), place(0.0, -0.01, -0.02), np.ones(4))
    lying = replace(body("body", Box(np.ones(3)), 1.0, 1e-3 * np.eye(3), place(0, 0, 0.021)), geometries=(shape,))
    simulation = Simulation(scene(floor(), lying), 1e-3)
    simulation.run(1.0)
    for _ in range(100):
        simulation.step()
        assert np.abs(simulation.v).max() < 1e-8
        contacts = simulation.contacts
        assert contacts.gap.min() > -2e-5
        assert np.sum(contacts.normal_force > 0.1) == 3
