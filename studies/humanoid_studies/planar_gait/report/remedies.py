# SPDX-License-Identifier: Apache-2.0
"""What to do about a motion that doesn't keep its limits (specification 003 section 2.32.4).

The thesis' practice, in the words of this package's settings: what is first, and what is left if that doesn't help.
"""

from __future__ import annotations

from humanoid_model.violation import ViolationKind

REMEDIES: dict[ViolationKind, tuple[str, str]] = {
    ViolationKind.RELEASED_FOOT_PULLS: (
        "give its force a lower bound (BipWalker.min_toe_force; the thesis takes 6 N)",
        "lower effort.force_weight, or change its xi in effort.weights",
    ),
    ViolationKind.ROOT_FOOT_PULLS: (
        "hold it down by the controls (PhaseSettings.min_root_force)",
        "change the hip's places and velocities at the ends, or the duration",
    ),
    ViolationKind.FRICTION: (
        "keep it within friction by the controls (friction of the walker, PhaseSettings.root_friction)",
        "change the hip's velocities at the ends, or the duration",
    ),
    ViolationKind.RANGE: (
        "penalise joint ranges (penalties.range_weight)",
        "start from another guess, and compare the extremals",
    ),
    ViolationKind.RATE: (
        "penalise joint rates (penalties.rate_weight)",
        "make the phase longer, or lower the rates that its ends prescribe",
    ),
    ViolationKind.CLEARANCE: (
        "raise penalties.inequality, or ask for more penalties.clearance",
        "start from another guess",
    ),
    ViolationKind.BOUND: (
        "raise the bound",
        "make the phase longer",
    ),
    ViolationKind.CLOSURE: (
        "raise penalties.closure by a factor of 3, with this solution to start from",
        "check slap against closure, and whether bounds of the controls let the loop close",
    ),
    ViolationKind.JUMP: (
        "give neighbouring phases the same states",
        "solve phases whose transitions are free to a finer tolerance",
    ),
    ViolationKind.DYNAMICS: (
        "lift the gait: a robot in space needs a lateral motion as well",
        "solve it on a finer mesh",
    ),
}
"""First and second action for each kind of limit."""

SLAP = ("raise penalties.slap and penalties.closure together", "hold the sole above the ground as an inequality")
"""For a sole that goes below the ground while the front foot comes down."""

NOT_CONVERGED = (
    "continue in smaller steps of the masses, the trunk's last (solvers/continuation.py)",
    "start from the transcription: SynthesisOptions(rescue=True) gives it back as the result",
)
"""For a phase without a solution."""
