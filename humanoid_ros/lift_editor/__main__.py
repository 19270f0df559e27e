# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_ros.lift_editor``."""

import sys

from humanoid_ros.lift_editor.edit_lift import main

sys.exit(main())
