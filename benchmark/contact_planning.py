# SPDX-License-Identifier: Apache-2.0
"""Contact plans: nodes, posture calls and seconds of each scenario, method and option, over seeds.

Time is given twice, by the clock and of the processor: the second says more on a busy machine. Building is the part of
the processor-independent clock that posture problems take to be put together.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from examples.contact_scenarios import (
    Scenario,
    backward_walk,
    bip_over_bars,
    can_on_table,
    chair_to_standing,
    chosen_footholds,
    five_stairs,
    g1_up_stairs,
    gap_with_wall,
    ladder,
    reaching,
    safely,
    sitting_with_glass,
    slabs_and_bars,
    step_with_rail,
    talos_up_stairs,
    under_the_table,
)
from examples.plan_picture import draw_plan
from humanoid_planner.contacts import ContactPlan, RandomCandidates, plan_contacts, verify_plan
from humanoid_studies.posture.statistics import GenerationLog

Case = tuple[str, Callable[[], Scenario]]

CASES: tuple[Case, ...] = (
    ("can", can_on_table),
    ("can, no proofs first", lambda: can_on_table().but(reach=False, balance=False)),
    ("can, collisions", lambda: can_on_table().but(collisions=True)),
    ("can, torques", lambda: can_on_table().but(torque_limits=True)),
    ("can, torques, collisions", lambda: can_on_table().but(torque_limits=True, collisions=True)),
    ("can, reaching, all of it", lambda: reaching(can_on_table())),
    ("stairs", five_stairs),
    ("stairs, no proofs first", lambda: five_stairs().but(reach=False, balance=False)),
    ("stairs, two children", lambda: five_stairs().but(children=2)),
    ("stairs, pre-contacts", lambda: five_stairs().but(pre_contact="always")),
    ("stairs, VBFP", lambda: chosen_footholds(five_stairs(), "vbfp")),
    ("stairs, BFP in volumes", lambda: chosen_footholds(five_stairs(), "bfp")),
    ("stairs, collisions", lambda: five_stairs().but(collisions=True)),
    ("footsteps", slabs_and_bars),
    ("footsteps, no proofs first", lambda: slabs_and_bars().but(reach=False, balance=False)),
    ("footsteps, two children", lambda: slabs_and_bars().but(children=2)),
    ("footsteps, collisions", lambda: slabs_and_bars().but(collisions=True)),
    ("stairs, VBFP, collisions", lambda: chosen_footholds(five_stairs(), "vbfp").but(collisions=True)),
    ("can, 1 cm inside", lambda: can_on_table().but(**safely())),
    ("can, reaching, 1 cm inside", lambda: reaching(can_on_table()).but(**safely())),
    ("stairs, 1 cm inside", lambda: five_stairs().but(**safely())),
    ("footsteps, 1 cm inside", lambda: slabs_and_bars().but(**safely())),
    ("footsteps, children, 1 cm inside", lambda: slabs_and_bars().but(**safely(), children=2)),
    ("chair to standing", chair_to_standing),
    ("sitting with a glass", sitting_with_glass),
    ("under the table", under_the_table),
    ("backward walk", backward_walk),
    ("step with a rail", step_with_rail),
    ("gap before a wall", gap_with_wall),
    ("ladder", ladder),
    ("gap, failures remembered", lambda: gap_with_wall().but(failure_penalty=0.03)),
    ("ladder, failures forgotten", lambda: ladder().but(failure_penalty=0.0)),
    ("TALOS up the stairs", talos_up_stairs),
    ("G1 up the stairs", g1_up_stairs),
    ("BIP over bars", bip_over_bars),
    ("under the table, guide only", partial(under_the_table, ())),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="of random places; others don't depend on them")
    parser.add_argument("--limit", type=float, default=60.0, help="of one plan [s]")
    parser.add_argument("--nodes", type=float, default=math.inf, help="of one plan: a limit that no busy machine moves")
    parser.add_argument("--only", default="", help="cases whose names hold this")
    parser.add_argument("--pictures", type=Path, help="folder for pictures of each case's last plan and its calls")
    arguments = parser.parse_args()
    for scenario in (can_on_table(), five_stairs()):  # kernels
        for collisions in (False, True):
            plan_contacts(scenario.but(collisions=collisions).problem, max_nodes=4)
    head = f"{'case':28s} {'found':>6s} {'stances':>7s} {'nodes':>6s} {'calls':>6s} {'failed':>6s}"
    print(f"{head} {'clock s':>8s} {'worst':>7s} {'cpu s':>7s} {'building':>8s} {'verified':>8s} {'margin mm':>9s}")
    for name, make in CASES:
        if arguments.only not in name:
            continue
        scenario = make()
        random = isinstance(scenario.problem.candidates, RandomCandidates)
        plan = run(name, scenario, arguments.seeds if random else 1, arguments.limit, arguments.nodes)
        if arguments.pictures is not None:
            path = arguments.pictures / f"{name.replace(', ', '_').replace(' ', '_')}.png"
            GenerationLog.of_plan(plan.statistics.calls).plot(path.with_stem(f"{path.stem}_calls"))
            draw_plan(path, scenario.robot, scenario.scene, plan.stances, plan.postures, ((-75, 10), (0, 10)))


def run(name: str, scenario: Scenario, seeds: int, limit: float, nodes: float) -> ContactPlan:
    plans: list[tuple[ContactPlan, float, float]] = []
    for seed in range(seeds):
        began, processor = time.perf_counter(), time.process_time()
        plan = plan_contacts(scenario.but(seed=seed).problem, time_limit=limit, max_nodes=nodes)
        plans.append((plan, time.perf_counter() - began, time.process_time() - processor))

    def middle(value: Callable[[ContactPlan], float]) -> float:
        return statistics.median(value(plan) for plan, _, _ in plans)

    found = sum(plan.success for plan, _, _ in plans)
    verdicts = [verify_plan(scenario.robot, scenario.scene, plan.stances, plan.postures) for plan, _, _ in plans]
    verified = sum(verdict.success for verdict in verdicts)
    clocks, processors = [clock for _, clock, _ in plans], [cpu for _, _, cpu in plans]
    print(
        f"{name:28s} {found:3d}/{seeds:2d} {middle(len):7.0f} {middle(lambda p: p.statistics.nodes):6.0f} "
        f"{middle(lambda p: len(p.statistics.calls)):6.0f} "
        f"{middle(lambda p: sum(not call.success for call in p.statistics.calls)):6.0f} "
        f"{statistics.median(clocks):8.2f} {max(clocks):7.2f} {statistics.median(processors):7.2f} "
        f"{middle(lambda p: p.statistics.building / p.statistics.time):8.0%} {verified:5d}/{seeds:2d} "
        f"{1e3 * min(verdict.margin for verdict in verdicts):9.1f}",
        flush=True,
    )
    return plans[-1][0]


if __name__ == "__main__":
    main()
