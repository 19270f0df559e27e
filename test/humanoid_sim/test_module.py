# SPDX-License-Identifier: Apache-2.0
"""Modules act before and after each step, in their order, and are saved with the simulation."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_sim import Module, Simulation


class Counter(Module):
    """Counts its calls and keeps what it saw."""

    def __init__(self, name: str, requires: tuple[str, ...] = ()) -> None:
        self.name = name
        self.requires = requires
        self.count = 0
        self.log: list[tuple[str, int]] = []
        self.attached = False
        self.held: list[Any] = []

    def attach(self, simulation: Simulation) -> None:
        self.attached = True

    def before_step(self, simulation: Simulation) -> None:
        self.log.append(("before", simulation.step_count))
        simulation.apply_wrench("rough_box", [0.0, 0.0, 500.0], duration=simulation.dt)

    def after_step(self, simulation: Simulation) -> None:
        self.count += 1
        self.log.append(("after", simulation.step_count))

    def save(self) -> object:
        return self.count

    def restore(self, state: object) -> None:
        assert isinstance(state, int)
        self.count = state

    def detach(self, simulation: Simulation) -> None:
        self.attached = False


@pytest.fixture
def simulation() -> Simulation:
    return Simulation("box_on_slope")


@pytest.mark.feature("000-F006")
def test_a_module_acts_around_each_step(simulation: Simulation) -> None:
    module = Counter("counter")
    simulation.add_module(module)
    simulation.step()
    simulation.step()
    assert module.log == [("before", 0), ("after", 1), ("before", 1), ("after", 2)]
    assert simulation.profile.stages["modules"] > 0.0


def test_wrenches_of_a_module_act_in_the_step_that_comes() -> None:
    free, pushed = Simulation("box_on_slope"), Simulation("box_on_slope")
    pushed.add_module(Counter("counter"))
    free.step()
    pushed.step()
    vertical = pushed.world.free_bodies["rough_box"].v.start + 2
    assert pushed.v[vertical] > free.v[vertical] + 0.01


def test_modules_are_saved_restored_and_reset(simulation: Simulation) -> None:
    module = Counter("counter")
    module.count = 7
    simulation.add_module(module)
    simulation.run(0.003)
    state = simulation.save_state()
    simulation.run(0.002)
    assert module.count == 12
    simulation.restore_state(state)
    assert module.count == 10
    simulation.reset()
    assert module.count == 7


@pytest.mark.feature("000-F006")
def test_a_controller_without_a_name_has_that_of_its_class(simulation: Simulation) -> None:
    class Lift(Module):
        def before_step(self, simulation: Simulation) -> None:
            simulation.apply_wrench("rough_box", [0.0, 0.0, 500.0], duration=simulation.dt)

    simulation.add_module(Lift())
    assert list(simulation.modules) == ["Lift"]
    with pytest.raises(InputError, match=r"there is a module 'Lift' already.*give the new one another name"):
        simulation.add_module(Lift())
    simulation.remove_module("Lift")
    unnamed = Lift()
    unnamed.name = ""
    with pytest.raises(InputError, match=r"the name of a 'Lift' is ''\. Give a text, or none"):
        simulation.add_module(unnamed)


@pytest.mark.feature("000-F006")
def test_what_is_no_module_is_refused(simulation: Simulation) -> None:
    class Half:
        name = "half"

        def before_step(self, simulation: Simulation) -> None:
            """Nothing."""

    for other, missing in ((Half(), "a 'Half' has no requires, attach, after_step"), (print, "has no requires")):
        with pytest.raises(InputError, match=rf"{missing}.*Derive its class from humanoid_sim.Module"):
            simulation.add_module(other)  # type: ignore[arg-type]
    assert not simulation.modules


def both_copies(simulation: Simulation) -> list[Simulation]:
    return [copy.copy(simulation), pickle.loads(pickle.dumps(simulation))]


@pytest.mark.feature("000-F006")
def test_copies_have_modules_of_their_own(simulation: Simulation) -> None:
    """What a module keeps of the simulation is that of the copy, which goes on bit for bit."""
    first, second = Counter("first"), Counter("second", ("first",))
    for module in (first, second):
        simulation.add_module(module)
    first.held = [simulation, simulation.bodies["rough_box"], simulation.servos, second]
    simulation.step(3)
    twins = both_copies(simulation)
    simulation.step(2)
    for twin in twins:
        assert list(twin.modules) == ["first", "second"]
        own = twin.modules["first"]
        assert isinstance(own, Counter)
        assert own is not first
        for held, expected in zip(
            own.held, [twin, twin.bodies["rough_box"], twin.servos, twin.modules["second"]], strict=True
        ):
            assert held is expected
        assert own.count == 3
        twin.step(2)
        assert own.log == first.log
        np.testing.assert_array_equal(twin.q, simulation.q)
        twin.reset()
        assert own.count == 0
    assert first.count == 5


@pytest.mark.feature("000-F006")
def test_a_module_that_cannot_be_copied_is_named(simulation: Simulation, tmp_path: Path) -> None:
    module = Counter("log")
    simulation.add_module(module)
    with (tmp_path / "log").open("w") as file:
        module.held = [file]
        for make in (copy.copy, pickle.dumps):
            with pytest.raises(InputError, match=r"the module 'log' can't be copied: .*TextIO.* Remove it before"):
                make(simulation)


def test_removed_modules_act_no_longer(simulation: Simulation) -> None:
    module = Counter("counter")
    simulation.add_module(module)
    assert module.attached
    simulation.remove_module("counter")
    assert not module.attached
    simulation.step()
    assert module.log == []


@pytest.mark.feature("000-F004")
def test_what_a_module_requires_must_be_there(simulation: Simulation) -> None:
    with pytest.raises(InputError, match="requires the module 'first', which is not there"):
        simulation.add_module(Counter("second", ("first",)))
    simulation.add_module(Counter("first"))
    simulation.add_module(Counter("second", ("first",)))
    with pytest.raises(InputError, match="'second' requires the module 'first'"):
        simulation.remove_module("first")
    with pytest.raises(InputError, match="already"):
        simulation.add_module(Counter("first"))
    with pytest.raises(InputError, match="there is no module 'third'"):
        simulation.remove_module("third")
