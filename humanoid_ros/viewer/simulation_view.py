# SPDX-License-Identifier: Apache-2.0
"""Status of a simulation in the panel's terms."""

from __future__ import annotations

from humanoid_stack.msg import SimulationStatus, SolverStatus

from humanoid_ros.viewer.panels.status_text import SimulationView

SOLVER_WORDS = {
    SolverStatus.CONVERGED: "converged",
    SolverStatus.MAX_ITERATIONS: "out of iterations",
    SolverStatus.TIME_BUDGET: "out of time",
    SolverStatus.NO_CONTACT: "no contact",
    SolverStatus.FAILED: "failed",
    SolverStatus.APPROXIMATE: "approximate law",
}


def simulation_view(status: SimulationStatus) -> SimulationView:
    """Return a status message in the panel's terms."""
    solver = status.solver
    words = SOLVER_WORDS.get(solver.status, f"status {solver.status}")
    if solver.iterations:
        words += f", {solver.iterations} iteration{'s' if solver.iterations > 1 else ''}"
    return SimulationView(
        scene=status.scene,
        time=status.time,
        paused=status.paused,
        pause_reason=status.pause_reason,
        real_time_factor=status.real_time_factor,
        step_seconds=status.step_seconds,
        kinetic_energy=status.kinetic_energy,
        potential_energy=status.potential_energy,
        solver=f"{solver.method}: {words}" if solver.method else words,
        solver_ok=solver.status in (SolverStatus.CONVERGED, SolverStatus.NO_CONTACT),
    )
