# SPDX-License-Identifier: Apache-2.0
"""The running stack as one object: a few methods in place of its services, actions and topics."""

from __future__ import annotations

from types import TracebackType

from humanoid_ros.client.bridge_methods import BridgeMethods
from humanoid_ros.client.gait_methods import GaitMethods
from humanoid_ros.client.model_methods import ModelMethods
from humanoid_ros.client.planner_methods import PlannerMethods
from humanoid_ros.client.simulator_methods import SimulatorMethods


class HumanoidStack(SimulatorMethods, BridgeMethods, PlannerMethods, GaitMethods, ModelMethods):
    """The running stack: simulator, bridge, planner, gait and model generator, for plain scripts and notebooks.

    Every method asks and waits for the answer; calls from several threads don't mix. A node that isn't there, or
    doesn't answer in time, is a StackError; a refused request is an InputError that names the field. Long work tells
    its progress, and is cancelled by Ctrl-C and by True or an error from the callback; its ``begin_...`` form returns a
    :class:`Task` at once.

    ``with HumanoidStack("hrp2") as stack:`` leaves the graph in the end; nodes of the stack go on.
    """

    def __enter__(self) -> HumanoidStack:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the graph; a second time does nothing."""
        self._connection.close()
