# SPDX-License-Identifier: Apache-2.0
"""Kernels of the solver divide by zero alike, whoever compiles them first."""

import re
from pathlib import Path

import humanoid_kinematics.solver


def test_every_kernel_names_its_error_model():
    decorators = [
        decorator
        for path in Path(humanoid_kinematics.solver.__file__).parent.glob("*.py")
        for decorator in re.findall(r"^@njit\([^)]*\)", path.read_text(), re.MULTILINE)
    ]
    assert len(decorators) > 10
    assert all('error_model="numpy"' in decorator for decorator in decorators)
