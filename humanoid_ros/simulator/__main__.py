# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.simulator``."""

from humanoid_ros.simulator.simulator_node import main

main()
