# SPDX-License-Identifier: Apache-2.0
"""The kernels of deformable soles against dense algebra and analytic shapes."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.sole import RUBBER, TwoPadSole
from humanoid_sim.flexibility import DeformableSole
from humanoid_sim.flexibility.deformable_sole import distribution_matrix
from humanoid_sim.flexibility.sole_kernels import (
    ContactsOfSole,
    FoundContacts,
    add_body_motion,
    add_compliance,
    ball_contacts,
    deform,
    half_space_nodes,
    speed_bounds,
    triangle_nodes,
)
from humanoid_sim.flexibility.sole_mesh import sole_mesh
from humanoid_sim.flexibility.tetrahedral_mesh import block_mesh

SIZE = np.array([0.22, 0.13, 0.02])
DT = 1e-3


def small_sole() -> DeformableSole:
    sole = DeformableSole(block_mesh(SIZE, (4, 3, 1)), RUBBER, pin.SE3.Random())
    sole.U[:] = np.random.default_rng(5).uniform(-1e-3, 1e-3, sole.U.size)
    return sole


def test_vertices_move_with_the_link_and_deform_in_its_frame() -> None:
    sole, placement = small_sole(), pin.SE3.Random()
    world = sole.world_vertices(placement)
    for i in range(len(world)):
        local = sole.vertices[i] + (sole.U[3 * i : 3 * i + 3] if i < sole.free else 0.0)
        np.testing.assert_allclose(world[i], placement.act(local), atol=1e-14)


@pytest.mark.feature("000-F108")
def test_nodes_below_a_plane_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(2)
    hits = 0
    for seed in range(20):
        pin.seed(seed)
        sole, placement = small_sole(), pin.SE3.Random()
        sole.U *= 30.0  # some nodes change sides
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        rest = placement.rotation @ sole.vertices.T + placement.translation[:, None]
        world = sole.world_vertices(placement)
        offset = np.quantile(normal @ rest, 0.3)
        found = FoundContacts.of_size(sole.free)
        count = half_space_nodes(placement.rotation, world, sole.U, normal, offset, 0.0, 0, found)
        expected = [i for i in range(sole.free) if normal @ world[i] <= offset or normal @ rest[:, i] <= offset]
        assert found.vertices[:count, 0].tolist() == expected
        np.testing.assert_allclose(found.gaps[:count], world[expected] @ normal - offset, atol=1e-14)
        np.testing.assert_array_equal(found.weights[:count], np.tile([1.0, 0.0, 0.0], (count, 1)))
        hits += count
    assert hits > 50


def test_balls_touch_where_a_box_is_closest() -> None:
    """An undeformed block against the signed distance of a box."""
    rng = np.random.default_rng(3)
    pin.seed(1)
    placement = pin.SE3.Random()
    sole = DeformableSole(block_mesh(SIZE, (6, 4, 2)), RUBBER)
    centre = np.array([0.0, 0.0, -0.01])
    local = rng.uniform(-0.75, 0.75, (400, 3)) * SIZE + centre
    local[0] = [0.112, -0.067, 0.001]  # near a corner
    local[1:60, 0], local[1:60, 2] = 0.11, -0.0205  # under an edge, in the plane of a side
    radii = rng.uniform(0.0, 0.01, 400)
    found = FoundContacts.of_size(400)
    reach = 0.005
    world = sole.world_vertices(placement)
    centres = local @ placement.rotation.T + placement.translation
    count = ball_contacts(
        world, sole.triangles, centres, radii, reach, 0.02, 0, found
    )  # fmt: skip
    q = np.abs(local - centre) - 0.5 * SIZE
    distance = np.linalg.norm(np.maximum(q, 0.0), axis=1) + np.minimum(q.max(axis=1), 0.0)
    np.testing.assert_array_equal(found.other[:count], np.flatnonzero(distance - radii <= reach))
    touched = found.other[:count]
    np.testing.assert_allclose(found.gaps[:count], (distance - radii)[touched], atol=1e-12)
    assert (distance[touched] < 0.0).sum() > 20
    assert (np.maximum(q[touched], 0.0).astype(bool).sum(axis=1) == 3).any()  # a corner
    points = np.einsum("ij,ijk->ik", found.weights[:count], world[found.vertices[:count]])
    np.testing.assert_allclose(points, found.positions[:count], atol=1e-14)
    # the point lies a (signed) distance along the normal from the centre
    reached = centres[touched] + distance[touched, None] * found.normals[:count]
    np.testing.assert_allclose(reached, found.positions[:count], atol=1e-12)


def test_balls_between_two_pads_are_outside() -> None:
    """A shape that isn't convex: layer and pads as a union of boxes."""
    rng = np.random.default_rng(6)
    sole = DeformableSole(sole_mesh(TwoPadSole((0.22, 0.13, 0.01), 0.09, 0.06, 0.012, (8, 5, 1, 2))), RUBBER)
    boxes = np.array(
        [  # lowest and highest corner of layer, heel and toe
            [[-0.11, -0.065, -0.01], [0.11, 0.065, 0.0]],
            [[-0.11, -0.065, -0.022], [-0.02, 0.065, -0.005]],
            [[0.05, -0.065, -0.022], [0.11, 0.065, -0.005]],
        ]
    )
    points = rng.uniform([-0.12, -0.075, -0.027], [0.12, 0.075, 0.005], (600, 3))
    middle, half = boxes.mean(axis=1), 0.5 * np.diff(boxes, axis=1)[:, 0]
    q = np.abs(points[:, None] - middle) - half
    inside = (q < 0.0).all(axis=2).any(axis=1)
    distance = np.linalg.norm(np.maximum(q, 0.0), axis=2).min(axis=1)
    found = FoundContacts.of_size(600)
    count = ball_contacts(
        sole.vertices, sole.triangles, points, np.zeros(600), 0.1, 0.02, 0, found
    )  # fmt: skip
    assert count == 600
    np.testing.assert_array_equal(found.gaps < 0.0, inside)
    np.testing.assert_allclose(found.gaps[~inside], distance[~inside], atol=1e-12)
    assert 100 < inside.sum() < 500


