# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.simulator``."""

import sys

from humanoid_ros.simulator.simulator_node import main

sys.exit(main())
