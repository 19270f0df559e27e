# SPDX-License-Identifier: Apache-2.0
"""The controller bridge's fault table: what stops a robot, how soon, and what its user is told.

A bridge moves a stand-in robot whose controllers take goals, windows, set points or a mixture. Each fault is made in
the middle of a motion; the table says how long joints went on, how long it took until the client was told, and what.
The program ends with code 1 if one is beyond its bound, or leaves the bridge busy.

``scripts/run python test/bridge_faults.py``; with ``--minutes 60`` faults at random, and the bridge's memory.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from fixtures.ros_domain import claim_domain, release_domain
from fixtures.ros_processes import start_program
from fixtures.stand_in_robot import StandInRobot
from humanoid_stack.action import ExecuteTrajectory
from humanoid_stack.msg import WholeBodyTrajectory
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from tqdm import tqdm
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from unique_identifier_msgs.msg import UUID

from humanoid_ros.controller_bridge.bridge_settings import Kind
from humanoid_ros.messages.conversions import duration
from humanoid_ros.node.clients import GuardedActionClient

STOPPED, TOLD = 0.3, 0.5
"""Bounds: until nothing moves, and until the client is told [s]."""
LENGTH, SPEED = 6.0, 0.3
"""Of the motion [s], [rad/s] in its middle: from 0 to 1.8 rad."""
MOVING = 1.5
"""When its fault comes, from the first movement on [s]."""
JUMP = 0.03
"""Between two periods of a controller, at most [rad]; the motion goes 0.003 on in one."""
SETTLE = 0.7
"""How long is waited after the client was told, beyond the bound, for what still moves [s]."""
SIGN = 0.15
"""How long a sign of life may be missing, the client's or the emergency stop's [s]; they come every 20 ms."""
CONFIG = """
robot: robot_2r_a
controllers:
  first: {{kind: {first}, name: first, joints: [joint1]}}
  second: {{kind: {second}, name: second, joints: [joint2]}}
