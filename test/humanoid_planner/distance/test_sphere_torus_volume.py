# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from fixtures.point_clouds import blob, box_corners, geodesic_sphere, prism, unit_vectors
from scipy.optimize import minimize

from humanoid_model.errors import InputError
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume, VolumeTopology

TETRAHEDRON = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])


def across(faces):
    """Half-edges by their end points, where no two edges join the same vertices."""
    place = {(f[k], f[(k + 1) % 3]): 3 * i + k for i, f in enumerate(faces.tolist()) for k in range(3)}
    return np.array([[place.get((f[(k + 1) % 3], f[k]), -1) for k in range(3)] for f in faces.tolist()])


def test_tetrahedron():
    topology = VolumeTopology.of_faces(TETRAHEDRON, across(TETRAHEDRON), 4)
    assert {frozenset(edge) for edge in topology.edges.tolist()} == {
        frozenset(pair) for pair in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
    }
    assert topology.vertex_offsets.tolist() == [0, 3, 6, 9, 12]
    # Seen from outside, around the apex: 0, 1, 2.
    ends = [int(topology.edges[edge].sum()) - 3 for edge in topology.vertex_edges[9:]]
    assert ends in ([0, 1, 2], [1, 2, 0], [2, 0, 1])


def test_two_edges_between_the_same_vertices_stay_apart():
    # Two triangles, each on both sides of a common edge, which is therefore there twice.
    faces = np.array([[0, 1, 2], [1, 0, 2], [1, 0, 3], [0, 1, 3]])
    neighbours = np.array([[6, 5, 4], [9, 2, 1], [0, 11, 10], [3, 8, 7]])
    topology = VolumeTopology.of_faces(faces, neighbours, 4)
    assert sorted(map(sorted, topology.edges.tolist())) == [[0, 1], [0, 1], [0, 2], [0, 3], [1, 2], [1, 3]]
    assert np.diff(topology.vertex_offsets).tolist() == [4, 4, 2, 2]


def test_open_surfaces_and_wrong_neighbours_are_refused():
    neighbours = across(TETRAHEDRON)
    neighbours[[0, 1]] = neighbours[[1, 0]]
    with pytest.raises(ValueError, match="closed surface"):
        VolumeTopology.of_faces(TETRAHEDRON, neighbours, 4)
    with pytest.raises(ValueError, match="closed surface"):
        VolumeTopology.of_faces(TETRAHEDRON[:3], np.where(across(TETRAHEDRON[:3]) < 0, 0, across(TETRAHEDRON[:3])), 4)


def test_two_fans_at_a_vertex_are_refused():
    other = np.where(TETRAHEDRON > 0, TETRAHEDRON + 3, 0)  # a second tetrahedron at vertex 0
    faces = np.vstack([TETRAHEDRON, other])
    with pytest.raises(ValueError, match="vertex 0 aren't a single fan"):
        VolumeTopology.of_faces(faces, across(faces), 7)


def test_without_faces():
    ball, spindle = VolumeTopology.of_points(1), VolumeTopology.of_points(2)
    assert (len(ball.edges), ball.vertex_offsets.tolist()) == (0, [0, 0])
    assert spindle.edges.tolist() == [[0, 1]]
    assert spindle.edge_faces.tolist() == [[-1, -1]]
    assert spindle.vertex_offsets.tolist() == [0, 1, 2]
    assert spindle.vertex_edges.tolist() == [0, 0]


VOLUMES = {
    "ball": np.array([[0.1, 0.2, 0.3]]),
    "spindle": np.array([[0.0, 0.0, 0.0], [0.1, 0.2, 0.3]]),
    "triangle": np.array([[0.0, 0, 0], [0.3, 0, 0], [0.1, 0.2, 0]]),
    "sheet": np.column_stack([blob(20, 0.1, 0)[:, :2], np.zeros(20)]),
    "cube": box_corners(0.1, 0.1, 0.1),
    "prism": prism(9, 0.1, 0.2) + np.array([3.0, 2.0, 1.0]),
    "icosphere": geodesic_sphere(1, 0.2),
    "blob": blob(50, 0.1, 1),
    "needle": blob(50, 0.1, 2) * [1.0, 0.05, 0.05],
}


def lowest_centre(points, radius, direction):
    """Minimum of c . direction over all c no farther than radius from any point: a convex program."""
    middle = points.mean(axis=0)
    relative = (points - middle) / radius
    solution = minimize(
        lambda c: c @ direction,
        np.zeros(3),
        jac=lambda c: direction,
        constraints={
            "type": "ineq",
            "fun": lambda c: 1.0 - ((c - relative) ** 2).sum(axis=1),
            "jac": lambda c: -2.0 * (c - relative),
        },
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 200},
    )
    return middle @ direction + radius * solution.fun


