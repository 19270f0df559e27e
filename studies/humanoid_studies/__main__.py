# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m humanoid_studies``: the experiments of the theses."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from humanoid_model.errors import HumanoidError
from humanoid_studies.experiments.catalogue import Experiment, find_experiment
from humanoid_studies.gait.registry import EXPERIMENTS as GAIT
from humanoid_studies.simulator.registry import EXPERIMENTS as SIMULATOR

_THESES = {"simulator": SIMULATOR, "gait": GAIT}
_EXAMPLES = """examples:
  python -m humanoid_studies                                   # lists the experiments
  python -m humanoid_studies four_leg_table
  python -m humanoid_studies E2 B3 --out pictures
  python -m humanoid_studies gait --out pictures               # all of the gait thesis"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: words of the command line; None: those of this process.

    Returns:
        0 when all went well, 1 when an experiment isn't as it should be, 2 when something given can't be used, 130
        after Ctrl-C.
    """
    options = _parser().parse_args(arguments)
    try:
        if not options.names:
            _list()
            return 0
        return _run([experiment for name in options.names for experiment in _chosen(name)], options.out)
    except HumanoidError as problem:
        tqdm.write(f"humanoid_studies: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        tqdm.write("humanoid_studies: interrupted", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m humanoid_studies",
        description="List the experiments of the theses, or do some and print their numbers beside ours.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = f"name or number ({SIMULATOR[0].id}); {', '.join(_THESES)}: all of that thesis; all; none lists them"
    parser.add_argument("names", nargs="*", metavar="NAME", help=known)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where pictures go")
    return parser


def _list() -> None:
    width = max(len(experiment.name) for experiments in _THESES.values() for experiment in experiments) + 4
    for thesis, experiments in _THESES.items():
        print(f"{thesis}:")
        for experiment in experiments:
            print(f"  {experiment.id:<5}{experiment.name:<{width}}{experiment.title}")


def _chosen(name: str) -> Sequence[Experiment]:
    """Return what a word of the command line means."""
    everything = [experiment for experiments in _THESES.values() for experiment in experiments]
    if name == "all":
        return everything
    return _THESES[name] if name in _THESES else [find_experiment(name, everything)]


def _run(chosen: Sequence[Experiment], out: Path | None) -> int:
    if out:
        out.mkdir(parents=True, exist_ok=True)
    failed = []
    for experiment in tqdm(chosen, unit="experiment", disable=len(chosen) == 1):
        try:
            result = experiment.run(progress=True) if experiment.shows_progress else experiment.run()
        except HumanoidError as problem:  # the others are still worth doing
            tqdm.write(f"{experiment.id} {experiment.name}: {problem}", file=sys.stderr)
            failed.append(experiment.id)
            continue
        tqdm.write(f"\n{result.id}: {result.title}\n{result.table()}")
        if not result.passes:
            failed.append(experiment.id)
        if out and result.has_picture:
            picture = out / f"{experiment.name}.png"
            result.write_picture(picture)
            tqdm.write(f"written: {picture}")
    if failed:
        tqdm.write(f"not as they should be: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