timing: {{state_age: {age}, watchdog: {watchdog}}}
tolerances: {{path: 0.04}}
emergency_stop: {emergency}
fall: {{imu: imu, attitude: 0.3, wrenches: [wrenches/foot], force: 100, time: 0.05}}
"""
ACTION, TOPIC = Kind.TRAJECTORY_ACTION, Kind.TRAJECTORY_TOPIC
SET_POINT, JOINT_STATE = Kind.FORWARD_POSITION, Kind.JOINT_STATE
MIXTURES = {
    "action": (ACTION, ACTION),
    "topic": (TOPIC, TOPIC),
    "forward_position": (SET_POINT, SET_POINT),
    "action + topic": (ACTION, TOPIC),
    "forward_position + topic": (SET_POINT, TOPIC),
    "joint_state + action": (JOINT_STATE, ACTION),
}
Result = ExecuteTrajectory.Result


@dataclass
class Run:
    """One fault.

    Attributes:
        stopped: until nothing moved any more [s].
        told: until the client got a result [s]; None: it can't be told.
        words: that it got.
        problem: what is wrong with it; empty: nothing.
    """

    stopped: float
    told: float | None
    words: str
    problem: str = ""


class Stage:
    """A bridge before a stand-in robot, and its client."""

    def __init__(
        self,
        mixture: str,
        emergency: str = "emergency_stop",
        quality: str = "reliable",
        patience: float = 1.0,
        starts: bool = True,
    ) -> None:
        """Start the robot, and the bridge.

        Args:
            mixture: of controllers.
            emergency: the bridge's emergency stop, as its file says it.
            quality: of the publisher of joint states.
            starts: whether the bridge is started now.
            patience: factor of the times that the bridge waits for signs of life, and of the bounds.
        """
        self.patience = patience
        self.kinds = dict(zip(("first", "second"), MIXTURES[mixture], strict=True))
        self.domain = claim_domain()
        self.robot = StandInRobot(self.domain, self.kinds, quality)
        self.folder = tempfile.TemporaryDirectory()
        self.file = Path(self.folder.name) / "bridge.yaml"
        words = {name: kind.value for name, kind in self.kinds.items()}
        age, watchdog = 0.15 * patience, 0.2 * patience
        self.file.write_text(CONFIG.format(**words, emergency=emergency, age=age, watchdog=watchdog))
        self.client = GuardedActionClient(self.robot.node, ExecuteTrajectory, "execute_trajectory")
        self.change = self.robot.node.create_client(ChangeState, "controller_bridge/change_state")
        self.alive = self.robot.node.create_publisher(UUID, "execute_trajectory/alive", 10)
        self.health: list[Any] = []
        listener = ("/diagnostics", lambda message: self.health.append(message.status[0]))
        self.robot.node.create_subscription(DiagnosticArray, *listener, 10)
        self.beat: Callable[[], None] = lambda: None
        if starts:
            self.start_bridge()

    def start_bridge(self) -> None:
        """Start the bridge, or another one after it."""
        log = (Path(self.folder.name) / "log").open("ab")
        self.bridge = start_program("controller_bridge", self.domain, "-p", f"config:={self.file}", log=log)

    def goal(self, **fields: Any) -> ExecuteTrajectory.Goal:
        """Both joints' way, from rest to rest; in between they are as fast as they get for most of the time."""
        times, zero = (0.0, 0.5, LENGTH - 0.5, LENGTH), [0.0, 0.0]
        speed = [SPEED, SPEED]
        rows = [(zero, zero), ([0.075] * 2, speed), ([0.075 + SPEED * (LENGTH - 1.0)] * 2, speed)]
        rows.append(([0.15 + SPEED * (LENGTH - 1.0)] * 2, zero))
        points = [
            JointTrajectoryPoint(positions=q, velocities=v, time_from_start=duration(when))
            for when, (q, v) in zip(times, rows, strict=True)
        ]
        joints = JointTrajectory(joint_names=list(self.robot.joint_names), points=points)
        return ExecuteTrajectory.Goal(trajectory=WholeBodyTrajectory(joints=joints), **fields)

    def send(self, goal: ExecuteTrajectory.Goal, patience: float = 60.0) -> tuple[Any, Answer]:
        """Return a goal's handle, and its answer."""
        assert self.client.wait_for_server(60.0)
        handle = Answer(self.client.send_goal_async(goal)).result(patience)
        return handle, Answer(handle.get_result_async())

    def ask(self, patience: float = 30.0) -> str:
        """Return why the bridge takes no motion now; empty as soon as it does."""
        end = time.monotonic() + patience
        words = "no answer"
        while True:
            with contextlib.suppress(TimeoutError):  # it went to a bridge that was killed
                result = self.send(self.goal(dry_run=True), 3.0)[1].result(10.0).result
                words = "" if result.success else result.message
            if not words or time.monotonic() > end:
                return words
            time.sleep(0.1)

    def play(self, fault: Callable[[Stage], None], *, tells: bool = True) -> Run:
        """Make a fault in the middle of a motion.

        Args:
            fault: makes it.
            tells: whether the bridge can tell of it.
        """
        robot = self.robot
        problem = self.ask()
        if problem:
            return Run(np.nan, None, problem, "no motion began")
        self.handle, answer = self.send(self.goal(dead_man=duration(SIGN * self.patience)))
        self.answer = answer
        lively = threading.Event()
        identity = UUID(uuid=self.handle.goal_id.uuid)

        def live() -> None:
            while not lively.wait(0.02):
                self.alive.publish(identity)

        client = threading.Thread(target=live)
        client.start()
        self.beat = lively.set
        try:
            end = time.monotonic() + 30.0
            while not robot.motion and time.monotonic() < end:
                time.sleep(0.005)
            time.sleep(MOVING)
            if answer.done():
                return Run(np.nan, None, answer.result().result.message, "it ended before")
            begun = time.monotonic()
            fault(self)
            words, told = "", None
            if tells:
                try:
                    result = answer.result(20.0).result
                except TimeoutError:
                    return Run(np.nan, None, "", "the client is never told")
                words, told = result.message, answer.at - begun
            time.sleep(SETTLE + STOPPED * self.patience)
        finally:
            lively.set()
            client.join()
        moved = robot.motion
        stopped = max((when for when, _ in moved), default=begun) - begun
        run = Run(max(stopped, 0.0), told, words)
        if run.stopped > STOPPED * self.patience:
            run.problem = f"stops after {run.stopped:.2f} s"
        elif told is not None and told > TOLD * self.patience:
            run.problem = f"is told after {told:.2f} s"
        elif tells and result.success:
            run.problem = "is called a success"
        return run

    def mend(self) -> str:
        """Let everything work again; return why the bridge takes no motion then, if it doesn't."""
        self.robot.heal()
        self.robot.rest()
        if self.bridge.poll() is not None:
            self.start_bridge()
        return self.ask()

    def close(self) -> None:
        """End it all."""
        self.bridge.send_signal(signal.SIGCONT)
        self.bridge.terminate()
        try:
            self.bridge.wait(30.0)
        except subprocess.TimeoutExpired:
            self.bridge.kill()
        self.robot.close()
        self.folder.cleanup()
        release_domain(self.domain)


