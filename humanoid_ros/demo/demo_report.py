# SPDX-License-Identifier: Apache-2.0
"""The demo's numbers as a table on the terminal and as a report file."""

from __future__ import annotations

from dataclasses import dataclass

FORCE_TOLERANCE = 0.01
"""Largest relative difference between the sum of normal forces at rest and the weight."""


@dataclass(frozen=True)
class DemoNumbers:
    """What the demo measured.

    Attributes:
        robot: Name of the robot.
        scene: Name of the scene.
        mass: Mass of the robot [kg].
        weight: Its weight [N].
        standing: Mean normal force per foot before the squats, at rest [N].
        standing_after: The same after the push [N].
        squats: Number of squats.
        squat_depth: How far the waist went down [m].
        squat_forces: Smallest and largest sum of normal forces while squatting [N].
        foot_move: Largest distance that each foot moved while squatting [m].
        foot_turn: Largest angle that each foot turned while squatting [rad].
        tracking_error: Largest joint error that the controller reported [rad].
        push_body: Link that was pushed.
        push_force: (x, y, z) of the push [N].
        push_duration: [s].
        push_sway: Largest horizontal distance that the pushed link moved [m].
        push_rest: How far it stood from where it was before the push, once at rest [m].
        push_settling: Simulated time until it stayed within 1 mm of that place [s].
        blow_force: (x, y, z) of the push on the waist while the controller balances the robot [N].
        blow_duration: [s].
        blow_steps: Steps that it took to stay on its feet.
        blow_move: How far its waist stands from where it was before [m].
        real_time_factor: Simulated over wall-clock time of the whole demo.
        step_seconds: Mean wall-clock time of a simulation step at the end [s].
        stages: Mean wall-clock time of each stage of a step [s].
    """

    robot: str
    scene: str
    mass: float
    weight: float
    standing: dict[str, float]
    standing_after: dict[str, float]
    squats: int
    squat_depth: float
    squat_forces: tuple[float, float]
    foot_move: dict[str, float]
    foot_turn: dict[str, float]
    tracking_error: float
    push_body: str
    push_force: tuple[float, float, float]
    push_duration: float
    push_sway: float
    push_rest: float
    push_settling: float
    blow_force: tuple[float, float, float]
    blow_duration: float
    blow_steps: int
    blow_move: float
    real_time_factor: float
    step_seconds: float
    stages: dict[str, float]

    def rows(self) -> list[tuple[str, str]]:
        """Label and value of each number worth telling."""
        rows = []
        for when, forces in (("", self.standing), (", after squats and push", self.standing_after)):
            for foot, force in forces.items():
                rows.append((f"normal force on {foot}{when}", f"{force:8.2f} N"))
            total = sum(forces.values())
            rows.append(
                (
                    f"sum of forces / weight{when}",
                    f"{total:8.2f} N / {self.weight:.2f} N = {total / self.weight:.6f}",
                )
            )
        low, high = self.squat_forces
        (x, y, z), (ahead, aside, up) = self.push_force, self.blow_force
        rows += [
            (f"{self.squats} squats: waist went down by", f"{1e3 * self.squat_depth:8.1f} mm"),
            ("  sum of forces between", f"{low:8.1f} N and {high:.1f} N"),
            ("  feet moved by at most", f"{1e6 * max(self.foot_move.values()):8.2f} µm"),
            ("  feet turned by at most", f"{1e6 * max(self.foot_turn.values()):8.2f} µrad"),
            ("  largest joint error", f"{1e3 * self.tracking_error:8.2f} mrad"),
            (
                f"push on {self.push_body}",
                f"({x:.0f}, {y:.0f}, {z:.0f}) N for {self.push_duration:.2f} s",
            ),
            ("  swayed by at most", f"{1e3 * self.push_sway:8.1f} mm"),
            ("  at rest again after", f"{self.push_settling:8.2f} s"),
            ("  stands off its old place by", f"{1e3 * self.push_rest:8.2f} mm"),
            (
                "balanced by its sensors, push on the waist",
                f"({ahead:.0f}, {aside:.0f}, {up:.0f}) N for {self.blow_duration:.2f} s",
            ),
            ("  steps that it took", f"{self.blow_steps:8d}"),
            ("  stands off its old place by", f"{1e3 * self.blow_move:8.0f} mm"),
            ("real-time factor", f"{self.real_time_factor:8.3f}"),
            ("time of a step", f"{1e6 * self.step_seconds:8.0f} µs"),
        ]
        return rows

    def faults(self) -> list[str]:
        """Return what is wrong with these numbers: forces that don't carry the weight, a hard push without a step."""
        faults = [] if self.blow_steps else ["the push on the waist was to make it step, and it took none"]
        for when, forces in (("before", self.standing), ("after", self.standing_after)):
            total = sum(forces.values())
            if abs(total - self.weight) > FORCE_TOLERANCE * self.weight:
                faults.append(
                    f"{when} squats and push the normal forces sum to {total:.2f} N, which is more "
                    f"than {100 * FORCE_TOLERANCE:.0f} % off the weight {self.weight:.2f} N"
                )
        return faults


def text_table(rows: list[tuple[str, str]]) -> str:
    """Two columns with a line around them."""
    left = max(len(label) for label, _ in rows)
    right = max(len(value) for _, value in rows)
    line = f"+{'-' * (left + 2)}+{'-' * (right + 2)}+"
    body = [f"| {label:<{left}} | {value:<{right}} |" for label, value in rows]
    return "\n".join([line, *body, line])


def markdown_report(numbers: DemoNumbers, picture: str, drawn: str) -> str:
    """Return the report of a run.

    Args:
        numbers: What was measured.
        picture: File name of the picture beside the report.
        drawn: What the picture shows and how it was made.
    """
    table = "\n".join(f"| {label.strip()} | {' '.join(value.split())} |" for label, value in numbers.rows())
    stages = "\n".join(f"| {stage} | {1e6 * seconds:.1f} |" for stage, seconds in numbers.stages.items())
    return f"""# Demo: {numbers.robot} in scene {numbers.scene}

{numbers.robot} ({numbers.mass:.3f} kg) stood on the floor by contact forces, squatted
{numbers.squats} times through `follow_joint_trajectory`, and was pushed once through
`apply_wrench`. Then the controller balanced it on noisy sensors, and it was pushed so hard that it
had to step. All numbers below were read from ROS 2 topics.

![{drawn}]({picture})

{drawn}

| quantity | value |
|---|---|
{table}

| stage of a step | mean time [µs] |
|---|---|
{stages}
"""
