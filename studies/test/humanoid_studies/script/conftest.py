# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from humanoid_studies.script import script_from_urdf

URDF = Path(__file__).parents[4] / "urdf"

#: Gravity of the specification's oracles.
DOWN_Y = (0.0, -9.81, 0.0)


class Script:
    """A generated script, run as a module of its own."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.module: dict = {"__name__": "generated"}
        exec(compile(source, "generated", "exec"), self.module)
        self.joints = self.module["JOINTS"]

    def values(self, motion, **more) -> dict:
        """``values_robot`` for rows [q, qd, qdd], in the order of ``joints`` or by joint name."""
        if isinstance(motion, Mapping):
            motion = [motion[joint] for joint in self.joints]
        return self.module["dynamic_model"](motion, **more)

    def efforts(self, motion, **more) -> np.ndarray:
        """(n,) efforts in the order of ``joints``, or of ``motion`` where that goes by name."""
        values = self.values(motion, **more)
        order = motion if isinstance(motion, Mapping) else self.joints
        return np.array([values[f"effort_{joint}"] for joint in order])

    def mutated(self, mutate: Callable[[str], str]) -> "Script":
        """The script with a defect; fails when the defect changes nothing in the text."""
        source = mutate(self.source)
        assert source != self.source
        return Script(source)


@pytest.fixture(scope="session")
def script_of() -> Callable[..., Script]:
    """Makes the script of a URDF text, of a URDF file, or of a robot of the repository by its name."""

    def make(urdf: str | Path, gravity=DOWN_Y) -> Script:
        if isinstance(urdf, str) and not urdf.lstrip().startswith("<"):
            urdf = URDF / f"{urdf}.urdf"
        return Script(script_from_urdf(urdf, gravity)[0])

    return make


@pytest.fixture(scope="session")
def urdf_folder() -> Path:
    return URDF
