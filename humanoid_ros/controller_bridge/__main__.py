# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.controller_bridge``."""

from humanoid_ros.controller_bridge.controller_bridge_node import main

main()
