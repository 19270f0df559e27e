# SPDX-License-Identifier: Apache-2.0
"""The lift editor: what a person drags and presses goes to the study, which judges the motion; the page shows it."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.robot import Robot
from humanoid_ros.node.requested_files import check_written
from humanoid_ros.viewer.camera import Camera
from humanoid_ros.viewer.page import Page
from humanoid_studies.lift_editor.curve_board import RIGHT, CurveBoard
from humanoid_studies.lift_editor.lift_drawing import LiftDrawing
from humanoid_studies.lift_editor.lift_panel import LiftCalls, LiftPanel
from humanoid_studies.lifting.judgement import judge
from humanoid_studies.lifting.lift_editing import LiftEditing
from humanoid_studies.lifting.lift_files import write_lift, write_samples
from humanoid_studies.lifting.replay import LiftRun
from humanoid_studies.simulator.weight_lifting import replay

PERIOD = 0.03
"""Between two looks at what a person did, and two drawings [s]."""
SETTLED = 0.7
"""Without news of a control, after which what it does is another step to undo [s]."""
PAUSE = 0.8
"""Between two rounds of the robot [s]."""
JOINT_AT_FIRST = 5
"""The elbow: what it does is seen at once."""
VIEW = Camera(np.array([0.5 * RIGHT, -4.6, 1.3]), np.array([0.5 * RIGHT, 0.0, 0.8]))


class LiftStudio:
    """One lift on one page. All is done by the thread that calls :meth:`update`; callbacks only ask for it.

    Args:
        page: that is drawn on.
        robot: HRP-2.
        editing: the lift, judged by the study.
        path: file that is offered for saving; others on the page lie in the folders that requests may write to.
    """

    def __init__(self, page: Page, robot: Robot, editing: LiftEditing, path: str) -> None:
        self._editing, self._own = editing, path
        self._asked: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="simulation")
        self._run: Future[LiftRun] | None = None
        self._joint, self._share, self._rests_until = JOINT_AT_FIRST, 0.0, 0.0
        self._last = self._edited_at = time.monotonic()
        self._changed, self._seconds = False, 0.0
        lifter = editing.lift.lifter
        calls = LiftCalls(
            move=self._later(lambda point, angle: self._judged(partial(editing.move, point, self._joint, angle))),
            stretch=self._later(lambda duration: self._judged(partial(editing.stretch, duration))),
            choose=self._later(self._choose),
            look=self._later(lambda _: self._panel.plot(editing.judgement)),
            seek=self._later(self._seek),
            play=self._later(self._play),
            undo=self._later(partial(self._judged, editing.undo)),
            redo=self._later(partial(self._judged, editing.redo)),
            reset=self._later(partial(self._judged, editing.reset)),
            save=self._later(self._save),
            simulate=self._later(self._simulate),
        )
        self._drawing = LiftDrawing(page.server.scene, robot, lifter)
        self._board = CurveBoard(page.server.scene, lifter, self._later(self._drag))
        self._panel = LiftPanel(page.server.gui, lifter, tuple(editing.judgement.quantities), calls, path)
        page.look_through(VIEW)
        self._judged(lambda: judge(editing.lift, editing.motion))  # how long that takes
        self._choose(JOINT_AT_FIRST)

    def update(self) -> None:
        """Do what was asked for since the last time, and draw."""
        now = time.monotonic()
        with contextlib.suppress(queue.Empty):
            while True:
                self._do(self._asked.get_nowait())
        if self._changed:
            self._changed, self._edited_at = False, now
            self._show()
        elif now - self._edited_at > SETTLED:
            self._editing.settle()
        self._play_on(now)
        self._last = now
        self._panel.follow(self._editing.motion)
        self._hear()

    def _do(self, asked: Callable[[], None]) -> None:
        """Do what was asked for; what fails is told, and the page goes on."""
        try:
            asked()
        except Exception as error:
            if not isinstance(error, HumanoidError):
                traceback.print_exc()
            self._panel.say(str(error) or type(error).__name__, False)

    def run(self, stop: threading.Event) -> None:
        """Go on until somebody says stop."""
        while not stop.wait(PERIOD):
            self.update()

    def close(self) -> None:
        """Simulate no more."""
        self._worker.shutdown(wait=False, cancel_futures=True)

    # What a person asks for ---------------------------------------------------------------------------------------

    def _later(self, do: Callable[..., None]) -> Callable[..., None]:
        """Return a function that has something done by the thread of :meth:`update`."""
        return lambda *given: self._asked.put(partial(do, *given))

    def _judged(self, do: Callable[[], object]) -> None:
        """Change the motion, and remember what judging it took."""
        started = time.perf_counter()
        try:
            do()
        except HumanoidError as error:
            self._panel.say(str(error), False)
            return
        self._changed, self._seconds = True, time.perf_counter() - started

    def _drag(self, point: int, angle: float, ends: bool) -> None:
        self._judged(partial(self._editing.move, point, self._joint, angle))
        if ends:
            self._editing.settle()

    def _choose(self, joint: int) -> None:
        self._joint = joint
        self._editing.settle()
        self._panel.choose(joint, self._editing.motion)
        self._show()

    def _seek(self, share: float) -> None:
        self._panel.playing = False
        self._point_at(share)

    def _play(self, plays: bool) -> None:
        self._panel.playing = plays
        if self._share >= 1.0:
            self._share = 0.0

    def _save(self, name: str, overwrite: bool) -> None:
        """Write control points, and beside them what the replay plays."""
        lift, motion = self._editing.lift, self._editing.motion
        if not Path(name.strip()).name:
            raise InputError(f"'{name}' names no file", element="File", remedy="Give a path such as lift.yaml")
        path = Path(name.strip()).with_suffix(".yaml")
        samples = path.with_suffix(".csv")
        own = name.strip() == self._own  # the command's own file is its user's choice, wherever it lies
        for written in (path, samples):
            if not own:
                check_written(str(written), "File", overwrite=overwrite)
            elif not overwrite and written.exists():
                raise InputError(f"'{written}' is there already", element="File", remedy="Tick Overwrite")
        write_lift(lift.lifter.held, motion, path)
        write_samples(lift, motion, samples)
        broken = "" if self._editing.judgement.feasible else "\nIt breaks its limits."
        self._panel.say(f"Saved: {path}\nEvery 5 ms for the replay: {samples}{broken}", not broken)

    def _simulate(self) -> None:
        if self._run is None:
            self._panel.simulating = True
            self._panel.say("The whole robot plays it in the simulator.")
            self._run = self._worker.submit(replay, self._editing.lift, self._editing.motion)

    def _hear(self) -> None:
        """Tell what the simulator's run came to."""
        if self._run is None or not self._run.done():
            return
        run, self._run = self._run, None
        self._panel.simulating = False
        try:
            self._panel.say(*told_run(run.result()))
        except HumanoidError as error:
            self._panel.say(str(error), False)

    # Drawing ------------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        """Draw the motion as it is now, and what it does to its limits."""
        editing = self._editing
        self._board.show(self._joint, editing.motion, editing.first, editing.judgement)
        self._drawing.show(editing.judgement)
        energy = editing.lift.energy(editing.motion)
        self._panel.show(editing.judgement, energy, self._seconds, can_undo=editing.can_undo, can_redo=editing.can_redo)
        self._point_at(self._share)

    def _point_at(self, share: float) -> None:
        self._share = share
        self._drawing.point_at(share)
        self._board.point_at(share, share * self._editing.motion.duration)
        self._panel.point_at(share)

    def _play_on(self, now: float) -> None:
        """Let the robot go on, again and again."""
        if not self._panel.playing or now < self._rests_until:
            return
        if self._share >= 1.0:
            self._point_at(0.0)
            return
        ahead = self._share + self._panel.pace * (now - self._last) / self._editing.motion.duration
        self._point_at(min(ahead, 1.0))
        if self._share >= 1.0:
            self._rests_until = now + PAUSE


def told_run(run: LiftRun) -> tuple[str, bool]:
    """Return what the whole robot did in the simulator in plain words, and whether it stood."""
    raised = float(run.object_place[-1, 2] - run.object_place[0, 2])
    load = max(report.load for report in run.drives)
    slip = float(run.feet_slip[-1])
    zmp = run.zero_moment_point[np.isfinite(run.zero_moment_point)]
    lines = [
        f"In the simulator the robot {'falls' if run.fell else 'stands'}.",
        f"Object raised by {1e3 * raised:.0f} mm, feet slip by {1e3 * slip:.2g} mm.",
        f"Motors asked for up to {100.0 * load:.0f} % of their peak limits, "
        f"joints off by up to {np.rad2deg(run.joint_error):.2g}°.",
    ]
    if len(zmp):
        lines.append(f"Zero-moment point {1e3 * zmp.min():.0f} to {1e3 * zmp.max():.0f} mm from the ankles.")
    return "\n".join(lines), not run.fell
