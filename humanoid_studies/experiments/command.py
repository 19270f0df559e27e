# SPDX-License-Identifier: Apache-2.0
"""The command ``experiment`` of a package: lists its experiments, or does some and tells which fail."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from humanoid_model.errors import HumanoidError
from humanoid_studies.experiments.catalogue import Experiment, ExperimentCatalogue
from humanoid_studies.experiments.compared_numbers import ComparedNumbers


def add_experiment_command(commands: Any, catalogue: ExperimentCatalogue, **settings: object) -> None:
    """Add the command to those of a package.

    Args:
        commands: what ``ArgumentParser.add_subparsers`` gave; ``command`` of the options that it parses takes them and
            gives 0 when all went well, 1 when an experiment failed.
        catalogue: of the package.
        settings: arguments of the experiments' ``run``.
    """

    def command(options: argparse.Namespace) -> int:
        if not options.names:
            for experiment in catalogue:
                print(f"{experiment.id:<5}{experiment.name:<{width}}{experiment.title}")
            return 0
        chosen = catalogue if options.names == ["all"] else [catalogue.find(name) for name in options.names]
        return _run(chosen, options.out, settings)

    width = max(len(experiment.name) for experiment in catalogue) + 4
    parser = commands.add_parser("experiment", help="list the experiments of the thesis, or do some")
    parser.set_defaults(command=command)
    known = f"name or number ({catalogue[0].id}); all; none lists them"
    parser.add_argument("names", nargs="*", metavar="NAME", help=known)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where pictures go")


def _run(chosen: Sequence[Experiment], out: Path | None, settings: dict[str, object]) -> int:
    if out:
        out.mkdir(parents=True, exist_ok=True)
    failed = []
    for experiment in tqdm(chosen, unit="experiment", disable=len(chosen) == 1):
        try:
            result: ComparedNumbers[Any] = experiment.run(**settings)
        except HumanoidError as problem:  # the others are still worth doing
            tqdm.write(f"{experiment.id} {experiment.name}: {problem}", file=sys.stderr)
            failed.append(experiment.id)
            continue
        tqdm.write(f"\n{result.id}: {result.title}\n{result.table()}")
        if not result.passes:
            failed.append(experiment.id)
        if out and result.has_picture:
            result.write_picture(out / f"{experiment.name}.png")
    if failed:
        tqdm.write(f"not as they should be: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0
