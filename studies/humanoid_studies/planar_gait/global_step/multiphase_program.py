# SPDX-License-Identifier: Apache-2.0
"""Several transcribed phases side by side in one nonlinear program, linked at their ends.

Unknowns are those of each phase, x_i, and shared ones z. With J_i the phases' criteria, g_i their constraints, and y
what links may depend on (durations, angles and rates at both ends of each phase, z), the program is

    minimise F(J_1, .., J_P, z)   subject to   g_i(x_i) within bounds,   c(y) within bounds.

Derivatives of the phases are those of :class:`.direct.Transcription`; what is added are the derivatives of F and c,
small and exact, and one column for each shared unknown that F divides by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi
import numpy as np

from humanoid_studies.planar_gait.solvers.direct import Transcription


class EndSymbols:
    """Symbols of one phase that links may use.

    Attributes:
        duration: T [s].
        start_q: (n,) angles at the beginning [rad].
        start_v: (n,) rates at the beginning [rad/s].
        end_q: (n,) angles at the end.
        end_v: (n,) rates at the end.
    """

    def __init__(self, index: int, n: int) -> None:
        self.duration = casadi.SX.sym(f"T{index}")
        self.start_q, self.start_v = casadi.SX.sym(f"q0_{index}", n), casadi.SX.sym(f"v0_{index}", n)
        self.end_q, self.end_v = casadi.SX.sym(f"q1_{index}", n), casadi.SX.sym(f"v1_{index}", n)

    @property
    def column(self) -> casadi.SX:
        """All of them in the order of the unknowns."""
        return casadi.vertcat(self.duration, self.start_q, self.start_v, self.end_q, self.end_v)


class MultiphaseProgram:
    """The program; every number but those in the links' own expressions is a parameter.

    Args:
        phases: transcriptions, in order.
        ends: symbols of each phase's ends.
        shared: column of the symbols of z.
        costs: (P,) symbols of the phases' criteria.
        objective: F of ``costs`` and ``shared``.
        links: c of ``ends`` and ``shared``.
        numbers: column of further symbols in links and objective, given at each solve.

    Attributes:
        offsets: (P + 1,) where each phase's unknowns begin, then the shared ones.
        rows: (P + 1,) where each phase's constraints begin, then the links.
        size: number of unknowns.
        ends_index: (len(y),) place of each entry of y among the unknowns.
        link_functions: c and its derivative by y, as a function of y and numbers.
    """

    def __init__(
        self,
        phases: Sequence[Transcription],
        ends: Sequence[EndSymbols],
        shared: casadi.SX,
        costs: casadi.SX,
        objective: casadi.SX,
        links: casadi.SX,
        numbers: casadi.SX,
    ) -> None:
        self.phases = tuple(phases)
        sizes = [1 + phase.points * phase.width for phase in phases]
        heights = [phase.nlp["g"].numel() for phase in phases]
        self.offsets = np.concatenate([[0], np.cumsum(sizes)])
        self.rows = np.concatenate([[0], np.cumsum(heights)])
        nz = shared.numel()
        self.size = int(self.offsets[-1]) + nz
        self.ends_index = np.concatenate(
            [
                np.concatenate(
                    [
                        [offset],
                        offset + 1 + np.arange(2 * phase.n),
                        offset + 1 + (phase.points - 1) * phase.width + np.arange(2 * phase.n),
                    ]
                )
                for phase, offset in zip(phases, self.offsets[:-1], strict=True)
            ]
            + [self.offsets[-1] + np.arange(nz)]
        ).astype(int)
        y = casadi.vertcat(*(end.column for end in ends), shared)
        m, P = links.numel(), len(phases)
        self.link_count = m
        self.link_functions = casadi.Function(
            "links", [y, numbers], [casadi.densify(links), casadi.densify(casadi.jacobian(links, y))]
        )
        self._assemble(y, shared, costs, objective, links, numbers, m, P, nz)

    def _assemble(
        self,
        y: casadi.SX,
        shared: casadi.SX,
        costs: casadi.SX,
        objective: casadi.SX,
        links: casadi.SX,
        numbers: casadi.SX,
        m: int,
        P: int,
        nz: int,
    ) -> None:
        phases, offsets, rows = self.phases, self.offsets, self.rows
        x = casadi.MX.sym("x", self.size)
        pars = [casadi.MX.sym(f"par{i}", phase.nlp["p"].numel()) for i, phase in enumerate(phases)]
        extra = casadi.MX.sym("numbers", numbers.numel())
        par = casadi.vertcat(*pars, extra)
        own = [x[int(offsets[i]) : int(offsets[i + 1])] for i in range(P)]
        z = x[int(offsets[-1]) :]
        select = casadi.DM.triplet(
            list(range(len(self.ends_index))),
            self.ends_index.tolist(),
            casadi.DM.ones(len(self.ends_index)),
            len(self.ends_index),
            self.size,
        )
        at = x[self.ends_index.tolist()]

        values = [casadi.Function(f"values{i}", [p.nlp["x"], p.nlp["p"]], [p.nlp["f"], p.nlp["g"]])
                  for i, p in enumerate(phases)]  # fmt: skip
        found = [f(xi, pi) for f, xi, pi in zip(values, own, pars, strict=True)]
        J = casadi.vertcat(*(item[0] for item in found))
        F = casadi.Function("objective", [costs, shared, numbers], [objective])
        C = casadi.Function("links", [y, numbers], [links])
        f = F(J, z, extra)
        g = casadi.vertcat(*(item[1] for item in found), C(at, extra))

        slopes = casadi.Function(
            "objective_slopes",
            [costs, shared, numbers],
            [
                casadi.densify(casadi.gradient(objective, costs)),
                casadi.densify(casadi.gradient(objective, shared)),
                casadi.densify(casadi.jacobian(casadi.gradient(objective, costs), shared)),
            ],
        )
        by_cost, by_shared, mixed = slopes(J, z, extra)
        gradients = [phase.derivatives["grad_f"](xi, pi)[1] for phase, xi, pi in zip(phases, own, pars, strict=True)]
        grad_f = casadi.vertcat(*(by_cost[i] * gradients[i] for i in range(P)), by_shared)

        blocks = [phase.derivatives["jac_g"](xi, pi)[1] for phase, xi, pi in zip(phases, own, pars, strict=True)]
        upper = casadi.horzcat(casadi.diagcat(*blocks), casadi.MX(int(rows[-1]), nz))
        slope = casadi.Function("link_slopes", [y, numbers], [casadi.jacobian(links, y)])
        jac_g = casadi.vertcat(upper, casadi.mtimes(slope(at, extra), select))

        lam_f, lam_g = casadi.MX.sym("lam_f"), casadi.MX.sym("lam_g", int(rows[-1]) + m)
        second = []
        for i, phase in enumerate(phases):
            lam = lam_g[int(rows[i]) : int(rows[i + 1])]
            second.append(phase.derivatives["hess_lag"](own[i], pars[i], lam_f * by_cost[i], lam))
        beside = casadi.vertcat(*(casadi.mtimes(gradients[i], mixed[i, :]) for i in range(P)))
        if not bool(casadi.jacobian(casadi.gradient(objective, costs), shared).nnz()):
            beside = casadi.MX(int(offsets[-1]), nz)
        weight, sigma = casadi.SX.sym("weight", m), casadi.SX.sym("sigma")
        curvature = casadi.Function(
            "link_curvature",
            [y, costs, weight, sigma, numbers],
            [casadi.triu(casadi.hessian(casadi.dot(weight, links) + sigma * objective, y)[0])],
        )
        around = curvature(at, J, lam_g[int(rows[-1]) :], lam_f, extra)
        hess = casadi.vertcat(
            casadi.horzcat(casadi.diagcat(*second), lam_f * beside), casadi.MX(nz, self.size)
        ) + casadi.mtimes(casadi.mtimes(select.T, around), select)

        self.nlp: dict[str, Any] = {"x": x, "p": par, "f": f, "g": g}
        self.derivatives: dict[str, Any] = {
            "grad_f": casadi.Function("nlp_grad_f", [x, par], [f, grad_f], ["x", "p"], ["f", "grad_f_x"]),
            "jac_g": casadi.Function("nlp_jac_g", [x, par], [g, jac_g], ["x", "p"], ["g", "jac_g_x"]),
            "hess_lag": casadi.Function(
                "nlp_hess_l", [x, par, lam_f, lam_g], [hess], ["x", "p", "lam_f", "lam_g"], ["hess_gamma_x_x"]
            ),
        }
        self.costs_function = casadi.Function("costs", [x, par], [J])
        self._watcher = _Watcher(self.size, int(rows[-1]) + m, par.numel())
        self._solvers: dict[tuple[Any, ...], Any] = {}

    def solver(self, settings: dict[str, Any], watch: Any) -> Any:
        """IPOPT on this program, told to ``watch`` after each iteration; kept for the next call."""
        key = tuple(sorted(settings.items()))
        if key not in self._solvers:
            options: dict[str, Any] = {
                "ipopt": {"print_level": 0, "sb": "yes", **settings},
                "print_time": False,
                "calc_lam_p": False,
                "iteration_callback": self._watcher,
                **self.derivatives,
            }
            self._solvers[key] = casadi.nlpsol("gait", "ipopt", self.nlp, options)
        self._watcher.watch = watch
        return self._solvers[key]


class _Watcher(casadi.Callback):
    """Passes IPOPT's iterates on; stops it when told so."""

    def __init__(self, nx: int, ng: int, np_: int) -> None:
        casadi.Callback.__init__(self)
        self.sizes = {"x": nx, "f": 1, "g": ng, "lam_x": nx, "lam_g": ng, "lam_p": np_}
        self.watch: Any = None
        self.construct("watch", {})

    def get_n_in(self) -> int:
        return int(casadi.nlpsol_n_out())

    def get_n_out(self) -> int:
        return 1

    def get_name_in(self, i: int) -> str:
        return str(casadi.nlpsol_out(i))

    def get_name_out(self, i: int) -> str:
        return "ret"

    def get_sparsity_in(self, i: int) -> casadi.Sparsity:
        size = self.sizes.get(str(casadi.nlpsol_out(i)), 0)
        return casadi.Sparsity.dense(size) if size else casadi.Sparsity(0, 0)

    def eval(self, arguments: Sequence[casadi.DM]) -> list[float]:
        if self.watch is None:
            return [0.0]
        values = dict(zip((casadi.nlpsol_out(i) for i in range(casadi.nlpsol_n_out())), arguments, strict=True))
        return [1.0 if self.watch(float(values["f"]), np.array(values["g"]).ravel()) else 0.0]
