# SPDX-License-Identifier: Apache-2.0
"""What the demo sees of a robot through ROS topics, and what it says of it in numbers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import pinocchio as pin
from humanoid_stack.msg import ContactForces, SimulationStatus
from rclpy.node import Node
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from humanoid_model.errors import HumanoidError
from humanoid_ros.node.qos import LATCHED, STATIC_TRANSFORMS, TRANSFORMS
from humanoid_ros.viewer.shown_robots import TransformTree

T = TypeVar("T")

SWING = 0.15
"""A foot that carries nothing for so long takes a step [s]; a sole that rocks doesn't."""


class DemoError(HumanoidError):
    """The demo can't go on: a node died, nothing answers, or the robot fell."""


@dataclass
class Recording:
    """Samples of one phase of the demo.

    Attributes:
        start: Simulated time of its begin [s].
        forces: Per body, normal force of every contact message [N]; `times` are theirs [s].
        placements: Per link, world placements of every transform message; `transform_times` are
            the messages' [s].
    """

    start: float
    times: list[float] = field(default_factory=list)
    forces: dict[str, list[float]] = field(default_factory=dict)
    transform_times: list[float] = field(default_factory=list)
    placements: dict[str, list[pin.SE3]] = field(default_factory=dict)

    def mean_forces(self) -> dict[str, float]:
        """Mean normal force per body [N]."""
        return {body: float(np.mean(values)) for body, values in sorted(self.forces.items())}

    def total_force_range(self) -> tuple[float, float]:
        """Smallest and largest sum of the normal forces [N]."""
        total = np.sum(list(self.forces.values()), axis=0)
        return float(total.min()), float(total.max())

    def landings(self, body: str) -> int:
        """How often a body came down after it had carried nothing for ``SWING``."""
        times, pressed = np.array(self.times), np.array(self.forces.get(body, [])) > 0.0
        came = np.flatnonzero(np.diff(pressed.astype(int)) > 0) + 1
        left = [np.flatnonzero(pressed[:index]).max(initial=-1) for index in came]
        return sum(last >= 0 and times[index] - times[last] >= SWING for index, last in zip(came, left, strict=True))

    def max_move(self, link: str) -> float:
        """Largest distance of a link's origin from where it was at the begin [m]."""
        return float(np.linalg.norm(self.displacements(link), axis=1).max())

    def max_turn(self, link: str) -> float:
        """Largest angle that a link turned from its orientation at the begin [rad]."""
        placements = self.placements[link]
        first = placements[0].rotation
        return max(float(np.linalg.norm(pin.log3(first.T @ p.rotation))) for p in placements)

    def settling_time(self, link: str, since: float, tolerance: float) -> float:
        """Return the simulated time from `since` until a link stayed near its last place [s]."""
        positions = self.positions(link)
        away = np.linalg.norm(positions - positions[-1], axis=1) > tolerance
        times = np.array(self.transform_times)
        last = float(times[away][-1]) if away.any() else since
        return max(last - since, 0.0)

    def displacements(self, link: str) -> np.ndarray:
        """(k, 3) positions of a link's origin relative to the first one [m]."""
        positions = self.positions(link)
        return positions - positions[0]

    def positions(self, link: str) -> np.ndarray:
        """(k, 3) positions of a link's origin [m]."""
        return np.array([placement.translation for placement in self.placements[link]])


