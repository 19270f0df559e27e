# SPDX-License-Identifier: Apache-2.0
"""Frames a second that reach the page while a part of each mechanism is dragged round, and what that costs.

The kinematics node and the viewer run as processes; a client speaks viser's protocol as a browser does, holds the last
link (the first, where the mechanism has one freedom) and moves the pointer on a circle, 20 times a second as a browser
does. A frame is a drawing in which a body moved; beside it is the processor time of viewer and node, of a second and of
a frame. With a browser the last column is how often that draws meanwhile (its animation frames), here by the processor
and in the way of all the others.

    scripts/run python benchmark/mechanism_page.py
    scripts/run python benchmark/mechanism_page.py cross --browser
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))
from fixtures.page_client import PageClient, start_viewer, wait_for
from fixtures.ros_domain import claim_domain

from humanoid_kinematics import MechanismSolver, load_mechanism, load_scene
from humanoid_kinematics.analysis.dexterity import free_motions
from humanoid_model.files import list_resources
from humanoid_ros.demo.headless_browser import HeadlessBrowser
from humanoid_ros.kinematics.mechanism_topics import topic_name

POINTER = 20.0
"""Moves of a browser's pointer per second [Hz]."""


class CountingClient(PageClient):
    """Counts how often each body is moved."""

    def __init__(self, address: str) -> None:
        self.moves: Counter[str] = Counter()
        super().__init__(address)

    def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "SetOrientationMessage" and message["name"].startswith("/robots/"):
            self.moves[message["name"]] += 1
        super()._take(message)


def processor_time(pid: int) -> float:
    """Processor time of a process since it began [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def drag(page: CountingClient, node: str, hold: np.ndarray, radius: float, seconds: float) -> None:
    """Hold a body and move the pointer on a circle."""
    start = time.monotonic()
    steps = round(seconds * POINTER)
    for step in range(steps):
        angle = 2.0 * np.pi * step / POINTER / 2.0  # a round in two seconds
        to = hold + radius * np.array([np.cos(angle) - 1.0, np.sin(angle), 0.5 * np.sin(angle)])
        phase = "start" if step == 0 else "update" if step < steps - 1 else "end"
        page.send(
            "SceneNodeDragMessage", phase=phase, name=node, instance_index=None,
            start_position=hold.tolist(), start_screen_pos=(0.5, 0.5), end_position=to.tolist(),
            end_screen_pos=(0.5, 0.5), button="left", modifier=None,
        )  # fmt: skip
        time.sleep(max(0.0, start + (step + 1) / POINTER - time.monotonic()))


@contextmanager
def watching(address: str) -> Iterator[HeadlessBrowser]:
    """Show the page in a browser that counts its animation frames."""
    with HeadlessBrowser(800, 600) as browser:
        browser.open(address)
        browser.wait_for("document.querySelectorAll('canvas').length > 0")
        browser.wait_for_frames(30)
        browser.evaluate(
            "window.drawn = 0, (function count() { window.drawn++; requestAnimationFrame(count); })(), window.drawn"
        )
        yield browser


def drawn(browser: HeadlessBrowser | None) -> float:
    """Animation frames of a browser so far; not a number without one."""
    return np.nan if browser is None else float(browser.evaluate("window.drawn"))


def measure(
    names: list[str],
    page: CountingClient,
    pids: tuple[int, int],
    seconds: float,
    browser: HeadlessBrowser | None = None,
) -> None:
    """Print a row for each mechanism.

    Args:
        names: of mechanisms.
        page: the client.
        pids: of the viewer and of the kinematics node.
        seconds: of each measurement.
        browser: that draws the page, if any.
    """
    print("| mechanism | joints | frames a second | viewer | node | browser's frames a second |")
    print("|---|---:|---:|---:|---:|---:|", flush=True)
    for name in names:
        scene = load_scene(name)
        mechanism = next(iter(scene.mechanisms.values()))
        solver = MechanismSolver(load_mechanism(name, mechanism.name))
        joints = mechanism.robot.description.joints
        shown = [j for j in mechanism.robot.joint_names if mechanism.robot.description.links[joints[j].child].visuals]
        one_way = free_motions(solver).shape[1] == 1  # then the last link may stand at a dead point most of the time
        link = joints[shown[0 if one_way else -1]].child
        wait_for(lambda: "Load mechanism" in page.controls, "the panel is there")
        while mechanism.name not in page.texts:
            page.set("or path", name)
            page.set("Load mechanism", True)
            time.sleep(1.0)
        body = f"/robots/{topic_name(mechanism.name)}/{link}"
        wait_for(lambda body=body: f"{body}/0" in page.nodes, f"{body} is there")
        time.sleep(2.0)
        hold = solver.placement(link).act(np.array([0.1 * solver.length, 0.0, 0.0]))
        page.moves.clear()
        before, begun = [processor_time(pid) for pid in pids], drawn(browser)
        drag(page, f"{body}/0", hold, 0.2 * solver.length, seconds)
        spent = [processor_time(pid) - old for pid, old in zip(pids, before, strict=True)]
        frames, of_browser = max(page.moves.values(), default=0), (drawn(browser) - begun) / seconds
        shares = " | ".join(f"{100.0 * s / seconds:.0f} %, {1e3 * s / max(frames, 1):.1f} ms" for s in spent)
        shown_by = "–" if browser is None else f"{of_browser:.0f}"
        print(f"| `{name}` | {mechanism.model.nv} | {frames / seconds:.0f} | {shares} | {shown_by} |", flush=True)
    page.close()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mechanisms", nargs="*", help="all that come with the stack, if none is named")
    parser.add_argument("--seconds", type=float, default=6.0, help="of each measurement")
    parser.add_argument("--browser", action="store_true", help="with a browser beside")
    arguments = parser.parse_args()
    names = arguments.mechanisms or [*list_resources("urdf/mechanisms", (".mad",)), "bip_ankle"]
    domain = claim_domain()
    node = subprocess.Popen(
        [sys.executable, "-m", "humanoid_ros.kinematics"], env={**os.environ, "ROS_DOMAIN_ID": str(domain)}
    )
    viewer, address, _ = start_viewer(domain)
    try:
        with watching(address) if arguments.browser else nullcontext() as browser:
            measure(names, CountingClient(address), (viewer.pid, node.pid), arguments.seconds, browser)
    finally:
        for process in (viewer, node):
            process.send_signal(signal.SIGINT)
            process.wait(20.0)


if __name__ == "__main__":
    main()
