# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.gait_generator``."""

import sys

from humanoid_ros.gait_generator.gait_generator_node import main

sys.exit(main())
