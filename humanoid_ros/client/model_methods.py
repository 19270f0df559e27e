# SPDX-License-Identifier: Apache-2.0
"""What a client asks of the model generator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from humanoid_stack.srv import GenerateModel, InverseDynamics
from numpy.typing import ArrayLike

from humanoid_model.checks import check_known
from humanoid_model.scene import STANDARD_GRAVITY
from humanoid_planner.posture.tasks.state import Load
from humanoid_ros.client.answers import Efforts, efforts_answer
from humanoid_ros.client.member import LONG, Member
from humanoid_ros.client.requests import load_message, numbers, request
from humanoid_ros.messages.conversions import vector


class ModelMethods(Member):
    """Dynamic models of the robot."""

    def model(
        self, language: str, functions: Sequence[str] = (), *, timeout: float = LONG, **fields: Any
    ) -> dict[str, str]:
        """Return the robot's dynamic model as code or equations.

        Args:
            language: "python", "c", "latex", ...
            functions: "inverse_dynamics", "mass_matrix", ...; none takes all.
            timeout: longest wait for the answer [s].
            **fields: others of ``srv/GenerateModel``'s request: ``gravity``, ``folder``, ``base_parameters``, ...

        Returns:
            Texts by the names of the files.

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        given = {
            "robot": self._source,
            "floating_base": self.robot.base_joint is not None,
            "gravity": STANDARD_GRAVITY,
            **fields,
        }
        asked = request(GenerateModel.Request, None, {"language": language, "functions": functions, **given})
        answer = self._call(GenerateModel, "generate_model", asked, timeout)
        return {file.name: file.text for file in answer.files}

    def inverse_dynamics(
        self,
        positions: Mapping[str, float],
        velocities: Mapping[str, float] | None = None,
        accelerations: Mapping[str, float] | None = None,
        *,
        gravity: ArrayLike = STANDARD_GRAVITY,
        loads: Sequence[Load] = (),
        timeout: float = LONG,
        **fields: Any,
    ) -> Efforts:
        """Return efforts that a motion of the robot asks for.

        Args:
            positions: by joint [rad] or [m]; joints left out rest at zero.
            velocities: likewise, per second; None is at rest.
            accelerations: likewise, per second squared; None is steady.
            gravity: (3,) world frame [m/s^2].
            loads: known wrenches on links.
            timeout: longest wait for the answer [s].
            **fields: others of ``srv/InverseDynamics``'s request, as messages: ``base``, ``base_twist``,
                ``base_acceleration``.

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        names = list(positions)
        given = {"joint_names": names, "positions": [positions[name] for name in names], **fields}
        for field, values in (("velocities", velocities), ("accelerations", accelerations)):
            for name in values or {}:
                check_known(name, names, field, "joint among the positions")
            if values is not None:
                given[field] = [values.get(name, 0.0) for name in names]
        asked = request(InverseDynamics.Request, None, {"robot": self._source, **given})
        asked.gravity = vector(numbers(gravity, "gravity", 3))
        asked.wrenches = [load_message(load) for load in loads]
        return efforts_answer(self._call(InverseDynamics, "inverse_dynamics", asked, timeout))
