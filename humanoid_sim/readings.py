# SPDX-License-Identifier: Apache-2.0
"""What is read of a simulation between two steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.arrays import Array
from humanoid_model.checks import check_array
from humanoid_model.errors import InputError
from humanoid_model.sensor import Camera
from humanoid_model.tree.forward_kinematics import place_all
from humanoid_model.tree.kinematic_tree import Placements
from humanoid_model.tree.tree_motion import Energy, TreeMotion, kinetic_energy, move_tree, potential_energy
from humanoid_sim.contact.solve import SOLVERS, ContactProblem, ContactResult, ContactStatus, Residuals, find_solver
from humanoid_sim.stepping.contacts import Contacts, tell_contacts
from humanoid_sim.stepping.impacts import Impacts
from humanoid_sim.stepping.interface import Stepping
from humanoid_sim.stepping.make_stepping import COMPILED_SOLVERS
from humanoid_sim.stepping.run_steps import UnsolvedSteps
from humanoid_sim.world.world import TreeSlices

if TYPE_CHECKING:
    from humanoid_sim.flexibility.deformable_sole import DeformableSole
    from humanoid_sim.imaging.film import Film, Pictures, Viewer
    from humanoid_sim.imaging.window import Window


_MAX_JUDGED_CONTACTS = 300
"""Contacts of a step up to which forces are judged by an approximate solver's own law."""


