# SPDX-License-Identifier: Apache-2.0
"""How a simulation goes, as a status message and as diagnostics."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from humanoid_stack.msg import SimulationStatus, SolverStatus, StageTime

from humanoid_ros.node.answering_node import Refusals
from humanoid_ros.node.diagnostics import diagnostic_message
from humanoid_ros.simulator.simulation_loop import LoopReport
from humanoid_sim import Simulation
from humanoid_sim.recording.mcap_recorder import SOLVER_STATUS

SLOW = 0.95
"""A simulation slower than this share of the pace asked for is reported as slow."""


class UnsolvedSteps:
    """Counts the steps whose contacts were not solved to the tolerance; the best iterate was taken in them.

    Attributes:
        total: since the scene was loaded.
        recent: since the last :meth:`forget`.
        worst: largest relative residual among the recent ones.
        iterations: of the solver in the step with that residual.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.total = 0
        self.forget()

    def forget(self) -> None:
        """Begin a new period."""
        self.recent = 0
        self.worst = 0.0
        self.iterations = 0

    def take(self, simulation: Simulation) -> None:
        """Add those since the last call."""
        news = simulation.take_unsolved()
        if news.count and (news.worst > self.worst or self.recent == 0):
            self.worst, self.iterations = news.worst, news.iterations
        self.total += news.count
        self.recent += news.count


def simulation_status(
    simulation: Simulation, report: LoopReport, requested: float, time: Time, world: str
) -> SimulationStatus:
    """Return status of a simulation.

    Args:
        simulation: the simulation; its profile is of the time since the last status.
        report: of the loop that runs it.
        requested: real-time factor that is aimed at.
        time: simulated time.
        world: name of the world frame.
    """
    message = SimulationStatus()
    message.header.stamp = time
    message.header.frame_id = world
    message.scene = simulation.scene.name
    message.time = simulation.time
    message.step = simulation.step_count
    message.time_step = simulation.dt
    message.paused = report.paused
    message.pause_reason = report.failure
    message.real_time_factor = report.real_time_factor
    message.requested_real_time_factor = requested
    message.step_seconds = report.step_seconds
    message.max_step_seconds = report.max_step_seconds
    energy = simulation.energy()
    message.kinetic_energy = energy.kinetic
    message.potential_energy = energy.potential
    message.total_energy = energy.total
    message.solver = _solver_status(simulation, report)
    means = simulation.profile.stages
    message.profile = [
        StageTime(stage=stage, last=last, mean=means[stage]) for stage, last in simulation.profile.last.items()
    ]
    return message


def _solver_status(simulation: Simulation, report: LoopReport) -> SolverStatus:
    message = SolverStatus(method=simulation.method, status=SolverStatus.NO_CONTACT)
    if report.failure:
        message.status = SolverStatus.FAILED
        message.message = report.failure
        return message
    result = simulation.solver
    if result is None:
        return message
    message.status = SOLVER_STATUS[result.status]
    if not result.converged:
        message.message = f"{result.status.value}, relative residual {result.residuals.natural_map:.2g}"
    message.contacts = len(result.impulses)
    message.iterations = int(result.iterations)
    message.complementarity = float(result.residuals.complementarity)
    message.cone = float(result.residuals.cone)
    message.dissipation = float(result.residuals.dissipation)
    message.time = float(result.time)
    return message


def diagnostics(
    status: SimulationStatus, unsolved: UnsolvedSteps, name: str, refusals: Refusals, time: Time
) -> DiagnosticArray:
    """Diagnostics made of a status.

    Args:
        status: of the simulation.
        unsolved: steps since the last diagnostics whose contacts were not solved.
        name: fully qualified name of the node.
        refusals: of the node.
        time: of the wall clock, which goes on when the simulation is paused.
    """
    level, words = DiagnosticStatus.OK, f"real-time factor {status.real_time_factor:.3f}"
    requested = status.requested_real_time_factor
    if status.pause_reason:
        level, words = DiagnosticStatus.ERROR, status.pause_reason
    elif status.paused:
        words = "paused"
    elif requested > 0.0 and status.real_time_factor < SLOW * requested:
        level = DiagnosticStatus.WARN
        words += f", asked for {requested:g}: the simulation is too slow"
    if unsolved.recent and not status.pause_reason:
        level = DiagnosticStatus.WARN
        words += (
            f"; contacts of {unsolved.recent} steps not solved to the tolerance: residual up to {unsolved.worst:.2g} "
            f"after {unsolved.iterations} iterations"
        )
    values = {
        "scene": status.scene,
        "simulated time [s]": f"{status.time:.3f}",
        "real-time factor": f"{status.real_time_factor:.4f}",
        "requested real-time factor": f"{requested:g}",
        "mean step [us]": f"{1e6 * status.step_seconds:.1f}",
        "longest step [us]": f"{1e6 * status.max_step_seconds:.1f}",
        "contacts": str(status.solver.contacts),
        "solver iterations": str(status.solver.iterations),
        "solver": status.solver.method,
        "solver message": status.solver.message,
        "unsolved steps": str(unsolved.total),
        "unsolved steps lately": str(unsolved.recent),
        "worst residual lately": f"{unsolved.worst:.3g}",
        "refused requests": str(refusals.count),
        "last refusal": refusals.last,
    }
    for stage in status.profile:
        values[f"{stage.stage} [us]"] = f"{1e6 * stage.mean:.1f}"
    return diagnostic_message(name, "simulation", time, words, values, level)
