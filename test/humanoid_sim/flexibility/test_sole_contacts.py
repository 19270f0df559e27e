# SPDX-License-Identifier: Apache-2.0
"""The soles of a world: what they touch, and their part of the contact problem."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import ball, body, box, floor, place, scene

from humanoid_model.description import Box, HalfSpace, HeightField
from humanoid_model.errors import InputError
from humanoid_model.scene import PairRule, SceneBody
from humanoid_model.sole import RUBBER
from humanoid_sim.detection.contact_points import ContactPoints
from humanoid_sim.flexibility import DeformableSole
from humanoid_sim.flexibility.sole_contacts import SoleContacts
from humanoid_sim.flexibility.sole_kernels import contact_rows
from humanoid_sim.flexibility.tetrahedral_mesh import block_mesh
from humanoid_sim.world.world import World

SIZE = (0.22, 0.13, 0.02)
DT = 1e-3


def foot(placement: pin.SE3) -> SceneBody:
    return box("foot", (0.22, 0.13, 0.02), placement)


def fixed_box(name: str, size: tuple[float, float, float], placement: pin.SE3) -> SceneBody:
    return body(name, Box(np.array(size)), 0.0, np.zeros((3, 3)), placement)


def fixed_ball(name: str, radius: float, placement: pin.SE3) -> SceneBody:
    return ball(name, radius, placement, mass=0.0)


class Placed:
    """A world with soles under some bodies, and its contacts at the initial state."""

    def __init__(self, *bodies: SceneBody, soles: tuple[str, ...] = ("foot",), **options: object) -> None:
        self.world = World(scene(*bodies, **options))
        under = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.01]))
        self.soles = {name: DeformableSole(block_mesh(SIZE, (4, 3, 1)), RUBBER, under) for name in soles}
        self.contacts = SoleContacts(self.world, self.soles)
        data = self.world.model.createData()
        pin.forwardKinematics(self.world.model, data, self.world.q)
        self.R = np.array([M.rotation for M in data.oMi])
        self.p = np.array([M.translation for M in data.oMi])
        self.twists = np.zeros((self.world.model.njoints, 6))

    def detect(self, points: ContactPoints | None = None, first_slot: int = 0) -> ContactPoints:
        given = ContactPoints(200) if points is None else points
        return self.contacts.detect(self.R, self.p, self.twists, DT, given, first_slot)

    def names(self, points: ContactPoints) -> list[str]:
        return [self.world.bodies[b].name for b in points.body_b[: points.size]]


def test_a_sole_on_the_floor_touches_with_its_lower_nodes() -> None:
    placed = Placed(floor(), foot(place(0.3, 0.1, 0.03 - 1e-5, yaw=0.4)), friction=0.7)
    points = placed.detect()
    assert points.size == 20
    np.testing.assert_allclose(points.positions[:20, 2], -1e-5, atol=1e-12)
    np.testing.assert_array_equal(points.gaps[:20], 0.0)  # what is inside isn't for a correction of rigid bodies
    np.testing.assert_array_equal(points.normals[:20], np.tile([0.0, 0.0, 1.0], (20, 1)))
    np.testing.assert_array_equal(points.friction[:20], 0.7)
    assert set(points.joint_a[:20]) == {placed.world.bodies[placed.world.index["foot"]].joint}
    assert points.joint_b[:20].any() == 0
    assert placed.names(points) == ["floor"] * 20
    assert placed.contacts.places == [(0, 20)]
    assert len(set(points.slots[:20])) == 20
    assert points.slots[:20].max() < placed.contacts.slot_count


def test_a_fast_sole_touches_before_it_arrives() -> None:
    placed = Placed(floor(), foot(place(0.0, 0.0, 0.031)))
    assert placed.detect().size == 0
    placed.twists[-1] = [0.0, 0.0, -0.6, 0.0, 0.0, 0.0]
    points = placed.detect()
    assert points.size == 20
    np.testing.assert_allclose(points.gaps[:20], 0.001)
    placed.twists[-1] = [0.0, 0.0, 0.6, 0.0, 0.0, 0.0]  # leaves
    assert placed.detect().size == 0
    placed.twists[-1] = [0.0, 0.0, 0.0, 0.0, 6.0, 0.0]  # turns: one end comes, but only a bound is asked for
    assert placed.detect().size == 20


def test_grains_and_steps() -> None:
    """A fixed grain in the middle of the sole's cells and a step under its edge."""
    placed = Placed(
        fixed_ball("grain", 0.01, place(0.012, 0.005, -0.005)),
        fixed_box("step", (0.2, 0.2, 0.1), place(0.19, 0.0, -0.049)),
        foot(place(0.0, 0.0, 0.03)),
        rules=(PairRule("grain", "*", friction=0.2),),
    )
    points = placed.detect(first_slot=1000)
    names = placed.names(points)
    grain, step = names.index("grain"), [i for i, name in enumerate(names) if name == "step"]
    assert names.count("grain") == 1
    np.testing.assert_allclose(points.positions[grain], [0.012, 0.005, 0.0], atol=1e-12)
    np.testing.assert_allclose(points.normals[grain], [0.0, 0.0, 1.0], atol=1e-12)
    assert points.friction[grain] == 0.2
    nodes = points.positions[step]
    assert {tuple(np.round(x, 6)) for x in nodes} == {(0.11, round(y, 6), 0.0) for y in np.linspace(-0.065, 0.065, 4)}
    assert points.slots[: points.size].min() >= 1000
    assert len(set(points.slots[: points.size])) == points.size


