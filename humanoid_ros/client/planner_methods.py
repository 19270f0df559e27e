# SPDX-License-Identifier: Apache-2.0
"""What a client asks of the contact planner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from humanoid_stack.srv import CheckEquilibrium, GeneratePosture
from numpy.typing import ArrayLike

from humanoid_model import Stance
from humanoid_model.checks import check_known
from humanoid_ros.client.answers import EquilibriumAnswer, PostureAnswer, equilibrium_answer, posture_answer
from humanoid_ros.client.member import LONG, Member
from humanoid_ros.client.requests import request

STABILITIES = {
    "none": GeneratePosture.Request.NO_STABILITY,
    "polygon": GeneratePosture.Request.SUPPORT_POLYGON,
    "forces": GeneratePosture.Request.CONTACT_FORCES,
    "polytope": GeneratePosture.Request.FORCE_POLYTOPE,
}
"""How equilibrium is tested, as the library calls it."""
CRITERIA = {
    "none": GeneratePosture.Request.NO_CRITERION,
    "reference": GeneratePosture.Request.NEAR_REFERENCE,
    "middle": GeneratePosture.Request.NEAR_MIDDLE,
    "guide": GeneratePosture.Request.NEAR_GUIDE,
    "polygon centre": GeneratePosture.Request.CENTRE_IN_POLYGON,
    "wrench centre": GeneratePosture.Request.CENTRE_IN_WRENCHES,
    "torque": GeneratePosture.Request.LEAST_TORQUE,
}
"""What is minimised among postures."""


class PlannerMethods(Member):
    """Postures and equilibrium."""

    def posture(
        self,
        stance: Stance,
        *,
        stability: str = "forces",
        criterion: str = "reference",
        timeout: float = LONG,
        **fields: Any,
    ) -> PostureAnswer:
        """Return a posture of the robot that holds a stance.

        Args:
            stance: contacts to hold, on surfaces of the scene or of ``surfaces``.
            stability: how equilibrium is tested, one of STABILITIES.
            criterion: what is minimised, one of CRITERIA.
            timeout: longest wait for the answer [s].
            **fields: others of ``srv/GeneratePosture``'s request: ``scene``, ``torque_limits``, ``collisions``,
                ``time_limit`` [s], ``reference`` (nq,), ``loads`` and ``surfaces`` of the library's classes, ...

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        asked = self._planning(GeneratePosture.Request, stance, fields)
        asked.stability = STABILITIES[check_known(stability, STABILITIES, "stability", "test")]
        asked.criterion = CRITERIA[check_known(criterion, CRITERIA, "criterion", "criterion")]
        answer = self._connection.call(GeneratePosture, "generate_posture", asked, timeout)
        return posture_answer(answer, self.robot)

    def equilibrium(
        self,
        stance: Stance,
        posture: ArrayLike | None = None,
        *,
        method: str = "forces",
        timeout: float = LONG,
        **fields: Any,
    ) -> EquilibriumAnswer:
        """Return whether a stance keeps the robot in equilibrium.

        Args:
            stance: contacts that hold it.
            posture: (nq,) configuration; None takes ``centre_of_mass``.
            method: of the test: polygon, forces or polytope.
            timeout: longest wait for the answer [s].
            **fields: others of ``srv/CheckEquilibrium``'s request: ``centre_of_mass`` [m], ``loads``, ``acceleration``
                [m/s^2], ``torque_limits``, ...

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        if posture is not None:
            fields = {"use_posture": True, "posture": posture, **fields}
        asked = self._planning(CheckEquilibrium.Request, stance, fields)
        tests = [name for name in STABILITIES if name != "none"]
        asked.method = STABILITIES[check_known(method, tests, "method", "test")]
        return equilibrium_answer(self._call(CheckEquilibrium, "check_equilibrium", asked, timeout))

    def _planning(self, kind: Any, stance: Stance, fields: Mapping[str, Any]) -> Any:
        return request(kind, self.robot, {"robot": self._source, "stance": stance, **fields})
