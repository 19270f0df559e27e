# SPDX-License-Identifier: Apache-2.0
"""The nonlinear program of a transcription put to IPOPT, which knows nothing of stages."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from humanoid_gait.program_solution import ProgramSolution, SolverOptions
from humanoid_gait.transcription import Transcription
from humanoid_model.arrays import Array


@dataclass(eq=False)
class IpoptProgram:
    """A transcription with IPOPT made for it."""

    transcription: Transcription
    options: SolverOptions = field(default_factory=SolverOptions)

    def __post_init__(self) -> None:
        """Make the solver."""
        t, own = self.transcription.expressions, self.options
        p = ca.MX(0, 1)
        nlp = ca.Function("nlp", [t.x, p], [t.cost, t.rows], ["x", "p"], ["f", "g"])
        settings: dict[str, Any] = {"print_time": False}
        dense = ca.densify(t.gradient.T)
        pull = ca.densify(t.sigma * t.gradient.T + ca.mtimes(t.jacobian.T, t.multipliers))
        weighted = ["x", "p", "lam_f", "lam_g"]
        factors = [t.x, p, t.sigma, t.multipliers]
        gradient = ca.Function("nlp_grad_f", [t.x, p], [t.cost, dense], ["x", "p"], ["f", "grad_f_x"])
        hessian = ca.Function("nlp_hess_l", factors, [ca.triu(t.hessian)], weighted, ["triu_hess_gamma_x_x"])
        jacobian = ca.Function("nlp_jac_g", [t.x, p], [t.rows, t.jacobian], ["x", "p"], ["g", "jac_g_x"])
        whole = ca.Function(
            "nlp_grad", factors, [t.cost, t.rows, pull, ca.MX(0, 1)], weighted,
            ["f", "g", "grad_gamma_x", "grad_gamma_p"],
        )  # fmt: skip
        # Names by which CasADi looks for derivatives before it makes its own.
        settings["cache"] = {made.name(): made for made in (gradient, jacobian, hessian, whole)}
        settings["ipopt"] = {
            "print_level": 0, "sb": "yes", "tol": own.tolerance, "max_iter": own.iterations,
            "mu_init": own.barrier, "mu_strategy": "adaptive" if own.barrier > 1e-3 else "monotone",
            "linear_solver": "mumps", "max_soc": 0,
        }  # fmt: skip
        if own.barrier <= 1e-3:
            pushes = ("bound_push", "mult_bound_push", "slack_bound_push", "bound_frac", "slack_bound_frac")
            settings["ipopt"] |= {"warm_start_init_point": "yes"}
            settings["ipopt"] |= {f"warm_start_{push}": 1e-8 for push in pushes}
        self._solver = ca.nlpsol("solver", "ipopt", nlp, settings)

    def solve(
        self, x: Array, multipliers: Array | None = None, bound_multipliers: Array | None = None
    ) -> ProgramSolution:
        """Solve from a start."""
        t = self.transcription
        given: dict[str, Any] = {}
        if multipliers is not None:
            given = {"lam_g0": multipliers, "lam_x0": bound_multipliers}
        begin = time.perf_counter()
        found = self._solver(x0=x, lbx=t.lower, ubx=t.upper, lbg=t.row_lower, ubg=t.row_upper, **given)
        seconds = time.perf_counter() - begin
        stats = self._solver.stats()
        return ProgramSolution(
            np.array(found["x"]).ravel(), np.array(found["lam_g"]).ravel(), np.array(found["lam_x"]).ravel(),
            float(found["f"]), bool(stats["success"]), str(stats["return_status"]), int(stats.get("iter_count", -1)),
            seconds,
        )  # fmt: skip
