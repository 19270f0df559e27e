# SPDX-License-Identifier: Apache-2.0
"""How smooth the height of a volume above a plane is while it turns (specification 001 sections 5.2 and 11.3, X12)."""

from __future__ import annotations

import math

import coal
import numpy as np
import pinocchio as pin
import pytest
from fixtures.point_clouds import box_corners

from humanoid_planner.distance.distance_pairs import distance
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume


def turned_down(axis, normal, angle):
    """The normal turned about an axis."""
    return math.cos(angle) * normal + math.sin(angle) * np.cross(axis, normal)


@pytest.mark.parametrize(("r", "R"), [(0.01, 1.0), (0.05, 20.0)])
def test_second_derivative_jumps_by_the_difference_of_the_radii_where_spheres_join(r, R):
    """(B.3), (B.4): turning about the point where a big and a small sphere touch, delta = z0 + radius (cos - 1)."""
    volume = SphereTorusVolume.from_points(np.array([[0.0, 0, 0], [0.3, 0, 0], [0.1, 0.2, 0]]), r, R)
    face = int(np.argmin(volume.centres[:, 2]))  # seen from above
    for corner in volume.faces[face]:
        vertex = volume.vertices[corner]
        normal = (vertex - volume.centres[face]) / (R - r)
        touching = vertex + r * normal
        inward = volume.vertices[volume.faces[face]].mean(axis=0) - vertex
        inward -= (inward @ normal) * normal
        axis = np.cross(normal, inward / np.linalg.norm(inward))

        def height(angle, axis=axis, normal=normal, touching=touching):
            direction = turned_down(axis, normal, angle)
            return (touching - volume.support(direction)) @ direction

        reach = 0.02 / R  # angles at which the plane still touches the big sphere's patch
        for share in (0.25, 0.5, 1.0):
            assert height(share * reach) == pytest.approx(R * (math.cos(share * reach) - 1.0), abs=1e-13)
            assert height(-share * 0.3) == pytest.approx(r * (math.cos(share * 0.3) - 1.0), abs=1e-13)
        step = 0.5 * reach
        curvature = [(height(2 * s) - 2 * height(s) + height(0.0)) / s**2 for s in (step, -step)]
        assert curvature[1] - curvature[0] == pytest.approx(R - r, rel=1e-2)


def test_second_derivative_jumps_by_the_big_radius_at_an_edge_without_rounding():
    """(B.1) with E-23: two arcs that meet at an angle, in the limit of small r: z0 while the plane touches the edge."""
    r, R = 1e-9, 1.0
    volume = SphereTorusVolume.from_points(box_corners(0.2, 0.2, 0.2), r, R)
    edge = np.array([0.1, 0.0, 0.1])  # turning about y at the middle of an edge, in the plane of both arcs
    over_edge = SphereTorusVolume.from_points(np.array([[0.1, -0.1, 0.1], [0.1, 0.1, 0.1]]), r, R)
    origin = over_edge.support(np.array([1.0, 0.0, 1.0]))
    # Where the arc over the edge ends, the plane's normal is in the plane of the big sphere's centre and the edge.
    towards = edge - volume.centres[np.argmin(volume.centres[:, 2])]
    limit = math.atan2(towards[0], towards[2])

    def height(angle):
        direction = np.array([math.sin(angle), 0.0, math.cos(angle)])
        return (origin - volume.support(direction)) @ direction

    bulge = R - math.sqrt((R - r) ** 2 - 0.01)  # of the arc along the edge, which stays round
    for angle in (limit + 1e-3, 0.5, 0.7):
        assert abs(height(angle)) < 2 * bulge
    radius = np.linalg.norm(towards)  # the arc in this plane has the big radius about the centre
    for inside in (0.01, 0.03):
        expected = (origin - volume.centres[np.argmin(volume.centres[:, 2])]) @ [
            math.sin(limit - inside), 0.0, math.cos(limit - inside)
        ] - R  # fmt: skip
        assert height(limit - inside) == pytest.approx(expected, abs=1e-12)
    assert radius == pytest.approx(math.sqrt((R - r) ** 2 - 0.01), abs=1e-12)


def test_turning_box_over_a_plane_has_no_jump_but_its_hull_has():
    """X12: the slope of the hull's height jumps by the length of the face when it is parallel to the plane."""
    length, r, R = 0.4, 0.01, 20.0
    corners = box_corners(length, 0.2, 0.1)
    volume = SphereTorusVolume.from_points(corners, r, R)
    angles = np.linspace(-0.1, 0.1, 4001)
    down = np.column_stack([np.sin(angles), np.zeros_like(angles), -np.cos(angles)])
    hull = -(corners @ down.T).max(axis=0)
    smooth = -np.einsum("ij,ij->i", volume.support(down), down)
    step = angles[1] - angles[0]
    jumps = [np.abs(np.diff(np.diff(height) / step)).max() for height in (hull, smooth)]
    assert jumps[0] == pytest.approx(length, rel=1e-3)
    assert jumps[1] <= 1.01 * R * step  # no more than curvature 1 / R explains
    assert np.abs(smooth - hull + r).max() < 2e-3


def test_turning_box_over_a_box_has_no_jump_but_its_hull_has():
    """X12 between two bodies: the slope of coal's distance of plain boxes jumps, that of the volumes doesn't."""
    length, r, R = 0.4, 0.01, 20.0
    upper = SphereTorusVolume.from_points(box_corners(length, 0.2, 0.1), r, R)
    lower = SphereTorusVolume.from_points(box_corners(1.0, 1.0, 0.1), r, R)
    hulls = coal.Box(length, 0.2, 0.1), coal.Box(1.0, 1.0, 0.1)
    still = pin.SE3.Identity()
    angles = np.linspace(-0.05, 0.05, 401)
    plain, smooth, slopes = [], [], []
    for angle in angles:
        there = pin.SE3(pin.rpy.rpyToMatrix(0.0, angle, 0.0), np.array([0.0, 0.0, 0.2]))
        places = [coal.Transform3s(place.rotation, place.translation) for place in (there, still)]
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        plain.append(coal.distance(hulls[0], places[0], hulls[1], places[1], request, result))
        found = distance(upper, there, lower, still)
        smooth.append(found.value)
        slopes.append(found.gradient[0, 4])
    step = angles[1] - angles[0]
    plain_slopes, smooth_slopes = np.diff(plain) / step, np.diff(smooth) / step
    assert np.abs(np.diff(plain_slopes)).max() == pytest.approx(length, rel=0.02)
    # Two volumes of radius R: the nearest points run along both.
    assert np.abs(np.diff(smooth_slopes)).max() <= 2.0 * R * step
    assert np.abs(np.diff(slopes)).max() <= 2.0 * R * step
    assert 0.5 * (np.array(slopes)[1:] + np.array(slopes)[:-1]) == pytest.approx(smooth_slopes, abs=2e-3)


@pytest.mark.parametrize(("R", "gap"), [(1.0, 0.02494304), (10.0, 0.02949949), (20.0, 0.02974987), (100.0, 0.02994999)])
def test_parallel_cubes_are_nearer_by_both_margins(R, gap):
    cube = SphereTorusVolume.from_points(box_corners(0.1, 0.1, 0.1), 0.01, R)
    found = distance(cube, pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.15])), cube, pin.SE3.Identity())
    assert found.value == pytest.approx(gap, abs=5e-9)
