# SPDX-License-Identifier: Apache-2.0
"""The demo: HRP-2 stands, squats twice, is pushed, steps when it is pushed hard, and is seen on a local page.

`make demo` leaves the page open until Ctrl-C; `make demo HEADLESS=1` writes `out/demo.png` and
`out/report.md` and ends by itself. Everything goes through ROS 2 topics, services and actions, as
it would with a real robot.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from control_msgs.action import FollowJointTrajectory
from humanoid_stack.msg import ControllerStatus
from tqdm import tqdm

from humanoid_model import load_robot
from humanoid_model.errors import HumanoidError
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.progress import Progress
from humanoid_model.robot import Robot
from humanoid_planner.posture.motion.squat import LEGS, squat_motion
from humanoid_ros.bringup.node_list import ParameterValue, list_nodes
from humanoid_ros.bringup.own_domain import check_alone, own_domain
from humanoid_ros.bringup.start_stack import processes
from humanoid_ros.bringup.supervisor import Supervisor
from humanoid_ros.client import HumanoidStack
from humanoid_ros.demo.demo_observer import DemoError, DemoObserver, Recording, wait_for
from humanoid_ros.demo.demo_report import DemoNumbers, markdown_report, text_table
from humanoid_ros.demo.headless_browser import BrowserError, HeadlessBrowser
from humanoid_ros.viewer.camera import Camera
from humanoid_ros.viewer.drawing.contact_drawing import ARROW_SCALE, CONE_SCALE
from humanoid_ros.viewer.drawing.drawn_messages import contact_view
from humanoid_ros.viewer.entrance import page_address, page_token
from humanoid_ros.viewer.sketch import sketch

ROBOT, SCENE = "hrp2", "stand"
GRAVITY = 9.81
KNEE, SQUATS, PERIOD = np.deg2rad(95.0), 2, 3.0
PUSH_LINK, PUSH_FORCE, PUSH_DURATION = "CHEST_LINK1", (100.0, 0.0, 0.0), 0.15
BLOW_LINK, BLOW_FORCE, BLOW_DURATION = "WAIST", (300.0, 100.0, 0.0), 0.1
"""Push that it can't take without a step."""
REST, SWAY, STEPS = 1.0, 3.0, 3.0
"""Simulated time at rest that forces are averaged over, that a push is watched, and that it may step [s]."""
PICTURE, REPORT = Path("out/demo.png"), Path("out/report.md")
ARGUMENTS = {"scene": SCENE, "model_generator": "false", "controller": "true"}
PARAMETERS: dict[str, dict[str, ParameterValue]] = {
    # The plot shows squats and pushes.
    "viewer": {"plot_window": 25.0},
    # It balances the robot at the end: until then the drives hold the joints.
    "controller": {"autostart": False},
}
"""What the demo sets beside the stack's own parameters."""
FIRST_PORT = 8080
START_TIMEOUT, ANSWER_TIMEOUT = 180.0, 60.0
STANDSTILL = 30.0
"""Longest wait for simulated time to go on [s]: a kernel that nobody has needed yet may have to be compiled."""


