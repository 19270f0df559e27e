# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m humanoid_sim``: run scenarios and scenes, look into scenes, plot logs."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.fields import add_options, descriptions
from humanoid_sim.module import Module
from humanoid_sim.monitoring.endless_fall import EndlessFall
from humanoid_sim.recording import PLOTS, CsvRecorder, McapRecorder, plot_log, read_log
from humanoid_sim.scenario import Scenario, ScenarioError, load_scenario, make_simulation, run_scenario
from humanoid_sim.scenario.describe import describe
from humanoid_sim.scenario.parameters import set_parameters
from humanoid_sim.simulation import Simulation
from humanoid_sim.state_file import write_state
from humanoid_sim.stepping.options import SimulationOptions, read_solver_file

_OPTIONS = [name for name in descriptions(SimulationOptions) if name != "method"]
"""Options of a simulation that the command line sets by their names; the method is its solver."""
_EXAMPLES = """examples:
  python -m humanoid_sim run examples/my_scenario.py --progress --record push.mcap --set push=60
  python -m humanoid_sim run stand --duration 2 --csv out/ --plot stand.png
  python -m humanoid_sim run box_on_slope --solver-file solver.txt --max-iterations 200
  python -m humanoid_sim info boxes
  python -m humanoid_sim plot push.mcap --what forces com zmp --out push.png"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: words of the command line; None: those of this process.

    Returns:
        0 when all went well, 1 when a scenario or its simulation failed, 2 when something given can't be used, 130
        after Ctrl-C. Logs are complete in every case.
    """
    options = _parser().parse_args(arguments)
    try:
        return int(options.command(options))
    except ScenarioError as failure:
        tqdm.write(failure.trace + f"humanoid_sim: {failure}", file=sys.stderr)
        return 1
    except HumanoidError as problem:
        tqdm.write(f"humanoid_sim: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        tqdm.write("humanoid_sim: interrupted", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m humanoid_sim",
        description="Simulate robots in contact.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="run | info | plot")

    run = commands.add_parser("run", help="run a scenario (a Python file) or a scene")
    run.set_defaults(command=_run)
    run.add_argument("target", help="a scenario's file (.py), the name of a scene, or a scene file")
    run.add_argument("--scene", help="scene of a scenario, instead of its own")
    run.add_argument("--duration", type=float, metavar="S", help="simulated time [s]; 5 for a scene")
    run.add_argument("--dt", type=float, metavar="S", help="time step [s]")
    solver = run.add_mutually_exclusive_group()
    solver.add_argument("--solver", metavar="NAME", help="contact solver")
    solver.add_argument("--solver-file", type=Path, metavar="FILE", help="start-up file that names the contact solver")
    add_options(run, SimulationOptions, _OPTIONS)
    run.add_argument("--record", type=Path, metavar="FILE.mcap", help="log as ROS 2 messages")
    run.add_argument("--csv", type=Path, metavar="FOLDER", help="log as tables")
    run.add_argument("--every", type=int, default=10, metavar="N", help="log every N steps (10)")
    run.add_argument("--plot", type=Path, metavar="PICTURE", help="draw what the log holds")
    run.add_argument("--progress", action="store_true", help="show a bar also where the output is no terminal")
    run.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", dest="assignments", help="a scenario's parameter"
    )
    run.add_argument("--start-from", type=Path, metavar="STATE.npz", help="saved state to continue from")
    run.add_argument("--save-state", type=Path, metavar="STATE.npz", help="where the state at the end goes")

    info = commands.add_parser("info", help="list bodies, pairs and parameters of a scene")
    info.set_defaults(command=_info)
    info.add_argument("scene", help="name or file")

    plot = commands.add_parser("plot", help="draw curves from a log")
    plot.set_defaults(command=_plot)
    plot.add_argument("log", type=Path, help="an .mcap file, a rosbag2 folder, or a folder of tables")
    plot.add_argument("--what", nargs="+", choices=list(PLOTS), metavar="CURVES", help=f"of {', '.join(PLOTS)}")
    plot.add_argument("--out", type=Path, required=True, metavar="PICTURE", help=".png, .pdf or .svg")
    return parser


def _run(options: argparse.Namespace) -> int:
    source = Path(options.target) if options.target.endswith(".py") else None
    scenario = Scenario() if source is None else load_scenario(source)()
    if source is None:
        if options.assignments or options.scene:
            raise InputError(
                f"'{options.target}' is a scene", element="--set or --scene", remedy="They are for scenarios (.py)"
            )
        scenario.scene = options.target
        scenario.duration = 5.0
    set_parameters(scenario, options.assignments, source)
    for name in ("scene", "dt", "solver"):
        if getattr(options, name) is not None:
            setattr(scenario, name, getattr(options, name))
    if options.solver_file is not None:
        scenario.solver = read_solver_file(options.solver_file)
    given = {name: getattr(options, name) for name in _OPTIONS if getattr(options, name) is not None}
    scenario.options = {**getattr(scenario, "options", {}), **given}

    simulation = make_simulation(scenario, source)
    watch = EndlessFall(simulation)
    name = Path(options.target).stem
    beside = options.record.parent if options.record else options.csv or Path()
    with tempfile.TemporaryDirectory() as scratch:
        modules: list[Module] = []
        log = options.record or options.csv
        if options.plot and not log:
            log = Path(scratch) / "log"
            modules.append(CsvRecorder(log, every=options.every))
        if options.csv:
            modules.append(CsvRecorder(options.csv, every=options.every))
        if options.record:
            modules.append(McapRecorder(options.record, every=options.every))
        run = run_scenario(
            scenario,
            simulation,
            duration=options.duration,
            modules=modules,
            progress=options.progress or sys.stderr.isatty(),
            source=source,
            start_from=options.start_from,
            failed_state=beside / f"{name}.failed.npz",
        )
        if options.save_state:
            write_state(simulation, options.save_state)
        if options.plot:
            plot_log(read_log(log), options.plot)
    fallen = watch.problem()
    if fallen:
        tqdm.write(f"humanoid_sim: {fallen}", file=sys.stderr)
    print(_report(simulation, run.steps, run.real_time_factor))
    written = [options.record, options.csv, options.save_state, options.plot]
    if any(written):
        print(f"written: {', '.join(str(path) for path in written if path)}")
    return 130 if run.interrupted else 0


def _report(simulation: Simulation, steps: int, factor: float) -> str:
    options = ", ".join(f"{name} {value}" for name, value in simulation.options.as_text().items() if value is not None)
    return (
        f"{steps} steps of {simulation.dt:g} s to t = {simulation.time:.6g} s, {factor:.3g} x real time\n{options}\n"
        f"{simulation.profile.table(simulation.dt)}"
    )


def _info(options: argparse.Namespace) -> int:
    print(describe(Simulation(options.scene)))
    return 0


def _plot(options: argparse.Namespace) -> int:
    plot_log(read_log(options.log), options.out, options.what)
    print(f"written: {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
