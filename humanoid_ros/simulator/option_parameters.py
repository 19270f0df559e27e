# SPDX-License-Identifier: Apache-2.0
"""The options of a simulation as parameters of its node, checked before they are taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rclpy.node import Node

from humanoid_model.errors import InputError
from humanoid_ros.node.parameter_declaration import declare_number, declare_text, declare_whole
from humanoid_sim.contact.solve import solver_names
from humanoid_sim.contact.solver_file import read_solver_file
from humanoid_sim.detection.backends import BACKENDS
from humanoid_sim.options import SimulationOptions
from humanoid_sim.stepping.impact_stage import IMPACTS
from humanoid_sim.stepping.operators import DELASSUS_METHODS
from humanoid_sim.stepping.schemes import scheme_names
from humanoid_sim.stepping.stepper import DYNAMICS

OPTIONS = (
    "contact_solver",
    "solver_file",
    "dynamics",
    "delassus",
    "integrator",
    "tolerance",
    "max_iterations",
    "time_budget",
    "impacts",
    "impact_speed",
    "detection",
)
"""Parameters that are options of a simulation; they count for scenes that are loaded from then on."""


def declare_options(node: Node) -> None:
    """Declare the parameters with the simulation's own defaults."""
    default = SimulationOptions()
    for name, value, description in (
        ("contact_solver", default.method, f"Contact solver: {', '.join(solver_names())}"),
        ("solver_file", "", "Start-up file with two keywords that name the contact solver; empty: contact_solver"),
        ("dynamics", default.dynamics, f"Where the dynamics come from: {', '.join(DYNAMICS)}"),
        ("delassus", default.delassus, f"Way to the Delassus operator: {', '.join(DELASSUS_METHODS)}"),
        ("integrator", "", f"Empty: the simulator's own step; or to compare {', '.join(scheme_names())}"),
        ("impacts", default.impacts, f"Where restitution acts: {', '.join(IMPACTS)}"),
        ("detection", default.detection, f"What finds the distances of pairs of solids: {', '.join(BACKENDS)}"),
    ):
        declare_text(node, name, value, f"{description}. Counts for scenes loaded from then on")
    scenes = "Counts for scenes loaded from then on"
    declare_number(
        node, "tolerance", default.tolerance, 1e-300, 1.0, f"Bound on the residual of a contact solve. {scenes}"
    )
    declare_whole(
        node, "max_iterations", default.max_iterations, 1, 10**9, f"Bound on the contact solver's iterations. {scenes}"
    )
    declare_number(
        node, "time_budget", 0.0, 0.0, 3600.0, f"Time for the contact solve of a step [s]; 0: no limit. {scenes}"
    )
    declare_number(
        node, "impact_speed", 0.0, 0.0, 100.0, f"Approach speed that bounces [m/s]; 0: by gravity and step. {scenes}"
    )


def options_of(node: Node, changes: Mapping[str, Any] | None = None) -> SimulationOptions:
    """Return what the parameters say.

    Args:
        node: that has declared them.
        changes: values that parameters are about to take, by name.

    Raises:
        InputError: an option that can't be used, with what there is.
    """
    value = {name: node.get_parameter(name).value for name in OPTIONS}
    value.update({name: new for name, new in (changes or {}).items() if name in OPTIONS})
    method = str(value["contact_solver"])
    if value["solver_file"]:
        method = read_solver_file(str(value["solver_file"]))
    try:
        return SimulationOptions(
            method,
            str(value["dynamics"]),
            str(value["delassus"]),
            float(value["tolerance"]),
            int(value["max_iterations"]),
            float(value["time_budget"]) or None,
            str(value["integrator"]) or None,
            str(value["impacts"]),
            float(value["impact_speed"]) or None,
            str(value["detection"]),
        )
    except InputError as error:
        if error.element != "method":
            raise
        raise InputError(error.problem, element="contact_solver", remedy=error.remedy) from error
