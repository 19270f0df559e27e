# SPDX-License-Identifier: Apache-2.0
"""What Lagrange's equations cost beside the recursive Newton-Euler algorithm, for arms of two to six joints.

Specification 004 section 4.6 (thesis section 2.1.2: "four joints took more than 4 s"). Planar arms turn about z,
spatial ones about z and y by turns; lengths, masses, central moments of inertia and gravity are symbols. Lagrange's
equations are derived by sympy without any simplification, and on this stack's expressions, which share what they have
in common.

Run with ``python examples/lagrange_cost.py lagrange_cost.png`` (half a minute); needs sympy and matplotlib.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_codegen.dynamics import newton_euler_body
from humanoid_codegen.dynamics.lagrange import lagrange
from humanoid_codegen.dynamics.mechanism import Body, BodyInertia, JointKind, Mechanism
from humanoid_codegen.dynamics.vector import IDENTITY
from humanoid_codegen.expression.function import Argument, Function, Result, count_operations
from humanoid_codegen.expression.graph import Expression, Graph

#: Axis of each joint in turn: z is 2, y is 1.
ARMS = {"planar": (2, 2), "spatial": (2, 1)}
JOINTS = range(2, 7)


@dataclass(frozen=True)
class Cost:
    """What one derivation took.

    Attributes:
        time: of the derivation [s].
        operations: of the equations that came out.
    """

    time: float
    operations: int


def arm(axes: Sequence[int], graph: Graph) -> Mechanism:
    """Return arm of equal kind links along x, the centre of mass of each on its line, with a symbol for each parameter.

    Args:
        axes: of each joint: 1 for y, 2 for z.
        graph: that the symbols belong to.
    """
    bodies = []
    for k, axis in enumerate(axes):
        m, c, ixx, iyy, izz = (graph.symbol(f"{name}{k}") for name in ("m", "c", "ixx", "iyy", "izz"))
        about_origin = (m, m * c, 0.0, 0.0, ixx, 0.0, iyy + m * c * c, 0.0, 0.0, izz + m * c * c)
        bodies.append(
            Body(
                name=f"joint{k}",
                parent=k - 1,
                kind=JointKind.REVOLUTE,
                rotation=IDENTITY,
                position=(graph.symbol(f"l{k}") if k else 0.0, 0.0, 0.0),
                axis=axis,
                sign=1.0,
                first_q=k,
                first_v=k,
                factor=1.0,
                offset=0.0,
                inertia=BodyInertia.from_parameters(about_origin),
                armature=(0.0,),
            )
        )
    names = tuple(body.name for body in bodies)
    n = len(bodies)
    return Mechanism("arm", tuple(bodies), (), n, n, names, names, names, (0.0, -graph.symbol("g"), 0.0))


def shared_lagrange(axes: Sequence[int]) -> int:
    """Return operations of Lagrange's equations on shared expressions."""
    return _operations(axes, lambda mechanism, q, v, a: lagrange(mechanism, q, v, a).efforts)


def newton_euler(axes: Sequence[int]) -> int:
    """Return operations of the recursive Newton-Euler algorithm."""
    return _operations(axes, newton_euler_body.inverse_dynamics)


def _operations(axes: Sequence[int], derive: Callable[..., Sequence[Expression]]) -> int:
    graph = Graph()
    mechanism = arm(axes, graph)
    q, v, a = (tuple(graph.symbol(f"{name}{k}") for k in range(mechanism.nv)) for name in ("q", "v", "a"))
    tau = tuple(derive(mechanism, q, v, a))
    arguments = tuple(Argument(name, (len(s),), s, "") for name, s in (("q", q), ("v", v), ("a", a)))
    counted = count_operations(Function("tau", arguments, (Result("tau", (len(tau),), tau, ""),), ""))
    return counted.arithmetic + counted.divisions + counted.negations + counted.trigonometric


