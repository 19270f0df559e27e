# SPDX-License-Identifier: Apache-2.0
"""Which way of making its steps a simulation takes."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from humanoid_model.errors import InputError
from humanoid_sim.contact.solve import find_solver
from humanoid_sim.stepping.compiled import CompiledStepping
from humanoid_sim.stepping.schemes import find_scheme
from humanoid_sim.stepping.staged import COMPILED_SOLVERS, StagedStepping
from humanoid_sim.stepping.stepping import Stepping, StepSetup


@runtime_checkable
class SteppingScheme(Protocol):
    """A scheme that can make the steps of a simulation."""

    def make_stepping(self, setup: StepSetup) -> Stepping:
        """Make the steps of a simulation by this scheme.

        Raises:
            InputError: something of the scene or of the options that it doesn't know.
        """


def make_stepping(setup: StepSetup) -> Stepping:
    """Return the compiled step where it can be, else the one in stages; an integrator where one is asked for.

    Raises:
        InputError: a mesh file of a sole can't be read; something of the scene or of the options that the integrator
            doesn't know.
    """
    options = setup.options
    if options.integrator is not None:
        chosen = find_scheme(options.integrator) if isinstance(options.integrator, str) else options.integrator
        if not isinstance(chosen, SteppingScheme):
            raise InputError(
                f"integrator is a {type(chosen).__name__}",
                element="integrator",
                remedy="Give a name, or an integrator that is ready made",
            )
        return chosen.make_stepping(setup)
    compiled = (
        options.dynamics == "articulated_body"
        and setup.detector.compiled
        and find_solver(options.method) in COMPILED_SOLVERS
        and not any(placed.robot.soles for placed in setup.world.scene.robots)
    )
    return CompiledStepping(setup) if compiled else StagedStepping(setup)
