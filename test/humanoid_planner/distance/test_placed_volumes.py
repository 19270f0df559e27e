# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import coal
import numpy as np
import pinocchio as pin
import pytest
import trimesh
from fixtures.point_clouds import unit_vectors

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.errors import InputError
from humanoid_model.robot import load_robot
from humanoid_planner.distance.placed_volumes import HalfSpace, part_names, robot_volumes
from humanoid_planner.distance.rounded_hull import rounded_hull
from humanoid_planner.distance.volume_mesh import volume_mesh


def test_normal_is_made_unit_and_the_offset_with_it() -> None:
    half_space = HalfSpace(np.array([0.0, 3.0, 4.0]), 10.0)
    assert np.allclose(half_space.normal, [0.0, 0.6, 0.8])
    assert half_space.offset == pytest.approx(2.0)
    on_boundary = np.array([7.0, 2.0, 1.0])  # 3*2 + 4*1 = 10
    assert half_space.height(on_boundary) == pytest.approx(0.0, abs=1e-15)
    assert np.allclose(half_space.height([on_boundary + half_space.normal, [0.0, 0.0, 0.0]]), [1.0, -2.0])


def test_extreme_lengths_of_the_normal_keep_its_direction() -> None:
    for length in (1e-200, 1e200):
        assert np.allclose(HalfSpace(length * np.array([1.0, 1.0, 0.0])).normal, [np.sqrt(0.5), np.sqrt(0.5), 0.0])


@pytest.mark.parametrize("normal", [[0.0, 0.0, 0.0], [1.0, 0.0], [np.nan, 0.0, 1.0], [np.inf, 0.0, 0.0]])
def test_impossible_normals_are_refused(normal: list[float]) -> None:
    with pytest.raises(InputError, match="half-space normal"):
        HalfSpace(np.array(normal))


def test_offset_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match="half-space offset: is nan"):
        HalfSpace(np.array([0.0, 0.0, 1.0]), np.nan)


def test_normal_cannot_be_written_to() -> None:
    half_space = HalfSpace(np.array([0.0, 0.0, 1.0]))
    with pytest.raises(ValueError, match="read-only"):
        half_space.normal[0] = 1.0


def in_own_frame(robot):
    """Every link a body of its own, numbered as in the description."""
    order = {link: index for index, link in enumerate(robot.description.links)}
    return lambda link: (order[link], pin.SE3.Identity())


@pytest.mark.feature("001-F114")
@pytest.mark.parametrize("name", ["hrp2", "bip", "avatar"])
def test_volumes_enclose_the_shapes_with_their_margin(name):
    robot = load_robot(name)
    volumes = robot_volumes(robot, in_own_frame(robot), r=0.02)
    directions = unit_vectors(300, 0)
    for link in robot.description.links.values():
        own = [volume.volume for volume in volumes if volume.owner == link.name]
        assert bool(own) == bool(link.collisions)
        if len(own) != 1:
            continue
        reach = np.einsum("ij,ij->i", own[0].support(directions), directions)
        for geometry in link.collisions:
            shape = coal_geometry(geometry.shape)
            if isinstance(shape, coal.Cylinder):  # its own support function: the hull is a polygon around it
                local = directions @ geometry.placement.rotation
                exact = shape.radius * np.hypot(local[:, 0], local[:, 1]) + shape.halfLength * np.abs(local[:, 2])
                exact += directions @ geometry.placement.translation
            else:
                hull = rounded_hull(shape).moved(geometry.placement)
                exact = (directions @ hull.points.T).max(axis=1) + hull.radius
            assert (reach - exact).min() >= 0.02 - 1e-9
        corners = [rounded_hull(coal_geometry(g.shape)).moved(g.placement).outline for g in link.collisions]
        hull = (np.vstack(corners) @ directions.T).max(axis=0)
        assert (reach - hull).max() < 0.02 + 0.004


@pytest.mark.feature("001-F114")
def test_all_bodies_of_hrp2_are_closed_and_convex():
    """X15: with two faces less than twice the vertices, but for spindles."""
    robot = load_robot("hrp2")
    volumes = robot_volumes(robot, in_own_frame(robot))
    assert list(dict.fromkeys(volume.owner for volume in volumes)) == [
        link.name for link in robot.description.links.values() if link.collisions
    ]
    for placed in volumes:
        volume = placed.volume
        assert volume.convex
        assert len(volume.faces) == (2 * (len(volume.vertices) - 2) if len(volume.vertices) > 2 else 0)
    assert sum(len(placed.volume.vertices) == 2 for placed in volumes) == 8  # thighs, shins, arms: capsules


@pytest.mark.feature("001-F114")
def test_volumes_are_in_the_frame_of_the_body():
    robot = load_robot("hrp2")
    shift = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([1.0, 2.0, 3.0]))
    there = robot_volumes(robot, lambda link: (7, shift))
    here = robot_volumes(robot, in_own_frame(robot))
    for one, other in zip(there, here, strict=True):
        assert one.body == 7
        moved = other.volume.vertices @ shift.rotation.T + shift.translation
        assert np.sort(one.volume.vertices, axis=0) == pytest.approx(np.sort(moved, axis=0), abs=1e-12)


@pytest.mark.feature("001-F114")
def test_radii_are_those_asked_for():
    robot = load_robot("hrp2")
    for placed in robot_volumes(robot, in_own_frame(robot), r=0.03, R=5.0):
        assert placed.volume.R == 5.0
        assert placed.volume.r >= 0.03
        if len(placed.volume.vertices) > 2:
            assert placed.volume.r == 0.03


@pytest.mark.feature("001-F114")
def test_too_small_R_names_the_link():
    robot = load_robot("hrp2")
    with pytest.raises(InputError, match=r"link 'WAIST', R: big spheres are too small"):
        robot_volumes(robot, in_own_frame(robot), r=0.01, R=0.1)


@pytest.mark.feature("001-F114")
def test_link_of_several_parts(tmp_path):
    text = """<robot name="r"><link name="tool">
      <collision name="grip"><geometry><box size="0.1 0.1 0.1"/></geometry></collision>
      <collision><origin xyz="0.5 0 0"/><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link></robot>"""
    robot = load_robot(text, floating_base=False)
    volumes = robot_volumes(robot, in_own_frame(robot))
    assert sorted(volume.name for volume in volumes) == ["tool/1", "tool/grip"]
    assert {volume.owner for volume in volumes} == {"tool"}


@pytest.mark.feature("001-F114")
def test_names_of_parts():
    assert part_names("table", ["top"]) == ["table"]
    assert part_names("table", ["top", "", "leg", "leg"]) == ["table/top", "table/1", "table/2", "table/3"]


@pytest.mark.feature("001-F114")
def test_visual_mesh_of_a_volume_is_closed():
    robot = load_robot("hrp2")
    for placed in robot_volumes(robot, in_own_frame(robot))[:8]:
        mesh = trimesh.Trimesh(*volume_mesh(placed.volume, 0.5), process=False)
        assert mesh.is_watertight