class Demo:
    """The steps of the demo against a running stack.

    Args:
        robot: The robot that is simulated.
        stack: What moves it.
        observer: What listens.
        alive: Raises a SupervisorError if a node of the stack died.
    """

    def __init__(self, robot: Robot, stack: HumanoidStack, observer: DemoObserver, alive: Callable[[], None]) -> None:
        self._robot = robot
        self._stack = stack
        self._observer = observer
        self._alive = alive
        self._errors: list[float] = []
        self._feet = feet(robot)

    def run(self) -> DemoNumbers:
        """Stand, squat, push, balance and push; every step waits on simulated time.

        Raises:
            DemoError: Something doesn't answer, or the robot fell.
        """
        self._wait_for_robot()
        start_wall, start = time.monotonic(), self._time()
        motion = squat_motion(self._robot, knee=KNEE, count=SQUATS, period=PERIOD)
        self._pass(0.5, "settling")
        standing = self._record(lambda: self._pass(REST, "standing"))
        squats = self._record(lambda: self._squat(motion))
        self._pass(0.5, "settling")
        push_start = self._time()
        pushed = self._record(lambda: self._push_once())
        after = self._record(lambda: self._pass(REST, "standing"))
        self._balance()
        blown = self._record(lambda: self._blow())
        root = self._robot.description.root
        elapsed = self._time() - start
        wall = time.monotonic() - start_wall
        status = self._observer.status
        assert status is not None
        sway = np.linalg.norm(pushed.displacements(PUSH_LINK)[:, :2], axis=1)
        description = self._robot.description
        return DemoNumbers(
            robot=self._robot.name,
            scene=status.scene,
            mass=description.total_mass,
            weight=description.total_mass * GRAVITY,
            standing=self._foot_forces(standing),
            standing_after=self._foot_forces(after),
            squats=SQUATS,
            squat_depth=-float(squats.displacements(description.root)[:, 2].min()),
            squat_forces=squats.total_force_range(),
            foot_move={foot: squats.max_move(link) for foot, link in self._feet.items()},
            foot_turn={foot: squats.max_turn(link) for foot, link in self._feet.items()},
            tracking_error=max(self._errors, default=float("nan")),
            push_body=PUSH_LINK,
            push_force=PUSH_FORCE,
            push_duration=PUSH_DURATION,
            push_sway=float(sway.max()),
            push_rest=float(sway[-1]),
            push_settling=pushed.settling_time(PUSH_LINK, push_start, 1e-3),
            blow_force=BLOW_FORCE,
            blow_duration=BLOW_DURATION,
            blow_steps=sum(blown.landings(f"{self._robot.name}/{link}") for link in self._feet.values()),
            blow_move=float(np.linalg.norm(blown.displacements(root)[-1, :2])),
            real_time_factor=elapsed / wall,
            step_seconds=status.step_seconds,
            stages={stage.stage: stage.mean for stage in status.profile},
        )

    def check(self) -> None:
        """Raise an error if a node died, another simulator moves the robot too, or the robot fell."""
        self._alive()
        check_alone(self._stack.node)
        base = self._observer.placement(self._robot.description.root)
        if base is not None and (base.translation[2] < 0.3 or base.rotation[2, 2] < 0.7):
            raise DemoError(
                f"{self._robot.name} fell: its waist is {base.translation[2]:.2f} m high and "
                f"leans by {np.rad2deg(np.arccos(base.rotation[2, 2])):.0f} degrees"
            )

    def pause(self, paused: bool) -> None:
        """Let simulated time stand still, or go on and half a second pass."""
        if paused:
            self._stack.pause()
        else:
            self._stack.resume()
            self._pass(0.5, "going on")

    def sketch(self, path: Path) -> None:
        """Draw the robot as it stands now, without a browser."""
        description = self._robot.description
        placements = self._observer.placements(description.links)
        contacts = self._observer.contacts
        assert contacts is not None
        feet = np.mean([placements[link].translation for link in self._feet.values()], axis=0)
        centre = feet * (1.0, 1.0, 0.0) + (0.0, 0.0, 0.75)
        sketch(
            description,
            placements,
            contact_view(contacts),
            Camera.framing(centre, 1.54),
            cone_scale=CONE_SCALE,
            arrow_scale=ARROW_SCALE,
        ).save(path)

    def _wait_for_robot(self) -> None:
        observer = self._observer
        with tqdm(total=3, desc="starting", leave=False, disable=None) as bar:
            for condition, what in (
                (lambda: observer.status, "the simulator's status"),
                (lambda: observer.contacts and observer.contacts.contacts, "contact forces"),
                (
                    lambda: all(observer.placement(link) is not None for link in demo_links(self._robot)),
                    "transforms of the robot's links",
                ),
            ):
                wait_for(condition, what, START_TIMEOUT, self._alive)
                bar.update()

    def _time(self) -> float:
        time_now = self._observer.simulated_time
        assert time_now is not None
        return time_now

    def _pass(self, seconds: float, what: str, done: Callable[[], bool] = lambda: False) -> None:
        """Let simulated time pass, or until `done`, with a progress bar."""
        start = now = self._time()
        silent_since = time.monotonic()
        with tqdm(
            total=seconds,
            desc=what,
            leave=False,
            disable=None,
            bar_format="{desc:<10} {bar} {n:.1f} of {total:.1f} s",
        ) as bar:
            while now - start < seconds and not done():
                self.check()
                if self._time() > now:
                    silent_since = time.monotonic()
                elif time.monotonic() - silent_since > STANDSTILL:
                    raise DemoError(f"simulated time stands still for {STANDSTILL:.0f} s")
                now = self._time()
                bar.update(min(now - start, seconds) - bar.n)
                time.sleep(0.02)

    def _record(self, phase: Callable[[], None]) -> Recording:
        self._observer.start_recording()
        phase()
        return self._observer.stop_recording()

    def _foot_forces(self, recording: Recording) -> dict[str, float]:
        names = {link: foot for foot, link in self._feet.items()}
        return {names.get(body.rsplit("/", 1)[-1], body): force for body, force in recording.mean_forces().items()}

    def _squat(self, motion: JointTrajectory) -> None:
        task = self._stack.begin_follow(motion)
        self._stack.activate_controller(active=False)  # it reads the robot meanwhile
        self._pass(motion.end_time + 2.0, "squatting", lambda: task.done)
        answer = task.result(ANSWER_TIMEOUT, self._on_progress)
        if not answer.success:
            raise DemoError(f"the squats failed: {answer.message} ({answer.code})")

    def _on_progress(self, progress: Progress) -> None:
        assert isinstance(progress.result, FollowJointTrajectory.Feedback)
        errors = progress.result.error.positions
        if errors:
            self._errors.append(float(np.abs(errors).max()))

    def _balance(self) -> None:
        """Let the controller take over from the drives."""
        self._stack.activate_controller()
        begin = self._time()
        while self._stack.balance.mode != ControllerStatus.STANDING:
            self._pass(0.1, "balancing")
            if self._time() - begin > STANDSTILL:
                raise DemoError(f"the controller doesn't balance {self._robot.name} after {STANDSTILL:.0f} s")
        self._pass(REST, "balancing")

    def _blow(self) -> None:
        self._stack.push(BLOW_LINK, BLOW_FORCE, duration=BLOW_DURATION)
        self._pass(STEPS, "stepping")

    def _push_once(self) -> None:
        self._stack.push(PUSH_LINK, PUSH_FORCE, duration=PUSH_DURATION)
        self._pass(SWAY, "pushed")


