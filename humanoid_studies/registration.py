# SPDX-License-Identifier: Apache-2.0
"""The solvers of this package by name: of contacts (specification 000 §§5, 6, 9 and 10) and of programs (001)."""

from __future__ import annotations

from humanoid_planner.optimisation.solve import SOLVERS
from humanoid_sim.contact.solve import register_solver

_CONTACT = "humanoid_studies.contact"
_INSCRIBED = f"{_CONTACT}.complementarity:inscribed_residual"
_CIRCUMSCRIBED = f"{_CONTACT}.complementarity:circumscribed_residual"
_FRICTIONLESS = f"{_CONTACT}.complementarity:frictionless_residual"
_RADIAL = f"{_CONTACT}.gauss_seidel_projected:radial_residual"


def register() -> None:
    """Make them known to the simulator and to the planner; none is imported before it is used."""
    for name in ("jacobi", "projection", "fixed_point"):
        register_solver(name, f"{_CONTACT}.{name}:{name}", anytime=True)
    register_solver("nsgs_relative_change", f"{_CONTACT}.nsgs_relative_change:nsgs_relative_change")
    register_solver(
        "gauss_seidel_projected",
        f"{_CONTACT}.gauss_seidel_projected:gauss_seidel_projected",
        anytime=True,
        law_residual=_RADIAL,
    )
    for name, residual in (
        ("lemke_faceted", _INSCRIBED),
        ("lemke_circumscribed", _CIRCUMSCRIBED),
        ("lemke_frictionless", _FRICTIONLESS),
    ):
        register_solver(name, f"{_CONTACT}.complementarity:{name}", law_residual=residual)
    register_solver("qp_frictionless", f"{_CONTACT}.quadratic_program:qp_frictionless", law_residual=_FRICTIONLESS)
    register_solver(
        "staggered_projections",
        f"{_CONTACT}.quadratic_program:staggered_projections",
        anytime=True,
        law_residual=_INSCRIBED,
    )
    for name in ("pinocchio_pgs", "pinocchio_admm"):
        register_solver(name, f"{_CONTACT}.pinocchio_solvers:{name}")
    register_solver("siconos", f"{_CONTACT}.siconos_solver:siconos")
    SOLVERS["feasible_sqp"] = "humanoid_studies.feasible_sqp.feasible_sqp:solve_feasible_sqp"
