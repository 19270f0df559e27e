# SPDX-License-Identifier: Apache-2.0
"""Bodies that are not chosen stay where they are, pairs that are not chosen pass through each other."""

from __future__ import annotations

import dataclasses

import pytest
from fixtures.scenes import ball, floor, place, scene

from humanoid_model.errors import InputError
from humanoid_model.scene import PairRule, Scene
from humanoid_sim import Simulation
from humanoid_sim.scenario import collide_only, simulate_only


def two_balls() -> Scene:
    return scene(floor(), ball("left", 0.1, place(0, 0, 0.1)), ball("right", 0.1, place(1, 0, 0.1)))


@pytest.mark.feature("000-F014")
def test_only_chosen_bodies_move() -> None:
    simulation = Simulation(simulate_only(two_balls(), ["le*"]))
    simulation.bodies["left"].set_state(place(0, 0, 0.5))
    simulation.run(0.1)
    assert simulation.bodies["left"].placement_world_body.translation[2] < 0.46
    assert simulation.bodies["right"].fixed
    assert simulation.world.model.nv == 6


@pytest.mark.feature("000-F015")
def test_only_chosen_pairs_touch() -> None:
    whole = dataclasses.replace(two_balls(), rules=(PairRule("right", "floor", collide=True),))
    simulation = Simulation(collide_only(whole, [("left", "floor")]))
    simulation.run(0.2)
    assert simulation.bodies["left"].placement_world_body.translation[2] == pytest.approx(0.1, abs=1e-6)
    assert simulation.bodies["right"].placement_world_body.translation[2] < -0.05
    assert list(simulation.contacts.bodies) == [("left", "floor")]


def test_the_scene_itself_stays() -> None:
    whole = two_balls()
    simulate_only(whole, ["left"])
    collide_only(whole, [])
    assert all(body.simulated for body in whole.bodies)
    assert whole.collides("left", "floor")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match=r"no body with a mass is called 'floor'.*left, right"):
        simulate_only(two_balls(), ["floor"])
    with pytest.raises(InputError, match="no body is called 'wall'"):
        collide_only(two_balls(), [("left", "wall")])
