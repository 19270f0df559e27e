# SPDX-License-Identifier: Apache-2.0
"""State of the simulation as the table on top of the panel."""

from __future__ import annotations

import html
from dataclasses import dataclass

GREEN, AMBER, RED = "#1f8a4c", "#b87400", "#c62828"


@dataclass(frozen=True)
class SimulationView:
    """What the panel tells of the simulation.

    Attributes:
        scene: Name of the scene.
        time: Simulated time [s].
        paused: Whether time stands still.
        pause_reason: why, without a request.
        real_time_factor: Simulated over wall-clock time.
        step_seconds: Mean wall-clock time of a step [s].
        kinetic_energy: [J].
        potential_energy: [J].
        solver: The contact solver in a few words, e.g. "nsgs: converged, 12 iterations".
        solver_ok: Whether it ended well.
    """

    scene: str
    time: float
    paused: bool
    pause_reason: str
    real_time_factor: float
    step_seconds: float
    kinetic_energy: float
    potential_energy: float
    solver: str
    solver_ok: bool


def status_html(view: SimulationView | None, normal_force: float, weight: float | None) -> str:
    """Return the table of the simulation's state.

    Args:
        view: The state, or None when no simulator is heard.
        normal_force: Sum of the normal contact forces [N].
        weight: Weight of the robots [N], None when unknown.

    Returns:
        HTML whose texts are escaped.
    """
    if view is None:
        return _badge("no simulator", RED) + _note(
            "Nothing is heard on <code>status</code>. The page goes on by itself when a simulator starts."
        )
    if view.paused:
        badge = _badge("paused", AMBER)
        if view.pause_reason:
            badge += _note(html.escape(view.pause_reason))
    else:
        badge = _badge("running", GREEN)
    solver = html.escape(view.solver)
    forces = f"{normal_force:.1f} N"
    if weight is not None:
        forces += f" of {weight:.1f} N"
    rows = [
        ("scene", html.escape(view.scene)),
        ("simulated time", f"{view.time:.2f} s"),
        ("real-time factor", "–" if view.paused else f"{view.real_time_factor:.2f}"),
        ("time of a step", f"{1e6 * view.step_seconds:.0f} µs" if view.step_seconds else "–"),
        ("energy", f"{view.kinetic_energy:.3f} + {view.potential_energy:.1f} J"),
        ("contact solver", solver if view.solver_ok else f"<b style='color:{RED}'>{solver}</b>"),
        ("normal forces", forces),
    ]
    return badge + _table(rows)


def _badge(text: str, colour: str) -> str:
    return (
        f"<div style='display:inline-block;margin:0 0.6em 0.4em 0.6em;padding:0.1em 0.8em;"
        f"border-radius:1em;background:{colour};color:white;font-size:0.85em;font-weight:600'>"
        f"{text}</div>"
    )


def _note(text: str) -> str:
    return f"<div style='margin:0 0.8em 0.4em;font-size:0.82em;opacity:0.8'>{text}</div>"


def _table(rows: list[tuple[str, str]]) -> str:
    body = "".join(
        f"<tr><td style='padding:0.09em 0;opacity:0.65'>{name}</td>"
        f"<td style='padding:0.09em 0;text-align:right'>{value}</td></tr>"
        for name, value in rows
    )
    return (
        "<table style='width:calc(100% - 1.4em);margin:0 0.7em 0.5em;border-collapse:collapse;"
        f"font-size:0.85em;font-variant-numeric:tabular-nums'>{body}</table>"
    )
