# SPDX-License-Identifier: Apache-2.0
"""The dynamic model of a robot as functions made of expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from humanoid_codegen.dynamics import newton_euler_body
from humanoid_codegen.dynamics.constrained_dynamics import closures, constrained_accelerations
from humanoid_codegen.dynamics.direct_dynamics import (
    SingularMatrixError,
    direct_dynamics,
    factorize,
    inverse,
    mass_matrix,
    solve,
)
from humanoid_codegen.dynamics.forward_kinematics import (
    Placement,
    body_placements,
    centre_of_mass,
    link_placement,
    loads_in_body_axes,
    point_jacobian,
)
from humanoid_codegen.dynamics.inertial_parameters import (
    InertialParameters,
    find_base_set,
    group_inertias,
    parameters_of_bodies,
    parameters_of_links,
    random_states,
    regressor,
    with_body_parameters,
    with_link_parameters,
)
from humanoid_codegen.dynamics.joint_transform import coordinate_rates
from humanoid_codegen.dynamics.mechanism import JointKind, LinkFrame, Mechanism
from humanoid_codegen.dynamics.newton_euler_body import (
    body_velocities,
    kinetic_energies,
    potential_energies,
    rotor_energy,
)
from humanoid_codegen.dynamics.vector import Scalar, Vector
from humanoid_codegen.expression.differentiate import directional_derivatives, substitute
from humanoid_codegen.expression.function import Argument, Function, Result, count_operations, evaluate
from humanoid_codegen.expression.graph import Expression, Graph
from humanoid_model import InputError, Robot, load_robot
from humanoid_model.checks import check_array
from humanoid_model.loop_closure import LoopClosure


class MasslessJointError(InputError):
    """A joint moves no mass: the inertia matrix is singular everywhere."""


class DynamicModel:
    """Functions of a robot's dynamics: built when asked for, then kept.

    Arguments and results are listed in ``docs/codegen.md``. Coordinates are those of the robot's Pinocchio model,
    less the joints that follow others.

    Attributes:
        robot: the robot.
        mechanism: its bodies and links, their inertias those of the URDF.
        parameters: entries of the argument ``parameters``; empty unless the parameters are symbolic.
        links: the links of kinematics and jacobians, in order.
        grouped: whether inertial parameters are grouped.
    """

    def __init__(
        self,
        robot: Robot | str | Path,
        *,
        floating_base: bool | None = None,
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        base_parameters: bool = True,
        symbolic_parameters: bool = False,
        wrench_links: Sequence[str] = (),
        loops: Sequence[LoopClosure] = (),
    ) -> None:
        """Read the robot; no function is built yet.

        Args:
            robot: a robot, the name of one that comes with the stack, the path of a URDF, or its text.
            floating_base: True puts the root on a free-flyer, False fixes it; None: what the robot's files say.
            gravity: acceleration of gravity in the world frame [m/s^2], shape (3,).
            base_parameters: groups inertial parameters: fewer operations, same results.
            symbolic_parameters: makes the inertial parameters an argument of the functions.
            wrench_links: links on which a known wrench may act.
            loops: cuts of closed loops.

        Raises:
            RobotError: the robot can't be read.
            InputError: gravity isn't three finite numbers; an unknown link; loop closures that aren't independent.
        """
        if not isinstance(robot, Robot):
            robot = load_robot(robot, floating_base=floating_base, geometry=False)
        self.robot = robot
        check_array(gravity, "gravity")
        self.mechanism = Mechanism.from_robot(self.robot, gravity)
        self.links = self.mechanism.links
        self.grouped = base_parameters
        self._symbolic = symbolic_parameters
        self._dynamics_mechanism = group_inertias(self.mechanism) if base_parameters else self.mechanism
        self.parameters = InertialParameters((), ())
        if symbolic_parameters:
            listed = parameters_of_bodies if base_parameters else parameters_of_links
            self.parameters = listed(self._dynamics_mechanism)
        for name in wrench_links:
            if list(wrench_links).count(name) > 1:
                raise InputError(f"link '{name}' is named twice", element="wrench_links", remedy="Name each link once")
        self._wrench_links = tuple(self._link(name, "wrench_links") for name in wrench_links)
        for loop in loops:
            for name in (loop.link_a, loop.link_b):
                self._link(name, f"loop '{loop.name}'")
        self._loops = tuple(loops)
        self._functions: dict[str, Function] = {}
        if loops:
            self._check_loops()

    @cached_property
    def builders(self) -> dict[str, Callable[[], Function]]:
        """Builder of each function by name."""
        builders = {
            "inverse_dynamics": self._inverse_dynamics,
            "direct_dynamics": self._direct_dynamics,
            "mass_matrix": self._mass_matrix,
            "bias": self._bias,
            "gravity": self._gravity,
            "kinematics": self._kinematics,
            "jacobians": self._jacobians,
            "energies": self._energies,
            "regressor": self._regressor,
            "inverse_dynamics_derivatives": self._inverse_dynamics_derivatives,
            "direct_dynamics_derivatives": self._direct_dynamics_derivatives,
        }
        if self._loops:
            builders["loop_closure"] = self._loop_closure
            builders["constrained_dynamics"] = self._constrained_dynamics
        return builders

    def function(self, name: str) -> Function:
        """Return a function by name.

        Raises:
            MasslessJointError: accelerations are asked for, and a joint moves no mass.
            InputError: there is no such function, or not with the chosen parameters.
        """
        if name not in self.builders:
            remedy = f"Choose from {', '.join(self.builders)}"
            if name in ("loop_closure", "constrained_dynamics"):
                remedy = "Give the cuts of the robot's closed loops"
            raise InputError(f"no function '{name}'", element=f"robot '{self.robot.name}'", remedy=remedy)
        if name not in self._functions:
            try:
                self._functions[name] = self.builders[name]()
            except SingularMatrixError as problem:
                raise MasslessJointError(
                    f"function '{name}': joint '{self.mechanism.v_names[problem.row]}' moves no mass, so that efforts "
                    "give no definite acceleration",
                    source=self.robot.description.source,
                    remedy="Give the links that it moves an inertia, the joint a rotor inertia, or make it fixed",
                ) from None
        return self._functions[name]

    # Functions -----------------------------------------------------------------------------------------------------

    def _inverse_dynamics(self) -> Function:
        graph = Graph()
        q, v, a = self._q(graph), self._v(graph), self._a(graph)
        mechanism, parameters = self._dynamics(graph)
        wrenches, loads = self._wrenches(graph, q)
        tau = newton_euler_body.inverse_dynamics(mechanism, q.entries, v.entries, a.entries, loads)
        return Function(
            "inverse_dynamics",
            (q, v, a, *wrenches, *parameters),
            (self._efforts("tau", tau),),
            "Joint efforts that a motion asks for, by the recursive Newton-Euler algorithm.",
        )

    def _bias(self) -> Function:
        graph = Graph()
        q, v = self._q(graph), self._v(graph)
        mechanism, parameters = self._dynamics(graph)
        b = newton_euler_body.inverse_dynamics(mechanism, q.entries, v.entries, [0.0] * mechanism.nv)
        return Function(
            "bias",
            (q, v, *parameters),
            (self._efforts("b", b),),
            "Efforts of Coriolis and centrifugal accelerations and of gravity: C(q, v) v + g(q).",
        )

    def _gravity(self) -> Function:
        graph = Graph()
        q = self._q(graph)
        mechanism, parameters = self._dynamics(graph)
        rest = [0.0] * mechanism.nv
        g = newton_euler_body.inverse_dynamics(mechanism, q.entries, rest, rest)
        return Function("gravity", (q, *parameters), (self._efforts("g", g),), "Efforts that hold the robot at rest.")

    def _mass_matrix(self) -> Function:
        graph = Graph()
        q = self._q(graph)
        mechanism, parameters = self._dynamics(graph)
        M = mass_matrix(mechanism, q.entries)
        result = self._matrix("M", M, "joint-space inertia matrix [kg m^2, kg m, kg]")
        return Function(
            "mass_matrix", (q, *parameters), (result,), "Inertia matrix, by the composite-rigid-body algorithm."
        )

    def _direct_dynamics(self) -> Function:
        candidates = []
        for through_matrix in (True, False):
            graph = Graph()
            q, v, tau = self._q(graph), self._v(graph), self._tau(graph)
            wrenches, loads = self._wrenches(graph, q)
            mechanism, parameters = self._dynamics(graph)
            free = self._free_efforts(mechanism, q, v, tau, loads)
            if through_matrix:
                a = solve(factorize(mass_matrix(mechanism, q.entries)), free)
                how = "by the inertia matrix and its sparse factors"
            else:
                try:
                    a = direct_dynamics(mechanism, q.entries, free)
                except InputError:  # joints that follow others
                    continue
                how = "by the articulated-body algorithm"
            candidates.append(
                Function(
                    "direct_dynamics",
                    (q, v, tau, *wrenches, *parameters),
                    (self._rates("a", a),),
                    f"Accelerations that efforts give, {how}.",
                )
            )
        return min(candidates, key=lambda function: count_operations(function).arithmetic)

    def _kinematics(self) -> Function:
        graph = Graph()
        q = self._q(graph)
        mechanism, parameters = self._dynamics(graph)
        bodies = body_placements(mechanism, q.entries)
        placements = [link_placement(link, bodies) for link in self.links]
        rotations = tuple(entry for placement in placements for row in placement.rotation for entry in row)
        positions = tuple(entry for placement in placements for entry in placement.position)
        count = len(placements)
        return Function(
            "kinematics",
            (q, *parameters),
            (
                Result("R", (count, 3, 3), rotations, "rotation from each link's axes to the world's"),
                Result("p", (count, 3), positions, "origin of each link in the world [m]"),
                Result("com", (3,), centre_of_mass(mechanism, bodies), "centre of mass of what moves, in world [m]"),
            ),
            "Where the links and the centre of mass are.",
        )

    def _jacobians(self) -> Function:
        graph = Graph()
        q = self._q(graph)
        bodies = body_placements(self.mechanism, q.entries)
        entries: list[Scalar] = []
        for link in self.links:
            J = point_jacobian(self.mechanism, bodies, link.body, link_placement(link, bodies).position)
            entries += [entry for row in J for entry in row]
        shape = (len(self.links), 6, self.mechanism.nv)
        description = "of each link: linear velocity of the origin [m/s] and angular velocity [rad/s], world axes, by v"
        return Function(
            "jacobians",
            (q,),
            (Result("J", shape, tuple(entries), description),),
            "How joint velocities move the links.",
        )

    def _energies(self) -> Function:
        graph = Graph()
        q, v = self._q(graph), self._v(graph)
        mechanism, parameters = self._dynamics_of_links(graph, "energies")
        bodies = body_placements(mechanism, q.entries)
        kinetic = kinetic_energies(mechanism, body_velocities(mechanism, q.entries, v.entries))
        potential = potential_energies(mechanism, bodies)
        total_kinetic: Scalar = rotor_energy(mechanism, v.entries)
        total_potential: Scalar = 0.0
        for own, height in zip(kinetic, potential, strict=True):
            total_kinetic = total_kinetic + own
            total_potential = total_potential + height
        count = len(mechanism.links)
        return Function(
            "energies",
            (q, v, *parameters),
            (
                Result("kinetic", (count,), tuple(kinetic), "kinetic energy of each link [J]"),
                Result("potential", (count,), tuple(potential), "potential energy of each link [J]"),
                Result("kinetic_energy", (), (total_kinetic,), "of the whole robot, rotors included [J]"),
                Result("potential_energy", (), (total_potential,), "of the whole robot [J]"),
            ),
            "Kinetic and potential energies; the potential is zero at the world's origin.",
        )

    def _regressor(self) -> Function:
        graph = Graph()
        q, v, a = self._q(graph), self._v(graph), self._a(graph)
        Y = regressor(self.mechanism, q.entries, v.entries, a.entries)
        full = parameters_of_links(self.mechanism)
        names, values = full.names, np.array(full.values)
        what = "inertial parameters of the links, ten each"
        if self.grouped and names:
            flat = tuple(entry for row in Y for entry in row)
            whole = Function("regressor", (q, v, a), (Result("Y", (len(Y), len(names)), flat, ""),), "")
            samples = max(20, 4 * len(names) // max(1, self.mechanism.nv) + 10)
            states = random_states(self.mechanism.nq, self.mechanism.nv, *self._circles(), samples)
            computed = evaluate(whole, states)[0]
            stacked = np.array([np.broadcast_to(entry, samples) for entry in computed])
            stacked = stacked.reshape(len(Y), len(names), samples).transpose(0, 2, 1).reshape(-1, len(names))
            base = find_base_set(stacked)
            Y = [[row[k] for k in base.columns] for row in Y]
            values = base.combination @ values
            what = "base inertial parameters: " + "; ".join(
                _combination(names, row, k) for k, row in zip(base.columns, base.combination, strict=True)
            )
        count = len(values)
        return Function(
            "regressor",
            (q, v, a),
            (
                Result("Y", (self.mechanism.nv, count), tuple(x for row in Y for x in row), "efforts by parameter"),
                Result("parameters", (count,), tuple(float(value) for value in values), what),
            ),
            "Efforts as a linear function of inertial parameters: tau = Y parameters (rotors left out).",
        )

    def _inverse_dynamics_derivatives(self) -> Function:
        graph = Graph()
        q, v, a = self._q(graph), self._v(graph), self._a(graph)
        mechanism, parameters = self._dynamics(graph)
        wrenches, loads = self._wrenches(graph, q)
        by_q, by_v = self._effort_derivatives(mechanism, q, v, a.entries, loads)
        return Function(
            "inverse_dynamics_derivatives",
            (q, v, a, *wrenches, *parameters),
            (
                self._matrix("dtau_dq", by_q, "derivative of the efforts by displacements along the coordinates"),
                self._matrix("dtau_dv", by_v, "derivative of the efforts by the velocities"),
            ),
            "Derivatives of inverse dynamics; the one by accelerations is the inertia matrix.",
        )

    def _direct_dynamics_derivatives(self) -> Function:
        graph = Graph()
        q, v, tau = self._q(graph), self._v(graph), self._tau(graph)
        mechanism, parameters = self._dynamics(graph)
        wrenches, loads = self._wrenches(graph, q)
        placeholders = self._a(graph).entries
        by_q, by_v = self._effort_derivatives(mechanism, q, v, placeholders, loads)
        factor = factorize(mass_matrix(mechanism, q.entries))
        a = solve(factor, self._free_efforts(mechanism, q, v, tau, loads))
        replacements = dict(zip((symbol.index for symbol in placeholders), a, strict=True))
        results = []
        for name, rows, what in (
            ("da_dq", by_q, "by displacements along the velocity coordinates"),
            ("da_dv", by_v, "by the velocities"),
        ):
            actual = [substitute(row, replacements) for row in rows]
            columns = [solve(factor, [-entry for entry in column]) for column in zip(*actual, strict=True)]
            transposed = [list(row) for row in zip(*columns, strict=True)]
            results.append(self._matrix(name, transposed, f"derivative of the accelerations {what}"))
        results.append(self._matrix("da_dtau", inverse(factor), "inverse of the inertia matrix"))
        return Function(
            "direct_dynamics_derivatives",
            (q, v, tau, *wrenches, *parameters),
            tuple(results),
            "Derivatives of direct dynamics.",
        )

    def _loop_closure(self) -> Function:
        graph = Graph()
        q, v = self._q(graph), self._v(graph)
        residuals, J, drift = self._cuts(q, v)
        count = len(residuals)
        return Function(
            "loop_closure",
            (q, v),
            (
                Result("residual", (count,), tuple(residuals), "how far the cuts are open [m, rad]"),
                Result("J", (count, self.mechanism.nv), tuple(x for row in J for x in row), "Jacobian of the residual"),
                Result("drift", (count,), tuple(drift), "second derivative of the residual at constant v"),
            ),
            "What holds at the cuts of closed loops.",
        )

    def _constrained_dynamics(self) -> Function:
        graph = Graph()
        q, v, tau = self._q(graph), self._v(graph), self._tau(graph)
        mechanism, parameters = self._dynamics(graph)
        wrenches, loads = self._wrenches(graph, q)
        free = self._free_efforts(mechanism, q, v, tau, loads)
        _, J, drift = self._cuts(q, v)
        a, multipliers = constrained_accelerations(mass_matrix(mechanism, q.entries), free, J, drift)
        return Function(
            "constrained_dynamics",
            (q, v, tau, *wrenches, *parameters),
            (
                self._rates("a", a),
                Result("multipliers", (len(multipliers),), tuple(multipliers), "efforts at the cuts [N, N m]"),
            ),
            "Accelerations with the loops closed, and the efforts that close them: M a + b = tau + J^T multipliers.",
        )

    # Parts of functions --------------------------------------------------------------------------------------------

    def _dynamics(self, graph: Graph) -> tuple[Mechanism, tuple[Argument, ...]]:
        """Return the mechanism as dynamics sees it, and the argument with its parameters if they are symbolic."""
        if not self._symbolic:
            return self._dynamics_mechanism, ()
        argument = self._parameter_argument(graph)
        replace = with_body_parameters if self.grouped else with_link_parameters
        return replace(self._dynamics_mechanism, list(argument.entries)), (argument,)

    def _dynamics_of_links(self, graph: Graph, function: str) -> tuple[Mechanism, tuple[Argument, ...]]:
        """Return the mechanism with the links' own inertias."""
        if not self._symbolic:
            return self.mechanism, ()
        if self.grouped:
            raise InputError(
                f"function '{function}' needs the parameters of each link, and base parameters are asked for",
                remedy="Leave out the function, the base parameters or the symbolic parameters",
            )
        argument = self._parameter_argument(graph)
        return with_link_parameters(self.mechanism, list(argument.entries)), (argument,)

    def _parameter_argument(self, graph: Graph) -> Argument:
        names = self.parameters.names
        entries = tuple(graph.symbol(f"parameter_{name}") for name in names)
        what = "base inertial parameters of the bodies" if self.grouped else "inertial parameters of the links"
        return Argument("parameters", (len(names),), entries, f"{what} [kg, kg m, kg m^2]")

    def _wrenches(
        self, graph: Graph, q: Argument
    ) -> tuple[tuple[Argument, ...], dict[int, tuple[Vector, Vector]] | None]:
        if not self._wrench_links:
            return (), None
        entries = tuple(
            graph.symbol(f"wrench_{link.name}_{part}")
            for link in self._wrench_links
            for part in ("fx", "fy", "fz", "mx", "my", "mz")
        )
        names = ", ".join(link.name for link in self._wrench_links)
        what = f"force [N] and moment about the link's origin [N m] exerted on {names}, world axes"
        argument = Argument("wrenches", (len(self._wrench_links), 6), entries, what)
        return (argument,), loads_in_body_axes(self._wrench_links, entries, self._placements(q))

    def _placements(self, q: Argument) -> list[Placement]:
        return body_placements(self.mechanism, q.entries)

    def _free_efforts(
        self,
        mechanism: Mechanism,
        q: Argument,
        v: Argument,
        tau: Argument,
        loads: dict[int, tuple[Vector, Vector]] | None,
    ) -> list[Scalar]:
        b = newton_euler_body.inverse_dynamics(mechanism, q.entries, v.entries, [0.0] * mechanism.nv, loads)
        return [effort - bias for effort, bias in zip(tau.entries, b, strict=True)]

    def _effort_derivatives(
        self,
        mechanism: Mechanism,
        q: Argument,
        v: Argument,
        a: Sequence[Scalar],
        loads: dict[int, tuple[Vector, Vector]] | None,
    ) -> tuple[list[list[Scalar]], list[list[Scalar]]]:
        tau = newton_euler_body.inverse_dynamics(mechanism, q.entries, v.entries, a, loads)
        nv = mechanism.nv
        rates = coordinate_rates(mechanism, q.entries)
        seeds: dict[int, dict[int, Scalar]] = {
            symbol.index: rate for symbol, rate in zip(q.entries, rates, strict=True)
        }
        seeds |= {symbol.index: {nv + k: 1.0} for k, symbol in enumerate(v.entries)}
        rows = directional_derivatives(tau, seeds, 2 * nv)
        return [row[:nv] for row in rows], [row[nv:] for row in rows]

    def _cuts(self, q: Argument, v: Argument) -> tuple[list[Scalar], list[list[Scalar]], list[Scalar]]:
        return closures(self.mechanism, q.entries, v.entries, self._placements(q), self._loops)

    def _check_loops(self) -> None:
        nq, nv = self.mechanism.nq, self.mechanism.nv
        q, _, _ = random_states(nq, nv, *self._circles(), 3)
        closure = self.function("loop_closure")
        values = evaluate(closure, (q, np.zeros((nv, 3))))[1]
        rows = len(closure.results[0].entries)
        matrices = np.array([np.broadcast_to(value, 3) for value in values]).reshape(rows, nv, 3)
        rank = max(int(np.linalg.matrix_rank(matrices[:, :, k], tol=1e-9)) for k in range(3))
        if rank < rows:
            raise InputError(
                f"the loops hold {rows} directions, of which {rank} are independent",
                element=", ".join(f"loop '{loop.name}'" for loop in self._loops),
                remedy="Leave out rows that hold by themselves: in a planar mechanism those across its plane",
            )

    def _circles(self) -> tuple[list[int], list[int]]:
        """First coordinates of unit quaternions, and of pairs of cosine and sine."""
        quaternions = []
        circles = []
        for body in self.mechanism.bodies:
            if body.kind is JointKind.FREE_FLYER:
                quaternions.append(body.first_q + 3)
            elif body.kind is JointKind.SPHERICAL:
                quaternions.append(body.first_q)
            elif body.kind is JointKind.PLANAR:
                circles.append(body.first_q + 2)
        return quaternions, circles

    def _link(self, name: str, where: str) -> LinkFrame:
        for link in self.mechanism.links:
            if link.name == name:
                return link
        known = [link.name for link in self.mechanism.links]
        shown = ", ".join(known[:10]) + (" ..." if len(known) > 10 else "")
        raise InputError(f"no link is named '{name}'", element=where, remedy=f"Links are {shown}")

    # Arguments and results -----------------------------------------------------------------------------------------

    def _q(self, graph: Graph) -> Argument:
        return _argument(graph, "q", self.mechanism.q_names, "coordinates [rad, m]")

    def _v(self, graph: Graph) -> Argument:
        return _argument(graph, "v", self.mechanism.v_names, "velocities [rad/s, m/s]")

    def _a(self, graph: Graph) -> Argument:
        return _argument(graph, "a", self.mechanism.v_names, "accelerations [rad/s^2, m/s^2]")

    def _tau(self, graph: Graph) -> Argument:
        return _argument(graph, "tau", self.mechanism.v_names, "joint efforts [N m, N]")

    def _efforts(self, name: str, entries: Sequence[Scalar]) -> Result:
        return Result(name, (self.mechanism.nv,), tuple(entries), "joint efforts [N m, N]")

    def _rates(self, name: str, entries: Sequence[Scalar]) -> Result:
        return Result(name, (self.mechanism.nv,), tuple(entries), "accelerations [rad/s^2, m/s^2]")

    def _matrix(self, name: str, rows: Sequence[Sequence[Scalar]], description: str) -> Result:
        nv = self.mechanism.nv
        return Result(name, (nv, nv), tuple(entry for row in rows for entry in row), description)


def _argument(graph: Graph, name: str, entry_names: Sequence[str], description: str) -> Argument:
    entries: tuple[Expression, ...] = tuple(graph.symbol(f"{name}_{entry}") for entry in entry_names)
    return Argument(name, (len(entries),), entries, description)


def _combination(names: Sequence[str], row: np.ndarray, own: int) -> str:
    """Return a base parameter as a sum, its own first."""
    others = [k for k in np.flatnonzero(row) if k != own]
    text = names[own]
    for k in others:
        factor = "" if abs(abs(row[k]) - 1.0) < 1e-9 else f"{abs(row[k]):.6g} "
        text += f" {'-' if row[k] < 0 else '+'} {factor}{names[k]}"
    return text
