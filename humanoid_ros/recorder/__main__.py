# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.recorder``."""

from humanoid_ros.recorder.recorder_node import main

main()