def test_nodes_on_a_ground_of_triangles() -> None:
    """A ridge of two slopes: each node belongs to the slope that it is over, also where it is under both."""
    slope = 0.1
    ridge = [[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]]
    low = [[x, y, -slope] for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    left = [[low[0], ridge[0], ridge[1]], [low[0], ridge[1], low[1]]]
    right = [[ridge[0], low[2], low[3]], [ridge[0], low[3], ridge[1]]]
    corners = np.array(left + right)
    sole = DeformableSole(block_mesh(SIZE, (8, 5, 2)), RUBBER)
    placement = pin.SE3(np.eye(3), np.array([1e-4, 0.0041, 0.018]))
    world = sole.world_vertices(placement)
    found = FoundContacts.of_size(sole.free)
    count = triangle_nodes(world, sole.free, corners, 0.0, 0.05, 0, found)
    free = world[: sole.free]
    gaps = (free[:, 2] + slope * np.abs(free[:, 0])) / np.hypot(1.0, slope)
    touching = np.flatnonzero(gaps <= 0.0)
    assert 0 < len(touching) < sole.free
    order = np.argsort(found.vertices[:count, 0])
    np.testing.assert_array_equal(found.vertices[:count, 0][order], touching)
    np.testing.assert_allclose(found.gaps[:count][order], gaps[touching], atol=1e-14)
    uphill = np.sign(free[touching, 0])
    expected = np.column_stack([slope * uphill, np.zeros(count), np.ones(count)]) / np.hypot(1.0, slope)
    np.testing.assert_allclose(found.normals[:count][order], expected, atol=1e-14)


def contact_data(sole: DeformableSole, m: int) -> tuple[np.ndarray, ...]:
    """Contacts of a sole at random places of a problem of m: indices, signs, vertices, weights, frames."""
    rng = np.random.default_rng(7)
    contacts = np.sort(rng.choice(m, m - 3, replace=False))
    signs = rng.choice([-1.0, 1.0], contacts.size)
    vertices = sole.triangles[rng.integers(len(sole.triangles), size=contacts.size)]
    weights = rng.dirichlet(np.ones(3), size=contacts.size)
    weights[0] = 1.0, 0.0, 0.0
    frames = np.array([pin.SE3.Random().rotation for _ in range(m)])
    return contacts, signs, vertices, weights, frames


def dense_projection(sole: DeformableSole, R: np.ndarray, m: int, data: tuple[np.ndarray, ...]) -> np.ndarray:
    """P of thesis equation (4.32) with frames and signs, shape (3m, 3 free)."""
    contacts, signs, vertices, weights, frames = data
    P = distribution_matrix(vertices, weights, len(sole.vertices))[:, : 3 * sole.free]
    out = np.zeros((3 * m, 3 * sole.free))
    for c, contact in enumerate(contacts):
        turn = signs[c] * frames[contact] @ R
        block = P[3 * c : 3 * c + 3].reshape(3, sole.free, 3).transpose(1, 0, 2)  # node, row, column
        out[3 * contact : 3 * contact + 3] = (turn @ block).transpose(1, 0, 2).reshape(3, -1)
    return out


def test_contact_problem_with_a_sole() -> None:
    """Delassus operator, free velocity and displacements against P S P^T, P U and S P^T f; rows that aren't of the
    sole stay as they are."""
    sole, m = small_sole(), 12
    R = pin.SE3.Random().rotation
    contacts, signs, vertices, weights, frames = data = contact_data(sole, m)
    assert (vertices >= sole.free).any()
    P = dense_projection(sole, R, m, data)
    rng = np.random.default_rng(8)
    W_rigid, v_rigid, f = rng.normal(size=(3 * m, 3 * m)), rng.normal(size=3 * m), rng.normal(size=3 * m)
    W, v = W_rigid.copy(), v_rigid.copy()
    of_sole = ContactsOfSole(contacts, 3 * contacts, signs, vertices, weights, frames)
    add_compliance(R, sole.S, sole.U, of_sole, DT, W, v)
    size = np.abs(W - W_rigid).max()
    np.testing.assert_allclose(W - W_rigid, P @ sole.S @ P.T / DT, atol=1e-12 * size)
    np.testing.assert_allclose(v - v_rigid, -P @ sole.U / DT, atol=1e-12)
    before = sole.U.copy()
    deform(R, sole.S, of_sole, f, sole.U)
    np.testing.assert_allclose(sole.U, sole.S @ P.T @ f, atol=1e-14)
    # what the contact problem adds is the velocity of the deformation, seen in the contact frames
    np.testing.assert_allclose((W - W_rigid) @ f + v - v_rigid, P @ (sole.U - before) / DT, rtol=1e-9, atol=1e-9)


def test_many_contacts_on_few_bodies() -> None:
    rng = np.random.default_rng(9)
    m = 7
    bodies = rng.integers(2, size=m)
    A = rng.normal(size=(12, 20))
    operator = (A @ A.T).reshape(2, 6, 2, 6).transpose(0, 2, 1, 3).copy()
    arms, frames = rng.normal(size=(m, 3)), np.array([pin.SE3.Random().rotation for _ in range(m)])
    J = np.zeros((3 * m, 12))
    for i in range(m):
        point = np.hstack([np.eye(3), -pin.skew(arms[i])])
        J[3 * i : 3 * i + 3, 6 * bodies[i] : 6 * bodies[i] + 6] = frames[i] @ point
    W = np.zeros((3 * m, 3 * m))
    add_body_motion(operator, bodies, arms, frames, DT, W)
    np.testing.assert_allclose(W, DT * J @ A @ A.T @ J.T, atol=1e-12)


def test_no_vertex_is_faster_than_the_bounds() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        world, twist, direction = rng.normal(size=(12, 3)), rng.normal(size=6), rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        velocity = twist[:3] + np.cross(twist[3:], world)
        speed, along = speed_bounds(world, twist, direction)
        assert np.linalg.norm(velocity, axis=1).max() <= speed < 10.0 * np.linalg.norm(velocity, axis=1).max()
        assert (velocity @ direction).max() <= along
    speed, along = speed_bounds(world, np.array([0.0, 0.0, 2.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, -1.0]))
    assert (speed, along) == (2.0, 0.0)
