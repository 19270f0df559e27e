# SPDX-License-Identifier: Apache-2.0
"""The tests in the arithmetic of other processors, and on a busy one: `make test-everywhere`.

OpenBLAS, which numpy and scipy bring, has kernels for each kind of processor, and numba compiles for the one at hand. A
test that leans on the last bits of one of them passes here and fails on the next machine. Each run below takes the
place of another processor; the last has other work beside it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]

KERNELS = {
    "Prescott": {"pni"},
    "Nehalem": {"sse4_2"},
    "Sandybridge": {"avx"},
    "Haswell": {"avx2", "fma"},
    "Zen": {"avx2", "fma"},
    "SkylakeX": {"avx512f", "avx512dq", "avx512bw", "avx512vl"},
}
"""OpenBLAS' kernels and what a processor must have to run them, as /proc/cpuinfo calls it."""


def runs(flags: set[str]) -> dict[str, dict[str, str]]:
    """Environment variables of each run that a processor with such flags is able to."""
    environments = {
        f"OpenBLAS {name}": {"OPENBLAS_CORETYPE": name} for name, needed in KERNELS.items() if needed <= flags
    }
    return {**environments, "numba generic": {"NUMBA_CPU_NAME": "generic"}, "busy": {}}


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """So many processes that do nothing but compute, beside what is run."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def run(name: str, environment: dict[str, str], log: Path, arguments: Sequence[str]) -> tuple[str, list[str], float]:
    """One run of the tests: pytest's closing line, the tests that failed, the time it took [s]."""
    start = time.monotonic()
    environment = {**os.environ, **environment}
    # Nodes that compile while a test waits for their answer would be late.
    subprocess.run(["scripts/kernels"], cwd=ROOT, env=environment, check=True)
    with log.open("w") as output, busy((os.cpu_count() or 1) if name == "busy" else 0):
        command = [sys.executable, "-m", "pytest", "-q", *arguments]
        subprocess.run(command, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False)
    text = log.read_text(errors="replace")
    closing = re.findall(r"^=*\s*(\d+ (?:passed|failed|error|deselected).*?)\s*=*$", text, re.MULTILINE)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", text, re.MULTILINE)
    return (closing[-1] if closing else "no closing line: see the log"), failed, time.monotonic() - start


def main() -> int:
    """Make all runs, or those that are named, and print what each of them said."""
    cpuinfo = Path("/proc/cpuinfo")
    flags = set(re.findall(r"\w+", cpuinfo.read_text())) if cpuinfo.exists() else set()
    possible = runs(flags)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", action="append", choices=list(possible), help="this run only; may be repeated")
    parser.add_argument("--logs", type=Path, default=ROOT / "out" / "everywhere", help="folder of the logs")
    parser.add_argument("arguments", nargs="*", help="for pytest, after --; without any, the whole suite")
    options = parser.parse_args()
    options.logs.mkdir(parents=True, exist_ok=True)

    bad = False
    for name in options.run or possible:
        log = options.logs / f"{name.replace(' ', '_')}.log"
        print(f"-- {name}: log in {log}", flush=True)
        closing, failed, seconds = run(name, possible[name], log, options.arguments)
        print(f"   {closing}  ({seconds / 60.0:.1f} min)", flush=True)
        for test in failed:
            print(f"   {test}", flush=True)
        bad = bad or bool(failed) or "passed" not in closing
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
