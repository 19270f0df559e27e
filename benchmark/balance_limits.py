# SPDX-License-Identifier: Apache-2.0
"""How hard a robot may be pushed in each direction: the worst over the phases of a step, on noisy sensors.

Pushes of 0.1 s at the centre of mass come from eight directions, at eight phases of a step (--seed draws where in their
eighths, and the noise); the hardest that is survived is found by halving, below the worst of the phases before.
Directions are of the force: ahead, towards the standing foot, back, towards the swinging foot; standing, left counts as
the standing foot. ``no step`` is the hardest push that is survived without a step, as share of what a linear inverted
pendulum on the same soles takes,

    dv = e w² T / (1 - exp(-w T)),

with the way e from the DCM to the edge of the soles in the push's direction, w² = g / height, T = 0.1 s.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from balance import Run
from estimation import POSTURES
from tqdm import tqdm

from humanoid_control.stepping import Walker, WalkMode
from humanoid_model import load_scene
from humanoid_model.arrays import Array

DURATION = 0.1
AFTER = 2.5
"""For so long it has to stay up after a push [s]."""
NAMES = ("ahead", "ahead, standing", "standing", "back, standing", "back", "back, swinging", "swinging",
         "ahead, swinging")  # fmt: skip


class Pushed:
    """A robot at phases of a step, pushed from there again and again."""

    def __init__(self, name: str, seed: int, speed: float, phases: int) -> None:
        self.run, rng = Run(name, seed, load_scene("walk")), np.random.default_rng(seed)
        self.run.go(0.8)
        self.walks = speed != 0.0
        if self.walks:
            self.run.walker.walk(speed)
            self._go_to_step("")
            self.run.go(2.0)
            self._go_to_step(self.walker.stance)
        step, self.states = self.walker.settings.step_time, []
        before = 0.0
        for instant in (np.arange(phases) + rng.random()) * step / phases:
            if not self.run.go(instant - before):
                raise RuntimeError(f"{name} falls at {speed} m/s without a push")
            before = instant
            self.states.append(self.run.simulation.save_state())

    @property
    def walker(self) -> Walker:
        """The walker, another one after each return to a state."""
        return self.run.loop.controller

    def _go_to_step(self, stance: str) -> None:
        """Go on until a step begins on another foot than that one."""
        for _ in range(5000):
            if self.walker.mode is WalkMode.STEPPING and self.walker.stance != stance:
                return
            self.run.go(1e-3)
        raise RuntimeError(f"{self.run.name} doesn't step")

    def _unit(self, direction: float) -> Array:
        """(3,) of a direction from ahead towards the standing foot [rad], in the world."""
        body, stance = self.walker.body, self.walker.stance
        ahead = self.run.own.placement_world_base.rotation[:2, 0]
        ahead = ahead / np.linalg.norm(ahead)
        left = np.array([-ahead[1], ahead[0]])
        other = next(name for name in body.soles if name != stance)
        side = math.copysign(1.0, left @ (body.sole(stance).translation - body.sole(other).translation)[:2])
        return np.append(math.cos(direction) * ahead + side * math.sin(direction) * left, 0.0)

    def survives(self, state: int, direction: float, change: float, may_step: bool) -> bool:
        """Whether it stays up after a push from one of the states that changes its velocity so much [m/s]."""
        self.run.simulation.restore_state(self.states[state])
        walker = self.walker
        self.run.push(change * self._unit(direction))
        for _ in range(round(AFTER / 0.05)):
            if not self.run.go(0.05) or walker.mode is WalkMode.FALLEN:
                return False
            if not may_step and walker.mode is WalkMode.STEPPING:
                return False
        return True

    def pendulum(self, direction: float) -> float:
        """Return what a linear inverted pendulum on the soles takes [m/s]."""
        self.run.simulation.restore_state(self.states[0])
        walker = self.walker
        d = self._unit(direction)[:2]
        soles = [placement.translation[2] for placement in map(walker.body.sole, walker.bearing)]
        omega = math.sqrt(9.81 / (walker.body.centre[2] - float(np.mean(soles))))
        corners, edge = walker.support, math.inf
        for one, other in itertools.pairwise([*corners, corners[0]]):
            outward = np.array([other[1] - one[1], one[0] - other[0]])
            if outward @ d > 1e-9:
                edge = min(edge, float(outward @ (one - walker.dcm) / (outward @ d)))
        return edge * omega**2 * DURATION / -math.expm1(-omega * DURATION)


def hardest(case: tuple[str, int, float, int, bool, int, float, int]) -> tuple[float, int, Array]:
    """Worst limit of a direction [m/s], the phase that has it, and what a pendulum takes."""
    name, seed, speed, phases, may_step, number, most, halvings = case
    pushed, direction = Pushed(name, seed, speed, phases), number * math.pi / 4.0
    worst, where = most, -1
    for phase in range(phases):
        if pushed.survives(phase, direction, worst, may_step):
            continue
        low, high, where = 0.0, worst, phase
        for _ in range(halvings):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if pushed.survives(phase, direction, middle, may_step) else (low, middle)
        worst = low
        if worst == 0.0:
            break
    return worst, where, pushed.pendulum(direction)


def main() -> None:
    """Push and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--robots", nargs="*", default=list(POSTURES), choices=list(POSTURES))
    parser.add_argument("--speeds", nargs="*", type=float, default=[0.0, 0.2, 0.5], help="[m/s]")
    parser.add_argument("--phases", type=int, default=8)
    parser.add_argument("--most", type=float, default=1.4, help="hardest push tried [m/s]")
    parser.add_argument("--halvings", type=int, default=4, help="of what is left at a phase")
    parser.add_argument("--no-step", action="store_true", help="standing without a step as well")
    parser.add_argument("--seed", type=int, help="by the clock if not given")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    seed = int(time.time()) if arguments.seed is None else arguments.seed
    rows = [(speed, arguments.phases if speed else 2, True) for speed in arguments.speeds]
    if arguments.no_step:
        rows.append((0.0, 1, False))
    print(f"seed {seed}; hardest change of velocity [m/s] (phase)\n\n| | {' | '.join(NAMES)} |\n|---|{'---|' * 8}")
    with ProcessPoolExecutor(arguments.workers) as pool:
        for name, (speed, phases, may_step) in itertools.product(arguments.robots, rows):
            cases = [(name, seed, speed, phases, may_step, k, arguments.most, arguments.halvings) for k in range(8)]
            found = list(tqdm(pool.map(hardest, cases), total=8, desc=f"{name} {speed}", leave=False))
            label = f"{name}, {f'at {speed} m/s' if speed else 'standing'}{'' if may_step else ', no step'}"
            cells = [
                f"{limit:.2f} ({where})" if may_step else f"{limit:.2f}, {limit / bound:.2f} of {bound:.2f}"
                for limit, where, bound in found
            ]
            print(f"| {label} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
