# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m humanoid_sim``: run scenarios and scenes, look into scenes, plot logs."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml
from tqdm import tqdm

from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.fields import add_options, descriptions
from humanoid_sim.endless_fall import EndlessFall
from humanoid_sim.module import Module
from humanoid_sim.recording import CsvRecorder, McapRecorder, plot_log, read_log
from humanoid_sim.recording.log import PLOTS
from humanoid_sim.scenario import Scenario, ScenarioError, load_scenario, make_simulation, run_scenario
from humanoid_sim.simulation import Simulation
from humanoid_sim.state_file import write_state
from humanoid_sim.stepping.options import SimulationOptions, read_solver_file


def describe(simulation: Simulation) -> str:
    """Robots, bodies, pairs that may touch and parameters of a simulation, one per line."""
    scene, world = simulation.scene, simulation.world
    lines = [
        f"scene {scene.name}" + (f" ({scene.source})" if scene.source else ""),
        f"  time step {simulation.dt:g} s, gravity {' '.join(f'{g:g}' for g in scene.gravity)} m/s^2",
        f"  contact solver {simulation.method}",
        f"  {world.model.nv} velocity coordinates",
        "robots",
    ]
    for placed in scene.robots:
        robot, simulated = placed.robot, simulation.robots[placed.name]
        base = "floating base" if robot.floating_base else "fixed base"
        lines.append(
            f"  {placed.name}: {robot.description.total_mass:.4g} kg, {len(robot.description.links)} links, "
            f"{len(simulated.joint_names)} joints ({len(simulated.driven_joint_names)} driven), {base}, "
            f"posture {placed.posture}"
        )
        lines.append(f"    sensors: {', '.join(robot.sensors) or 'none'}")
    lines.append("bodies")
    for body in scene.bodies:
        state = "fixed" if body.fixed else f"{body.mass:g} kg" + ("" if body.simulated else ", not simulated")
        shapes = ", ".join(type(geometry.shape).__name__.lower() for geometry in body.geometries) or "no shape"
        x, y, z = body.placement_world_body.translation
        lines.append(f"  {body.name}: {state}, {shapes}, at {x:.4g} {y:.4g} {z:.4g} m")
    lines.append("pairs (of owners; the links of one robot are one owner)")
    lines.extend(_pairs(simulation))
    return "\n".join(lines)


def _pairs(simulation: Simulation) -> list[str]:
    """Friction and restitution of pairs of owners, and how many of their bodies' pairs may touch."""
    scene, bodies = simulation.scene, [body for body in simulation.world.bodies if body.shapes]
    mobile = {body.name: body.joint != 0 for body in bodies}
    found: dict[tuple[str, str], list[tuple[bool, float, float]]] = {}
    for a, b in itertools.combinations(bodies, 2):
        if mobile[a.name] or mobile[b.name]:
            properties = scene.pairs(a.name, b.name)
            key = (a.owner, b.owner)
            row = (scene.collides(a.name, b.name), properties.friction, properties.restitution)
            found.setdefault(key, []).append(row)
    lines = []
    for owners, rows in found.items():
        pair = " - ".join(owners)
        touching = [row for row in rows if row[0]]
        if not touching:
            lines.append(f"  {pair}: never touch")
            continue
        friction = _range([row[1] for row in touching])
        restitution = _range([row[2] for row in touching])
        some = "" if len(touching) == len(rows) else f", {len(touching)} of {len(rows)} pairs of bodies"
        lines.append(f"  {pair}: friction {friction}, restitution {restitution}{some}")
    return lines


def _range(values: list[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


_KINDS = (bool, int, float, str, list, tuple)


def parameters_of(scenario: object) -> dict[str, object]:
    """Return attributes of a scenario's class that ``--set`` may change, with their values."""
    found: dict[str, object] = {}
    for kind in reversed(type(scenario).__mro__[:-1]):
        for name, value in vars(kind).items():
            if not name.startswith("_") and (value is None or isinstance(value, _KINDS)):
                found[name] = getattr(scenario, name)
    return found


def set_parameters(scenario: object, assignments: Iterable[str], source: Path | None = None) -> None:
    """Change parameters of a scenario.

    Args:
        scenario: the scenario.
        assignments: ``name=value`` each, the value as YAML writes it (``80``, ``true``, ``[0, 0, 1]``).
        source: file of the scenario, for error messages.

    Raises:
        InputError: no ``=``, an unknown parameter, or a value of another type than the default's.
    """
    known = parameters_of(scenario)
    for assignment in assignments:
        name, separator, text = assignment.partition("=")
        if not separator:
            raise InputError(f"'{assignment}' sets nothing", element="--set", remedy="Write name=value")
        if name not in known:
            raise InputError(
                f"the scenario has no parameter '{name}'",
                source=source,
                element="--set",
                remedy=f"It has {', '.join(sorted(known))}",
            )
        setattr(scenario, name, _converted(name, text, known[name], source))


def _converted(name: str, text: str, default: object, source: Path | None) -> object:
    """Return a text as a value of the default's type."""
    if isinstance(default, str):
        return text
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = text
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            value = float(value)  # YAML takes 1e-3 for a word
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(default, (list, tuple)) and isinstance(value, list):
        return type(default)(value)
    if default is None or type(value) is type(default):
        return value
    raise InputError(
        f"'{name}' is {text!r}",
        source=source,
        element="--set",
        remedy=f"Give a value like the default, {default!r} ({type(default).__name__})",
    )


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
