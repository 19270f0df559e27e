# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m humanoid_planner``: what of the planner runs without a program of one's own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

_ABOUT = """\
Postures, smooth distances, equilibrium, contact plans, motions along plans and optimal gaits.

commands:
  gait    optimal walks and phases, into a folder, as python -m humanoid_planner.gait"""
_EXAMPLES = """\
examples:
  python -m humanoid_planner gait walk --cycles 2 --out walk
postures, contact plans and motions are asked for in Python; programs to begin from:
  examples/lean_on_table.py, examples/play_plan.py"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: words of the command line; None: those of this process.

    Returns:
        0 after the list of commands, else what the command returns.
    """
    parser = argparse.ArgumentParser(
        prog="python -m humanoid_planner", usage="%(prog)s [-h] COMMAND ...", description=_ABOUT, epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["gait"]:
        from humanoid_planner.gait.__main__ import main as gait

        return gait(words[1:])
    parser.add_argument("command", nargs="?", choices=["gait"], help=argparse.SUPPRESS)
    parser.parse_args(words)
    parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