class Answer:
    """What a future brings, and when it came."""

    def __init__(self, future: Any) -> None:
        self.at = np.inf
        self._done = threading.Event()
        self._future = future
        future.add_done_callback(self._on_done)

    def done(self) -> bool:
        """Return whether it has come."""
        return self._done.is_set()

    def result(self, patience: float = 60.0) -> Any:
        """Wait for it."""
        if not self._done.wait(patience):
            raise TimeoutError(f"no answer in {patience:g} s")
        return self._future.result()

    def _on_done(self, _: Any) -> None:
        self.at = time.monotonic()
        self._done.set()


def _set(**fields: Any) -> Callable[[Stage], None]:
    def fault(stage: Stage) -> None:
        for name, value in fields.items():
            setattr(stage.robot, name, value)

    return fault


def _press(quality: str) -> Callable[[Stage], None]:
    return lambda stage: stage.robot.press(True, quality)


def _ahead(stage: Stage) -> None:
    """Stamps go 5 s ahead, and with the next message nothing comes any more."""
    stage.robot.offset = 5.0
    time.sleep(0.05)
    stage.robot.silent = True


def _deactivate(stage: Stage) -> None:
    stage.change.call_async(ChangeState.Request(transition=Transition(id=Transition.TRANSITION_DEACTIVATE)))


def _fail(name: str) -> Callable[[Stage], None]:
    return lambda stage: stage.robot.controllers[name].fail("a follower gave up")


FAULTS: dict[str, Callable[[Stage], None]] = {
    "cancel": lambda stage: stage.handle.cancel_goal_async(),
    "emergency stop, reliable": _press("reliable"),
    "emergency stop, best effort": _press("best effort"),
    "emergency stop, latched": _press("latched"),
    "joint states silent": _set(silent=True),
    "one joint not measured any more": _set(unmeasured={"joint2"}),
    "fewer positions than names": _set(short=True),
    "positions not a number": _set(untrue={"joint1"}),
    "stamps 5 s ahead, then silent": _ahead,
    "a joint is stuck": _set(stuck={"joint1"}),
    "second controller dead": _set(dead={"second"}),
    "first controller dead": _set(dead={"first"}),
    "the client is gone": lambda stage: stage.beat(),
    "the base tilts": _set(tilt=0.5),
    "nothing bears the robot": _set(unloaded=True),
    "deactivated": _deactivate,
    "a follower gives up": _fail("first"),
    "bridge told to end": lambda stage: stage.bridge.send_signal(signal.SIGTERM),
    "bridge killed": lambda stage: stage.bridge.kill(),
    "bridge hangs": lambda stage: stage.bridge.send_signal(signal.SIGSTOP),
}
TRIES = 3
"""Of a motion that a busy machine ends before its fault is made."""
UNMADE = ("no motion began", "it ended before")
UNTOLD = {"bridge killed", "bridge hangs"}
"""Faults of which the bridge can't tell."""