def test_the_corner_of_a_step_presses_into_a_sole() -> None:
    placed = Placed(fixed_box("edge", (0.1, 0.1, 0.1), place(0.05, 0.04, -0.049)), foot(place(0.0, 0.0, 0.03)))
    points = placed.detect()
    at = {tuple(np.round(x[:2], 6)) for x in points.positions[: points.size]}
    assert {(0.0, -0.01), (0.1, -0.01)} <= at  # corners of the box, between the sole's nodes


def test_waves_of_a_height_field() -> None:
    """Nodes and the field's own points, those that are inside."""
    x = np.linspace(-0.2, 0.2, 9)
    heights = np.tile(0.002 * np.cos(np.pi * x / 0.05), (9, 1))  # up and down from point to point
    field = body("field", HeightField(np.array([0.4, 0.4]), heights), 0.0, np.zeros((3, 3)))
    placed = Placed(field, foot(place(0.0, 0.0, 0.03 + 0.001)))
    points = placed.detect()
    assert set(placed.names(points)) == {"field"}
    sole = placed.soles["foot"]
    nodes = sole.vertices[: sole.free] + np.array([0.0, 0.0, 0.031])
    ground = np.interp(nodes[:, 0], x, heights[0])
    crests = {(round(a, 6), round(b, 6)) for a in (-0.1, 0.0, 0.1) for b in (-0.05, 0.0, 0.05)}
    expected = {(round(a, 6), round(b, 6)) for (a, b, z), g in zip(nodes, ground, strict=True) if z < g + 1e-4}
    assert {(round(a, 6), round(b, 6)) for a, b, _ in points.positions[: points.size]} == expected | crests


def test_grains_that_move_keep_their_joint() -> None:
    placed = Placed(ball("grain", 0.01, place(0.012, 0.005, -0.0099)), foot(place(0.0, 0.0, 0.03)))
    points = placed.detect()
    assert points.size == 1
    assert points.joint_b[0] == placed.world.bodies[placed.world.index["grain"]].joint > 0


def test_a_node_on_two_planes_has_two_contacts() -> None:
    wall = body("wall", HalfSpace(), 0.0, np.zeros((3, 3)), place(0.11, 0.0, 0.0, pitch=-np.pi / 2))
    placed = Placed(floor(), wall, foot(place(0.0, 0.0, 0.03)))
    points = placed.detect()
    names = placed.names(points)
    assert (names.count("floor"), names.count("wall")) == (20, 4)
    assert len(set(points.slots[: points.size])) == points.size