def feet(robot: Robot) -> dict[str, str]:
    """Return the link of each foot, by "right foot" and "left foot"."""
    joints = robot.description.joints
    return {leg.replace("_leg", " foot"): joints[robot.limbs[leg][-1]].child for leg in LEGS}


def demo_links(robot: Robot) -> tuple[str, ...]:
    """Links whose motion the demo records."""
    return (robot.description.root, PUSH_LINK, *feet(robot).values())


def free_port(first: int) -> int:
    """Return the first TCP port of this machine, from `first` on, that is free."""
    for port in range(first, first + 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise DemoError(f"no free TCP port from {first} to {first + 99}")


def take_picture(address: str, path: Path, demo: Demo) -> str:
    """Return the picture of the page, or, without a browser, of the same scene drawn here.

    Returns:
        What the picture shows and how it was made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # A browser without graphics card takes a while to start: meanwhile time stands still, so that the
    # plot on the page still shows squats and push.
    demo.pause(True)
    try:
        with HeadlessBrowser(1600, 900) as browser:
            browser.open(address)
            browser.wait_for("document.body.innerText.includes('simulated time')")
            # The browser warns of drawing without a graphics card, as was asked for.
            browser.evaluate(
                "document.querySelectorAll('.mantine-Notification-closeButton').forEach(button => button.click())"
            )
            browser.settled_screenshot()
            demo.pause(False)
            browser.wait_for("document.body.innerText.includes('running')")
            browser.wait_for_frames(4)
            path.write_bytes(browser.screenshot())
        return "The page of the viewer, photographed by a headless Chromium."
    except BrowserError as error:
        demo.pause(False)
        demo.sketch(path)
        return f"The scene drawn by humanoid_ros.viewer.sketch instead of the page: {error}."


@contextmanager
def running_stack(port: int) -> Iterator[Callable[[], None]]:
    """Yield the simulator and the viewer, as processes that all have to live.

    Args:
        port: TCP port of the page.

    Yields:
        A function that raises a SupervisorError if one of them ended.
    """
    nodes = [
        replace(
            node,
            required=True,
            respawn=False,
            parameters={**node.parameters, **PARAMETERS.get(node.name, {})},
        )
        for node in list_nodes("stack", {**ARGUMENTS, "port": str(port)})
    ]
    with Supervisor(processes(nodes)) as supervisor:
        yield supervisor.check


def show(headless: bool) -> None:
    """Start the stack, run the demo, and show what came of it.

    Args:
        headless: Write picture and report and end, instead of leaving the page open.

    Raises:
        HumanoidError: A node died, the robot fell, or the forces don't carry the weight.
    """
    robot = load_robot(ROBOT)
    port = free_port(FIRST_PORT)
    address = page_address("127.0.0.1", port, page_token())
    with (
        own_domain(),
        running_stack(port) as alive,
        HumanoidStack(ROBOT, patience=ANSWER_TIMEOUT, check=alive) as stack,
    ):
        print(f"The page is at {address}", flush=True)
        demo = Demo(robot, stack, DemoObserver(demo_links(robot), stack.node), alive)
        numbers = demo.run()
        print(text_table(numbers.rows()), flush=True)
        if headless:
            drawn = take_picture(address, PICTURE, demo)
            REPORT.write_text(markdown_report(numbers, PICTURE.name, drawn))
            print(f"{drawn}\nPicture: {PICTURE}\nReport:  {REPORT}", flush=True)
        demo.check()
        for fault in numbers.faults():
            raise DemoError(fault)
        if not headless:
            print(f"Push and pull {robot.name} at {address}. Ctrl-C ends.", flush=True)
            while True:
                alive()
                time.sleep(0.5)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo.

    Args:
        arguments: words of the command line; None: those of this process.

    Returns:
        0 when all went well, 1 with a message if something is wrong, 130 after Ctrl-C when nobody looks on.
    """
    parser = argparse.ArgumentParser(
        prog="python -m humanoid_ros.demo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args(arguments)
    headless = os.environ.get("HEADLESS", "") not in ("", "0")
    # A signal to end leaves no nodes behind: the stack is stopped on the way out.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        show(headless)
    except KeyboardInterrupt:
        return 0 if not headless else 130
    except HumanoidError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    return 0
