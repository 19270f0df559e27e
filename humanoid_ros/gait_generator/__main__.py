# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.gait_generator``."""

from humanoid_ros.gait_generator.gait_generator_node import main

main()
