# SPDX-License-Identifier: Apache-2.0
"""Free bodies that touch, solved on their graph, against the dense operator of the same contacts."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.scenes import box, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_model.scene import Scene
from humanoid_sim import Simulation
from humanoid_sim.contact.cone import contact_residuals

pytestmark = pytest.mark.feature("000-F097")


def dominoes(friction: float) -> Scene:
    """Four dominoes, the first of which is about to fall on the second."""
    size = (0.02, 0.1, 0.2)
    pieces = [box("domino0", size, place(0.035, 0, 0.1, 0, 0.3), 0.2)]
    pieces += [box(f"domino{i}", size, place(0.1 * i, 0, 0.1), 0.2) for i in range(1, 4)]
    return scene(floor(), *pieces, friction=friction)


def crossed() -> Scene:
    """Boxes of a mass ratio of 10^4 on each other: a ring of contacts, whose elimination fills in."""
    feet = [box(f"foot{i}", (0.1, 0.1, 0.1), place(0.3 * i, 0, 0.05), 0.1) for i in range(3)]
    return scene(floor(), *feet, box("beam", (0.8, 0.1, 0.1), place(0.3, 0, 0.15)), box("load", (0.8, 0.1, 0.1),
                 place(0.3, 0, 0.25), 1000.0))  # fmt: skip


def own_residual(simulation: Simulation) -> float:
    """Natural map of the forces on the operator that is built row by row."""
    problem = simulation.contact_problem
    if problem is None:
        return 0.0
    forces = simulation.stepping.stepper.points.forces[: len(simulation.contacts)].ravel()
    residuals = np.empty(5)
    contact_residuals(problem.W, problem.v_free, problem.mu, forces, np.empty(forces.size), residuals)
    return float(residuals[0])


@pytest.mark.parametrize("friction", [0.0, 0.6])
def test_dominoes_obey_coulomb_and_fall_as_with_the_dense_operator(friction: float) -> None:
    """The forces solve the independent problem; energy only falls; the motion is that of the dense way."""
    graph, dense = Simulation(dominoes(friction)), Simulation(dominoes(friction))
    dense.stepping.stepper.groups.largest[1] = 10**9
    energy = graph.energy().total
    for step in range(300):
        graph.step()
        dense.step()
        assert graph.energy().total <= energy + 1e-9
        energy = graph.energy().total
        if step % 20 == 0:
            assert own_residual(graph) <= 1.5e-9
    assert graph.stepping.stepper.groups.offsets.min() == -2
    assert_allclose(graph.q, dense.q, atol=1e-4)


def test_heavy_load_on_light_feet() -> None:
    """A graph with a ring and a mass ratio of 10^4 is solved and stays where it is."""
    simulation = Simulation(crossed())
    before = simulation.q
    for _ in range(20):
        simulation.step()
        assert own_residual(simulation) <= 1e-8
    assert_allclose(simulation.q, before, atol=1e-6)
