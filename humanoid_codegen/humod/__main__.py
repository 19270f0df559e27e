# SPDX-License-Identifier: Apache-2.0
"""``python -m humanoid_codegen.humod``."""

import sys

from humanoid_codegen.humod.command import main

if __name__ == "__main__":
    sys.exit(main())
