# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.replay``."""

from humanoid_ros.replay.replay_node import main

main()
