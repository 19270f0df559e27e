# SPDX-License-Identifier: Apache-2.0
"""Penalty contact does what its springs and dampers say (thesis equations 2.19 and 2.29 to 2.31)."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_studies.baselines.penalty import Penalty, TangentialSprings, WeightedFriction
from humanoid_studies.integration.analytic_systems import FallingBall, SlidingBlock

G = 9.8


def run(integrator, system, q, v, duration, dt=1e-3):
    for k in range(round(duration / dt)):
        q, v, forces = integrator.step(system, q, v, dt, k * dt)
    return q, v, forces


@pytest.mark.feature("000-F046")
@pytest.mark.parametrize("stiffness", [2e3, 1e5])
def test_static_penetration_is_weight_over_stiffness(stiffness: float) -> None:
    damping = 2.0 * math.sqrt(2.0 * stiffness)
    q, v, forces = run(Penalty(stiffness, damping), FallingBall(mass=2.0), np.zeros(1), np.zeros(1), 1.0)
    assert q[0] == pytest.approx(-2.0 * G / stiffness, rel=1e-9)
    assert abs(v[0]) < 1e-9
    assert_allclose(forces.forces, [[2.0 * G, 0.0, 0.0]], rtol=1e-8)


def test_restitution_of_a_spring_and_damper() -> None:
    """The printed law ends contact at zero penetration: e = exp(-pi zeta / sqrt(1 - zeta^2)) without gravity."""
    ball = FallingBall(gravity=0.0)
    zeta, stiffness = 0.2, 1e4
    law = Penalty(stiffness, 2.0 * zeta * math.sqrt(stiffness), pulls=True)
    _, v, _ = run(law, ball, np.zeros(1), np.array([-1.0]), 0.035, dt=2e-5)
    assert v[0] == pytest.approx(math.exp(-math.pi * zeta / math.sqrt(1.0 - zeta**2)), rel=2e-3)
    _, without, _ = run(Penalty(stiffness, law.damping), ball, np.zeros(1), np.array([-1.0]), 0.035, dt=2e-5)
    assert without[0] > 1.02 * v[0]  # nothing pulls it back at the end


def block_in_the_floor(slope: float, stiffness: float) -> tuple[SlidingBlock, np.ndarray]:
    return SlidingBlock(slope, 0.4), np.array([0.0, 0.0, -G * math.cos(slope) / stiffness])


@pytest.mark.feature("000-F047")
def test_weighted_friction_tends_to_coulomb_and_creeps_at_rest() -> None:
    """Sliding at 25 degrees the force is mu f_n; at 15 degrees the block creeps where the weight carries it."""
    friction = WeightedFriction(1e-3)
    system, q = block_in_the_floor(math.radians(25), 1e4)
    _, v, forces = run(Penalty(1e4, 100.0, friction), system, q, np.zeros(3), 0.3)
    assert_allclose(forces.forces[0, 1:], [-0.4 * forces.forces[0, 0], 0.0], atol=1e-9)
    assert forces.forces[0, 0] == pytest.approx(G * math.cos(math.radians(25)))
    system, q = block_in_the_floor(math.radians(15), 1e4)
    _, v, forces = run(Penalty(1e4, 100.0, friction), system, q, np.zeros(3), 0.3)
    share = math.tan(math.radians(15)) / 0.4
    assert v[0] == pytest.approx(1e-3 * math.atanh(share), rel=1e-6)
    assert_allclose(friction.forces(np.zeros((1, 2)), np.zeros((1, 2)), np.ones(1)), 0.0)


@pytest.mark.feature("000-F048")
def test_tangential_springs_stick_then_slip() -> None:
    """At 15 degrees the spring holds the block, stretched by the load; at 25 degrees it slips at mu f_n."""
    springs = TangentialSprings(1e4, 100.0)
    system, q = block_in_the_floor(math.radians(15), 1e4)
    q, v, forces = run(Penalty(1e4, 100.0, springs), system, q, np.zeros(3), 0.5)
    load = G * math.sin(math.radians(15))
    assert_allclose(forces.forces[0, 1:], [-load, 0.0], rtol=1e-6, atol=1e-9)
    assert q[0] == pytest.approx(load / 1e4, rel=1e-6)
    assert abs(v[0]) < 1e-9
    system, q = block_in_the_floor(math.radians(25), 1e4)
    q, v, forces = run(Penalty(1e4, 100.0, springs), system, q, np.zeros(3), 0.5)
    assert forces.forces[0, 1] == pytest.approx(-0.4 * forces.forces[0, 0])
    assert v[0] == pytest.approx(0.5 * 0.5889324, abs=0.03)


@pytest.mark.feature("000-F048")
def test_each_axis_of_the_springs_is_limited_by_itself() -> None:
    """A friction box: along the diagonal sqrt(2) of the cone's force; a dragged spring keeps its limit's length."""
    springs = TangentialSprings(1e3)
    limit = np.array([2.0])
    assert_allclose(springs.forces(np.zeros((1, 2)), np.array([[1.0, -1.0]]), limit), [[-2.0, 2.0]])
    assert_allclose(springs.carried(np.array([[1.0, 1e-3]]), limit), [[2e-3, 1e-3]])


def test_deflections_are_saved() -> None:
    law = Penalty(1e4, 100.0, TangentialSprings(1e4, 100.0))
    system, q = block_in_the_floor(math.radians(15), 1e4)
    q, v, _ = run(law, system, q, np.zeros(3), 0.1)
    state = law.save()
    first = run(law, system, q, v, 0.05)
    law.restore(state)
    again = run(law, system, q, v, 0.05)
    assert_allclose(first[0], again[0], atol=0.0)
    unlike = run(Penalty(1e4, 100.0, TangentialSprings(1e4, 100.0)), system, q, v, 0.05)
    assert abs(unlike[0][0] - first[0][0]) > 1e-5


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Penalty(-1.0), "stiffness is -1.0"),
        (lambda: Penalty(1.0, float("nan")), "damping is nan"),
        (lambda: WeightedFriction(0.0), "speed is 0.0"),
        (lambda: TangentialSprings(0.0), "stiffness is 0.0"),
        (lambda: TangentialSprings(1.0, -1.0), "damping is -1.0"),
    ],
)
def test_bad_gains_are_refused(make, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()


def test_without_overlap_there_is_no_force() -> None:
    step = Penalty(1e4, 10.0).step(FallingBall(), np.array([1.0]), np.zeros(1), 1e-3)
    assert len(step.forces.contacts) == 0
    assert_allclose(step.v, -G * 1e-3, rtol=1e-12)