@pytest.mark.feature("001-F112")
@pytest.mark.parametrize("R", [0.6, 20.0])
@pytest.mark.parametrize("name", VOLUMES)
def test_support_is_the_boundary_of_all_balls(name, R):
    volume = SphereTorusVolume.from_points(VOLUMES[name], 0.01, R)
    directions = unit_vectors(15, 7)
    if len(volume.faces):  # over faces and edges too: those take little of the sphere of directions
        corners = volume.vertices[volume.faces]
        directions = np.vstack([directions, corners.mean(axis=1)[:10] - volume.centres[:10]])
        directions = np.vstack([directions, corners[:10, :2].mean(axis=1) - volume.centres[:10]])
    for direction in directions / np.linalg.norm(directions, axis=1)[:, None]:
        point = volume.support(direction)
        centre = point - R * direction
        assert np.linalg.norm(VOLUMES[name] - centre, axis=1).max() <= R - 0.01 + 1e-11
        assert centre @ direction == pytest.approx(lowest_centre(VOLUMES[name], R - 0.01, direction), abs=2e-8)


@pytest.mark.parametrize("name", VOLUMES)
def test_many_directions_at_once_give_what_single_ones_give(name):
    volume = SphereTorusVolume.from_points(VOLUMES[name], 0.01, 20.0)
    directions = unit_vectors(5, 1)
    expected = [volume.support(direction) for direction in directions]
    assert volume.support(3.0 * directions) == pytest.approx(np.array(expected), abs=1e-14)


@pytest.mark.feature("001-F113")
@pytest.mark.parametrize("name", VOLUMES)
def test_volume_is_strictly_convex(name):
    volume = SphereTorusVolume.from_points(VOLUMES[name], 0.01, 2.0)
    directions = unit_vectors(300, 2)
    reach = np.einsum("ij,ij->i", volume.support(directions), directions)
    rng = np.random.default_rng(3)
    normals = np.vstack([directions, *(volume.vertices[f].mean(axis=0) - c + 1e-3 * rng.normal(size=(5, 3))
                                       for f, c in zip(volume.faces, volume.centres, strict=True))])  # fmt: skip
    boundary = volume.support(normals)
    one, other = boundary[rng.integers(len(boundary), size=(2, 500))]
    chord = np.linalg.norm(one - other, axis=1)
    inside = (reach - 0.5 * (one + other) @ directions.T).min(axis=1)
    # A chord's middle is at least its sagitta in a sphere of radius R inside.
    assert (inside >= chord**2 / (8 * 2.0) - 1e-12).all()


@pytest.mark.feature("001-F111", "001-F113")
@pytest.mark.parametrize("R", [1.0, 20.0])
@pytest.mark.parametrize("name", ["triangle", "cube", "prism", "blob", "needle"])
def test_patches_join_without_kink(name, R):
    r = 0.01
    volume = SphereTorusVolume.from_points(VOLUMES[name], r, R)
    tori = volume.tori
    for edge, (a, b) in enumerate(volume.edges):
        ends = volume.vertices[[a, b]]
        angles = np.linspace(0.0, tori.sweeps[edge], 5)
        centres = tori.centres_at(edge, angles)
        # Torus and small spheres: one point, one normal, wherever the tube's centre is.
        for end in ends:
            normals = (end - centres) / np.linalg.norm(end - centres, axis=1)[:, None]
            assert centres + R * normals == pytest.approx(end + r * normals, abs=1e-12)
        # Torus and big spheres: the tube's centre starts and ends at those of the faces.
        assert centres[[0, -1]] == pytest.approx(volume.centres[volume.edge_faces[edge]], abs=1e-11)
        # The sphere holds all points wherever it is on the arc.
        assert np.linalg.norm(VOLUMES[name] - centres[:, None], axis=2).max() <= R - r + 1e-11
    # Big spheres and small spheres touch in a single point.
    for face, centre in zip(volume.faces, volume.centres, strict=True):
        normals = (volume.vertices[face] - centre) / (R - r)
        assert centre + R * normals == pytest.approx(volume.vertices[face] + r * normals, abs=1e-12)


@pytest.mark.parametrize(
    ("R", "face", "edge"),
    [
        (1.0, 0.01252848, 0.01126343),
        (10.0, 0.01025025, 0.01012513),
        (20.0, 0.01012506, 0.01006253),
        (100.0, 0.01002500, 0.01001250),
    ],
)
def test_margins_of_a_cube(R, face, edge):
    volume = SphereTorusVolume.from_points(box_corners(0.1, 0.1, 0.1), 0.01, R)
    assert volume.support(np.array([0.0, 0, 1]))[2] - 0.05 == pytest.approx(face, abs=5e-9)
    over_edge = volume.support(np.array([1.0, 1.0, 0.0]))
    assert over_edge[2] == pytest.approx(0.0, abs=1e-12)
    assert np.linalg.norm(over_edge[:2] - 0.05) == pytest.approx(edge, abs=5e-9)
    assert volume.support(np.array([1.0, 1.0, 1.0])) == pytest.approx(0.05 + 0.01 / np.sqrt(3), abs=1e-12)


