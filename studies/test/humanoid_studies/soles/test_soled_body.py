# SPDX-License-Identifier: Apache-2.0
"""A rigid body on finite-element soles: drop, rest, slope, and no impact."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.errors import InputError
from humanoid_model.sole import RUBBER
from humanoid_sim.flexibility import DeformableSole
from humanoid_sim.flexibility.tetrahedral_mesh import block_mesh
from humanoid_studies.soles.drop import drop_on_spring
from humanoid_studies.soles.soled_body import SoledBody

SIZE = (0.22, 0.13, 0.02)
UPRIGHT = np.diag([1e9, 1e9, 1e9])  # inertia of a body that keeps upright


def sole(cells: tuple[int, int, int] = (4, 3, 1), y: float = 0.0, height: float = 0.0) -> DeformableSole:
    return DeformableSole(block_mesh(SIZE, cells), RUBBER, pin.SE3(np.eye(3), np.array([0.0, y, -height])))


def body(soles: list[DeformableSole], drop: float, height: float = 0.0, **options: object) -> SoledBody:
    """A body with its soles ``drop`` above the floor."""
    inertia = options.pop("inertia", UPRIGHT)
    return SoledBody(soles, 58.0, inertia, pin.SE3(np.eye(3), np.array([0, 0, height + 0.02 + drop])), **options)


@pytest.mark.feature("000-F131")
@pytest.mark.parametrize(
    ("friction", "stiffness"),
    [(0.0, 7.324243e6), (1e3, 8.492946e6)],  # punch that slides, bonded punch: specification 000 §17.7
)
def test_a_sole_that_lands_flat_is_the_spring_of_the_same_stiffness(friction: float, stiffness: float) -> None:
    falling = body([sole((8, 5, 2))], 0.01, friction=friction, exact_positions=False)
    drop = drop_on_spring(58.0, stiffness, 0.01, steps=60)
    steps = [(falling.step(), falling.acceleration[2]) for _ in range(60)]
    np.testing.assert_allclose([step.force[2] for step, _ in steps], drop.force, atol=1e-5 * drop.force.max())
    np.testing.assert_allclose([a for _, a in steps], drop.acceleration, atol=2e-3)
    assert falling.placement.translation[2] - 0.02 == pytest.approx(drop.height[-1], abs=1e-7)


@pytest.mark.feature("000-F133")
def test_the_foot_arrives_without_a_jump_of_its_velocity() -> None:
    """A rigid foot's 0.44 m/s would be gone in one step whatever its length; here the change shrinks with it."""
    changes = []
    for dt in (2e-4, 1e-4, 5e-5):
        falling = body([sole()], 1e-4, dt=dt)
        falling.velocity[2] = -0.44
        largest = 0.0
        for _ in range(round(4e-3 / dt)):
            falling.step()
            largest = max(largest, float(np.abs(falling.acceleration[2])) * dt)
        changes.append(largest)
    assert changes[0] < 0.06
    assert changes[1] / changes[0] == pytest.approx(0.5, abs=0.08)
    assert changes[2] / changes[1] == pytest.approx(0.5, abs=0.05)


def test_at_rest_the_soles_carry_the_weight_in_their_static_shape() -> None:
    """Two soles under a body of ordinary inertia: forces, moments and displacements are those of statics."""
    soles = [sole(y=y, height=0.5) for y in (0.1, -0.1)]
    standing = body(soles, 0.0, height=0.5, inertia=np.diag([7.0, 6.0, 1.5]))
    for _ in range(2500):
        step = standing.step()
    assert step.force == pytest.approx([0.0, 0.0, 58.0 * 9.8], abs=1e-3)
    assert np.abs(standing.velocity).max() < 1e-6
    heights = [s.world_vertices(standing.placement)[: s.free, 2] for s in soles]
    for z, s in zip(heights, soles, strict=True):
        bottom = s.vertices[: s.free, 2] < -0.5 - 0.02 + 1e-9
        assert np.abs(z[bottom]).max() < 1e-8  # on the floor, by construction of the gap term
        K = np.linalg.inv(s.S)
        assert (K @ s.U).reshape(-1, 3)[~bottom] == pytest.approx(0.0, abs=1e-6)  # no force beside the bottom
    sink = 0.5 + 0.02 - standing.placement.translation[2]
    assert 58.0 * 9.8 / (2 * 9.19e6) < sink < 58.0 * 9.8 / (2 * 7.95e6)  # between bonded and sliding


def test_what_goes_past_the_floor_at_the_first_touch_comes_back_only_with_exact_positions() -> None:
    deepest, lowest = {}, {}
    for exact in (True, False):
        falling = body([sole()], 0.01, exact_positions=exact)
        falling.velocity[2] = -0.1
        low = 0.0
        for _ in range(800):
            falling.step()
            world = falling.soles[0].world_vertices(falling.placement)
            low = min(low, world[:, 2].min())
        deepest[exact], lowest[exact] = low, world[:, 2].min()
    assert deepest[True] > -1e-9
    assert lowest[True] == pytest.approx(0.0, abs=1e-9)  # on the floor, not over it
    assert deepest[False] < -1e-5


def test_a_body_that_spins_in_flight_keeps_its_angular_momentum() -> None:
    inertia = np.diag([7.0, 6.0, 1.5])
    spinning = body([sole()], 10.0, inertia=inertia, dt=1e-4)
    spinning.angular_velocity = np.array([1.0, 2.0, 3.0])
    start = inertia @ spinning.angular_velocity
    for _ in range(3000):
        assert spinning.step().contacts == 0
    R = spinning.placement.rotation
    assert np.abs(R - np.eye(3)).max() > 0.5
    np.testing.assert_allclose(R @ inertia @ R.T @ spinning.angular_velocity, start, atol=2e-3 * np.linalg.norm(start))


@pytest.mark.parametrize(("degrees", "acceleration"), [(20.0, 0.0), (25.0, 0.5889324)])
def test_slope_of_the_specification(degrees: float, acceleration: float) -> None:
    """Stick below atan 0.4, and above it the acceleration of specification 000 §9.9."""
    angle = np.radians(degrees)
    gravity = 9.8 * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    sliding = body([sole()], 0.0, gravity=gravity, friction=0.4)
    for _ in range(900):
        sliding.step()
    before = sliding.velocity[0]
    for _ in range(100):
        sliding.step()
    assert (sliding.velocity[0] - before) / 0.1 == pytest.approx(acceleration, abs=1e-4)


@pytest.mark.parametrize(
    "wrong",
    [
        {"mass": 0.0},
        {"mass": np.nan},
        {"dt": 0.0},
        {"friction": -0.1},
        {"inertia": np.zeros((3, 3))},
        {"inertia": np.eye(2)},
        {"soles": []},
    ],
)
def test_bad_input(wrong: dict) -> None:
    arguments = {"soles": [sole()], "mass": 1.0, "inertia": np.eye(3), "placement": pin.SE3.Identity(), **wrong}
    with pytest.raises(InputError, match=next(iter(wrong)) if wrong != {"soles": []} else "no sole"):
        SoledBody(**arguments)
