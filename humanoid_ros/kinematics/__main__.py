# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.kinematics``."""

from humanoid_ros.kinematics.kinematics_node import main

main()
