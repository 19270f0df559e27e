# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_codegen``: the same as the command ``humanoid-model``."""

import sys

from humanoid_codegen.command import main

sys.exit(main())
