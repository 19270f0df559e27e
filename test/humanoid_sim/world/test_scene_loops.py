# SPDX-License-Identifier: Apache-2.0
"""Bodies of a scene that its loops hold together move as one body, or about the joint that is left."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from humanoid_model import load_scene
from humanoid_model.scene import without
from humanoid_sim import Simulation

HALVES = """
gravity: [0, 0, 0]
bodies:
  left: {mass: 1, xyz: [0, -0.1, 9], twist: [0.6, 0, 0, 0, 0, 3], shapes: [{box: [0.1, 0.2, 0.3]}]}
  right: {mass: 1, xyz: [0, 0.1, 9], twist: [0, 0, 0, 0, 0, 3], shapes: [{box: [0.1, 0.2, 0.3]}]}
loops:
  glue: {a: {link: left, xyz: [0, 0.1, 0]}, b: {link: right}, kind: frame}
"""
WHOLE = """
gravity: [0, 0, 0]
bodies: {both: {mass: 2, xyz: [0, 0, 9], twist: [0.3, 0, 0, 0, 0, 3], shapes: [{box: [0.1, 0.4, 0.3]}]}}
"""
PENDULUM = """
bodies:
  post: {xyz: [0, 0, 2], shapes: [{box: [0.1, 0.1, 0.1]}]}
  rod: {mass: 1, xyz: [0.05, 0, 1.5], shapes: [{box: [0.02, 0.02, 1.0]}]}
loops:
  hinge: {a: {link: post, axis: [0, 1, 0]}, b: {link: rod, xyz: [-0.05, 0, 0.5], axis: [0, 1, 0]}, kind: axis}
pairs: [{between: [post, rod], collide: false}]
"""
XML = """
<Universe><Gravity x="0" y="0" z="0"/>
<Body id="left">
  <Mass>1</Mass><Translation x="0" y="-0.1" z="9"/><Twist>0.6 0 0 0 0 3</Twist><Box x="0.1" y="0.2" z="0.3"/>
</Body>
<Body id="right">
  <Mass>1</Mass><Translation x="0" y="0.1" z="9"/><Twist>0 0 0 0 0 3</Twist><Box x="0.1" y="0.2" z="0.3"/>
</Body>
<Loop id="glue" first="left" second="right" kind="frame"><Translation x="0" y="0.1" z="0"/></Loop></Universe>
"""


def simulation_of(text: str, folder: Path) -> Simulation:
    path = folder / ("scene.xml" if text.lstrip().startswith("<") else "scene.yaml")
    path.write_text(text)
    return Simulation(load_scene(path))


def test_two_halves_that_are_welded_fly_and_spin_as_the_whole(tmp_path: Path) -> None:
    """They touch all the time, without contacts."""
    halves, whole = simulation_of(HALVES, tmp_path), simulation_of(WHOLE, tmp_path)
    for simulation in (halves, whole):
        simulation.run(1.0)
    both = whole.bodies["both"].placement_world_body
    for name, side in (("left", -0.1), ("right", 0.1)):
        found = both.actInv(halves.bodies[name].placement_world_body)
        np.testing.assert_allclose(found.translation, [0.0, side, 0.0], atol=1e-6)
        np.testing.assert_allclose(found.rotation, np.eye(3), atol=1e-5)
    assert not halves.contacts
    assert not without(halves.scene, "left").loops


def test_xml_says_the_same(tmp_path: Path) -> None:
    assert simulation_of(XML, tmp_path).scene.loops == simulation_of(HALVES, tmp_path).scene.loops


def test_a_rod_on_a_hinge_swings_with_the_period_of_a_physical_pendulum(tmp_path: Path) -> None:
    simulation = simulation_of(PENDULUM, tmp_path)
    depth = np.sqrt(0.05**2 + 0.5**2)
    inertia = (1.0 + 0.02**2) / 12.0 + depth**2
    period = 2.0 * np.pi * np.sqrt(inertia / (9.81 * depth))  # of small swings
    amplitude = np.arctan(0.05 / 0.5)
    simulation.run(0.5 * period * (1.0 + amplitude**2 / 16.0))
    rod = simulation.bodies["rod"].placement_world_body
    np.testing.assert_allclose(rod.act(np.array([-0.05, 0.0, 0.5])), [0.0, 0.0, 2.0], atol=1e-6)
    swung = rod.translation - [0.0, 0.0, 2.0]
    assert np.arctan2(-swung[0], -swung[2]) == pytest.approx(amplitude, rel=1e-3)
