# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.model_generator``."""

from humanoid_ros.model_generator.model_generator_node import main

main()
