# SPDX-License-Identifier: Apache-2.0
"""Topics of a simulation as a whole, whatever scene it runs, and whether somebody else sets its clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TransformStamped
from humanoid_stack.msg import ContactForces, SimulationStatus
from rclpy.node import Node
from rclpy.topic_endpoint_info import TopicEndpointInfo
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from humanoid_ros.messages.serialized_message import ContactMessages, SerializedMessage
from humanoid_ros.node.qos import CLOCK, LATCHED, STATE, TRANSFORMS
from humanoid_ros.simulator.heard_publisher import HeardPublisher
from humanoid_ros.simulator.simulation_markers import SimulationMarkers, SoleMarkers, trace_markers
from humanoid_sim import Simulation
from humanoid_sim.recording.path_trace import PathTrace

if TYPE_CHECKING:
    from humanoid_sim.flexibility import DeformableSole


UNNAMED = "_NODE_NAME_UNKNOWN_"
"""What ROS calls a node that its process hasn't told of yet."""


class OtherClocks:
    """Watches a clock's publishers: of two simulators on one clock every listener hears times and states of both.

    Who is there is found within seconds, at any time; so it is looked for as long as the simulator runs. A node that
    was killed is there for 20 s more (the middleware's lease), which is why nobody has to end because of another.

    Attributes:
        problem: who else sets the clock, and what to do; empty: nobody.
    """

    def __init__(self, node: Node, topic: str) -> None:
        """Begin with nobody.

        Args:
            node: that sets the clock itself.
            topic: the clock's full name.
        """
        self._node, self._topic = node, topic
        self._unnamed = False
        self.problem = ""

    def look(self) -> None:
        """Find out who is there; the log tells what has changed."""
        publishers = self._node.get_publishers_info_by_topic(self._topic)
        unnamed, before = any(info.node_name == UNNAMED for info in publishers), self._unnamed
        self._unnamed = unnamed
        if unnamed and not before:
            return  # its name is on its way, if it has one
        problem = self._found(publishers)
        if problem == self.problem:
            return
        self.problem = problem
        if problem:
            self._node.get_logger().error(problem)
        else:
            self._node.get_logger().info(f"{self._topic} is this simulator's alone again")

    def _found(self, publishers: list[TopicEndpointInfo]) -> str:
        own = self._node.get_fully_qualified_name()
        names = [f"{info.node_namespace.rstrip('/')}/{info.node_name}" for info in publishers]
        if own in names:
            names.remove(own)  # once: another simulator may have the same name
        if not names:
            return ""
        others = sorted({"a node without a name" if UNNAMED in name else name for name in names})
        return (
            f"{self._topic} is also published by {', '.join(others)}: times and states of both are mixed, and commands "
            "move both. End one of them, or give each a ROS_DOMAIN_ID or a namespace with a clock of its own "
            "(namespace:= of the launch files)."
        )


class SimulationTopics:
    """Publishers that outlive the scenes.

    Attributes:
        world: name of the world frame.
        markers: makes the contact markers.
        soles: makes those of deformable soles.
        other_clocks: whether somebody else sets the clock.
        clock, transforms, contacts, contact_markers, sole_markers, traces: publishers of what changes with time.
    """

    def __init__(self, node: Node, world: str, markers: SimulationMarkers, soles: SoleMarkers) -> None:
        """Create the publishers.

        Args:
            node: that publishes.
            world: name of the world frame.
            markers: see the attributes.
            soles: likewise.
        """
        self.world = world
        self.markers = markers
        self.soles = soles
        self.clock = HeardPublisher(node, Clock, "/clock", CLOCK)
        self.other_clocks = OtherClocks(node, self.clock.topic_name)
        self._clock_message = SerializedMessage(Clock(), 0, lambda message, _, time: setattr(message, "clock", time))
        self.transforms = HeardPublisher(node, TFMessage, "/tf", TRANSFORMS)
        self._static_transforms = node.create_publisher(TFMessage, "/tf_static", LATCHED)
        self.contacts = HeardPublisher(node, ContactForces, "contacts", STATE)
        self._contact_messages = ContactMessages(world)
        self.contact_markers = HeardPublisher(node, MarkerArray, "markers", STATE)
        self.sole_markers = HeardPublisher(node, MarkerArray, "sole_markers", STATE)
        self.traces = HeardPublisher(node, MarkerArray, "traces", STATE)
        self._scene_markers = node.create_publisher(MarkerArray, "scene_markers", LATCHED)
        self._scene_view = node.create_publisher(MarkerArray, "scene_view", LATCHED)
        self._status = node.create_publisher(SimulationStatus, "status", LATCHED)
        self._diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", STATE)

    def publish_clock(self, time: Time) -> None:
        """Publish simulated time."""
        self.clock.publish(self._clock_message.filled((), time))

    def publish_static_transforms(self, transforms: list[TransformStamped]) -> None:
        """Publish all transforms that never change; a later message replaces the one before."""
        self._static_transforms.publish(TFMessage(transforms=transforms))

    def publish_contacts(self, simulation: Simulation, time: Time) -> None:
        """Publish contacts with their forces, if anyone listens."""
        if self.contacts.heard:
            self.contacts.publish(self._contact_messages.update(simulation.contacts, time))

    def publish_markers(self, simulation: Simulation, time: Time) -> None:
        """Publish the contact markers, if anyone listens."""
        if self.contact_markers.heard:
            self.contact_markers.publish(self.markers.update(simulation.contacts, time))

    def publish_soles(self, soles: Mapping[str, DeformableSole], time: Time) -> None:
        """Publish deformable soles by their frames, if there are or were any and anyone listens."""
        if self.sole_markers.heard:
            message = self.soles.update(soles, time)
            if message.markers:
                self.sole_markers.publish(message)

    def publish_traces(self, trace: PathTrace | None, time: Time) -> None:
        """Publish the ways of traced bodies, if anyone listens."""
        if self.traces.heard:
            self.traces.publish(trace_markers(trace, self.world, time))

    def publish_scene(self, markers: MarkerArray, view: MarkerArray) -> None:
        """Publish what stands in the scene, and its camera and lights."""
        self._scene_markers.publish(markers)
        self._scene_view.publish(view)

    def publish_status(self, status: SimulationStatus) -> None:
        """Publish how the simulation goes."""
        self._status.publish(status)

    def publish_diagnostics(self, message: DiagnosticArray) -> None:
        """Publish diagnostics."""
        self._diagnostics.publish(message)
