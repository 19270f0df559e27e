# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.demo``."""

import sys

from humanoid_ros.demo.run_demo import main

sys.exit(main())
