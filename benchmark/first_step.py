# SPDX-License-Identifier: Apache-2.0
"""What a user waits for after the installation: the first step, posture and equilibrium check, with empty caches.

Each runs in a process and with a kernel cache of its own; times are the processor's, so that other work on the machine
counts little.

    scripts/run python benchmark/first_step.py
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CASES = {
    "first step: Simulation('stand').step()": "from humanoid_sim import Simulation; Simulation('stand').step()",
    "first step with free boxes: Simulation('boxes').step()": "from humanoid_sim import Simulation; "
    "Simulation('boxes').step()",
    "first posture: examples/lean_on_table.py": "import contextlib, io, runpy\n"
    "with contextlib.redirect_stdout(io.StringIO()):\n"
    "    runpy.run_path('examples/lean_on_table.py', run_name='__main__')",
    "first equilibrium check: check_equilibrium": "from humanoid_planner.equilibrium import ContactPoints, "
    "check_equilibrium\n"
    "corners = ContactPoints.of_normals([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 0, 1]] * 3, 0.5)\n"
    "check_equilibrium(corners, 1.0, [0.2, 0.2, 1.0])",
}


def run(case: str) -> tuple[float, int]:
    """Run a case in this process; processor time since its start [s] and number of functions compiled."""
    from numba.core import event

    sys.argv = sys.argv[:1]
    with event.install_recorder("numba:compile") as recorder, contextlib.suppress(SystemExit):
        exec(case, {})
    return time.process_time(), sum(1 for _, seen in recorder.buffer if seen.is_start)


def main() -> None:
    """Print a table of all cases, first with an empty cache, then again."""
    print(f"{'':56} {'processor time, s':>18} {'functions compiled':>19} {'again, s':>9}")
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as cache:
            seen = []
            for _ in range(2):
                command = [sys.executable, __file__, case]
                environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
                done = subprocess.run(
                    command, env=environment, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, check=True
                )
                seen.append(json.loads(done.stdout))
        print(f"{name:56} {seen[0][0]:18.1f} {seen[0][1]:19d} {seen[1][0]:9.1f}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(run(sys.argv[1])))
    else:
        main()
