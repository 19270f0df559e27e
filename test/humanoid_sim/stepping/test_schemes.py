# SPDX-License-Identifier: Apache-2.0
"""Other schemes than the own step are found by the names under which they were registered."""

from __future__ import annotations

import pytest
from fixtures.scenes import ball, floor, place, scene
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.stepping.schemes import _SCHEMES, register_scheme
from humanoid_sim.stepping.staged import StagedStepping
from humanoid_sim.stepping.stepping import StepSetup


class InStages:
    """The own step, made stage by stage."""

    solves_contacts = True

    def make_stepping(self, setup: StepSetup) -> StagedStepping:
        """Make it."""
        return StagedStepping(setup)


def test_a_scheme_of_ones_own_makes_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name and ready made, with the end of the compiled step to what the tolerance of a body at rest lets by."""
    world = scene(floor(), ball("ball", 0.1, place(0, 0, 0.11)))
    own = Simulation(world)
    own.run(0.2)
    assert own.contacts.normal_force.sum() > 0.0
    monkeypatch.setitem(_SCHEMES, "in_stages", InStages)
    for integrator in ("in_stages", InStages()):
        simulation = Simulation(world, integrator=integrator)
        assert type(simulation.stepping) is StagedStepping
        simulation.run(0.2)
        assert_allclose(simulation.q, own.q, rtol=0.0, atol=1e-11)
        assert_allclose(simulation.v, own.v, rtol=0.0, atol=1e-10)


def test_an_unknown_name_says_which_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_SCHEMES, "in_stages", InStages)
    with pytest.raises(InputError, match=r"no integrator 'magic'.*in_stages") as caught:
        Simulation("stand", integrator="magic")
    assert caught.value.element == "integrator"


def test_a_name_is_given_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_SCHEMES, "in_stages", InStages)
    with pytest.raises(InputError, match="there is an integrator 'in_stages' already"):
        register_scheme("in_stages", InStages)
