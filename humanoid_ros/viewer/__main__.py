# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.viewer``."""

import sys

from humanoid_ros.viewer.viewer_node import main

sys.exit(main())
