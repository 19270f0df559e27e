# SPDX-License-Identifier: Apache-2.0
"""The scenes of config/scenes, simulated: what stands stays, what rolls and slides does so by the book."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model import load_scene
from humanoid_model.files import list_resources
from humanoid_sim import Simulation

DURATION = 0.5
MOVING = {
    "box_on_slope": {"smooth_box", "ball"},
    "boxes": {"rolling_ball", "rolling_rod", "dropped_ball", "sliding_box"},
    "carrying": {"board"},  # the arms yield under it
}
SCENES = list_resources("config/scenes", (".yaml", ".xml"))


@pytest.fixture(scope="module", params=SCENES)
def run(request: pytest.FixtureRequest) -> tuple[Simulation, float]:
    """A scene after half a second, and the deepest penetration on the way."""
    simulation = Simulation(load_scene(request.param))
    deepest = 0.0
    for _ in range(round(DURATION / simulation.dt)):
        simulation.step()
        deepest = min(deepest, float(simulation.contacts.gap.min(initial=0.0)))
    return simulation, deepest


def moved(simulation: Simulation, name: str) -> np.ndarray:
    (body,) = (body for body in simulation.scene.bodies if body.name == name)
    start = body.placement_world_body.translation
    return np.asarray(simulation.bodies[name].placement_world_body.translation - start)


def test_no_penetration_and_finite(run: tuple[Simulation, float]) -> None:
    simulation, deepest = run
    assert deepest > -1e-4
    assert np.isfinite(simulation.q).all()
    assert np.isfinite(simulation.v).all()
    assert len(simulation.contacts.gap) > 0


def test_what_rests_stays(run: tuple[Simulation, float]) -> None:
    simulation, _ = run
    for body in simulation.scene.bodies:
        if body.name not in MOVING.get(simulation.scene.name, ()):
            now = simulation.bodies[body.name].placement_world_body
            assert_allclose(now.homogeneous, body.placement_world_body.homogeneous, atol=1e-6, err_msg=body.name)


def test_robots_keep_standing(run: tuple[Simulation, float]) -> None:
    simulation, _ = run
    for placed in simulation.scene.robots:
        robot = simulation.robots[placed.name]
        if placed.robot.base_joint is None:  # a planar base is among its joints
            assert_allclose(robot.q, placed.q, atol=0.02)
        else:
            base = placed.robot.placement_base(placed.q)
            assert_allclose(robot.placement_world_base.translation, base.translation, atol=0.02)
        # On its hardly damped ankle bushings HRP-2 goes on swaying by fractions of a millimetre.
        assert np.abs(robot.v).max() < (0.05 if placed.robot.springs else 1e-2)
    weight = sum(placed.robot.total_mass for placed in simulation.scene.robots) * 9.81
    if weight and not simulation.scene.bodies[1:]:
        sways = any(placed.robot.springs for placed in simulation.scene.robots)
        assert simulation.contacts.force.sum(axis=0)[2] == pytest.approx(weight, rel=0.02 if sways else 1e-3)


def along(displacement: np.ndarray, degrees: float) -> float:
    """Distance down a slope in the xz plane, after checking that it is along the slope."""
    angle = math.radians(degrees)
    assert displacement @ [math.sin(angle), 0, math.cos(angle)] == pytest.approx(0.0, abs=1e-6)
    return float(displacement @ [math.cos(angle), 0, -math.sin(angle)])


def test_box_slides_and_ball_rolls_down_the_slope() -> None:
    """Distances a t^2 / 2: a = g (sin - mu cos) for the box, 5/7 g sin for the ball."""
    simulation = Simulation("box_on_slope")
    simulation.run(DURATION)
    sine, cosine = math.sin(math.radians(20)), math.cos(math.radians(20))
    expected = 9.8 * (sine - 0.3 * cosine) * DURATION**2 / 2
    assert along(moved(simulation, "smooth_box"), 20) == pytest.approx(expected, rel=5e-3)
    expected = 5 / 7 * 9.8 * sine * DURATION**2 / 2
    assert along(moved(simulation, "ball"), 20) == pytest.approx(expected, rel=5e-3)


def test_boxes_roll_slide_and_bounce() -> None:
    simulation = Simulation("boxes")
    simulation.run(0.4)
    sine = math.sin(math.radians(15))
    expected = 5 / 7 * 9.81 * sine * 0.4**2 / 2
    assert along(moved(simulation, "rolling_ball"), 15) == pytest.approx(expected, rel=5e-3)
    (rod,) = (body for body in simulation.scene.bodies if body.name == "rolling_rod")
    # A capsule rolls about its axis: of its mass the cylinder has 1/2 r^2, the caps 2/5 r^2.
    cylinder, caps = 0.05**2 * 0.3, 4 / 3 * 0.05**3
    share = (0.5 * cylinder + 0.4 * caps) / (cylinder + caps)
    assert rod.inertia[2, 2] == pytest.approx(share * 0.05**2, rel=1e-9)
    expected = 9.81 * sine / (1 + share) * 0.4**2 / 2
    assert along(moved(simulation, "rolling_rod"), 15) == pytest.approx(expected, rel=5e-3)
    # The sliding box stops after v^2 / (2 mu g).
    assert moved(simulation, "sliding_box")[0] == pytest.approx(1 / (2 * 0.4 * 9.81), abs=1e-3)
    # Dropped from 0.5 m, the ball leaves the floor with 0.7 of its speed.
    fall = math.sqrt(2 * 0.5 / 9.81)
    speed = 0.7 * 9.81 * fall - 9.81 * (0.4 - fall)
    assert simulation.bodies["dropped_ball"].twist[2] == pytest.approx(speed, abs=0.05)


def test_table_carries_its_weight() -> None:
    """Its legs carry 9.8 N together, with the centre of mass in the middle of them."""
    simulation = Simulation("table")
    simulation.run(0.1)
    contacts = simulation.contacts
    assert_allclose(contacts.force.sum(axis=0), [0, 0, 9.8], atol=1e-6)
    assert_allclose(contacts.position[:, :2].T @ contacts.force[:, 2], 0.0, atol=1e-6)
    assert contacts.force[:, 2].min() >= 0.0
    legs = {(x > 0, y > 0) for x, y, _ in contacts.position}
    assert len(legs) == 4


@pytest.mark.feature("001-F007")
def test_stairs_and_their_surfaces() -> None:
    """Every polygon is the whole upper face of its box, 0.10 m above the one before."""
    scene = load_scene("stairs")
    bodies = {body.name: body for body in scene.bodies}
    heights = []
    for surface in scene.surfaces:
        placement = bodies[surface.body].placement_world_body * surface.placement_body_surface
        heights.append(placement.translation[2])
        if surface.polygon is not None:
            size = bodies[surface.body].geometries[0].shape.size  # type: ignore[union-attr]
            assert_allclose(np.ptp(surface.polygon, axis=0), size[:2])
            assert surface.placement_body_surface.translation[2] == pytest.approx(size[2] / 2)
    assert_allclose(heights, [0, 0.1, 0.2, 0.3, 0.4, 0.5])