def raw_lagrange(axes: Sequence[int]) -> int:
    """Return operations of Lagrange's equations as sympy writes them down, without simplification."""
    import sympy

    n = len(axes)
    q, v, a = (sympy.Matrix(sympy.symbols(f"{name}0:{n}")) for name in ("q", "v", "a"))
    rotation, origin, rate = sympy.eye(3), sympy.zeros(3, 1), sympy.zeros(3, 1)
    energy: sympy.Expr = sympy.Integer(0)
    for k, axis in enumerate(axes):
        m, c, ixx, iyy, izz, length = sympy.symbols(f"m{k} c{k} ixx{k} iyy{k} izz{k} l{k}")
        if k:
            origin = origin + rotation * sympy.Matrix([length, 0, 0])
        rate = rate + rotation[:, axis] * v[k]
        turn = sympy.rot_axis3(-q[k]) if axis == 2 else sympy.rot_axis2(-q[k])
        rotation = rotation * turn
        centre = origin + rotation * sympy.Matrix([c, 0, 0])
        velocity = centre.jacobian(q) * v
        own_rate = rotation.T * rate
        energy += m * velocity.dot(velocity) / 2 + (own_rate.T * sympy.diag(ixx, iyy, izz) * own_rate)[0] / 2
        energy -= m * sympy.Symbol("g") * centre[1]
    momenta = sympy.Matrix([energy]).jacobian(v)
    changes = momenta.jacobian(sympy.Matrix([*q, *v])) * sympy.Matrix([*v, *a])
    return int(sum(sympy.count_ops(changes[k] - energy.diff(q[k])) for k in range(n)))


METHODS: dict[str, Callable[[Sequence[int]], int]] = {
    "Lagrange, sympy": raw_lagrange,
    "Lagrange, shared": shared_lagrange,
    "Newton-Euler": newton_euler,
}


def measure(method: Callable[[Sequence[int]], int], axes: Sequence[int]) -> Cost:
    """Derive once and counts."""
    start = time.perf_counter()
    operations = method(axes)
    return Cost(time.perf_counter() - start, operations)


def main(picture: str) -> None:
    """Print the table, says how the costs grow and draws them."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, rows = plt.subplots(2, 2, figsize=(10, 7), sharex=True, layout="constrained")
    for column, (kind, pattern) in enumerate(ARMS.items()):
        axes = [pattern[k % 2] for k in range(max(JOINTS))]
        for method in METHODS.values():
            method(axes[:2])  # imports and first calls are not what is measured
        costs = {name: [measure(method, axes[:n]) for n in JOINTS] for name, method in METHODS.items()}
        print(f"{kind:8}" + "".join(f"{name:>28}" for name in METHODS))
        print(f"{'joints':8}" + f"{'operations':>18}{'time':>10}" * len(METHODS))
        for k, n in enumerate(JOINTS):
            print(f"{n:<8}" + "".join(f"{c[k].operations:18,}{c[k].time:9.3f}s" for c in costs.values()))
        for name, found in costs.items():
            operations = np.array([cost.operations for cost in found])
            power = np.log(operations[-1] / operations[-2]) / np.log(JOINTS[-1] / JOINTS[-2])
            factors = " ".join(f"{factor:.1f}" for factor in operations[1:] / operations[:-1])
            steps = " ".join(f"{step:,}" for step in np.diff(operations))
            print(f"  {name}: per added joint times {factors}, plus {steps}; in the end like n^{power:.1f}")
            rows[0, column].semilogy(JOINTS, operations, "o-", label=name)
            rows[1, column].semilogy(JOINTS, [cost.time for cost in found], "o-", label=name)
        rows[0, column].set(title=f"{kind} arm", ylabel="operations of the equations")
        rows[1, column].set(xlabel="joints", ylabel="time to derive [s]", xticks=list(JOINTS))
        for row in rows[:, column]:
            row.grid(alpha=0.3)
        rows[0, column].legend()
    figure.savefig(picture, dpi=120)
    print(f"written: {picture}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", nargs="?", default="lagrange_cost.png")
    main(parser.parse_args().picture)
