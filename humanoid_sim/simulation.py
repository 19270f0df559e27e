# SPDX-License-Identifier: Apache-2.0
"""A world of robots and bodies in frictional contact, step by step (specification 000 §3)."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from humanoid_model.checks import is_finite
from humanoid_model.errors import InputError, RobotWarning, SimulationError, did_you_mean
from humanoid_model.scene import Scene
from humanoid_model.scene_file import load_scene
from humanoid_model.tree.tree_motion import move_tree, moved_inertias
from humanoid_sim.detection.detector import ContactDetector
from humanoid_sim.modules import Acting, Modules
from humanoid_sim.readings import Readings
from humanoid_sim.stepping.interface import SteppingState, StepSetup
from humanoid_sim.stepping.make_stepping import make_stepping
from humanoid_sim.stepping.options import OptionValues, SimulationOptions
from humanoid_sim.stepping.profile import Profile
from humanoid_sim.stepping.world_arrays import Servos
from humanoid_sim.world.scene_check import shapeless_robots
from humanoid_sim.world.sensors import Sensors
from humanoid_sim.world.simulated_body import SimulatedBody
from humanoid_sim.world.simulated_robot import SimulatedRobot
from humanoid_sim.world.tendon_forces import TendonForces
from humanoid_sim.world.world import World

if TYPE_CHECKING:
    from typing_extensions import Unpack


T = TypeVar("T")


class ByName(dict[str, T]):
    """A dictionary of the scene's robots or bodies."""

    def __init__(self, kind: str, things: dict[str, T]) -> None:
        """Keep things of a kind, ``"robot"``, for the error message."""
        super().__init__(things)
        self._kind = kind

    def __missing__(self, name: str) -> T:
        """Refuse an unknown name.

        Raises:
            InputError: always.
        """
        raise InputError(
            f"there is no {self._kind} '{name}'",
            element=self._kind,
            remedy=f"{did_you_mean(name, self)}There are {', '.join(self) or 'none'}",
        )


@dataclass(frozen=True)
class SimulationState:
    """State of a simulation; a restored one continues bit for bit.

    Attributes:
        step_count: number of steps done.
        q: configuration, shape (nq,).
        v: velocity, shape (nv,).
        servos: targets, gains and modes.
        stepping: forces for the warm start, wrenches that act, and what else the steps remember.
        modules: what each module saved, by name.
    """

    step_count: int
    q: NDArray[np.float64]
    v: NDArray[np.float64]
    servos: Servos
    stepping: SteppingState
    modules: Mapping[str, object]


_MAX_STEPS_PER_CALL = 256
"""So many steps are made in one call at most, so that an interruption is noticed soon."""
_ROUNDING = 1e-6
"""Part of a step that may be left of a difference of times."""


