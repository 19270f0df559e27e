# SPDX-License-Identifier: Apache-2.0
"""URDF text says what the links, joints and loops are."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_urdf import random_urdf

from humanoid_kinematics import load_mechanism
from humanoid_model import RobotError, load_robot
from humanoid_model.description import Ellipsoid, Geometry, HalfSpace, Link
from humanoid_model.loop_closure import KINDS, LoopClosure
from humanoid_model.shape_triangles import bounds, triangles
from humanoid_model.urdf import read_urdf
from humanoid_model.urdf_text import urdf_text


def far(one, other):
    return np.abs(one.homogeneous - other.homogeneous).max()


def assert_same(one, other):
    assert (one.name, one.root) == (other.name, other.root)
    assert ([*one.links], [*one.joints]) == ([*other.links], [*other.joints])
    for name, joint in one.joints.items():
        again = other.joints[name]
        for key in ("type", "parent", "child", "mimic"):
            assert getattr(again, key) == getattr(joint, key)
        assert (again.damping, again.friction) == (joint.damping, joint.friction)
        assert far(again.placement, joint.placement) < 1e-14
        assert np.abs(again.axis - joint.axis).max() < 1e-15
        if joint.limit is not None:
            bounds = [[limit.lower, limit.upper] for limit in (joint.limit, again.limit)]
            assert np.clip(bounds[0], -1e9, 1e9).tolist() == np.clip(bounds[1], -1e9, 1e9).tolist()
    for name, link in one.links.items():
        again = other.links[name]
        assert (link.inertial is None) == (again.inertial is None)
        if link.inertial is not None:
            assert again.inertial.mass == link.inertial.mass
            assert np.array_equal(again.inertial.inertia, link.inertial.inertia)
        assert [item.shape for item in again.visuals] == [item.shape for item in link.visuals]
        assert [item.shape for item in again.collisions] == [item.shape for item in link.collisions]
    for loop, again in zip(one.loops, other.loops, strict=True):
        assert (again.name, again.link_a, again.link_b, again.rows) == (loop.name, loop.link_a, loop.link_b, loop.rows)
        assert far(again.placement_a, loop.placement_a) < 1e-14


@pytest.mark.parametrize("name", ["cross", "hrp2"])
def test_the_text_reads_back_as_the_same_robot(name):
    robot = load_mechanism(name).robot
    assert_same(robot.description, read_urdf(urdf_text(robot.description)))
    assert_same(robot.description, read_urdf(robot.urdf))


def test_random_trees_with_loops_of_every_kind_read_back():
    rng = np.random.default_rng(7)
    for _ in range(5):
        description = read_urdf(random_urdf(rng, 8))
        names = [*description.links]
        loops = tuple(
            LoopClosure(kind, names[0], pin.SE3.Random(), names[-1], pin.SE3.Random(), rows)
            for kind, rows in KINDS.items()
        )
        description = dataclasses.replace(description, loops=loops)
        assert_same(description, read_urdf(urdf_text(description)))


def test_an_ellipsoid_is_a_stretched_ball():
    description = load_robot("five_bar").description
    egg = Geometry("egg", Ellipsoid(np.array([0.1, 0.2, 0.3])), pin.SE3.Identity(), np.ones(4))
    text = urdf_text(dataclasses.replace(description, links={**description.links, "base": Link("base", None, (egg,))}))
    (drawn,) = read_urdf(text).links["base"].visuals
    np.testing.assert_allclose(bounds(drawn.shape), [[-0.1, -0.2, -0.3], [0.1, 0.2, 0.3]], atol=1e-6)
    mesh = triangles(drawn.shape)
    centres = mesh.vertices[mesh.faces].mean(axis=1) / [0.1, 0.2, 0.3]
    assert np.linalg.norm(centres, axis=1).min() > 0.98
    normals = np.cross(*np.diff(mesh.vertices[mesh.faces], axis=1).swapaxes(0, 1))
    assert (np.einsum("ij,ij->i", normals, centres) > 0.0).all()


def test_what_urdf_has_no_word_for_is_refused():
    description = load_robot("five_bar").description
    planar = LoopClosure("cut", "bar_4", pin.SE3.Identity(), "base", pin.SE3.Identity(), ("x", "z"))
    with pytest.raises(RobotError, match="loop 'cut': holds x, z, for which URDF has no word"):
        urdf_text(dataclasses.replace(description, loops=(planar,)))
    ground = Geometry("", HalfSpace(), pin.SE3.Identity(), np.ones(4))
    with pytest.raises(RobotError, match="link 'base': has a HalfSpace"):
        urdf_text(dataclasses.replace(description, links={**description.links, "base": Link("base", None, (ground,))}))