def test_arcs_between_faces_on_one_sphere_are_empty():
    tori = SphereTorusVolume.from_points(box_corners(0.1, 0.2, 0.3), 0.01, 20.0).tori
    assert (tori.sweeps == 0.0).sum() == 6  # the diagonals
    assert np.sort(tori.sweeps)[6:] == pytest.approx(np.pi / 2, abs=0.02)
    spindle = SphereTorusVolume.from_points(VOLUMES["spindle"], 0.01, 20.0).tori
    assert spindle.sweeps.tolist() == [2 * np.pi]


@pytest.mark.feature("001-F120")
def test_margins_of_the_theorem_with_its_correction():
    equilateral = np.array([[0, 0, 0], [0.1, 0, 0], [0.05, 0.1 * np.sqrt(0.75), 0]])
    volume = SphereTorusVolume.from_points(equilateral, 0.01, 20.0)
    assert 100 * volume.margin_bound == pytest.approx(1.0083375, abs=1e-6)
    assert volume.support(np.array([0.0, 0, 1]))[2] == pytest.approx(volume.margin_bound, abs=1e-12)
    out = np.array([0.0, -1.0, 0.0])
    assert 100 * volume.support(out) @ out == pytest.approx(1.0062531, abs=1e-6)
    assert volume.tori.radii == pytest.approx(19.98993747, abs=5e-9)
    thesis = 20.0 - np.sqrt(19.99**2 - 0.1**2 / 12)  # below the margin over an edge: no bound
    assert 100 * thesis == pytest.approx(1.0020844, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_no_margin_exceeds_the_bound(seed):
    volume = SphereTorusVolume.from_points(blob(20, 0.2, seed), 0.02, 1.5)
    directions = np.vstack([unit_vectors(100, seed), volume.vertices[volume.faces].mean(axis=1) - volume.centres])
    units = directions / np.linalg.norm(directions, axis=1)[:, None]
    boundary = volume.support(units)
    hull = (volume.vertices @ units.T).max(axis=0)
    margins = np.einsum("ij,ij->i", boundary, units) - hull
    assert margins.max() <= volume.margin_bound
    assert margins.min() >= 0.02 - 1e-12
    assert volume.margin_bound > 0.021


@pytest.mark.feature("001-F121")
def test_small_r_and_large_R_approach_the_convex_hull():
    points = blob(40, 0.1, 5)
    units = unit_vectors(200, 6)
    hull = (points @ units.T).max(axis=0)
    for r, R, within in ((1e-2, 1e1, 3e-2), (1e-4, 1e3, 3e-4), (1e-6, 1e5, 3e-6)):
        volume = SphereTorusVolume.from_points(points, r, R)
        excess = np.einsum("ij,ij->i", volume.support(units), units) - hull
        assert excess.min() >= r - 1e-9  # eleven digits of R
        assert excess.max() < within


@pytest.mark.parametrize("name", VOLUMES)
def test_edges_go_around_vertices_counter_clockwise(name):
    volume = SphereTorusVolume.from_points(VOLUMES[name], 0.01, 20.0)
    assert len(volume.edges) == len(volume.faces) * 3 // 2 + (name == "spindle")
    assert volume.vertex_offsets[-1] == 2 * len(volume.edges)
    for vertex in range(len(volume.vertices)):
        around = volume.vertex_edges[volume.vertex_offsets[vertex] : volume.vertex_offsets[vertex + 1]]
        assert sorted(around) == sorted(np.flatnonzero((volume.edges == vertex).any(axis=1)))
        if name == "spindle":
            continue
        for edge, following in zip(around, np.roll(around, -1), strict=True):
            # The face between two edges that follow each other runs vertex, end of one, end of the other.
            ends = [volume.edges[e].sum() - vertex for e in (edge, following)]
            faces = [sorted(np.roll(f, -list(f).index(vertex)).tolist() for f in volume.faces if vertex in f)]
            assert [vertex, *ends] in faces[0]
    for face, edges in zip(volume.faces, volume.face_edges, strict=True):
        for k, edge in enumerate(edges):
            assert set(volume.edges[edge]) == {face[k], face[(k + 1) % 3]}
    for (a, b), (left, right) in zip(volume.edges, volume.edge_faces, strict=True):
        if name != "spindle":
            for face, start, end in ((left, a, b), (right, b, a)):
                k = list(volume.faces[face]).index(start)
                assert volume.faces[face][(k + 1) % 3] == end


@pytest.mark.parametrize("name", VOLUMES)
def test_ordinary_volumes_have_a_convex_polyhedron(name):
    assert SphereTorusVolume.from_points(VOLUMES[name], 0.01, 20.0).convex


@pytest.mark.feature("001-F118")
def test_folded_thin_triangles_are_reported():
    # Two points beside the middle of a segment that hardly leave the spindle of its ends (sagitta 6.25 mm), at a
    # right angle: the sphere touches both ends of the segment between them on either side.
    points = np.array([[-0.5, 0, 0], [0.5, 0, 0], [0, 0.0066, 0], [0, 0, 0.0066]])
    folded = SphereTorusVolume.from_points(points, 0.01, 20.0)
    assert len(folded.faces) == 4
    assert not folded.convex
    assert sorted(map(tuple, np.sort(folded.edges))) != sorted(set(map(tuple, np.sort(folded.edges))))
    assert SphereTorusVolume.from_points(points * [1, 3, 3], 0.01, 20.0).convex


@pytest.mark.feature("001-F118")
def test_valley_along_the_other_diagonal_is_reported():
    # Two corners of a rhombus are higher than the others, by less or by more than the big sphere bulges (1 mm).
    for up, convex in ((1e-5, False), (0.0, True), (2e-3, True)):
        points = np.array([[-0.2, 0, 0], [0.2, 0, 0], [0, -0.1, up], [0, 0.1, up], [0, 0, -0.2]])
        assert SphereTorusVolume.from_points(points, 0.01, 20.0).convex == convex


def test_unusable_points_are_refused():
    cube = box_corners(0.1, 0.1, 0.1)
    broken = cube.copy()
    broken[3, 1] = np.nan
    for points, r, R, words in (
        (broken, 0.01, 20.0, "point 3 is .*nan"),
        (np.zeros((0, 3)), 0.01, 20.0, r"points have shape \(0, 3\)"),
        (np.zeros((4, 2)), 0.01, 20.0, r"points have shape \(4, 2\)"),
        (cube, 0.0, 20.0, "r: is 0"),
        (cube, 0.01, np.inf, "R: is inf"),
        (cube, 0.01, 0.01, "doesn't exceed the small one"),
        (cube, 0.01, 0.09, "big spheres are too small: R - r is 0.08 m"),
    ):
        with pytest.raises(InputError, match=words):
            SphereTorusVolume.from_points(points, r, R)


def test_points_given_twice_count_once():
    cube = box_corners(0.1, 0.1, 0.1)
    volume = SphereTorusVolume.from_points(np.vstack([cube, cube, cube + 1e-12]), 0.01, 20.0)
    assert len(volume.vertices) == 8
    assert len(SphereTorusVolume.from_points(np.ones((6, 3)), 0.01, 20.0).vertices) == 1


def test_volume_far_from_its_origin_is_the_same_volume():
    points = blob(30, 0.1, 8)
    near = SphereTorusVolume.from_points(points, 0.01, 20.0)
    away = np.array([50.0, -30.0, 10.0])
    far = SphereTorusVolume.from_points(points + away, 0.01, 20.0)
    units = unit_vectors(50, 9)
    assert far.support(units) - away == pytest.approx(near.support(units), abs=1e-11)


@pytest.mark.feature("001-F122")
def test_saved_volumes_are_equal(tmp_path):
    for name, points in VOLUMES.items():
        volume = SphereTorusVolume.from_points(points, 0.01, 20.0)
        volume.save(tmp_path / f"{name}.npz")
        assert SphereTorusVolume.load(tmp_path / f"{name}.npz") == volume
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"{name}.npz" for name in VOLUMES)


def test_broken_files_are_refused(tmp_path):
    path = tmp_path / "volume.npz"
    SphereTorusVolume.from_points(VOLUMES["cube"], 0.01, 20.0).save(path)
    whole = path.read_bytes()
    spoiled = bytearray(whole)
    spoiled[len(whole) // 3] ^= 0xFF
    for content in (b"", b"no archive", whole[: len(whole) // 2], bytes(spoiled)):
        path.write_bytes(content)
        with pytest.raises(InputError, match=r"volume\.npz: isn't a stored sphere-torus-patch volume"):
            SphereTorusVolume.load(path)
    np.savez(path, r=1.0)
    with pytest.raises(InputError, match="isn't a stored"):
        SphereTorusVolume.load(path)
    with pytest.raises(InputError, match="nowhere"):
        SphereTorusVolume.load(tmp_path / "nowhere.npz")
