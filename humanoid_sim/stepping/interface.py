# SPDX-License-Identifier: Apache-2.0
"""One interface for all ways of making the steps of a simulation, and the wrenches that a user lets act in them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.arrays import Array
from humanoid_model.checks import is_finite
from humanoid_model.errors import InputError, SimulationError
from humanoid_sim.contact.solve import ContactProblem
from humanoid_sim.detection.contact_points import ContactPoints
from humanoid_sim.detection.detector import CONTACT_MARGIN, ContactDetector
from humanoid_sim.stepping.impacts import ImpactStage
from humanoid_sim.stepping.operators import DELASSUS_METHODS
from humanoid_sim.stepping.options import SimulationOptions
from humanoid_sim.stepping.profile import Profile
from humanoid_sim.stepping.run_steps import RollControls, RollRecord, note_unsolved
from humanoid_sim.stepping.step_data import StepSettings
from humanoid_sim.stepping.stepper import Stepper
from humanoid_sim.stepping.world_arrays import Servos
from humanoid_sim.world.world import World

if TYPE_CHECKING:
    from humanoid_sim.flexibility.deformable_sole import DeformableSole


LARGEST_WRENCH = 1e9
"""Largest force [N] or torque [N m] that is no mistake: a robot of 100 kg would get 10 km/s in a step of 1 ms."""
WrenchState = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""What :meth:`AppliedWrenches.save` returns."""


class AppliedWrenches:
    """The wrenches that act in the next step, in its arrays (:class:`~humanoid_sim.stepping.step_data.PushArrays`)."""

    def __init__(self, world: World, stepper: Stepper) -> None:
        """Let nothing act.

        Args:
            world: the bodies.
            stepper: whose steps they act in.
        """
        self._world, self._stepper = world, stepper
        self._levers = stepper.model.joints["lever"].tolist()

    def add(
        self,
        body: str,
        wrench: tuple[ArrayLike, ArrayLike],
        placements: tuple[ArrayLike, tuple[NDArray[np.float64], NDArray[np.float64]]] | None,
        duration: float,
        step_count: int,
    ) -> None:
        """Let a wrench act from the next step on.

        Args:
            body: a mobile body or a robot's link (``"robot/link"``).
            wrench: force [N] and torque [N m] in the world, shape (3,) each.
            placements: where the force acts, in the world, now [m], shape (3,), and the rotations, shape
                (njoints, 3, 3), and origins [m], shape (njoints, 3), of the joint frames now; None for the centre of
                mass of what the body's joint carries.
            duration: how long, at least one step [s].
            step_count: number of steps done.

        Raises:
            InputError: unknown or fixed body, a value that is not finite or beyond :data:`LARGEST_WRENCH`, a duration
                that is not positive.
        """
        joint = self._world.find_body(body).joint
        if joint == 0:
            raise InputError(f"'{body}' is fixed to the world", element="body", remedy="Push something that can move")
        force = _vector("force", wrench[0], LARGEST_WRENCH)
        torque = _vector("torque", wrench[1], LARGEST_WRENCH)
        local = self._levers[joint]
        if placements is not None:
            point, (R, p) = placements
            local = (R[joint].T @ (np.array(_vector("point", point)) - p[joint])).tolist()
        if not (is_finite(duration) and duration > 0.0):
            raise InputError(
                f"duration is {duration!r}", element="duration", remedy="Give a positive time in seconds"
            )
        steps = max(round(duration / self._stepper.settings.dt), 1)
        self.add_to_joint(joint, local, force + torque, step_count + steps - 1)

    def add_to_joint(self, joint: int, point: list[float], wrench: list[float], last_step: int) -> None:
        """Let a wrench act from the next step on.

        Args:
            joint: whose body it acts on, not 0.
            point: where the force acts, in the joint frame [m].
            wrench: force [N] and torque [N m] in the world.
            last_step: number of the last step in which it acts.
        """
        pushes = self._stepper.pushes
        i = int(pushes.counts[0])
        if i == len(pushes.joints):
            pushes = self._stepper.grow_pushes()
        pushes.joints[i] = joint
        pushes.values[i] = point + wrench
        pushes.last_steps[i] = last_step
        pushes.counts[0] = i + 1

    def forget_last(self) -> None:
        """Nothing has acted in the last step."""
        self._stepper.pushes.counts[1] = 0
        self._stepper.state.wrenches[:] = 0.0

    def save(self) -> WrenchState:
        """Return a copy of those that act."""
        pushes = self._stepper.pushes
        size = int(pushes.counts[0])
        return pushes.joints[:size].copy(), pushes.last_steps[:size].copy(), pushes.values[:size].copy()

    def restore(self, state: WrenchState) -> None:
        """Let those act that :meth:`save` gave."""
        joints, last_steps, values = state
        size = len(values)
        while size > len(self._stepper.pushes.joints):
            self._stepper.grow_pushes()
        pushes = self._stepper.pushes
        pushes.counts[0] = size
        pushes.joints[:size], pushes.last_steps[:size], pushes.values[:size] = joints, last_steps, values


def _vector(name: str, value: ArrayLike, largest: float = math.inf) -> list[float]:
    """Check three numbers that a user gave."""
    try:
        vector: list[float] = np.asarray(value, dtype=float).reshape(-1).tolist()
    except (TypeError, ValueError):
        vector = []
    if len(vector) != 3 or not all(map(math.isfinite, vector)):
        raise InputError(f"{name} is {vector or repr(value)}", element=name, remedy="Give three finite numbers")
    if max(map(abs, vector)) > largest:
        raise InputError(
            f"{name} is {vector}", element=name, remedy=f"Give three numbers of at most {largest:g} in size"
        )
    return vector


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
            place: what :func:`~humanoid_sim.stepping.run_steps.finish` returned.
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
