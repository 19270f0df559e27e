# SPDX-License-Identifier: Apache-2.0
"""Sum of the wrenches that a user lets act, by joint, at the start of each step."""

from __future__ import annotations

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_sim.stepping.step_data import PushArrays, Step


@apart(error_model="numpy", _nrt=False)
def gather_wrenches(step: Step) -> None:
    """Sum the wrenches of a step up by joint, at the world origin, with the bodies where they are at its start."""
    pushes, total, motion = step.pushes, step.state.wrenches, step.motion
    if pushes.counts[0] == 0 and pushes.counts[1] == 0:
        return
    for j in range(total.shape[0]):
        for r in range(6):
            total[j, r] = 0.0
    for i in range(pushes.counts[0]):
        j, values = pushes.joints[i], pushes.values[i]
        R, p = motion.rotations[j], motion.origins[j]
        x = p[0] + R[0, 0] * values[0] + R[0, 1] * values[1] + R[0, 2] * values[2]
        y = p[1] + R[1, 0] * values[0] + R[1, 1] * values[1] + R[1, 2] * values[2]
        z = p[2] + R[2, 0] * values[0] + R[2, 1] * values[1] + R[2, 2] * values[2]
        for r in range(6):
            total[j, r] += values[3 + r]
        total[j, 3] += y * values[5] - z * values[4]
        total[j, 4] += z * values[3] - x * values[5]
        total[j, 5] += x * values[4] - y * values[3]


@uncounted()
def end_wrenches(pushes: PushArrays) -> None:
    """Let go of what doesn't act in the next step."""
    counts = pushes.counts
    counts[2] += 1
    if counts[0] == 0 and counts[1] == 0:
        return
    counts[1] = counts[0]
    kept = 0
    for i in range(counts[0]):
        if pushes.last_steps[i] >= counts[2]:
            pushes.joints[kept], pushes.last_steps[kept] = pushes.joints[i], pushes.last_steps[i]
            for r in range(9):
                pushes.values[kept, r] = pushes.values[i, r]
            kept += 1
    counts[0] = kept
