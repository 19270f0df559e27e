# SPDX-License-Identifier: Apache-2.0
"""Time stepping of a world of robots and bodies in frictional contact (specification 000 §3)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from humanoid_model.errors import InputError
from humanoid_model.scene import Scene
from humanoid_model.scene_file import load_scene
from humanoid_sim.contact.nsgs import nsgs
from humanoid_sim.contact.nsgs_newton import nsgs_newton
from humanoid_sim.contact.problem import ContactProblem, ContactResult, ContactStatus, Residuals
from humanoid_sim.contact.solve import SOLVERS, SolverKernel, find_solver, solve_in_time
from humanoid_sim.detection.backends import BACKENDS
from humanoid_sim.detection.contact_points import ContactPoints
from humanoid_sim.detection.detector import CONTACT_MARGIN, ContactDetector
from humanoid_sim.dynamics.flat_model import joint_placements
from humanoid_sim.dynamics.tree_energy import kinetic_energy, moved_inertias, potential_energy
from humanoid_sim.dynamics.tree_motion import TreeMotion, move_tree
from humanoid_sim.errors import SimulationError
from humanoid_sim.module import Module
from humanoid_sim.options import SimulationOptions
from humanoid_sim.profile import Profile
from humanoid_sim.state.contacts import SLIP_SPEED, Contacts, ContactState
from humanoid_sim.state.impacts import Impacts
from humanoid_sim.stepping.impact_stage import ImpactStage
from humanoid_sim.stepping.march import DONE, NO_DETECTION_ROOM
from humanoid_sim.stepping.stepper import Stepper
from humanoid_sim.world.by_name import ByName
from humanoid_sim.world.loops import closures_of
from humanoid_sim.world.pair_table import pair_table
from humanoid_sim.world.sensors import Sensors
from humanoid_sim.world.servos import Servos
from humanoid_sim.world.simulated_body import SimulatedBody
from humanoid_sim.world.simulated_robot import SimulatedRobot
from humanoid_sim.world.world import TreeSlices, World

if TYPE_CHECKING:
    from humanoid_sim.flexibility.deformable_sole import DeformableSole
    from humanoid_sim.flexibility.sole_stage import SoleStage
    from humanoid_studies.integration.integrator import Integrator
    from humanoid_studies.integration.world_system import WorldSystem

_COMPILED_SOLVERS = (nsgs, nsgs_newton)
"""Contact solvers that the compiled step knows itself."""
_MARCH = 256
"""So many steps are made in one compiled call at most, so that an interruption is noticed soon."""
_SATURATION_PASSES = 4
"""A step is solved again with other actuators saturated at most so many times."""
_LARGEST_JUDGED = 300
"""Contacts of a step up to which forces are judged by an approximate solver's own law."""


@dataclass(frozen=True)
class Energy:
    """Mechanical energy of the world.

    Attributes:
        kinetic: of all bodies and rotors [J].
        potential: in gravity [J].
    """

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        """Sum of both [J]."""
        return self.kinetic + self.potential


@dataclass
class _AppliedWrench:
    """A wrench on a body, constant in the world, at a point that moves with the body."""

    joint: int
    point: NDArray[np.float64]  # in the joint frame
    force: NDArray[np.float64]
    torque: NDArray[np.float64]
    last_step: int


@dataclass(frozen=True)
class SimulationState:
    """Everything that decides how a simulation goes on; restoring it repeats the future bit for bit.

    Attributes:
        step_count: number of steps done.
        q: configuration, shape (nq,).
        v: velocity, shape (nv,).
        servos: targets, gains and modes.
        forces: of the last step, for the warm start: by contact slot, by coordinate, by loop.
        wrenches: external wrenches that still act.
        slots: which contact slots pairs of shapes have.
        soles: how the deformable soles are deformed.
        modules: what each module saved, by name.
        integrator: what another scheme than the own step saved; None where it keeps nothing.
    """

    step_count: int
    q: NDArray[np.float64]
    v: NDArray[np.float64]
    servos: Servos
    forces: tuple[NDArray[np.float64], ...]
    wrenches: tuple[_AppliedWrench, ...]
    slots: tuple[Any, ...]
    soles: Mapping[str, NDArray[np.float64]]
    modules: Mapping[str, object]
    integrator: object


