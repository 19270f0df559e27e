# SPDX-License-Identifier: Apache-2.0
"""The command ``humanoid-model``: from a URDF to its dynamic model as equations and code."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterable, Sequence

from tqdm import tqdm

from humanoid_codegen.generate import (
    FUNCTION_ALIASES,
    GeneratedModel,
    function_names,
    generate,
    language_names,
    read_loops,
)
from humanoid_model import HumanoidError, InputError, RobotWarning, load_robot
from humanoid_model.progress import progress_bar

_EXAMPLES = """examples:
  humanoid-model hrp2 -o out --lang c
  humanoid-model robot.urdf -o out --lang c,python --functions idm,mass,bias
  humanoid-model robot.urdf -o out --lang latex --fixed-base --gravity 0 0 -1.62"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: words of the command line; None: those of this process.

    Returns:
        0 when everything was made, 2 when something given can't be used (nothing is written then), 130 after Ctrl-C.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.list:
        print(_listing())
        return 0
    if options.robot is None or options.out is None:
        parser.error("give a robot and a folder: humanoid-model robot.urdf -o DIR")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", RobotWarning)
            warnings.showwarning = _tell  # type: ignore[assignment]
            generated = _generate(options)
    except HumanoidError as problem:
        _tell(problem)
        return 2
    except KeyboardInterrupt:
        print("humanoid-model: interrupted, nothing is written", file=sys.stderr)
        return 130
    print(_report(generated, options.out))
    return 0


def _tell(problem: Exception | Warning | str, *_: object) -> None:
    """One line on stderr, whatever the names in it hold."""
    tqdm.write(f"humanoid-model: {' '.join(str(problem).split())}", file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="humanoid-model",
        description="Writes the dynamic model of a robot as equations and code.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("robot", nargs="?", help="path of a URDF, or the name of a robot that comes with the stack")
    parser.add_argument("-o", "--out", metavar="DIR", help="folder to write to, made when missing")
    parser.add_argument("--lang", default="c", metavar="L1,L2", help="output languages, see --list (default c)")
    parser.add_argument(
        "--functions", default="", metavar="F1,F2", help="functions, see --list (default: all but the derivatives)"
    )
    base = parser.add_mutually_exclusive_group()
    base.add_argument("--floating-base", action="store_true", help="let the root move freely")
    base.add_argument("--fixed-base", action="store_true", help="fix the root to the world (default: by the robot)")
    parser.add_argument(
        "--gravity",
        type=float,
        nargs=3,
        default=(0.0, 0.0, -9.81),
        metavar=("X", "Y", "Z"),
        help="in the world frame, m/s^2 (default 0 0 -9.81)",
    )
    parser.add_argument(
        "--symbolic-parameters", action="store_true", help="make masses, centres and inertias an argument"
    )
    parser.add_argument(
        "--no-base-parameters", action="store_true", help="keep each body's own parameters: more operations"
    )
    parser.add_argument("--derivatives", action="store_true", help="add gradients of inverse and direct dynamics")
    parser.add_argument(
        "--wrench-links", default="", metavar="L1,L2", help="links on which a known force and torque may act"
    )
    parser.add_argument(
        "--loops",
        metavar="FILE",
        help="YAML file with the cuts of closed loops (default: the robot's own, where functions need them)",
    )
    parser.add_argument("--list", action="store_true", help="list functions with their short names, and languages")
    return parser


def _generate(options: argparse.Namespace) -> GeneratedModel:
    functions, languages = function_names(_words(options.functions)), _words(options.lang)
    if not languages:
        raise InputError("no language is given", element="--lang", remedy=f"Choose from {', '.join(language_names())}")
    floating_base = True if options.floating_base else False if options.fixed_base else None
    robot = load_robot(options.robot, floating_base=floating_base, geometry=False)
    own = robot.loops if {"loop_closure", "constrained_dynamics"}.intersection(functions) else ()
    loops = read_loops(options.loops) if options.loops else own
    with progress_bar(sys.stderr) as progress:
        return generate(
            robot,
            lang=languages,
            functions=functions,
            out=options.out,
            gravity=options.gravity,
            base_parameters=not options.no_base_parameters,
            symbolic_parameters=options.symbolic_parameters,
            derivatives=options.derivatives,
            wrench_links=_words(options.wrench_links),
            loops=loops,
            progress=progress,
        )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _report(generated: GeneratedModel, folder: str) -> str:
    """Return the table of the functions with their operations, and the files."""
    heads = ("function", "mul", "add", "div", "neg", "sin+cos", "sqrt")
    rows = [
        (
            function.name,
            *(
                str(number)
                for number in (
                    count.multiplications,
                    count.additions,
                    count.divisions,
                    count.negations,
                    count.trigonometric,
                    count.square_roots,
                )
            ),
        )
        for function, count in generated.functions
    ]
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [_line(heads, widths), *(_line(row, widths) for row in rows), ""]
    sizes = [f"  {name}  {max(1, round(len(text.encode()) / 1000))} kB" for name, text in generated.files.items()]
    robot = generated.model.robot.name
    lines.append(f"{robot}: {len(generated.files)} files in {folder}, {generated.time:.2f} s")
    return "\n".join(lines + sizes)


def _line(row: Iterable[str], widths: Sequence[int]) -> str:
    name, *numbers = row
    return "  ".join([name.ljust(widths[0]), *(n.rjust(width) for n, width in zip(numbers, widths[1:], strict=True))])


def _listing() -> str:
    width = max(map(len, FUNCTION_ALIASES))
    lines = ["functions, with other names that are understood:"]
    lines += [f"  {name.ljust(width)}  {', '.join(aliases)}".rstrip() for name, aliases in FUNCTION_ALIASES.items()]
    return "\n".join([*lines, "languages:", f"  {', '.join(language_names())}"])


if __name__ == "__main__":
    sys.exit(main())
