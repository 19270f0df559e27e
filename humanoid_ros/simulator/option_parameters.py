# SPDX-License-Identifier: Apache-2.0
"""The options of a simulation as parameters of its node, checked before they are taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rclpy.node import Node

from humanoid_model.errors import InputError
from humanoid_model.fields import descriptions
from humanoid_ros.node.parameter_declaration import declare_field, declare_text
from humanoid_sim.contact.solve import solver_names
from humanoid_sim.stepping.options import SimulationOptions, read_solver_file, scheme_names

FROM_THEN_ON = "Counts for scenes loaded from then on"
FIELDS = descriptions(SimulationOptions)
PARAMETERS = {**{name: name for name in FIELDS}, "method": "contact_solver"}
"""Parameters by the options that they are; they count for scenes that are loaded from then on."""
MORE = {"method": solver_names, "integrator": scheme_names}
"""Names that there are of what packages may add to."""


def declare_options(node: Node) -> None:
    """Declare the parameters with the simulation's own defaults."""
    for option, one in FIELDS.items():
        known = f": {', '.join(MORE[option]())}" if option in MORE else ""
        declare_field(node, PARAMETERS[option], one, f"{known}. {FROM_THEN_ON}")
    solver_file = "Start-up file with two keywords that name the contact solver; empty: contact_solver"
    declare_text(node, "solver_file", "", f"{solver_file}. {FROM_THEN_ON}")


def options_of(node: Node, changes: Mapping[str, Any] | None = None) -> SimulationOptions:
    """Return what the parameters say.

    Args:
        node: that has declared them.
        changes: values that parameters are about to take, by name.

    Raises:
        InputError: an option that can't be used, with what there is.
    """

    def value(name: str) -> Any:
        return changes[name] if changes and name in changes else node.get_parameter(name).value

    given = {option: one.read(value(PARAMETERS[option])) for option, one in FIELDS.items()}
    if value("solver_file"):
        given["method"] = read_solver_file(str(value("solver_file")))
    try:
        return SimulationOptions(**given)
    except InputError as error:
        if error.element != "method":
            raise
        raise InputError(error.problem, element=PARAMETERS["method"], remedy=error.remedy) from error
