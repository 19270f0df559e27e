# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.viewer``."""

from humanoid_ros.viewer.viewer_node import main

main()
