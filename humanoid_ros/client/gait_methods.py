# SPDX-License-Identifier: Apache-2.0
"""What a client asks of the gait generator."""

from __future__ import annotations

from typing import Any

from humanoid_stack.action import GenerateGait
from humanoid_stack.msg import GaitRequest

from humanoid_model.errors import InputError
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_ros.client.connection import Task, refused, succeeded
from humanoid_ros.client.member import Member
from humanoid_ros.client.requests import duration_message, request


class GaitMethods(Member):
    """Optimal gaits."""

    def gait(
        self,
        model: str = "",
        *,
        progress: ProgressCallback | None = None,
        time_limit: float | None = None,
        **fields: Any,
    ) -> GenerateGait.Result:
        """Return an optimal gait.

        Args:
            model: that walks; empty takes the node's default.
            progress: told stage, phase (as part), residual, nodes and cost.
            time_limit: for the search [s]; None takes the node's.
            **fields: others of ``msg/GaitRequest``: ``speed``, ``step_length``, ``lift``, ``cycles``, ``phases``, ...

        Returns:
            The action's result; one without success comes with what was solved and the reason.

        Raises:
            InputError: the request was refused for a field, which it names.
        """
        return self.begin_gait(model, time_limit=time_limit, **fields).result(progress=progress)

    def begin_gait(
        self, model: str = "", *, time_limit: float | None = None, **fields: Any
    ) -> Task[GenerateGait.Result]:
        """As :meth:`gait`, without waiting for the end."""
        asked = request(GaitRequest, None, {"model": model, **fields})
        if time_limit is not None:
            asked.options.time_limit = duration_message(time_limit)

        def read(status: int, result: GenerateGait.Result) -> GenerateGait.Result:
            if not succeeded(status) and not result.gait.phases:
                error = refused(result.message)
                if isinstance(error, InputError):
                    raise error
            return result

        return self._connection.start(GenerateGait, "generate_gait", GenerateGait.Goal(request=asked), read, _news)


def _news(feedback: GenerateGait.Feedback) -> Progress:
    return Progress(
        feedback.stage,
        part=feedback.phase,
        residual=feedback.residual,
        nodes=feedback.nodes,
        cost=feedback.cost,
    )