class Readings:
    """Where the bodies are, and what the last step brought: what views of robots and bodies know of a simulation.

    Attributes:
        stepping: how the steps are made.
        world: the scene as one mechanical system.
        servos: targets and gains of all joints.
        profile: where the time goes.
        dt: time step [s].
        step_count: number of steps done.
        q_before: configuration at the start of the last step.
        v_before: velocity at the start of the last step.
        viewers: films and windows that look on.
    """

    def __init__(self, stepping: Stepping) -> None:
        """Begin where the world begins."""
        world = stepping.world
        self.stepping, self.world, self.servos, self.profile = stepping, world, stepping.servos, stepping.profile
        self.dt = stepping.settings.dt
        self.step_count = 0
        self._q, self._v = world.q.copy(), world.v.copy()
        self.q_before, self.v_before = self._q.copy(), self._v.copy()
        self.viewers: list[Viewer] = []
        self._body_names = [body.name for body in world.bodies]
        self._motion_now = TreeMotion.of_size(world.model.njoints, world.model.nv)

    # -- now -------------------------------------------------------------------------------------

    @property
    def q(self) -> Array:
        """Configuration of the world, shape (nq,); change it through the robots and bodies.

        Raises:
            InputError: it is given another length, a number that is not finite, or a quaternion that is not of unit
                length.
        """
        return self._q

    @q.setter
    def q(self, q: ArrayLike) -> None:
        model = self.world.model
        q = check_array(q, "q", (model.nq,))
        if not pin.isNormalized(model, q, 1e-3):
            raise InputError(
                "a quaternion or a cosine-sine pair of q is not of unit length",
                element="q",
                remedy="Normalise it (pinocchio.normalize)",
            )
        self._q = q.copy()

    @property
    def v(self) -> Array:
        """Velocity of the world, shape (nv,); linear velocities of free bodies are in the world's axes.

        See :mod:`humanoid_sim.world.world`.

        Raises:
            InputError: it is given another length, or a number that is not finite.
        """
        return self._v

    @v.setter
    def v(self, v: ArrayLike) -> None:
        self._v = check_array(v, "v", (self.world.model.nv,)).copy()

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.step_count * self.dt

    def joint_placements(self) -> tuple[Array, Array]:
        """Rotations, shape (njoints, 3, 3), and origins [m], shape (njoints, 3), of the joint frames now."""
        placed = Placements(*self._motion_now[:3])
        place_all(self.stepping.stepper.model, self.q, placed)
        return placed.rotations, placed.origins

    def placement(self, body: str) -> pin.SE3:
        """Return the frame of a body or of a robot's link (``"robot/link"``) in the world.

        Raises:
            InputError: unknown body.
        """
        found = self.world.find_body(body)
        R, p = self.joint_placements()
        return pin.SE3(R[found.joint], p[found.joint]) * found.placement_joint_body

    def energy(self) -> Energy:
        """Mechanical energy at the present state; what servos and springs store is not in it."""
        model, motion = self.stepping.stepper.model, self._motion_now
        move_tree(model, self.q, self.v, motion)
        return Energy(kinetic_energy(model, motion, self.v), potential_energy(model, motion))

    def overwrite(self, slices: TreeSlices, q: Array, v: Array) -> None:
        """Replace the state of one robot or free body by checked values (used by their ``set_state``).

        Args:
            slices: where it is.
            q: its configuration.
            v: its velocity, a floating base's twist in the base frame.
        """
        self._q = self._q.copy()
        self._v = self._v.copy()
        self._q[slices.q] = q
        self._v[slices.v] = slices.stepped(q, v)

    # -- pictures --------------------------------------------------------------------------------

    def image(
        self, camera: Camera | None = None, *, size: tuple[int, int] = (640, 480), body: str | None = None
    ) -> NDArray[np.uint8]:
        """Take a picture of the present: what the page draws of robots and bodies, in the light of the scene.

        Args:
            camera: where from; the scene's if not given, without one a camera that sees all robots and free bodies.
            size: width and height [px].
            body: that carries the camera, whose placement is then in its frame; None: the world.

        Returns:
            Red, green and blue, shape (height, width, 3).

        Raises:
            InputError: no picture has this size or field of view, an unknown body, or a mesh that can't be read.
        """
        return self._pictures.image(self.joint_placements(), camera, size, body)

    def depth_image(
        self, camera: Camera | None = None, *, size: tuple[int, int] = (640, 480), body: str | None = None
    ) -> tuple[Array, NDArray[np.int64]]:
        """Return what a range finder in the place of a camera sees; arguments and errors are those of :meth:`image`.

        Returns:
            Distance along the optical axis in the middle of each pixel, infinite where nothing is [m], and the place in
            ``world.bodies`` of what is seen, -1 where nothing is; shape (height, width) both.
        """
        return self._pictures.depth(self.joint_placements(), camera, size, body)

    def film(
        self,
        path: str | Path,
        *,
        rate: float = 25.0,
        pace: float = 1.0,
        camera: Camera | None = None,
        size: tuple[int, int] = (480, 360),
        body: str | None = None,
    ) -> Film:
        """Film what happens from now on until it is closed, at the latest at the end of a ``with`` block.

        ``with simulation.film("fall.gif"): simulation.run(2.0)``

        Args:
            path: of the file, ``.gif`` or ``.webp``. One that is there is replaced.
            rate: pictures per second of the film [Hz].
            pace: simulated seconds per second of the film: 0.5 is slow motion.
            camera: as of :meth:`image`; it stays where it is, unless a body carries it.
            size: width and height [px].
            body: that carries the camera.

        Raises:
            InputError: the file can't be written, a rate or pace that isn't positive, or as :meth:`image` raises it.
        """
        from humanoid_sim.imaging.film import Film

        period = self._period(pace, rate)
        joints = self.joint_placements()
        seen_from = self._pictures.view(joints)[0] if camera is None and body is None else camera
        picture = partial(self._pictures.image, camera=seen_from, size=size, body=body)
        film = Film(self.viewers, picture, path, period, period * self.dt / pace)
        try:
            film.look(self.time, joints)
        except InputError:
            film.close()
            raise
        return film

    def show(self, *, pace: float = 1.0, port: int = 0, browser: bool = True) -> Window:
        """Show the simulation in a window of the browser, to be turned and zoomed; ``wait()`` of it keeps it open.

        Its address is printed. It listens to this machine alone, and shows only those who know the address.

        Args:
            pace: simulated seconds per second at which it runs from now on; 0: as fast as possible.
            port: TCP port; 0 takes any free one.
            browser: whether it is opened, where there is a screen.

        Raises:
            InputError: a pace that is negative, a port that can't be listened on, or a mesh that can't be read.
        """
        from humanoid_sim.imaging.window import SHOWN, Window, open_browser

        period = self._period(pace or 1.0, SHOWN)
        joints = self.joint_placements()
        timing = period, period * self.dt
        window = Window(self.viewers, self._pictures, joints, self.time, timing, pace, port)
        if browser:
            open_browser(window.address)
        return window

    def _period(self, pace: float, rate: float) -> int:
        """Return the steps from one look to the next."""
        for name, value in (("pace", pace), ("rate", rate)):
            if not (np.isfinite(value) and value > 0.0):
                raise InputError(f"is {value}", element=name, remedy="Give a number above 0")
        return max(1, round(pace / (rate * self.dt)))

    @cached_property
    def _pictures(self) -> Pictures:
        """What draws, made with the first picture."""
        from humanoid_sim.imaging.film import Pictures  # who takes no picture doesn't wait for readers of meshes

        return Pictures(self.world)

    @property
    def soles(self) -> Mapping[str, DeformableSole]:
        """Deformable soles by the body that they are glued to, as they are after the last step."""
        return self.stepping.soles

    # -- the last step ---------------------------------------------------------------------------

    @property
    def acceleration(self) -> Array:
        """Mean acceleration of the last step, shape (nv,)."""
        return (self.v - self.v_before) / self.dt if self.stepping.has_stepped else np.zeros_like(self.v)

    @property
    def efforts(self) -> Array:
        """What the actuators and springs applied in the last step [N m or N], shape (nv,)."""
        return self.stepping.stepper.joints.efforts.copy() if self.stepping.has_stepped else np.zeros_like(self.v)

    @property
    def constraint_efforts(self) -> Array:
        """Efforts of joint limits and dry friction on the coordinates in the last step [N m or N], shape (nv,).

        Impulses of limits in impacts count as their mean over the step.
        """
        if not self.stepping.has_stepped:
            return np.zeros_like(self.v)
        thrusts = self.stepping.stepper.state.thrusts.copy()
        stage = self.stepping.impact_stage
        return thrusts if stage is None else thrusts + stage.thrusts / self.dt

    def joint_wrenches(self) -> Iterator[tuple[int, Array, Array]]:
        """External wrenches of the last step by joint: contacts, loops, applied wrenches, the mean of impacts.

        Yields:
            Joint, force [N] and moment about the world origin [N m], in the world; of joints where something acts.
        """
        state, stage = self.stepping.stepper.state, self.stepping.impact_stage
        total = state.reactions + state.wrenches if self.stepping.has_stepped else np.zeros_like(state.reactions)
        if self.stepping.has_stepped and stage is not None:
            total = total + stage.wrenches / self.dt
        for joint in np.flatnonzero(total.any(axis=1)).tolist():
            yield joint, total[joint, :3], total[joint, 3:]

    @property
    def impacts(self) -> Impacts:
        """Impacts at the start of the last step, where they are resolved apart from the contacts; else none."""
        stage = self.stepping.impact_stage
        return Impacts.none() if stage is None else stage.impacts

    # -- its contacts ----------------------------------------------------------------------------

    @property
    def contacts(self) -> Contacts:
        """Contacts of the last step."""
        m = self.stepping.contact_count
        if m == 0:
            return Contacts.none()
        vectors, scalars, numbers = np.empty((5, m, 3)), np.empty((2, m)), np.empty((3, m), dtype=np.int64)
        tell_contacts(self.stepping.stepper.arrays, vectors, scalars, numbers)
        state, body_a, body_b = numbers
        names = self._body_names
        return Contacts(
            position=vectors[0],
            normal=vectors[1],
            force=vectors[2],
            torque=vectors[3],
            gap=scalars[0],
            velocity=vectors[4],
            friction=scalars[1],
            state=state,
            bodies=[(names[a], names[b]) for a, b in zip(body_a.tolist(), body_b.tolist(), strict=True)],
        )

    @property
    def solver(self) -> ContactResult | None:
        """Outcome of the last step's contact solve, the worst of all groups; None where nothing touched.

        A step that isn't solved to the tolerance took the best iterate; its status says why it is no better.
        """
        m = self.stepping.contact_count
        if m == 0:
            return None
        groups, points = self.stepping.stepper.groups, self.stepping.stepper.points
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
    def residual(self) -> float:
        """Largest relative residual of the last step's contact solve; zero where nothing touched."""
        if self.stepping.contact_count == 0:
            return 0.0
        groups = self.stepping.stepper.groups
        return float(groups.residuals[: int(groups.counts[0]), 0].max())

    def take_unsolved(self) -> UnsolvedSteps:
        """Return the steps since the last call that were not solved to the tolerance, and begin anew."""
        noted = self.stepping.stepper.clock.unsolved
        count, worst, iterations = noted.tolist()
        noted[:] = 0.0
        return UnsolvedSteps(int(count), worst, int(iterations))

    @property
    def contact_problem(self) -> ContactProblem | None:
        """The contact problem of the last step, to study it or to hand it to another solver.

        None without contacts, and with an integrator of its own, which may solve several.

        Its free velocities include the shifts of gaps and impacts
        (:func:`~humanoid_sim.stepping.rows_and_forces.free_velocities`) and those to the middle of the step. Limits,
        dry friction and torques act on it with the forces that they had.
        """
        return None if self.stepping.contact_count == 0 else self.stepping.contact_problem()

    @property
    def delassus_methods(self) -> dict[str, str]:
        """By robot and body, the way by which its Delassus operator was last computed, one of ``DELASSUS_METHODS``.

        Where the forces of the last step still hold, none is computed. What nothing acted on is not in it, and nothing
        at all with Pinocchio's matrices.
        """
        bodies = self.world.bodies if self.stepping.has_stepped else []
        found = {body.owner: self.stepping.stepper.delassus_method(body.joint) for body in bodies}
        return {owner: method for owner, method in found.items() if method is not None}

    def _solver_status(self, residual: float) -> ContactStatus:
        """Return how the last step's contact solve ended with a residual."""
        stepping, settings = self.stepping, self.stepping.settings
        if residual <= settings.tolerance:
            return ContactStatus.CONVERGED
        law_residual = SOLVERS[stepping.method].law_residual if stepping.method in SOLVERS else None
        if law_residual is not None and stepping.contact_count <= _MAX_JUDGED_CONTACTS:
            problem = self.contact_problem
            if problem is not None:
                f = np.ascontiguousarray(stepping.stepper.points.forces[: stepping.contact_count]).reshape(-1)
                v = problem.W @ f + problem.v_free
                if law_residual(problem.W, problem.v_free, problem.mu, f, v) <= settings.tolerance:
                    return ContactStatus.APPROXIMATE
        groups = stepping.stepper.groups
        count = int(groups.counts[0])
        if settings.budget == np.inf:
            late = False
        elif find_solver(stepping.method) in COMPILED_SOLVERS:  # these end early for no other reason
            unsolved = groups.residuals[:count, 0] > settings.tolerance
            late = bool(np.any(unsolved & (groups.iterations[:count] < settings.max_iterations)))
        else:
            late = self.profile.last["contacts"] >= settings.budget
        return ContactStatus.TIME_LIMIT if late else ContactStatus.NOT_CONVERGED
