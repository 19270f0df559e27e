# SPDX-License-Identifier: Apache-2.0
"""Controllers of humanoid robots: state estimation, balance, steps, walking. Measurement in, command out, on any plant.

Nothing here knows ROS or the simulator.
"""

from humanoid_model.controller import Command, Measurement

__all__ = ["Command", "Measurement"]
