# SPDX-License-Identifier: Apache-2.0
"""Walkers by name: the thesis' robots, parameter files of one's own, and robots from a URDF."""

from __future__ import annotations

import math
from pathlib import Path

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_model.yaml_node import read_yaml
from humanoid_planner.gait.models.bip import load_bip
from humanoid_planner.gait.models.rabbit import load_rabbit
from humanoid_planner.gait.models.sagittal_projection import project_to_sagittal_plane
from humanoid_planner.gait.specification.walker import BipWalker, RabbitWalker

MODELS = ("bip", "rabbit")
"""Planar bipeds that come with the stack."""


def load_walker(
    name_or_path: str | Path,
    friction: float = math.inf,
    toe_force_lower: float = 6.0,
    ankle_torque: bool = True,
) -> BipWalker | RabbitWalker:
    """A walker by the name of a planar model, by a file of its parameters, or by ``urdf:`` and a robot.

    Args:
        name_or_path: "bip", "rabbit", a .yaml file that says which of the two it is, or "urdf:hrp2" for the sagittal
            projection of a robot.
        friction: of the front foot in double support, kept by the controls.
        toe_force_lower: least force of the front toe, of robots with feet [N].
        ankle_torque: whether the ground turns RABBIT's stance shank (erratum ER-19).

    Raises:
        InputError: an unknown model, a file that can't be used, or bounds that make no sense.
    """
    for element, value in (("friction", friction), ("toe_force_lower", toe_force_lower)):
        least = value > 0.0 if element == "friction" else value >= 0.0 and math.isfinite(value)
        if not least:
            raise InputError(
                f"is {value}", element=element, remedy="Give a coefficient above 0, a force of 0 N or more"
            )
    name = str(name_or_path)
    if name.startswith("urdf:"):
        projection = project_to_sagittal_plane(load_robot(name.removeprefix("urdf:")))
        return BipWalker(projection.bip, friction, toe_force_lower)
    path = Path(name_or_path)
    source: Path | None
    if path.suffix in (".yaml", ".yml"):
        top = read_yaml(path, InputError)
        values = top.mapping()
        if "model" not in values:
            raise top.fail("'model' is missing", f"Give model: {' or '.join(MODELS)}")
        model, source = values["model"].string(MODELS), path
    elif name in MODELS:
        model, source = name, None
    else:
        raise InputError(
            f"unknown model '{name}'",
            element="model",
            remedy=f"Use one of {', '.join(MODELS)}, a .yaml file, or urdf: and a robot, such as urdf:hrp2",
        )
    if model == "bip":
        return BipWalker(load_bip(source), friction, toe_force_lower)
    return RabbitWalker(load_rabbit(source), ankle_torque, friction)
