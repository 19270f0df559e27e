# SPDX-License-Identifier: Apache-2.0
"""Random bodies and robots thrown on each other: nothing becomes infinite, nothing gains energy.

Free bodies have the same moment of inertia about all axes here: explicit steps of others' tumbling gain energy in free
flight, by the square of the angle of a step, with which contacts have nothing to do.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import ball, body, floor, place, scene, standing

from humanoid_model import load_robot
from humanoid_model.description import Box, Capsule
from humanoid_model.scene import PairRule, Scene
from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_model.tree.tree_motion import mass_matrix
from humanoid_sim import Simulation


def thrown_bodies(seed: int, bounce: bool) -> Scene:
    """Balls, boxes and capsules, masses from 0.1 to 10 kg, each pair with friction and restitution of its own."""
    rng = np.random.default_rng(seed)
    bodies = [floor()]
    for i in range(int(rng.integers(2, 7))):
        size, mass = rng.uniform(0.05, 0.25, 3), float(10.0 ** rng.uniform(-1.0, 1.0))
        placement = place(*rng.uniform(-0.25, 0.25, 2), 0.4 + 0.45 * i, *rng.uniform(-3.0, 3.0, 3))
        twist = np.concatenate([rng.uniform(-1.5, 1.5, 3), rng.uniform(-6.0, 6.0, 3)])
        shape = int(rng.integers(3))
        if shape == 0:
            bodies.append(ball(f"b{i}", size[0], placement, mass, twist=twist))
        else:
            solid = Box(size) if shape == 1 else Capsule(0.5 * size[0], size[1])
            bodies.append(body(f"b{i}", solid, mass, mass * (size @ size) / 18.0 * np.eye(3), placement, twist))
    names = [each.name for each in bodies]
    rules = [
        PairRule(
            first, second, friction=float(rng.uniform(0.0, 1.0)),
            restitution=float(rng.choice([0.0, 1.0, rng.uniform()])) if bounce else 0.0,
        )
        for i, first in enumerate(names) for second in names[:i]
    ]  # fmt: skip
    return scene(*bodies, rules=tuple(rules))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("impacts", "bounce"), [("separate", True), ("with_contacts", False), ("separate", False)])
def test_thrown_bodies_gain_no_energy(seed: int, impacts: str, bounce: bool) -> None:
    """In every single step, with restitution from 0 to 1 that differs from pair to pair."""
    simulation = Simulation(thrown_bodies(seed, bounce), impacts=impacts)
    energies = [simulation.energy().total]
    simulation.run(0.9, lambda s: energies.append(s.energy().total))
    assert np.all(np.isfinite(energies))
    assert np.diff(energies).max() < 2e-5 * energies[0]  # what takes a penetration back may lift a little
    assert energies[-1] < energies[0]


@pytest.mark.parametrize(("seed", "budget"), [*((seed, None) for seed in (*range(5), 12, 29)), (12, 1e-12), (3, 1e-12)])
def test_bouncing_with_friction_gains_none_either(seed: int, budget: float | None) -> None:
    """Newton's restitution beside Coulomb's friction can make energy; it gets only what is there, also without time.

    What free flight conserves, the energy less half a step of what the weight changes in it, is looked at.
    """
    simulation = Simulation(thrown_bodies(seed, True), time_budget=budget)
    inertias = simulation.world.model.inertias
    masses = np.array([inertias[joint].mass for joint in range(2, len(inertias), 2)])

    def conserved(s: Simulation) -> float:
        return s.energy().total - 0.5 * s.dt * 9.81 * float(masses @ s.v.reshape(-1, 6)[:, 2])

    energies = [conserved(simulation)]
    simulation.run(0.9, lambda s: energies.append(conserved(s)))
    assert np.diff(energies).max() < 1e-3 * energies[0]
    assert energies[-1] < energies[0]


@pytest.mark.parametrize(("name", "posture"), [("hrp2", "half_sitting"), ("bip", "standing")])
@pytest.mark.parametrize("seed", range(2))
def test_a_limp_robot_falls(name: str, posture: str, seed: int) -> None:
    """No impact adds kinetic energy, and all of them are solved; the robot ends up on the floor, not in it."""
    rng = np.random.default_rng(seed)
    simulation = Simulation(
        scene(floor(), robots=(standing(load_robot(name), posture),), restitution=rng.uniform(), friction=0.5),
        impacts="separate",
    )
    simulation.servos.stiffness[:], simulation.servos.damping[:] = 0.0, 0.0
    simulation.q[2] += 0.3
    simulation.v[:] = rng.normal(0.0, 0.5, simulation.v.size)
    flat = KinematicTree.from_pinocchio(simulation.world.model)
    struck = 0
    start = simulation.energy().total
    for _ in range(800):
        simulation.step()
        assert np.all(np.isfinite(simulation.v))
        if len(simulation.impacts):
            struck += 1
            M = mass_matrix(flat, simulation.q_before)
            after = simulation.stepping.stepper.state.v
            assert after @ M @ after <= simulation.v_before @ M @ simulation.v_before * (1.0 + 1e-12)
            assert simulation.impacts.residual < 1e-9
            assert simulation.impacts.impulse.min() > 0.0
    assert struck > 3
    assert simulation.energy().total < start
    assert simulation.contacts.gap.min(initial=0.0) > -2e-3
    height = pin.centerOfMass(simulation.world.model, simulation.world.model.createData(), simulation.q)[2]
    assert 0.0 < height < 1.0
