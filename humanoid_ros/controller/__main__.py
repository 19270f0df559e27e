# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.controller``."""

from humanoid_ros.controller.controller_node import main

main()