class Simulation:
    r"""Simulates a scene step by step.

    One step of size dt from the state (q, v):

    1. placements and twists of all bodies at (q, v);
    2. contact points, with their gaps; joints near their limits; loops;
    3. velocity without constraint forces by the articulated-body recursion, servos taken implicitly; Delassus operator
       :math:`W = \delta t\,J H^{-1} J^T` of each group of bodies that touch;
    4. forces of all constraints at once, those of contacts in their Coulomb cones, so that
       :math:`v_c^+ = W f + v_{free}` satisfies Signorini's and Coulomb's laws (specification 000 §8.2);
    5. :math:`v^+`, then :math:`q^+ = q \oplus \delta t\,v^+`.

    With ``impacts="separate"`` what strikes is resolved between 2 and 3; 3 begins with the velocity after the impacts.

    All forces are evaluated at the start of the step; the position moves with the new velocity, since moving it with
    the old one feeds energy into free flight.

    Attributes:
        scene: what is simulated.
        world: the scene as one mechanical system.
        dt: time step [s].
        method: name of the contact solver; with an integrator that one's name, and that of its contact solver behind
            a slash if it has one (``moreau/nsgs_newton``, ``penalty``).
        options: how it computes; they don't change.
        step_count: number of steps done.
        q: configuration of the world, shape (nq,); change it through the robots and bodies.
        v: velocity of the world, shape (nv,); linear velocities of free bodies are in the world's axes, see
            :mod:`humanoid_sim.world.floating_base`.
        q_before: configuration at the start of the last step.
        v_before: velocity at the start of the last step.
        servos: targets and gains of all joints.
        sensors: sensor readings.
        robots: robots by name.
        bodies: free and fixed bodies by name.
        modules: what acts around each step, by name, in the order in which it acts.
        profile: where the time goes.
    """

    def __init__(
        self,
        scene: Scene | str | Path,
        dt: float | None = None,
        *,
        method: str = "nsgs_newton",
        dynamics: str = "articulated_body",
        delassus: str = "auto",
        tolerance: float = 1e-9,
        max_iterations: int = 1000,
        time_budget: float | None = None,
        integrator: str | Integrator | None = None,
        impacts: str = "with_contacts",
        impact_speed: float | None = None,
        groups: bool = True,
        detection: str = BACKENDS[0],
    ) -> None:
        """Set a simulation up, compiled and ready.

        Args:
            scene: a scene, the name of one that comes with the stack, or a path.
            dt: time step [s]; the scene's own (1 ms by default) if not given.
            method: contact solver, see :func:`~humanoid_sim.contact.solve.solve_contacts`; an integrator that solves
                contact problems takes it too.
            dynamics: where the dynamics come from, one of :data:`~humanoid_sim.stepping.stepper.DYNAMICS`.
            delassus: way to the Delassus operator, one of
                :data:`~humanoid_sim.stepping.operators.DELASSUS_METHODS`.
            tolerance: bound on the relative residual of the contact solve.
            max_iterations: bound on its sweeps.
            time_budget: time that the contact solve of a step may take [s]; the best iterate goes on, and
                :attr:`solver` says so. Each group of contacts gets its share, and one sweep in any case. No limit if
                not given.
            integrator: another scheme than the step above, by a name of :mod:`humanoid_studies.integration` or ready
                made: to compare with, in plain Python. What of the scene or of the options it doesn't know is refused
                (:mod:`humanoid_studies.integration.features`).
            impacts: ``"with_contacts"``: the contact law itself reaches Newton's velocity, with friction;
                ``"separate"``: frictionless impacts at the start of the step (specification 000 §8.1), see
                :mod:`humanoid_sim.stepping.impact_stage` and :attr:`impacts`.
            impact_speed: approach speed from which on a contact bounces [m/s]; twice what gravity makes in a step, at
                least 0.02, if not given.
            groups: whether bodies that don't touch each other make groups with an operator each; False puts all into
                one, which is slower, to compare with.
            detection: what finds the distances of pairs of solids, one of
                :data:`~humanoid_sim.detection.backends.BACKENDS`: ``"coal"`` to compare with, slower and not for meshes
                that collide triangle by triangle. Half-spaces have closed forms with both.

        Raises:
            SceneError: the scene can't be read or nothing in it moves.
            InputError: a time step that is not positive, an option that can't be used, something of the scene that the
                integrator doesn't know.
            SimulationError: a joint moves a branch without any inertia.
        """
        self.scene = scene if isinstance(scene, Scene) else load_scene(scene)
        self.dt = float(self.scene.time_step if dt is None else dt)
        if not (np.isfinite(self.dt) and self.dt > 0.0):
            raise InputError(f"dt is {self.dt}", element="dt", remedy="Give a positive time step in seconds")
        self.options = SimulationOptions(
            method, dynamics, delassus, tolerance, max_iterations, time_budget, integrator, impacts, impact_speed,
            detection,
        )  # fmt: skip
        self.method = method
        self._solve = find_solver(method)
        self._tolerance = tolerance
        self._max_iterations = max_iterations
        self._time_budget = np.inf if time_budget is None else time_budget

        self.world = World(self.scene)
        model = self.world.model
        self._detector = ContactDetector(self.world, detection)
        self.servos = Servos.of_world(self.world)
        self.profile = Profile()
        self._stepper = Stepper(
            model,
            self.servos.joint_arrays(self.world),
            pair_table(self.world),
            closures_of(self.world),
            self._detector.points,
            self._detector.slot_count,
            dynamics,
            delassus,
            groups,
            self.profile.clock(),
        )
        self._points = self._detector.points
        self._soles = self._make_soles()
        self._integration = None if integrator is None else self._make_integration(groups)
        self._fused = (
            self._soles is None
            and self._stepper.compiled
            and self._solve in _COMPILED_SOLVERS
            and self._integration is None
            and self._detector.compiled
        )
        self._R_now = np.zeros((model.njoints, 3, 3))
        self._p_now = np.zeros((model.njoints, 3))
        self._motion_now = TreeMotion.of_size(model.njoints, model.nv)

        gravity = float(np.linalg.norm(self.scene.gravity))
        self._impact_speed = max(2.0 * gravity * self.dt, 0.02) if impact_speed is None else float(impact_speed)
        self._impact_stage = self._make_impact_stage(impacts)
        self.step_count = 0
        self.q = self.world.q.copy()
        self.v = self.world.v.copy()
        self.q_before = self.q.copy()
        self.v_before = self.v.copy()
        self._wrenches: list[_AppliedWrench] = []
        self._contact_count = 0
        self._rigid_count = 0
        self._last_wrenches: list[_AppliedWrench] = []
        self._stepped = False
        self.modules: dict[str, Module] = {}
        self.sensors = Sensors(self)
        self.robots = ByName(
            "robot", {placed.name: SimulatedRobot(self, placed.name, placed.robot) for placed in self.scene.robots}
        )
        self.bodies = ByName("body", {body.name: SimulatedBody(self, body.name) for body in self.scene.bodies})
        self._check_inertia()
        self._initial = self.save_state()
        self._compile()

    # -- stepping ----------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.step_count * self.dt

    def step(self) -> None:
        """Advance by one time step.

        Raises:
            SimulationError: the state became infinite or not a number; it is left as it was before the step, with the
                forces that the next solve starts from. The contacts of the step before can no longer be read.
        """
        profile, modules = self.profile, self.modules
        profile.begin()
        if modules:
            for module in modules.values():
                module.before_step(self)
            profile.end("modules")
        marched = self._can_march()
        if marched:
            self._march(1)
            profile.skip()
        else:
            self._step_in_stages()
        if modules:
            for module in modules.values():
                module.after_step(self)
            profile.end("modules")
        if marched:
            profile.finish_marched(1)
        else:
            profile.finish()

    def _can_march(self) -> bool:
        """Whether whole steps are compiled: nothing acts in between that Python has to see to."""
        if not self._fused or self._wrenches or self._impact_stage is not None:
            return False
        if self._last_wrenches:
            self._last_wrenches = []
            self._stepper.state.wrenches[:] = 0.0
        return True

    def _march(self, steps: int) -> None:
        """Make some steps in as few compiled calls as possible, growing what is too small in between."""
        stepper, detector = self._stepper, self._detector
        state = stepper.state
        only_one = steps == 1
        q, v = self.q, self.v
        while True:
            done, end = stepper.march(
                detector.record(), q, v, steps, CONTACT_MARGIN, self.dt, self._impact_speed,
                self._solve is nsgs_newton, self._tolerance, self._max_iterations, self._time_budget,
                _SATURATION_PASSES,
            )  # fmt: skip
            self.step_count += done
            if end == DONE:
                break
            steps -= done
            q, v = state.q.copy(), state.v.copy()
            self.q, self.v = q, v
            if end >= 0:
                raise self._exploded(end)
            if end < NO_DETECTION_ROOM:
                detector.grow(end - NO_DETECTION_ROOM)
                self._use_points(detector.points, detector.slot_count)
        self.q_before, self.v_before = (q, v) if only_one else (state.q.copy(), state.v.copy())
        self.q, self.v = state.q_new.copy(), state.v_new.copy()
        self._stepped = True
        self._contact_count = stepper.contact_count

    def _step_in_stages(self) -> None:
        """One step, stage by stage."""
        if self._integration is not None:
            self._integrate(self._integration)
            return
        stepper, profile, dt = self._stepper, self.profile, self.dt
        stepper.move(self.q, self.v)
        m = -1
        if self._impact_stage is not None:
            m = self._impact_stage.resolve(stepper, self._detect_rigid, dt)
            profile.end("detection")
        self._gather_wrenches()
        stepper.free_motion(dt)
        profile.end("dynamics")
        if m < 0:
            m = self._detect()
            profile.end("detection")
        if self._fused:
            newton = self._solve is nsgs_newton
            wrong = stepper.advance(
                m, dt, self._impact_speed, newton, self._tolerance, self._max_iterations, self._time_budget,
                _SATURATION_PASSES,
            )  # fmt: skip
            profile.split(("assembly", "contacts"), stepper.times)
        else:
            wrong = self._advance_in_stages(m)
        if wrong >= 0:
            raise self._exploded(wrong)
        self._take_step(stepper.state.q_new.copy(), stepper.state.v_new.copy(), m)

    def _advance_in_stages(self, m: int) -> int:
        """What :meth:`Stepper.advance` does, with deformable soles, any contact solver and any dynamics in between.

        Args:
            m: number of contact points.

        Returns:
            What :meth:`Stepper.finish` returns.
        """
        stepper, profile, dt = self._stepper, self.profile, self.dt
        left = self._time_budget
        stepper.constrain(m, dt)
        if self._soles is not None:
            self._soles.locate(stepper.blocks, stepper.groups, m)
        for _ in range(_SATURATION_PASSES):
            stepper.pose_problems(dt, self._impact_speed)
            self._pose_soles()
            profile.end("assembly")
            begin = perf_counter()
            if self._solve in _COMPILED_SOLVERS:
                stepper.solve(self._solve is nsgs_newton, self._tolerance, self._max_iterations, left)
            else:
                stepper.solve_by(self._kernel(begin, left), self._tolerance, self._max_iterations)
            left -= perf_counter() - begin
            profile.end("contacts")
            if not stepper.respond(dt):
                break
            stepper.free_motion(dt)
        wrong = stepper.finish(m, dt, self._max_iterations, left)
        if wrong < 0 and self._soles is not None:
            self._soles.deform(stepper.points.frames, stepper.blocks, stepper.groups)
        return wrong

    def _take_step(self, q: Any, v: Any, m: int) -> None:
        """Make the end of a step with ``m`` contact points the present."""
        self.q_before, self.v_before = self.q, self.v
        self.q, self.v = q, v
        self._stepped = True
        self._contact_count = m
        self.step_count += 1
        if self._wrenches or self._last_wrenches:
            self._last_wrenches = self._wrenches
            self._wrenches = [w for w in self._wrenches if w.last_step >= self.step_count]
        self.profile.end("integration")

    def _exploded(self, place: int) -> SimulationError:
        """The error of a step whose end is not finite; ``place`` is what :meth:`Stepper.finish` returned."""
        self._forget_last_step()  # its contact points are already overwritten by those of this step
        for name, values in (("q", self.q), ("v", self.v), ("servos.q_target", self.servos.q_target)):
            wrong = np.flatnonzero(~np.isfinite(values))
            if wrong.size:
                return SimulationError(
                    f"{name}[{wrong[0]}] is {values[wrong[0]]} before the step from t = {self.time:.6g} s. Give finite "
                    f"numbers, or reset"
                )
        state, nv = self._stepper.state, self.v.size
        if place < nv:
            found = f"the velocity of coordinate {place} ({self._coordinate_name(place)}) became {state.v_new[place]}"
        else:
            i = place - nv
            joint = next(j for j, own in enumerate(self.world.model.joints) if own.idx_q <= i < own.idx_q + own.nq)
            found = f"q[{i}] ({self.world.model.names[joint]}) became {state.q_new[i]}"
        return SimulationError(
            f"{found} in the step from t = {self.time:.6g} s; the state is kept as it was before"
        )

    def _integrate(self, integration: tuple[Integrator, WorldSystem]) -> None:
        """A step by another scheme."""
        from humanoid_studies.integration.features import check_dry_friction
        from humanoid_studies.integration.world_system import WorldContactSet

        integrator, system = integration
        check_dry_friction(self.method, self.world, self.servos)
        stepper, profile = self._stepper, self.profile
        stepper.move(self.q, self.v)
        self._gather_wrenches()
        system.external[:] = stepper.external_efforts()
        profile.end("dynamics")
        step = integrator.step(system, self.q, self.v, self.dt, self.time)
        profile.end("integration")
        end = np.concatenate([step.v, step.q])
        if not np.all(np.isfinite(end)):
            stepper.state.v_new[:], stepper.state.q_new[:] = step.v, step.q
            raise self._exploded(int(np.argmax(~np.isfinite(end))))
        contacts: Any = step.forces.contacts  # those of a world, with frames and bodies
        if len(contacts) == 0:  # a scheme that has seen none doesn't know of which kind they are
            contacts = WorldContactSet.none(len(step.v))
        limits = contacts.coordinates >= 0
        thrusts = contacts.rows[limits, 0].T @ step.forces.forces[limits, 0]
        contacts, forces = contacts.where(~limits), step.forces.forces[~limits]
        stepper.joints.efforts[:] = system.servo_efforts(step.q, step.v)
        if self._detector.points is not self._points:
            self._use_points(self._detector.points, self._detector.slot_count)
        velocities = contacts.velocities(step.v).reshape(-1, 3)
        stepper.take_contacts(
            contacts.frames, contacts.positions, contacts.bodies, contacts.gaps, contacts.friction, forces,
            velocities, [body.joint for body in self.world.bodies], step.forces.converged,
        )  # fmt: skip
        stepper.state.thrusts[:] = thrusts
        self._take_step(step.q, step.v, len(contacts.gaps))

    def _kernel(self, begin: float, budget: float) -> SolverKernel:
        """The contact solver, with the budget that is left of this step's from ``begin`` on [s]."""
        if budget == np.inf:
            return self._solve

        def within_budget(W: Any, v_free: Any, mu: Any, f: Any, tolerance: Any, most: Any, v: Any, out: Any) -> int:
            return solve_in_time(self._solve, W, v_free, mu, f, tolerance, most, v, out, begin + budget)[0]

        return within_budget

    def _detect(self) -> int:
        """Find the contact points; returns their number."""
        motion, detector, stepper = self._stepper.motion, self._detector, self._stepper
        points = detector.detect(motion.R, motion.p, motion.twists, self.dt)
        slots = detector.slot_count
        self._rigid_count = points.size
        if self._soles is not None:
            points = detector.points = self._soles.detect(
                motion.R, motion.p, motion.twists, self.dt, points, slots
            )
            slots += self._soles.slot_count
        if points is not self._points or slots > len(stepper.memory.contacts):
            self._use_points(points, slots)
        return points.size

    def _use_points(self, points: ContactPoints, slots: int) -> None:
        """Let the steps read their contact points here; slots are below ``slots``."""
        self._stepper.use_points(points, slots)
        self._points = points

    def _detect_rigid(self) -> tuple[int, int]:
        """Find the contact points; returns their number and that of those without a deformable sole."""
        return self._detect(), self._rigid_count

    def run(
        self,
        duration: float,
        callback: Callable[[Simulation], None] | None = None,
        *,
        progress: bool = False,
    ) -> None:
        """Advance by a duration.

        Args:
            duration: simulated time to add [s]; the nearest whole number of steps is done.
            callback: called with the simulation after each step.
            progress: shows a progress bar.

        Raises:
            InputError: the duration is negative or not finite.
            SimulationError: see :meth:`step`.
        """
        if not (np.isfinite(duration) and duration >= 0.0):
            raise InputError(
                f"duration is {duration}", element="duration", remedy="Give a time in seconds, 0 or more"
            )
        left = round(duration / self.dt)
        with tqdm(total=left, unit="step", disable=not progress) as bar:
            while left > 0:
                steps = 1
                if callback is None and not self.modules and self._can_march():
                    steps = min(left, _MARCH)
                    self.profile.begin()
                    self._march(steps)
                    self.profile.finish_marched(steps)
                else:
                    self.step()
                    if callback is not None:
                        callback(self)
                left -= steps
                bar.update(steps)

    def _pose_soles(self) -> None:
        """Add the compliance and the deformation of soles to the problems of the rigid bodies."""
        if self._soles is not None:
            stepper = self._stepper
            self._soles.pose(stepper.points.frames, stepper.blocks, stepper.groups, self.dt)

    def _gather_wrenches(self) -> None:
        """Known external wrenches on the bodies, at the world origin."""
        if not self._wrenches and not self._last_wrenches:
            return
        motion, total = self._stepper.motion, self._stepper.state.wrenches
        total[:] = 0.0
        for wrench in self._wrenches:
            point = motion.R[wrench.joint] @ wrench.point + motion.p[wrench.joint]
            total[wrench.joint, :3] += wrench.force
            total[wrench.joint, 3:] += wrench.torque + np.cross(point, wrench.force)

    # -- reading -----------------------------------------------------------------------------

    @property
    def acceleration(self) -> NDArray[np.float64]:
        """Mean acceleration of the last step, shape (nv,)."""
        return (self.v - self.v_before) / self.dt if self._stepped else np.zeros_like(self.v)

    @property
    def efforts(self) -> NDArray[np.float64]:
        """What the actuators and springs applied in the last step [N m or N], shape (nv,)."""
        return self._stepper.joints.efforts.copy() if self._stepped else np.zeros_like(self.v)

    @property
    def constraint_efforts(self) -> NDArray[np.float64]:
        """Efforts of joint limits and dry friction on the coordinates in the last step [N m or N], shape (nv,).

        Impulses of limits in impacts count as their mean over the step.
        """
        if not self._stepped:
            return np.zeros_like(self.v)
        thrusts = self._stepper.state.thrusts.copy()
        return thrusts if self._impact_stage is None else thrusts + self._impact_stage.thrusts / self.dt

    @property
    def contacts(self) -> Contacts:
        """Contacts of the last step."""
        m = self._contact_count
        if m == 0:
            return Contacts.none()
        points = self._stepper.points
        frames, forces, velocities = points.frames[:m], points.forces[:m], points.velocities[:m]
        slides = np.linalg.norm(velocities[:, 1:], axis=1) > SLIP_SPEED
        state = np.where(forces[:, 0] > 0.0, np.where(slides, ContactState.SLIP, ContactState.STICK), ContactState.OPEN)
        names = [body.name for body in self.world.bodies]
        return Contacts(
            position=points.positions[:m].copy(),
            normal=points.normals[:m].copy(),
            force=np.einsum("irc,ir->ic", frames, forces),
            torque=np.einsum("irc,ir->ic", frames, points.torques[:m]),
            gap=points.gaps[:m].copy(),
            velocity=np.einsum("irc,ir->ic", frames, velocities),
            friction=points.friction[:m].copy(),
            state=state,
            bodies=[(names[a], names[b]) for a, b in zip(points.body_a[:m], points.body_b[:m], strict=True)],
        )

    @property
    def impacts(self) -> Impacts:
        """Impacts at the start of the last step, where they are resolved apart from the contacts; else none."""
        return Impacts.none() if self._impact_stage is None else self._impact_stage.impacts

    @property
    def solver(self) -> ContactResult | None:
        """Outcome of the last step's contact solve, the worst of all groups; None where nothing touched.

        A step that isn't solved to the tolerance took the best iterate; its status says why it is no better.
        """
        m = self._contact_count
        if m == 0:
            return None
        groups, points = self._stepper.groups, self._stepper.points
        count = int(groups.counts[0])
        residuals = groups.residuals[:count].max(axis=0)
        return ContactResult(
            points.forces[:m].copy(),
            points.velocities[:m].copy(),
            Residuals(*residuals.tolist()),
            int(groups.iterations[:count].max()),
            self._solver_status(float(residuals[0])),
            self.profile.last["contacts"],
        )

    @property
    def contact_problem(self) -> ContactProblem | None:
        """The contact problem of the last step, to study it or to hand it to another solver.

        None without contacts, and with an integrator of its own, which may solve several.

        Its free velocities include the shifts of gaps and impacts
        (:func:`~humanoid_sim.stepping.row_velocities.free_velocities`) and those to the middle of the step. Limits, dry
        friction and torques act on it with the forces that they had.
        """
        if self._contact_count == 0 or self._integration is not None:
            return None
        return self._stepper.contact_problem(self._pose_soles)

    def joint_placements(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Rotations, shape (njoints, 3, 3), and origins [m], shape (njoints, 3), of the joint frames now."""
        joint_placements(self._stepper.model, self.q, self._R_now, self._p_now)
        return self._R_now, self._p_now

    def placement(self, body: str) -> pin.SE3:
        """Frame of a body or of a robot's link (``"robot/link"``) in the world.

        Raises:
            InputError: unknown body.
        """
        found = self.world.bodies[self._body_index(body)]
        R, p = self.joint_placements()
        return pin.SE3(R[found.joint], p[found.joint]) * found.placement_joint_body

    def joint_wrenches(self) -> Iterator[tuple[int, NDArray[np.float64], NDArray[np.float64]]]:
        """External wrenches of the last step by joint: contacts, loops, applied wrenches, the mean of impacts.

        Yields:
            Joint, force [N] and moment about the world origin [N m], in the world.
        """
        state = self._stepper.state
        total = state.reactions + state.wrenches if self._stepped else np.zeros_like(state.reactions)
        if self._stepped and self._impact_stage is not None:
            total = total + self._impact_stage.wrenches / self.dt
        for joint, row in enumerate(total):
            yield joint, row[:3], row[3:]

    def energy(self) -> Energy:
        """Mechanical energy at the present state; what servos and springs store is not in it."""
        model, motion = self._stepper.model, self._motion_now
        move_tree(model, self.q, self.v, motion)
        return Energy(kinetic_energy(model, motion, self.v), potential_energy(model, motion))

    @property
    def residual(self) -> float:
        """Largest relative residual of the last step's contact solve; zero where nothing touched."""
        if self._contact_count == 0:
            return 0.0
        groups = self._stepper.groups
        return float(groups.residuals[: int(groups.counts[0]), 0].max())

    @property
    def delassus_methods(self) -> dict[str, str]:
        """By robot and body, the way by which its Delassus operator was last computed, one of ``DELASSUS_METHODS``.

        Where the forces of the last step still hold, none is computed. What nothing acted on is not in it, and nothing
        at all with Pinocchio's matrices.
        """
        bodies = self.world.bodies if self._stepped else []
        found = {body.owner: self._stepper.delassus_method(body.joint) for body in bodies}
        return {owner: method for owner, method in found.items() if method is not None}

    @property
    def soles(self) -> Mapping[str, DeformableSole]:
        """Deformable soles by the body that they are glued to, as they are after the last step."""
        return {} if self._soles is None else self._soles.contacts.soles

    def _solver_status(self, residual: float) -> ContactStatus:
        """How the last step's contact solve ended with a residual."""
        if residual <= self._tolerance:
            return ContactStatus.CONVERGED
        law_residual = SOLVERS[self.method].law_residual if self.method in SOLVERS else None
        if law_residual is not None and self._contact_count <= _LARGEST_JUDGED:
            problem = self.contact_problem
            if problem is not None:
                f = np.ascontiguousarray(self._stepper.points.forces[: self._contact_count]).reshape(-1)
                v = problem.W @ f + problem.v_free
                if law_residual(problem.W, problem.v_free, problem.mu, f, v) <= self._tolerance:
                    return ContactStatus.APPROXIMATE
        groups = self._stepper.groups
        count = int(groups.counts[0])
        if self._time_budget == np.inf:
            late = False
        elif self._solve in _COMPILED_SOLVERS:  # these end early for no other reason
            unsolved = groups.residuals[:count, 0] > self._tolerance
            late = bool(np.any(unsolved & (groups.iterations[:count] < self._max_iterations)))
        else:
            late = self.profile.last["contacts"] >= self._time_budget
        return ContactStatus.TIME_LIMIT if late else ContactStatus.NOT_CONVERGED

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
            InputError: unknown or fixed body, a value that is not finite, a duration that is not positive.
        """
        found = self.world.bodies[self._body_index(body)]
        if found.joint == 0:
            raise InputError(
                f"'{body}' is fixed to the world", element="body", remedy="Push something that can move"
            )
        vectors = {"force": force, "torque": torque}
        if point is not None:
            vectors["point"] = point
        checked = {}
        for name, value in vectors.items():
            vector = np.asarray(value, dtype=float).reshape(-1)
            if vector.shape != (3,) or not np.all(np.isfinite(vector)):
                raise InputError(
                    f"{name} is {vector.tolist()}", element=name, remedy="Give three finite numbers"
                )
            checked[name] = vector
        if not (np.isfinite(duration) and duration > 0.0):
            raise InputError(
                f"duration is {duration}", element="duration", remedy="Give a positive time in seconds"
            )
        if point is None:
            local = np.array(self.world.model.inertias[found.joint].lever)
        else:
            R, p = self.joint_placements()
            local = R[found.joint].T @ (checked["point"] - p[found.joint])
        steps = max(round(duration / self.dt), 1)
        self._wrenches.append(
            _AppliedWrench(
                found.joint, local, checked["force"], checked["torque"], self.step_count + steps - 1
            )
        )

    def overwrite(self, slices: TreeSlices, q: NDArray[np.float64], v: NDArray[np.float64]) -> None:
        """Replace the state of one robot or free body by checked values (used by their ``set_state``).

        Args:
            slices: where it is.
            q: its configuration.
            v: its velocity, a floating base's twist in the base frame.
        """
        self.q = self.q.copy()
        self.v = self.v.copy()
        self.q[slices.q] = q
        self.v[slices.v] = slices.stepped(q, v)

    # -- modules -----------------------------------------------------------------------------

    def add_module(self, module: Module) -> None:
        """Let a module act around each step, after those that are there already.

        Raises:
            InputError: another module has its name, one that it requires is missing, or it doesn't fit the scene.
        """
        if module.name in self.modules:
            raise InputError(
                f"there is a module '{module.name}' already",
                element="module",
                remedy="Remove it first, or give the new one another name",
            )
        for name in module.requires:
            if name not in self.modules:
                raise InputError(
                    f"the module '{module.name}' requires the module '{name}', which is not there",
                    element="module",
                    remedy=f"Add '{name}' first",
                )
        module.attach(self)
        self.modules[module.name] = module
        self._initial = replace(self._initial, modules={**self._initial.modules, module.name: module.save()})

    def remove_module(self, name: str) -> None:
        """Let a module act no longer.

        Raises:
            InputError: there is none of that name, or another one requires it.
        """
        if name not in self.modules:
            raise InputError(
                f"there is no module '{name}'",
                element="module",
                remedy=f"There are {', '.join(self.modules) or 'none'}",
            )
        for other in self.modules.values():
            if name in other.requires:
                raise InputError(
                    f"the module '{other.name}' requires the module '{name}'",
                    element="module",
                    remedy=f"Remove '{other.name}' first",
                )
        self.modules.pop(name).detach(self)

    # -- saving and restoring ----------------------------------------------------------------

    def save_state(self) -> SimulationState:
        """A copy of everything that decides how the simulation goes on."""
        return SimulationState(
            self.step_count,
            self.q.copy(),
            self.v.copy(),
            copy.deepcopy(self.servos),
            self._stepper.remembered(),
            tuple(copy.deepcopy(self._wrenches)),
            self._detector.save(),
            {} if self._soles is None else self._soles.contacts.save(),
            {name: module.save() for name, module in self.modules.items()},
            None if self._integration is None else self._integration[0].save(),
        )

    def restore_state(self, state: SimulationState) -> None:
        """Go back (or forth) to a saved state of this simulation; what follows repeats bit for bit.

        Raises:
            InputError: the state is of another scene.
        """
        if state.q.shape != self.q.shape or state.v.shape != self.v.shape:
            raise InputError(
                "the state belongs to another scene", element="state", remedy="Restore it where it was saved"
            )
        self.step_count = state.step_count
        self.q = state.q.copy()
        self.v = state.v.copy()
        self.servos.assign(state.servos)
        self._detector.restore(state.slots)
        self._stepper.use_points(self._detector.points, len(state.forces[0]))
        self._stepper.remember(state.forces)
        self._wrenches = list(copy.deepcopy(state.wrenches))
        if self._soles is not None:
            self._soles.contacts.restore(state.soles)
        for name, module in self.modules.items():
            if name in state.modules:
                module.restore(state.modules[name])
        if self._integration is not None:
            self._integration[0].restore(state.integrator)
        self._forget_last_step()

    def reset(self) -> None:
        """Go back to the start; modules go back to how they were when they were added."""
        self.restore_state(self._initial)
        self.profile.reset()

    def _forget_last_step(self) -> None:
        self.q_before, self.v_before = self.q, self.v
        self._stepped = False
        self._contact_count = 0
        self._last_wrenches = []
        self._stepper.state.wrenches[:] = 0.0
        if self._impact_stage is not None:
            self._impact_stage.forget()
        self.sensors.invalidate()

    # -- setting up --------------------------------------------------------------------------

    def _make_integration(self, groups: bool) -> tuple[Integrator, WorldSystem]:
        """Another scheme and what it sees of this world; loaded only where one is asked for."""
        from humanoid_studies.integration.features import check_scheme
        from humanoid_studies.integration.world_system import WorldSystem

        name = str(self.options.told()["integrator"])
        if not groups:
            raise InputError(
                f"groups is False, which the integrator '{name}' doesn't use: it has one operator for all bodies",
                element="groups",
                remedy="Leave groups or the integrator out",
            )
        chosen = self.options.make_integrator()
        check_scheme(chosen, name, self.world, self.servos)
        self.method = f"{name}/{chosen.solver.method}" if chosen.solves_contacts else name
        return chosen, WorldSystem(self.world, self.servos, self._detector)

    def _make_impact_stage(self, impacts: str) -> ImpactStage | None:
        """The stage of impacts if they are resolved apart; the contact law then knows no restitution."""
        if impacts == "with_contacts":
            return None
        model, speed = self.world.model, self._impact_speed
        self._impact_speed = np.inf
        return ImpactStage([body.name for body in self.world.bodies], model.njoints, model.nv, speed)

    def _make_soles(self) -> SoleStage | None:
        """Deformable soles of all robots; what they need is loaded only where there are any."""
        declared = [(placed.name, sole) for placed in self.scene.robots for sole in placed.robot.soles.values()]
        if not declared:
            return None
        from humanoid_sim.flexibility.sole_mesh import build_sole
        from humanoid_sim.flexibility.sole_stage import SoleStage

        return SoleStage(self.world, {f"{robot}/{sole.contact.link}": build_sole(sole) for robot, sole in declared})

    def _check_inertia(self) -> None:
        """Every joint must move some inertia, else its acceleration is undefined."""
        move_tree(self._stepper.model, self.q, self.v, self._motion_now)
        diagonal = moved_inertias(self._stepper.model, self._motion_now)
        if not np.all(diagonal > 0.0):
            k = int(np.argmax(~(diagonal > 0.0)))
            raise SimulationError(
                f"coordinate {k} ({self._coordinate_name(k)}) moves no inertia: give the links beyond it a mass, or "
                "the joint an armature"
            )

    def _compile(self) -> None:
        """Compile all kernels now, so that the first step of the user costs no more than the next one."""
        self.step()
        self.reset()

    def _body_index(self, body: str) -> int:
        if body not in self.world.index:
            robots = ", ".join(f"{name}/<link>" for name in self.robots)
            bodies = ", ".join(self.bodies)
            raise InputError(
                f"there is no body '{body}'",
                element="body",
                remedy=f"Name one of {'; '.join(part for part in (bodies, robots) if part)}",
            )
        return self.world.index[body]

    def _coordinate_name(self, k: int) -> str:
        """Name of the joint or body that a velocity coordinate belongs to."""
        model = self.world.model
        for joint in range(1, model.njoints):
            first = model.joints[joint].idx_v
            if first <= k < first + model.joints[joint].nv:
                return str(model.names[joint])
        raise IndexError(k)
