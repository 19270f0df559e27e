# SPDX-License-Identifier: Apache-2.0
"""One interface for all ways of making the steps of a simulation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from humanoid_model.arrays import Array
from humanoid_sim.contact.problem import ContactProblem
from humanoid_sim.detection.contact_points import ContactPoints
from humanoid_sim.detection.detector import CONTACT_MARGIN, ContactDetector
from humanoid_sim.errors import SimulationError
from humanoid_sim.options import SimulationOptions
from humanoid_sim.profile import Profile
from humanoid_sim.stepping.applied_wrenches import AppliedWrenches, WrenchState
from humanoid_sim.stepping.impact_stage import ImpactStage
from humanoid_sim.stepping.operators import DELASSUS_METHODS
from humanoid_sim.stepping.roll import RollControls, RollRecord
from humanoid_sim.stepping.step_settings import StepSettings
from humanoid_sim.stepping.stepper import Stepper
from humanoid_sim.stepping.unsolved_steps import note_unsolved
from humanoid_sim.world.servos import Servos
from humanoid_sim.world.world import World

if TYPE_CHECKING:
    from humanoid_sim.flexibility.deformable_sole import DeformableSole


_SATURATION_PASSES = 4
"""A step is solved again with other actuators saturated at most so many times."""


@dataclass(frozen=True)
class StepSetup:
    """What steps are made of.

    Attributes:
        world: the scene as one mechanical system.
        servos: targets and gains, which may change between steps.
        detector: finds the contact points.
        options: how it computes.
        dt: time step [s].
        groups: whether bodies that don't touch each other have operators of their own.
        profile: receives the time of each stage.
    """

    world: World
    servos: Servos
    detector: ContactDetector
    options: SimulationOptions
    dt: float
    groups: bool
    profile: Profile

    @property
    def impact_speed(self) -> float:
        """Approach speed from which on a contact bounces [m/s]."""
        gravity = float(np.linalg.norm(self.world.scene.gravity))
        speed = self.options.impact_speed
        return max(2.0 * gravity * self.dt, 0.02) if speed is None else float(speed)

    def settings(self) -> StepSettings:
        """Return the constants of all steps."""
        options = self.options
        return StepSettings(
            dt=self.dt,
            margin=CONTACT_MARGIN,
            delassus=DELASSUS_METHODS[options.delassus],
            impact_speed=np.inf if options.impacts == "separate" else self.impact_speed,
            newton=options.method == "nsgs_newton",
            tolerance=float(options.tolerance),
            max_iterations=int(options.max_iterations),
            budget=np.inf if options.time_budget is None else float(options.time_budget),
            passes=_SATURATION_PASSES,
        )


class Advance(NamedTuple):
    """Where some steps led to.

    Attributes:
        q: configuration now, shape (nq,).
        v: velocity now, shape (nv,).
        q_before: configuration at the start of the last step.
        v_before: velocity at the start of the last step.
        steps: how many were made.
        failure: why the step after them could not be made; None if all went well.
    """

    q: Array
    v: Array
    q_before: Array
    v_before: Array
    steps: int
    failure: SimulationError | None = None


@dataclass(frozen=True)
class SteppingState:
    """What decides how the steps go on, besides configuration, velocity and servos.

    Attributes:
        forces: of the last step, for the warm start: slots of the contacts, by contact, by coordinate, by loop, and
            what tells whether things are at rest.
        wrenches: external wrenches that still act.
        slots: which contact slots pairs of shapes have.
        soles: how the deformable soles are deformed.
        scheme: what another scheme than the own step saved; None where it keeps nothing.
    """

    forces: tuple[Array, ...]
    wrenches: WrenchState
    slots: tuple[Any, ...]
    soles: Mapping[str, Array]
    scheme: object


class Stepping(ABC):
    """A way of making the steps of a simulation.

    There are the compiled one, the one stage by stage, and the integrators that compare with them. Whatever the way,
    contacts, forces and efforts of the last step are in the arrays of one stepper, so that they are read alike.

    Attributes:
        world: the scene as one mechanical system.
        servos: targets and gains.
        settings: constants of the steps.
        profile: where the time goes.
        method: name of what solves the contacts.
        detector: finds the contact points.
        stepper: arrays of the last step.
        wrenches: external wrenches that act.
        impact_stage: resolves impacts apart from the contacts; None where the contact law does.
        contact_count: number of contact points of the last step.
        has_stepped: whether there is a last step.
    """

    def __init__(self, setup: StepSetup) -> None:
        """Allocate."""
        world, options = setup.world, setup.options
        self.world, self.servos, self.profile = world, setup.servos, setup.profile
        self.settings = setup.settings()
        self.method = options.method
        self.detector = setup.detector
        self._points = self.detector.points
        self.stepper = Stepper(
            world, setup.servos, self.settings, self._points, self.detector.slot_count, options.dynamics, setup.groups,
            setup.profile.clock(),
        )  # fmt: skip
        self.wrenches = AppliedWrenches(world, self.stepper)
        self.impact_stage: ImpactStage | None = None
        self.contact_count = 0
        self.has_stepped = False

    @abstractmethod
    def advance(self, q: Array, v: Array, step_count: int, steps: int) -> Advance:
        """Make at least one step and at most some.

        Args:
            q: configuration now, shape (nq,).
            v: velocity now, shape (nv,).
            step_count: number of steps done.
            steps: how many are wanted, 1 or more.

        Raises:
            SimulationError: the first step can't be made, and nothing has changed.
        """

    def warm_up(self) -> None:
        """Compile or load what later steps may need besides what the first one did."""
        self.detector.warm_up()

    @property
    def rolls(self) -> bool:
        """Whether many steps that follow controls can be made in one compiled call."""
        return False

    def roll(
        self, q: Array, v: Array, step_count: int, controls: RollControls, record: RollRecord
    ) -> tuple[int, SimulationError | None]:
        """Make such steps; only where :attr:`rolls` says so."""
        raise NotImplementedError

    def contact_problem(self) -> ContactProblem | None:
        """Return the contact problem of the last step; None where a step is not made of one."""
        return None

    @property
    def soles(self) -> Mapping[str, DeformableSole]:
        """Deformable soles by the body that they are glued to, as they are after the last step."""
        return {}

    def save(self) -> SteppingState:
        """Return a copy of everything that decides how the steps go on."""
        return SteppingState(self.stepper.remembered(), self.wrenches.save(), self.detector.save(), {}, None)

    def restore(self, state: SteppingState) -> None:
        """Go on from what :meth:`save` gave."""
        self.detector.restore(state.slots)
        slots = max(self.detector.slot_count, int(state.forces[0].max(initial=-1.0)) + 1)
        if self.detector.points is not self._points or slots > len(self.stepper.memory.contacts):
            self._use_points(self.detector.points, slots)
        self.stepper.remember(state.forces)
        self.wrenches.restore(state.wrenches)
        self.forget_last_step()

    def forget_last_step(self) -> None:
        """There is no last step."""
        self.has_stepped = False
        self.contact_count = 0
        self.wrenches.forget_last()
        if self.impact_stage is not None:
            self.impact_stage.forget()

    def _use_points(self, points: ContactPoints, slots: int) -> None:
        """Let the steps read their contact points here; slots are below ``slots``."""
        self.stepper.use_points(points, slots)
        self._points = points

    def _take_step(self, m: int, step_count: int) -> None:
        """Make a step with ``m`` contact points the last one; ``step_count`` were made before it."""
        self.has_stepped = True
        self.contact_count = m
        if m > 0:
            note_unsolved(self.stepper.arrays, self.settings.tolerance)
        self.stepper.pushes.counts[2] = step_count
        self.stepper.end_wrenches()
        self.profile.end("integration")

    def _failure(self, place: int, q: Array, v: Array, step_count: int) -> SimulationError:
        """Return the error of a step whose end is not finite, which is forgotten.

        Args:
            place: what :func:`~humanoid_sim.stepping.stages.finish` returned.
            q: configuration before the step, shape (nq,).
            v: velocity before the step, shape (nv,).
            step_count: number of steps before it.
        """
        self.forget_last_step()  # its contact points are already overwritten by those of this step
        time = step_count * self.settings.dt
        for name, values in (("q", q), ("v", v), ("servos.q_target", self.servos.q_target)):
            wrong = np.flatnonzero(~np.isfinite(values))
            if wrong.size:
                return SimulationError(
                    f"{name}[{wrong[0]}] is {values[wrong[0]]} before the step from t = {time:.6g} s. Give finite "
                    f"numbers, or reset"
                )
        state, nv = self.stepper.state, v.size
        if place < nv:
            name = self.world.coordinate_name(place)
            found = f"the velocity of coordinate {place} ({name}) became {state.v_new[place]}"
        else:
            i = place - nv
            joint = next(j for j, own in enumerate(self.world.model.joints) if own.idx_q <= i < own.idx_q + own.nq)
            found = f"q[{i}] ({self.world.model.names[joint]}) became {state.q_new[i]}"
        return SimulationError(f"{found} in the step from t = {time:.6g} s; the state is kept as it was before")
