# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_studies.lift_editor``."""

import sys

from humanoid_studies.lift_editor.edit_lift import main

sys.exit(main())
