# SPDX-License-Identifier: Apache-2.0
"""Soles between the stages of a step whose constraints are sorted into groups."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
from fixtures.scenes import box, floor, place, scene

from humanoid_model.sole import RUBBER
from humanoid_sim.detection.contact_points import ContactPoints
from humanoid_sim.flexibility import DeformableSole
from humanoid_sim.flexibility.sole_contacts import SoleContacts
from humanoid_sim.flexibility.sole_stage import SoleStage
from humanoid_sim.flexibility.tetrahedral_mesh import block_mesh
from humanoid_sim.world.world import World

DT = 1e-3
SIZE = (0.2, 0.1, 0.02)


def world_with_feet() -> tuple[World, dict[str, DeformableSole]]:
    """Three boxes with soles: two on the floor, one in the air between them in the order."""
    feet = [box(f"foot{i}", SIZE, place(0.4 * i, 0.0, z)) for i, z in enumerate((0.03, 0.5, 0.029995))]
    under = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.01]))
    soles = {foot.name: DeformableSole(block_mesh(SIZE, (1, 1, 1)), RUBBER, under) for foot in feet}
    return World(scene(floor(), *feet)), soles


def test_each_sole_acts_in_the_problem_of_its_group() -> None:
    world, soles = world_with_feet()
    stage = SoleStage(world, soles)
    data = world.model.createData()
    pin.forwardKinematics(world.model, data, world.q)
    R, p = np.array([M.rotation for M in data.oMi]), np.array([M.translation for M in data.oMi])
    twists = np.zeros((world.model.njoints, 6))
    points = ContactPoints(100)
    points.size = 1  # a contact that is no sole's
    points = stage.detect(R, p, twists, DT, points, 7)
    assert stage.contacts.places == [(1, 5), (5, 5), (5, 9)]
    assert points.slots[1:9].min() >= 7
    assert points.slots[1:9].max() < 7 + stage.slot_count
    frames = np.tile(np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), (9, 1, 1))

    # First group: the third foot, with a limit of one row before its contacts. Second: the first foot and the contact
    # that is no sole's, which has a torque block behind it.
    of_block = np.array([-1, 5, 6, 7, 8, 0, 0, 1, 2, 3, 4])
    sizes = np.array([1, 3, 3, 3, 3, 3, 1, 3, 3, 3, 3])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    rows = int(starts[-1])
    rng = np.random.default_rng(0)
    blocks = SimpleNamespace(starts=starts, points=of_block, v_free=rng.normal(size=rows), forces=rng.normal(size=rows))
    groups = SimpleNamespace(
        blocks=np.array([0, 5, 11]), offsets=np.array([0, 169, 169 + 256]), W=np.zeros(500), counts=np.array([2, 11])
    )
    before = blocks.v_free.copy()
    stage.locate(blocks, groups, points.size)
    stage.pose(frames, blocks, groups, DT)

    alone = SoleContacts(world, {name: soles[name] for name in soles})
    alone.detect(R, p, twists, DT, ContactPoints(100), 0)
    for sole, group, begin, n, first in ((0, 1, 13, 16, 4), (2, 0, 0, 13, 1)):
        W, v = np.zeros((n, n)), before[begin : begin + n].copy()
        alone.add_to_problem(sole, frames, first + 3 * np.arange(4), DT, W, v)
        assert W.any()
        np.testing.assert_array_equal(groups.W[groups.offsets[group] :][: n * n].reshape(n, n), W)
        np.testing.assert_array_equal(blocks.v_free[begin : begin + n], v)

    stage.deform(frames, blocks, groups)
    deformed = stage.contacts.save()
    for sole, name, begin, first in ((0, "foot0", 13, 4), (2, "foot2", 0, 1)):
        alone.update(sole, frames, first + 3 * np.arange(4), blocks.forces[begin:])
        np.testing.assert_array_equal(soles[name].U, deformed[name])
        assert deformed[name].any()
    assert not deformed["foot1"].any()


def test_a_sole_that_left_the_ground_springs_back() -> None:
    world, soles = world_with_feet()
    stage = SoleStage(world, soles)
    soles["foot1"].U[:] = 1e-3
    stage.contacts.places = [(0, 0), (0, 0), (0, 0)]
    nothing = np.zeros(0)
    blocks = SimpleNamespace(starts=np.zeros(1, dtype=int), points=nothing, v_free=nothing, forces=nothing)
    stage.deform(np.zeros((0, 3, 3)), blocks, SimpleNamespace())
    assert not soles["foot1"].U.any()