class DemoObserver:
    """Listens to the simulator; safe to ask from another thread than the one that spins it.

    Args:
        links: Links whose placements are recorded.
        node: That subscribes.
    """

    def __init__(self, links: tuple[str, ...], node: Node) -> None:
        self._links = links
        self._lock = threading.Lock()
        self._tree = TransformTree("world")
        self._recording: Recording | None = None
        self._time: float | None = None
        self.status: SimulationStatus | None = None
        self.urdf: str | None = None
        self.contacts: ContactForces | None = None
        node.create_subscription(TFMessage, "/tf", self._on_transforms, TRANSFORMS)
        node.create_subscription(TFMessage, "/tf_static", self._take_transforms, STATIC_TRANSFORMS)
        node.create_subscription(ContactForces, "contacts", self._on_contacts, 100)
        node.create_subscription(SimulationStatus, "status", self._on_status, LATCHED)
        node.create_subscription(String, "robot_description", self._on_description, LATCHED)

    @property
    def simulated_time(self) -> float | None:
        """Stamp of the newest contact forces [s]."""
        return self._time

    def placement(self, link: str) -> pin.SE3 | None:
        """World placement of a link now."""
        with self._lock:
            return self._tree.placement(link)

    def placements(self, links: Mapping[str, object]) -> dict[str, pin.SE3]:
        """World placements of those links that are known."""
        with self._lock:
            found = {link: self._tree.placement(link) for link in links}
        return {link: placement for link, placement in found.items() if placement is not None}

    def start_recording(self) -> None:
        """Begin a phase."""
        with self._lock:
            self._recording = Recording(self._time or 0.0)

    def stop_recording(self) -> Recording:
        """End the phase and return what was seen."""
        with self._lock:
            recording, self._recording = self._recording, None
        if recording is None or not recording.times:
            raise DemoError("no contact forces were received")
        missing = [link for link in self._links if not recording.placements.get(link)]
        if missing:
            raise DemoError(f"no transform of {', '.join(missing)} was received")
        return recording

    def _take_transforms(self, message: TFMessage) -> None:
        with self._lock:
            for stamped in message.transforms:
                move, turn = stamped.transform.translation, stamped.transform.rotation
                pose = np.array([move.x, move.y, move.z, turn.x, turn.y, turn.z, turn.w])
                self._tree.set(stamped.header.frame_id, stamped.child_frame_id, pin.XYZQUATToSE3(pose))

    def _on_transforms(self, message: TFMessage) -> None:
        self._take_transforms(message)
        with self._lock:
            placements = {link: self._tree.placement(link) for link in self._links}
            if self._recording is None or None in placements.values():
                return
            stamp = message.transforms[-1].header.stamp
            self._recording.transform_times.append(stamp.sec + 1e-9 * stamp.nanosec)
            for link, placement in placements.items():
                self._recording.placements.setdefault(link, []).append(placement)

    def _on_contacts(self, message: ContactForces) -> None:
        self.contacts = message
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        forces: dict[str, float] = {}
        for contact in message.contacts:
            force, normal = contact.force, contact.normal
            along = force.x * normal.x + force.y * normal.y + force.z * normal.z
            forces[contact.body_a] = forces.get(contact.body_a, 0.0) + along
        with self._lock:
            self._time = stamp
            recording = self._recording
            if recording is None:
                return
            count = len(recording.times)
            recording.times.append(stamp)
            for body in forces.keys() | recording.forces.keys():
                # A body that had no contact before, or has none now, carried nothing.
                series = recording.forces.setdefault(body, [0.0] * count)
                series.append(forces.get(body, 0.0))

    def _on_status(self, message: SimulationStatus) -> None:
        self.status = message

    def _on_description(self, message: String) -> None:
        self.urdf = message.data


def wait_for(
    condition: Callable[[], T],
    what: str,
    timeout: float,
    check: Callable[[], None] = lambda: None,
) -> T:
    """Return the value of a condition as soon as it is true.

    Args:
        condition: Asked fifty times a second.
        what: What is waited for, for the error's message.
        timeout: Longest wait, wall-clock [s].
        check: Called at every turn; raises what should end the wait.

    Raises:
        DemoError: It didn't become true in time.
    """
    end = time.monotonic() + timeout
    while not (value := condition()):
        check()
        if time.monotonic() > end:
            raise DemoError(f"waited {timeout:.0f} s for {what}, without success")
        time.sleep(0.02)
    return value