def applies(fault: str, mixture: str) -> bool:
    """Return whether a kind of controllers can have a fault."""
    return fault != "a follower gives up" or MIXTURES[mixture][0] is ACTION


def play(stage: Stage, fault: str) -> Run:
    """Make a fault, mend it, and see that the bridge isn't left busy."""
    for _ in range(TRIES):
        run = stage.play(FAULTS[fault], tells=fault not in UNTOLD)
        if run.problem not in UNMADE:
            break
        stage.mend()
    else:
        return run
    if fault.startswith("emergency"):
        held = stage.ask(0.0)
        if "emergency stop" not in held:
            run.problem = run.problem or f"the next goal isn't refused: {held or 'it runs'}"
        stage.robot.press(False, fault.rpartition(", ")[2])
    elif fault == "deactivated":
        stage.change.call_async(ChangeState.Request(transition=Transition(id=Transition.TRANSITION_ACTIVATE)))
    elif fault == "bridge hangs":
        stage.bridge.send_signal(signal.SIGCONT)
        time.sleep(0.5)  # it may go on from where the joints stand
        stage.handle.cancel_goal_async()
        stage.answer.result()
    elif fault in ("bridge killed", "bridge told to end"):
        stage.bridge.wait(30.0)
    positions = np.array([row for _, row in stage.robot.motion])
    jump = float(np.abs(np.diff(positions, axis=0)).max()) if len(positions) > 1 else 0.0
    # A busy machine holds this program up too: its controllers then go on by what they have missed.
    if jump > JUMP * stage.patience + SPEED * stage.robot.held_up:
        run.problem = run.problem or f"a joint jumps by {jump:.2f} rad"
    left = stage.mend()
    if left:
        run.problem = run.problem or f"the bridge is left with: {left}"
    return run


@contextmanager
def staged(*arguments: str, **options: Any) -> Iterator[Stage]:
    """Return a stage that is closed at the end."""
    stage = Stage(*arguments, **options)
    try:
        yield stage
    finally:
        stage.close()


def press_before(emergency: str, quality: str) -> Run:
    """Press before the bridge starts; a motion that is asked for at once must be refused."""
    stage = Stage("topic", emergency, starts=False)
    try:
        stage.robot.press(True, quality)
        stage.start_bridge()
        result = None
        while result is None:
            with contextlib.suppress(TimeoutError):
                result = stage.send(stage.goal(), 3.0)[1].result(60.0).result
        time.sleep(SETTLE)
        moved = bool(stage.robot.motion)
        return Run(0.0, None, result.message, "it moves" if moved or "emergency" not in result.message else "")
    finally:
        stage.close()


def heartbeat(mixture: str) -> Run:
    """Let the emergency stop's heartbeat cease."""
    with staged(mixture, f"{{heartbeat: {SIGN}}}") as stage:
        beating = threading.Event()

        def beat() -> None:
            while not beating.wait(0.02):
                stage.robot.press(False, "best effort")

        thread = threading.Thread(target=beat)
        thread.start()
        try:
            return stage.play(lambda _: beating.set())
        finally:
            beating.set()
            thread.join()


def table(mixtures: list[str], faults: list[str]) -> Iterator[tuple[str, str, Run]]:
    """Play faults with all kinds of controllers, and presses of all kinds."""
    for mixture in mixtures:
        with staged(mixture) as stage:
            for fault in faults:
                if applies(fault, mixture):
                    yield mixture, fault, play(stage, fault)
    with staged("topic", quality="best effort") as stage:
        yield "topic, states best effort", "joint states silent", play(stage, "joint states silent")
    for mixture in mixtures[:2]:
        yield mixture, "the emergency stop's heartbeat ceases", heartbeat(mixture)
    yield "topic", "pressed before the start, latched", press_before("emergency_stop", "latched")
    yield "topic", "bridge anew, latch asked for", press_before("{latched: true}", "reliable")
    yield "topic", "bridge anew, heartbeat asked for", press_before("{heartbeat: 0.3}", "reliable")


