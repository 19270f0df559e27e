# SPDX-License-Identifier: Apache-2.0
"""What this package has by name: integrators, solvers of contacts (000 §§5 to 7, 9 and 10) and of programs (001).

Each function is an entry point, which imports only what it registers with: who looks for a language of the model
generator has no use for the simulator.
"""

from __future__ import annotations

from functools import partial
from pkgutil import resolve_name
from typing import Any, cast

_CONTACT = "humanoid_studies.contact"
_INSCRIBED = f"{_CONTACT}.complementarity:inscribed_residual"
_CIRCUMSCRIBED = f"{_CONTACT}.complementarity:circumscribed_residual"
_FRICTIONLESS = f"{_CONTACT}.complementarity:frictionless_residual"
_RADIAL = f"{_CONTACT}.gauss_seidel_projected:radial_residual"
INTEGRATORS = {
    "explicit_euler": "humanoid_studies.integration.explicit_euler:ExplicitEuler",
    "verlet": "humanoid_studies.integration.verlet:Verlet",
    "rk2": "humanoid_studies.integration.runge_kutta:RungeKutta2",
    "rk4": "humanoid_studies.integration.runge_kutta:RungeKutta4",
    "implicit_euler": "humanoid_studies.integration.theta_method:ImplicitEuler",
    "theta": "humanoid_studies.integration.theta_method:ThetaMethod",
    "moreau": "humanoid_studies.integration.moreau:Moreau",
    "jean": "humanoid_studies.integration.jean:Jean",
    "foerg": "humanoid_studies.integration.foerg:Foerg",
    "stewart_trinkle": "humanoid_studies.integration.stewart_trinkle:StewartTrinkle",
    "anitescu_potra_1997": "humanoid_studies.integration.anitescu_potra_1997:AnitescuPotra1997",
    "anitescu_potra_2002": "humanoid_studies.integration.anitescu_potra_2002:AnitescuPotra2002",
    "anitescu_hart": "humanoid_studies.integration.anitescu_hart:AnitescuHart",
    "potra_trapezoid": "humanoid_studies.integration.potra_trapezoid:PotraTrapezoid",
    "gavrea": "humanoid_studies.integration.gavrea:Gavrea",
    "studer_ggl": "humanoid_studies.integration.studer:StuderGgl",
    "studer_preconditioned": "humanoid_studies.integration.studer:StuderPreconditioned",
    "event_driven": "humanoid_studies.integration.event_driven:EventDriven",
    "extrapolated": "humanoid_studies.integration.extrapolated:Extrapolated",
    "penalty": "humanoid_studies.baselines.penalty:Penalty",
    "impulse": "humanoid_studies.baselines.impulse_method:ImpulseMethod",
}
"""Integrators by name, each with the module and the class; they are loaded when they are asked for."""


def register_integrators() -> None:
    """Make the integrators known to the simulator."""
    from humanoid_sim.stepping.options import register_scheme

    for name in INTEGRATORS:
        register_scheme(name, partial(_integrator, name))


def register_program_solvers() -> None:
    """Make the thesis' solver of programs known to the planner."""
    from humanoid_planner.optimisation.solve import SOLVERS

    SOLVERS["feasible_sqp"] = "humanoid_studies.feasible_sqp.feasible_sqp:solve_feasible_sqp"


def register_languages() -> None:
    """Make the thesis' script known to the model generator."""
    from humanoid_codegen.report import DOCUMENTS

    DOCUMENTS["script"] = _script


def register_contact_solvers() -> None:
    """Make the contact solvers known to the simulator; none is imported before it is used."""
    from humanoid_sim.contact.solve import register_solver

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


def _integrator(name: str) -> Any:
    return resolve_name("humanoid_studies.integration.catalogue:find_integrator")(name)


def _script(module: Any, model: Any) -> dict[str, str]:
    return cast(dict[str, str], resolve_name("humanoid_studies.script.document:write_script")(module, model))
