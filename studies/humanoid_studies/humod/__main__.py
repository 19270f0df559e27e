# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_studies.humod``."""

import sys

from humanoid_studies.humod.command import main

if __name__ == "__main__":
    sys.exit(main())
