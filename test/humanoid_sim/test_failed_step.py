# SPDX-License-Identifier: Apache-2.0
"""A step that ends in no state leaves everything as it was before it, by whichever way it is made."""

from __future__ import annotations

import numpy as np
import pytest
from fixtures.scenes import ball, box, floor, place, scene
from numpy.testing import assert_array_equal

from humanoid_model.errors import SimulationError
from humanoid_sim import Simulation

WAYS = {"compiled": {}, "in stages": {"method": "jacobi"}, "by Pinocchio": {"dynamics": "pinocchio"}}


def spinning(**options: str) -> Simulation:
    """A ball in empty space whose spin about z grows 1e14 times at each step: 1e130, 1e144, 1e158 rad/s.

    The square of the last one's rotation vector is no double any more, that of the one before is.
    """
    simulation = Simulation(scene(ball("ball", 0.1, place(0, 0, 0)), gravity=(0.0, 0.0, 0.0)), **options)
    inertia = 0.4 * 0.1**2
    simulation.servos.passive_damping[5] = -(1.0 - 1e-14) * inertia / simulation.dt
    simulation.bodies["ball"].set_state(place(0, 0, 0), [0.0, 0.0, 0.0, 0.0, 0.0, 1e130])
    return simulation


def overload(simulation: Simulation) -> None:
    """Let a torque act on the ball whose rotation is no number; a user can give none so large."""
    joint = simulation.world.find_body("ball").joint
    simulation.stepping.wrenches.add_to_joint(joint, [0.0] * 3, [0.0, 0.0, 0.0, 1e200, 0.0, 0.0], 1000)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("many", [False, True])
def test_a_quaternion_that_is_no_number_ends_the_step(way: str, many: bool) -> None:
    """The velocity is finite: only the configuration tells. One step is made, the second one fails."""
    simulation, twin = spinning(**WAYS[way]), spinning(**WAYS[way])
    twin.step()
    with pytest.raises(SimulationError, match=r"q\[\d\] \(ball\) became nan in the step from t = 0.001 s"):
        simulation.run(0.01, None if many else lambda _: None)
    assert simulation.step_count == 1
    assert simulation.time == simulation.dt
    assert_array_equal(simulation.q, twin.q)
    assert_array_equal(simulation.v, twin.v)
    assert abs(simulation.v[5]) > 1e140
    simulation.servos.passive_damping[5] = 0.0
    simulation.bodies["ball"].set_state(place(0, 0, 0), [0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    simulation.run(0.01)
    assert simulation.v[5] == pytest.approx(1.0, rel=1e-12)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("way", WAYS)
def test_what_the_next_step_begins_with_is_that_of_before(way: str) -> None:
    """A box that is kicked and a drive that comes to its limit in the very step that fails elsewhere."""
    simulation = Simulation(
        scene(floor(), box("box", (0.2, 0.2, 0.1), place(0, 0, 0.05)), ball("ball", 0.1, place(1, 0, 2))), **WAYS[way]
    )
    simulation.run(0.01)
    before = simulation.save_state()
    simulation.servos.highest[6] = 1.0
    simulation.servos.feedforward[6] = 2.0
    simulation.apply_wrench("box", [0.0, 0.0, -50.0], duration=0.1)
    overload(simulation)
    for _ in range(2):  # nothing of the failure makes the second try another one
        with pytest.raises(SimulationError, match=r"q\[\d+\] \(ball\) became nan in the step from t = 0.01 s"):
            simulation.step()
        after = simulation.save_state()
        assert (after.step_count, len(after.stepping.wrenches[0])) == (before.step_count, 2)
        assert_array_equal(after.q, before.q)
        assert_array_equal(after.v, before.v)
        assert_array_equal(after.servos.saturated, before.servos.saturated)
        for kept, was in zip(after.stepping.forces[:3], before.stepping.forces[:3], strict=True):
            assert_array_equal(kept, was)
        assert before.stepping.forces[0].any()
        assert len(simulation.contacts) == 0
    simulation.restore_state(before)
    simulation.servos.highest[6], simulation.servos.feedforward[6] = np.inf, 0.0
    simulation.run(0.01)
    assert len(simulation.contacts) == 4


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("integrator", ["moreau", "explicit_euler"])
def test_another_scheme_keeps_the_state_too(integrator: str) -> None:
    """A scheme that moves with the velocity of before has a finite end once more."""
    simulation = Simulation(scene(ball("ball", 0.1, place(0, 0, 0)), gravity=(0.0, 0.0, 0.0)), integrator=integrator)
    overload(simulation)
    ends = [(simulation.step_count, simulation.q.copy(), simulation.v.copy())]
    with pytest.raises(SimulationError, match=r"became (nan|inf|-inf) in the step from t = .* s; the state is kept"):
        simulation.run(0.01, lambda s: ends.append((s.step_count, s.q.copy(), s.v.copy())))
    count, q, v = ends[-1]
    assert simulation.step_count == count
    assert_array_equal(simulation.q, q)
    assert_array_equal(simulation.v, v)
    assert np.all(np.isfinite(q))
