# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.contact_planner``."""

from humanoid_ros.contact_planner.contact_planner_node import main

main()