@contextmanager
def loaded(count: int) -> Iterator[None]:
    """Keep so many processes busy meanwhile."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def unharmed(mixtures: list[str], count: int) -> int:
    """Play motions without a fault: what the load of a machine costs."""
    short = 0
    for mixture in mixtures:
        with staged(mixture) as stage:
            ended = []
            for _ in range(count):
                problem = stage.mend()
                result = None if problem else stage.send(stage.goal())[1].result().result
                ended.append(problem if result is None else "" if result.success else result.message)
            bad = [words for words in ended if words]
            short += len(bad)
            print(f"{mixture:26} {count - len(bad)} of {count} reach their end; " + "; ".join(bad), flush=True)
    return int(bool(short))


def memory(process: subprocess.Popen[bytes]) -> float:
    """Return a process' memory [MB]."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return float(line.split()[1]) / 1000.0
    return float("nan")


def soak(minutes: float, seed: int, patience: float) -> int:
    """Play faults at random, each kind of controllers for a part of the time."""
    generator, failed, counts = random.Random(seed), [], dict.fromkeys(FAULTS, 0)
    parts = list(MIXTURES)
    for mixture in parts:
        end = time.monotonic() + 60.0 * minutes / len(parts)
        with staged(mixture, patience=patience) as stage, tqdm(desc=mixture, unit="fault", disable=None) as bar:
            sizes: list[float] = []
            while time.monotonic() < end:
                possible = [name for name in FAULTS if applies(name, mixture)]
                least = min(counts[name] for name in possible)
                fault = generator.choice([name for name in possible if counts[name] <= least + 1])
                run = play(stage, fault)
                counts[fault] += 1
                sizes.append(memory(stage.bridge))
                if run.problem:
                    failed.append(f"{mixture}, {fault}: {run.problem}; {run.words}")
                    tqdm.write(failed[-1])
                bar.update()
            print(f"{mixture}: {len(sizes)} faults, bridge {sizes[0]:.0f} MB at first, {sizes[-1]:.0f} MB at last")
    print("\n".join(f"{count:4d} {name}" for name, count in counts.items()))
    print("\n".join(failed) or "all within their bounds")
    return int(bool(failed))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=0.0, help="faults at random for so long, no table")
    parser.add_argument("--seed", type=int, default=0, help="of the faults at random")
    parser.add_argument("--mixture", choices=[*MIXTURES], action="append", help="of controllers; all where not given")
    parser.add_argument("--fault", choices=[*FAULTS], action="append", help="all where not given")
    parser.add_argument("--patience", type=float, default=1.0, help="factor of all times then, for a busy machine")
    parser.add_argument("--unharmed", type=int, default=0, help="so many motions without a fault, no table")
    parser.add_argument("--load", type=int, default=0, help="processes that keep the machine busy meanwhile")
    options = parser.parse_args()
    with loaded(options.load):
        return carry_out(options)


def carry_out(options: argparse.Namespace) -> int:
    """Do what the command line says."""
    if options.unharmed:
        return unharmed(options.mixture or [*MIXTURES], options.unharmed)
    if options.minutes:
        return soak(options.minutes, options.seed, options.patience)
    bad = 0
    print(f"{'controllers':26} {'fault':38} {'moves [s]':>9} {'told [s]':>8}  what is told")
    for mixture, fault, run in table(options.mixture or [*MIXTURES], options.fault or [*FAULTS]):
        told = "-" if run.told is None else f"{run.told:.2f}"
        note = f"  << {run.problem}" if run.problem else ""
        print(f"{mixture:26} {fault:38} {run.stopped:9.2f} {told:>8}  {run.words}{note}", flush=True)
        bad += bool(run.problem)
    print(f"{bad} beyond their bounds: {STOPPED:g} s until nothing moves, {TOLD:g} s until it is told")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
