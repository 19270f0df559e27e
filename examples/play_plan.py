# SPDX-License-Identifier: Apache-2.0
"""HRP-2 plans where to step on five stairs, makes a motion of it, verifies it and plays it in the simulator.

Run with ``python examples/play_plan.py stairs.png``. What takes how long is printed; ``--seed`` chooses other
footholds, ``--stances 5`` plays the beginning alone, ``--stabilise`` closes the loop.
"""

from __future__ import annotations

