# SPDX-License-Identifier: Apache-2.0
"""The dynamic model of a robot as functions made of expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from humanoid_codegen.algorithms import newton_euler_body
from humanoid_codegen.base_parameters import group_inertias
from humanoid_codegen.expression.function import Argument, Function, Result
from humanoid_codegen.expression.graph import Graph
from humanoid_codegen.mechanism import Mechanism
from humanoid_codegen.vector import Scalar
from humanoid_model import InputError, Robot, load_robot


class DynamicModel:
    """Functions of a robot's dynamics: built when asked for, then kept.

    Attributes:
        robot: the robot.
        mechanism: its bodies and links.
    """

    def __init__(
        self,
        robot: Robot | str | Path,
        *,
        floating_base: bool | None = None,
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        base_parameters: bool = True,
    ) -> None:
        self.robot = robot if isinstance(robot, Robot) else load_robot(robot, floating_base=floating_base)
        self.mechanism = Mechanism.from_robot(self.robot, gravity)
        self._grouped = group_inertias(self.mechanism) if base_parameters else self.mechanism
        self._functions: dict[str, Function] = {}

    @cached_property
    def builders(self) -> dict[str, Callable[[], Function]]:
        """Builder of each function by name."""
        return {
            "inverse_dynamics": self._inverse_dynamics,
            "bias": self._bias,
            "gravity": self._gravity,
        }

    def function(self, name: str) -> Function:
        """A function by name.

        Raises:
            InputError: there is no such function.
        """
        if name not in self.builders:
            raise InputError(f"unknown function '{name}'", remedy=f"Choose from {', '.join(self.builders)}")
        if name not in self._functions:
            self._functions[name] = self.builders[name]()
        return self._functions[name]

    def _inverse_dynamics(self) -> Function:
        graph = Graph()
        q, v, a = self._q(graph), self._v(graph), self._a(graph)
        tau = newton_euler_body.inverse_dynamics(self._grouped, q.entries, v.entries, a.entries)
        return Function("inverse_dynamics", (q, v, a), (self._efforts("tau", tau),), "Joint efforts of a motion.")

    def _bias(self) -> Function:
        graph = Graph()
        q, v = self._q(graph), self._v(graph)
        b = newton_euler_body.inverse_dynamics(self._grouped, q.entries, v.entries, [0.0] * self.mechanism.nv)
        return Function("bias", (q, v), (self._efforts("b", b),), "Coriolis, centrifugal and gravity efforts.")

    def _gravity(self) -> Function:
        q = self._q(Graph())
        rest = [0.0] * self.mechanism.nv
        g = newton_euler_body.inverse_dynamics(self._grouped, q.entries, rest, rest)
        return Function("gravity", (q,), (self._efforts("g", g),), "Efforts that hold the robot at rest.")

    def _q(self, graph: Graph) -> Argument:
        names = self.mechanism.q_names
        return Argument("q", (len(names),), tuple(graph.symbol(f"q_{name}") for name in names), "coordinates [rad, m]")

    def _v(self, graph: Graph) -> Argument:
        names = self.mechanism.v_names
        entries = tuple(graph.symbol(f"v_{name}") for name in names)
        return Argument("v", (len(names),), entries, "velocities [rad/s, m/s]")

    def _a(self, graph: Graph) -> Argument:
        names = self.mechanism.v_names
        entries = tuple(graph.symbol(f"a_{name}") for name in names)
        return Argument("a", (len(names),), entries, "accelerations [rad/s^2, m/s^2]")

    def _efforts(self, name: str, entries: list[Scalar]) -> Result:
        return Result(name, (self.mechanism.nv,), tuple(entries), "joint efforts [N m, N]")