def test_a_sole_does_not_touch_its_own_body() -> None:
    placed = Placed(floor(), ball("foot", 0.05, place(0.0, 0.0, 0.03)))
    assert set(placed.names(placed.detect())) == {"floor"}


def test_pairs_that_may_not_touch() -> None:
    rule = PairRule("foot", "floor", collide=False)
    assert Placed(floor(), foot(place(0.0, 0.0, 0.03)), rules=(rule,)).detect().size == 0


def test_contacts_follow_others_and_find_room() -> None:
    placed = Placed(floor(), foot(place(0.0, 0.0, 0.03)), foot2(), soles=("foot", "foot2"))
    points = ContactPoints(8)
    points.size = 3
    points.gaps[:3] = 1.0, 2.0, 3.0
    grown = placed.detect(points)
    assert grown.size == 43
    assert grown.gaps[:3].tolist() == [1.0, 2.0, 3.0]
    assert placed.contacts.places == [(3, 23), (23, 43)]
    assert len(set(grown.slots[3:43])) == 40


def foot2() -> SceneBody:
    return box("foot2", (0.22, 0.13, 0.02), place(0.5, 0.0, 0.03))


def test_problem_deformation_and_memory() -> None:
    """A step of two soles pressed down: the nodes end on the floor, W f + v is the new velocity of each contact."""
    placed = Placed(floor(), foot(place(0.0, 0.0, 0.03 - 2e-5)), foot2(), soles=("foot", "foot2"))
    points = placed.detect()
    m = points.size
    frames = np.tile(np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), (m, 1, 1))
    start = placed.contacts.save()
    sole, (first, end) = placed.soles["foot"], placed.contacts.places[0]
    rows = 5 + 3 * np.arange(end - first)  # after five rows of something else
    n = 5 + 3 * (end - first)
    W, v = np.zeros((n, n)), np.zeros(n)
    placed.contacts.add_to_problem(0, frames, rows, DT, W, v)
    assert not W[:5].any()
    np.testing.assert_allclose(v[rows], -2e-5 / DT, rtol=1e-9)  # asks for the floor within the step
    f = np.zeros(n)
    f[5:] = -np.linalg.solve(W[5:, 5:], v[5:])
    placed.contacts.update(0, frames, rows, f)
    z = placed.soles["foot"].world_vertices(pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.03 - 2e-5])))[: sole.free, 2]
    assert np.sort(z)[:20] == pytest.approx(0.0, abs=1e-12)
    assert placed.soles["foot2"].U.any() == 0
    # the displacement is in the free velocity of the next step
    placed.detect()
    again = np.zeros(n)
    placed.contacts.add_to_problem(0, frames, rows, DT, np.zeros((n, n)), again)
    np.testing.assert_allclose(again[rows], -2e-5 / DT, rtol=1e-9)
    pressed = placed.contacts.save()
    placed.contacts.restore(start)
    assert not sole.U.any()
    placed.contacts.restore(pressed)
    np.testing.assert_array_equal(sole.U, pressed["foot"])
    sole.U[:] = 0.0
    assert pressed["foot"].any()  # a copy


def test_rows_of_contacts_among_other_constraints() -> None:
    """Two groups; contact 1 has torques, block 3 is a joint limit."""
    points = np.array([0, 1, 1, -1, 2])
    starts = np.array([0, 3, 6, 7, 8, 11])
    rows, group_of = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64)
    contact_rows(points, starts, np.array([0, 3, 5]), 2, rows, group_of)
    assert group_of.tolist() == [0, 0, 1, -1]
    assert rows[:3].tolist() == [0, 3, 1]


def test_unknown_body() -> None:
    with pytest.raises(InputError, match="no body 'hand'"):
        Placed(floor(), foot(place(0.0, 0.0, 0.03)), soles=("hand",))
