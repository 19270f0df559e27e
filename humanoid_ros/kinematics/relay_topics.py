# SPDX-License-Identifier: Apache-2.0
"""From the joints that a robot tells to all that its loops move with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sensor_msgs.msg import JointState

from humanoid_kinematics import Relay
from humanoid_kinematics.relay import CompleteState
from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.kinematics.mechanism_topics import JointStates, MechanismTopics
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.qos import STATE


class RelayTopics:
    """Hears joint states of drives and publishes complete ones, each with the stamp that it came with.

    Attributes:
        relay: completes them.
        reason: why the last message couldn't be completed; empty if it could.
    """

    def __init__(
        self,
        node: AnsweringNode,
        topics: MechanismTopics,
        source: str,
        driven: Sequence[str],
        standing: Sequence[str],
        *,
        efforts: bool = False,
    ) -> None:
        """Begin to hear.

        Args:
            node: that hears and publishes.
            topics: of the mechanism.
            source: topic of the drives' joint states.
            driven: joints that it tells; empty: those that the mechanism's file calls driven.
            standing: joints that are told the drives' efforts, as of :class:`Relay`.
            efforts: whether efforts are told.

        Raises:
            InputError: no drives, or unknown ones.
        """
        self._node, self._topics, self._source = node, topics, source
        self._driven, self._standing, self._efforts = tuple(driven), tuple(standing), efforts
        self.reason = ""
        self._names: tuple[str, ...] = ()
        self._places: list[int] = []
        self.rebuild()
        self._subscription = node.create_subscription(JointState, source, self._on_joints, STATE)

    def rebuild(self) -> None:
        """Take the mechanism as it is now.

        Raises:
            InputError: no drives, or unknown ones.
        """
        mechanism = self._topics.live.mechanism
        self.relay = Relay(mechanism, self._driven or None, self._standing)
        self._message = JointStates(mechanism, "", efforts=self._efforts)
        self._still = np.zeros(mechanism.model.nv)

    def destroy(self) -> None:
        """Hear no more."""
        self._node.destroy_subscription(self._subscription)

    def _on_joints(self, message: JointState) -> None:
        try:
            state = self._complete(message)
        except HumanoidError as problem:
            self.reason = self._node.refusals.refuse(self._source, problem)
            return
        if state.reason is not None and state.reason != self.reason:
            self._node.refusals.refuse(self._source, state.reason)
        self.reason = state.reason or ""
        if state.closed:
            v = self._still if state.v is None else state.v
            self._topics.publish_joints(self._message.filled(state.q, v, state.efforts, message.header.stamp))

    def _complete(self, message: JointState) -> CompleteState:
        names = tuple(message.name)
        if names != self._names:
            missing = [joint for joint in self.relay.driven if joint not in names]
            if missing:
                raise InputError(
                    f"has {', '.join(names) or 'no joints'}, without {', '.join(missing)}", element="name",
                    remedy=f"Tell all driven joints, {', '.join(self.relay.driven)}, in each message",
                )  # fmt: skip
            self._places, self._names = [names.index(joint) for joint in self.relay.driven], names
        numbers: dict[str, list[float] | None] = {}
        for field in ("position", "velocity", "effort"):
            values = getattr(message, field)
            if len(values) not in (0, len(names)) or (field == "position" and not len(values)):
                raise InputError(
                    f"has {len(values)} numbers for {len(names)} joints", element=field, remedy="Give one for each"
                )
            numbers[field] = [values[place] for place in self._places] if len(values) else None
        efforts = numbers["effort"] if self._efforts else None
        return self.relay.update(numbers["position"] or [], numbers["velocity"], efforts)
