# SPDX-License-Identifier: Apache-2.0
"""The thesis' script as a language of the model generator."""

from __future__ import annotations

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.expression.function import Module
from humanoid_model import InputError
from humanoid_studies.script.floating_root import with_floating_root
from humanoid_studies.script.generator import script_from_urdf


def write_script(module: Module, model: DynamicModel) -> dict[str, str]:
    """Return the script and the snippet of its variables by file name.

    Args:
        module: whose name the files get.
        model: of the robot; the script carries the numbers of its URDF.

    Raises:
        InputError: its parameters are symbolic.
    """
    if model.parameters.names:
        raise InputError(
            "the script carries the numbers of the URDF",
            element="symbolic_parameters",
            remedy="Leave them out, or generate python instead of script",
        )
    robot = model.robot
    added_base = robot.base_joint is not None and robot.parts.base_joint is not None
    text = with_floating_root(robot.description) if added_base else robot.urdf
    script, snippet = script_from_urdf(text, model.mechanism.gravity)
    return {f"{module.name}_script.py": script, f"{module.name}_variables.py": snippet}
