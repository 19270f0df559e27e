# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.bringup``."""

import sys

from humanoid_ros.bringup.start_stack import main

sys.exit(main())