class Simulation(Readings):
    """Simulates a scene step by step.

    How a step is made is the business of :attr:`stepping`: the own step, compiled
    (:class:`~humanoid_sim.stepping.make_stepping.CompiledStepping`) or in stages
    (:class:`~humanoid_sim.stepping.make_stepping.StagedStepping`), or an integrator to compare with. What can be read
    of the present and of the last step is in :class:`~humanoid_sim.readings.Readings`.

    Attributes:
        scene: what is simulated.
        method: name of the contact solver; with an integrator that one's name, and that of its contact solver behind
            a slash if it has one (``moreau/nsgs_newton``, ``penalty``).
        options: how it computes; they don't change.
        sensors: sensor readings.
        robots: robots by name.
        bodies: free and fixed bodies by name.
        modules: what acts around each step, by name, in the order in which it acts.
    """

    def __init__(
        self,
        scene: Scene | str | Path,
        dt: float | None = None,
        *,
        groups: bool = True,
        **options: Unpack[OptionValues],
    ) -> None:
        """Set a simulation up, with the code of its first step; that of others comes when needed or by :meth:`warm_up`.

        Args:
            scene: a scene, the name of one that comes with the stack, or a path.
            dt: time step [s]; the scene's own (1 ms by default) if not given.
            groups: whether bodies that don't touch each other make groups with an operator each; False puts all into
                one, which is slower, to compare with.
            options: how it computes, see :class:`~humanoid_sim.stepping.options.SimulationOptions`: ``method``,
                ``tolerance``, ``max_iterations`` and ``time_budget`` of the contact solver; ``dynamics`` and
                ``delassus``; ``impacts`` and ``impact_speed``; ``detection``; or an ``integrator`` to compare with.

        Raises:
            SceneError: the scene can't be read or nothing in it moves.
            InputError: a time step that is not positive, an option that there isn't or that can't be used, something of
                the scene that the integrator doesn't know.
            SimulationError: a joint moves a branch without any inertia.
        """
        self.scene = scene if isinstance(scene, Scene) else load_scene(scene)
        dt = self.scene.time_step if dt is None else dt
        if not (is_finite(dt) and dt > 0.0):
            raise InputError(f"dt is {dt!r}", element="dt", remedy="Give a positive time step in seconds")
        dt = float(dt)
        self.options = SimulationOptions.by_name(**options)
        for doubt in shapeless_robots(self.scene):
            warnings.warn(doubt, RobotWarning, stacklevel=2)
        world = World(self.scene)
        self._set_up(world, ContactDetector(world, self.options.detection), dt, groups)
        self._check_inertia()
        self._initial = self.save_state()
        self.step()  # all kernels are compiled now, so that the user's first step costs no more than the next one
        self.reset()
        self.take_unsolved()

    def _set_up(self, world: World, detector: ContactDetector, dt: float, groups: bool) -> None:
        """Make everything that a simulation has of its own."""
        self._groups = groups
        setup = StepSetup(world, Servos.of_world(world), detector, self.options, dt, groups, Profile())
        super().__init__(make_stepping(setup))
        self.method = self.stepping.method
        self.modules = Modules()
        if self.scene.tendons:
            self.modules.add(TendonForces(self.scene.tendons), self)
        self._of_scene = dict(self.modules)
        self.sensors = Sensors(self)
        self.robots = ByName(
            "robot",
            {own.name: SimulatedRobot(self, self.sensors, own.robot, own.name) for own in self.scene.robots},
        )
        self.bodies = ByName("body", {body.name: SimulatedBody(self, body.name) for body in self.scene.bodies})

    # -- copying -----------------------------------------------------------------------------

    def __copy__(self) -> Simulation:
        """Return a simulation in the same state that goes on by itself; the scene is shared, there is no last step.

        Its modules are deep copies; what they hold of the simulation is the copy's.

        Raises:
            InputError: a module can't be copied.
        """
        twin = object.__new__(type(self))
        twin.scene, twin.options = self.scene, copy.deepcopy(self.options)
        twin._set_up(self.world, self.stepping.detector.copy(), self.dt, self._groups)
        twin._initial = self._initial
        added = self.modules.copies(self._added_modules(), self._parts(), twin._parts())
        twin.modules.replace_all(list(self.modules), added)
        twin.restore_state(self.save_state())
        return twin

    def _added_modules(self) -> list[str]:
        """Names of modules that didn't come with the scene."""
        return [name for name, module in self.modules.items() if self._of_scene.get(name) is not module]

    def _parts(self) -> list[object]:
        """Return what modules may hold of a simulation: in a copy it is the copy's, in the same places."""
        return [
            self, self.scene, self.options, self.world, self.world.model, self.stepping, self.stepping.stepper,
            self.stepping.detector, self.servos, self.profile, self.sensors, self.modules, self.robots, self.bodies,
            *self.robots.values(), *(robot.robot for robot in self.robots.values()), *self.bodies.values(),
        ]  # fmt: skip

    def __deepcopy__(self, memo: dict[int, object]) -> Simulation:
        """Return a copy: what copies share doesn't change."""
        return self.__copy__()

    def __getstate__(self) -> dict[str, Any]:
        """Return what makes another process's simulation the same: see :meth:`__copy__`."""
        return {
            "scene": self.scene, "options": self.options, "dt": self.dt, "groups": self._groups,
            "initial": self._initial, "state": self.save_state(), "modules": list(self.modules),
            "added": self.modules.packed(self._added_modules(), self._parts()),
        }  # fmt: skip

    def __setstate__(self, parts: dict[str, Any]) -> None:
        """Set up what :meth:`__getstate__` told."""
        self.scene, self.options, self._initial = parts["scene"], parts["options"], parts["initial"]
        world = World(self.scene)
        self._set_up(world, ContactDetector(world, self.options.detection), parts["dt"], parts["groups"])
        self.modules.replace_all(parts["modules"], self.modules.unpacked(parts["added"], self._parts()))
        self.restore_state(parts["state"])

    # -- stepping ----------------------------------------------------------------------------

    def step(self, count: int = 1) -> None:
        """Advance by some time steps, all in one call where nothing acts in between.

        Args:
            count: how many, 0 or more.

        Raises:
            InputError: the count is negative or no whole number.
            SimulationError: the state became infinite or not a number; it is left as it was before that step, with the
                forces that the next solve starts from. The contacts of the step before can no longer be read.
        """
        if not isinstance(count, Integral) or count < 0:
            raise InputError(
                f"count is {count!r}",
                element="count",
                remedy="Give a whole number of steps, 0 or more; run() takes a time in seconds",
            )
        count = int(count)
        while count > 0:
            count -= self._advance(1 if self.modules else count)

    def run(
        self,
        duration: float,
        callback: Callable[[Simulation], None] | None = None,
        *,
        progress: bool = False,
    ) -> None:
        """Advance by a duration.

        Args:
            duration: simulated time to add [s], 0 or at least half a step; the nearest whole number of steps is done.
            callback: called with the simulation after each step.
            progress: shows a progress bar.

        Raises:
            InputError: the duration is negative, not finite, or so short that no step is done.
            SimulationError: see :meth:`step`.
        """
        if not (is_finite(duration) and duration >= -_ROUNDING * self.dt):
            raise InputError(
                f"duration is {duration!r}", element="duration", remedy="Give a time in seconds, 0 or more"
            )
        left = round(duration / self.dt)
        if left == 0 and duration > _ROUNDING * self.dt:
            raise InputError(
                f"duration is {duration:g} s, less than half a step of {self.dt:g} s",
                element="duration",
                remedy="Give at least half a step, or make the simulation with a shorter one (dt)",
            )
        with tqdm(total=left, unit="step", disable=not progress) as bar:
            while left > 0:
                alone = callback is None and not self.modules
                steps = self._advance(min(left, _MAX_STEPS_PER_CALL) if alone else 1)
                if callback is not None:
                    callback(self)
                left -= steps
                bar.update(steps)

    def _advance(self, steps: int) -> int:
        """Make at least one step and at most some, which modules act around as one; returns how many."""
        profile, modules, viewers = self.profile, self.modules, self.viewers
        if viewers:
            steps = min(steps, *(viewer.left for viewer in viewers))
        profile.begin()
        if modules:
            for module in modules.values():
                module.before_step(self)
            profile.end("modules")
        self._q, self._v, self.q_before, self.v_before, made, failure = self.stepping.advance(
            self._q, self._v, self.step_count, steps
        )
        self.step_count += made
        if failure is not None:
            self.sensors.invalidate()
            raise failure
        if modules:
            for module in modules.values():
                module.after_step(self)
            profile.end("modules")
        profile.finish(made)
        for viewer in tuple(viewers):
            viewer.passed(made, self.time, self.joint_placements)
        return made

    def warm_up(self) -> None:
        """Compile or load now all compiled code that steps of this scene can need, so that none of them waits for it.

        The first fall, the first push, the first bodies on each other need code that no step needed before: from the
        cache that takes 5 to 100 ms, compiled tens of seconds. The state stays as it is. Code of an integrator or of
        modules isn't known beforehand.
        """
        self.stepping.warm_up()

    # -- acting ------------------------------------------------------------------------------

    def apply_wrench(
        self,
        body: str,
        force: ArrayLike,
        torque: ArrayLike = (0.0, 0.0, 0.0),
        *,
        point: ArrayLike | None = None,
        duration: float,
    ) -> None:
        """Push, pull or twist a body for a while.

        Args:
            body: a mobile body or a robot's link (``"robot/link"``).
            force: in the world [N], shape (3,).
            torque: in the world [N m], shape (3,).
            point: where the force acts, in the world, now [m], shape (3,); it moves with the body. The centre of mass
                of what the body's joint carries if not given.
            duration: how long, at least one step [s].

        Raises:
            InputError: unknown or fixed body, a value that is not finite or beyond all machines, a duration that is not
                positive.
        """
        placements = None if point is None else (point, self.joint_placements())
        self.stepping.wrenches.add(body, (force, torque), placements, duration, self.step_count)

    def add_module(self, module: Acting) -> None:
        """Let a module act around each step, after those that are there already.

        Raises:
            InputError: another module has its name, one that it requires is missing, or it doesn't fit the scene.
        """
        self.modules.add(module, self)
        self._initial = replace(self._initial, modules={**self._initial.modules, module.name: module.save()})

    def remove_module(self, name: str) -> None:
        """Let a module act no longer.

        Raises:
            InputError: there is none of that name, or another one requires it.
        """
        self.modules.remove(name, self)

    # -- saving and restoring ----------------------------------------------------------------

    def save_state(self) -> SimulationState:
        """Return a copy of the state that determines the simulation's future."""
        return SimulationState(
            self.step_count, self.q.copy(), self.v.copy(), self.servos.copy(), self.stepping.save(),
            self.modules.save(),
        )  # fmt: skip

    def restore_state(self, state: SimulationState) -> None:
        """Go back (or forth) to a saved state of this simulation; what follows repeats bit for bit.

        Raises:
            InputError: the state is of another scene, or not finite.
        """
        if state.q.shape != self.q.shape or state.v.shape != self.v.shape:
            raise InputError(
                "the state belongs to another scene", element="state", remedy="Restore it where it was saved"
            )
        for name, values in (("q", state.q), ("v", state.v)):
            if not np.isfinite(values).all():
                i = int(np.argmax(~np.isfinite(values)))
                raise InputError(f"{name}[{i}] is {values[i]}", element=name, remedy="Give finite numbers")
        self.step_count = state.step_count
        self._q = self.q_before = state.q.copy()
        self._v = self.v_before = state.v.copy()
        self.servos.assign(state.servos)
        self.stepping.restore(state.stepping)
        self.modules.restore(state.modules)
        self.sensors.invalidate()

    def reset(self) -> None:
        """Go back to the start; modules go back to how they were when they were added."""
        self.restore_state(self._initial)
        self.profile.reset()

    def _check_inertia(self) -> None:
        """Every joint must move some inertia, else its acceleration is undefined."""
        model = self.stepping.stepper.model
        move_tree(model, self.q, self.v, self._motion_now)
        diagonal = moved_inertias(model, self._motion_now)
        if not np.all(diagonal > 0.0):
            k = int(np.argmax(~(diagonal > 0.0)))
            raise SimulationError(
                f"coordinate {k} ({self.world.coordinate_name(k)}) moves no inertia: give the links beyond it a mass, "
                "or the joint an armature"
            )
