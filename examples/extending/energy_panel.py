# SPDX-License-Identifier: Apache-2.0
"""A panel of the page: how much energy a simulation holds, with a button that pushes the robot's base upwards."""

from humanoid_stack.msg import SimulationStatus
from rclpy.serialization import deserialize_message

from humanoid_ros.node.qos import LATCHED
from humanoid_ros.viewer import Feature, register_feature
from humanoid_ros.viewer.inbox import Inbox


class EnergyPanel(Feature):
    """A folder with a line of text and a button."""

    name = "energy"

    def __init__(self, view):
        """Add the folder and listen to the simulator's ``status``."""
        self._view = view
        self._statuses = Inbox(view.node, SimulationStatus, "status", LATCHED)
        self._folder = view.gui.add_folder("Energy", visible=False)
        with self._folder:
            self.text = view.gui.add_markdown("")
            self.lift = view.gui.add_button("Lift")
        self.lift.on_click(lambda _: view.later(self._push))  # in the node's executor, not in the page's thread

    def update(self, now):
        """Show the newest energies."""
        newest = self._statuses.newest()
        if newest is not None:
            status = deserialize_message(newest, SimulationStatus)
            self.text.content = f"{status.kinetic_energy:.2f} J kinetic, {status.potential_energy:.0f} J potential"
            self._folder.visible = True

    def _push(self):
        robot = next(iter(self._view.robots), None)
        if robot is not None:
            body = robot.prefix + robot.drawing.description.root
            self._view.simulator.push(body, (0.0, 0.0, 12.0 * self._view.robots.mass), 0.1)


def register():
    """Make it known; for the viewer's node a package has it as an entry point ``humanoid_stack.panels``."""
    register_feature(EnergyPanel)
