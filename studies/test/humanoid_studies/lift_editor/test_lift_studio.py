# SPDX-License-Identifier: Apache-2.0
"""The page of the lift editor: control points are dragged on it, and it tells what that breaks (000-F158)."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fixtures.lift_page import ELBOW, POINT, elbow_height
from fixtures.lifting import hrp2, straight_lift, thesis_lift
from fixtures.page_client import PageClient, wait_for, wait_for_place

from humanoid_ros.viewer.page import Page
from humanoid_sim.actuation.trajectory_player import read_joint_trajectory
from humanoid_studies.lift_editor.curve_board import LEFT, RIGHT
from humanoid_studies.lift_editor.lift_studio import LiftStudio
from humanoid_studies.lifting.judgement import judge
from humanoid_studies.lifting.lift_editing import LiftEditing
from humanoid_studies.lifting.lift_files import read_lift
from humanoid_studies.simulator.weight_lifting import OBJECT

EYE = np.array([1.5, -4.0, 1.0])


class Open:
    """A page with a lift on it, and a client of the page."""

    def __init__(self, page: Page, path: str) -> None:
        self.page, self.editing = page, LiftEditing(thesis_lift(), straight_lift())
        self.studio = LiftStudio(page, hrp2(), self.editing, path)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self.studio.run, args=(self._stop,), daemon=True)
        self._thread.start()
        self.client = PageClient(page.address)
        self.client.send(
            "ViewerCameraMessage", wxyz=(1, 0, 0, 0), position=tuple(EYE.tolist()), fov=1.0, near=0.1, far=10.0,
            image_height=10, image_width=10, look_at=(1.5, 0, 1), up_direction=(0, 0, 1),
        )  # fmt: skip
        wait_for(lambda: "easible" in self.client.texts, "the lift is judged")

    def drag(self, phase: str, start: np.ndarray, to: np.ndarray) -> None:
        """Tell what a browser tells: places where the pointer's ray meets some plane."""
        self.client.send(
            "SceneNodeDragMessage", phase=phase, name=f"/board/point_{POINT}", instance_index=None,
            start_position=(EYE + 0.7 * (start - EYE)).tolist(), start_screen_pos=(0.5, 0.5),
            end_position=(EYE + 1.3 * (to - EYE)).tolist(), end_screen_pos=(0.5, 0.5), button="left", modifier=None,
        )  # fmt: skip

    def wait_for_angle(self, angle: float) -> None:
        def there() -> bool:
            return abs(self.editing.motion.points[POINT, ELBOW] - angle) < 1e-6

        wait_for(there, f"the point is at {angle}")

    def close(self) -> None:
        self.client.close()
        self._stop.set()
        self._thread.join(10.0)
        self.studio.close()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    page = Page(port=0)
    opened = Open(page, str(tmp_path / "lift.yaml"))
    yield opened
    opened.close()
    page.close()


@pytest.mark.feature("000-F158")
def test_a_dragged_point_follows_the_pointer_and_the_motion_is_judged(opened: Open) -> None:
    """The verdict on the page is the study's; one drag is one step, and undo, redo and reset go along it."""
    client, first = opened.client, straight_lift()
    x = LEFT + (RIGHT - LEFT) * first.times[POINT] / first.duration
    start = np.array([x, 0.0, elbow_height(first.points[POINT, ELBOW])])
    wait_for_place(client, f"/board/point_{POINT}", start)
    # The sphere is held a little above its middle.
    held = start + np.array([0.0, 0.0, 0.02])
    opened.drag("start", held, held)
    for angle in (-1.4, -1.8):
        opened.drag("update", held, np.array([x, 0.0, elbow_height(angle) + 0.02]))
    wait_for_place(client, f"/board/point_{POINT}", [x, 0.0, elbow_height(-1.8)])
    opened.drag("end", held, np.array([x, 0.0, elbow_height(-2.1) + 0.02]))
    opened.wait_for_angle(-2.1)
    right = judge(thesis_lift(), first.edited(POINT, ELBOW, -2.1)).violations
    wait_for(
        lambda: all(one.sentence().split(",")[0] in plain(client) for one in right.values()), "it tells what broke"
    )
    assert f"Not feasible: {len(right)} limits are broken" in plain(client)
    assert "zero-moment point beyond" in plain(client)
    client.set("Undo", True)
    opened.wait_for_angle(first.points[POINT, ELBOW])
    wait_for_place(client, f"/board/point_{POINT}", start)
    client.set("Redo", True)
    opened.wait_for_angle(-2.1)
    client.set("Reset", True)
    opened.wait_for_angle(first.points[POINT, ELBOW])


def plain(client: PageClient) -> str:
    return re.sub(r"<[^>]+>", " ", client.texts).replace("&#x27;", "'")


def test_sliders_move_points_of_the_chosen_joint_and_follow_the_hand(opened: Open) -> None:
    client, first = opened.client, straight_lift()
    label = f"At {first.times[POINT]:.2f} s [°]"
    opened.client.set(label, -100.0)
    opened.wait_for_angle(np.deg2rad(-100.0))
    x = LEFT + (RIGHT - LEFT) * first.times[POINT] / first.duration
    start = np.array([x, 0.0, elbow_height(np.deg2rad(-100.0))])
    wait_for_place(client, f"/board/point_{POINT}", start)
    for phase in ("start", "update", "end"):
        opened.drag(phase, start, np.array([x, 0.0, elbow_height(-1.0)]))
    wait_for(lambda: abs(client.controls[label]["value"] - np.rad2deg(-1.0)) < 0.2, "the slider follows")
    client.set("Joint", "knee")
    knee = first.points[POINT, 1]
    wait_for(lambda: abs(client.controls[label]["value"] - np.rad2deg(knee)) < 0.2, "it is the knee's")
    client.set(label, 100.0)
    wait_for(lambda: opened.editing.motion.points[POINT, 1] == pytest.approx(np.deg2rad(100.0)), "the knee bends")
    assert opened.editing.motion.points[POINT, ELBOW] == pytest.approx(-1.0)
    client.set("Duration [s]", 3.6)
    wait_for(lambda: "longer than motors stand" in plain(client), "it takes too long")


def test_the_robot_goes_along_the_lift(opened: Open) -> None:
    """The object's half is where the planar model has it, at the time that the slider says."""
    client, lifter = opened.client, thesis_lift().lifter
    for share in (0.5, 1.0):
        client.set("Along the lift [%]", 100.0 * share)
        q = straight_lift().at([1.2 * share])[0][0]
        x, z = lifter.grip.position(lifter.absolute @ q)
        wait_for(
            lambda x=x, z=z: np.allclose(client.nodes["/lift/robot/R_OBJECT"]["position"][[0, 2]], [x, z], atol=1e-4),
            "the object is there",
        )
    client.set("Play", True)
    wait_for(lambda: 0.0 < client.controls["Along the lift [%]"]["value"] < 90.0, "it plays from the beginning")


def test_the_edited_lift_is_saved_for_the_editor_and_the_replay(opened: Open, tmp_path: Path) -> None:
    client = opened.client
    client.set(f"At {straight_lift().times[POINT]:.2f} s [°]", -80.0)
    opened.wait_for_angle(np.deg2rad(-80.0))
    client.set("Save", True)
    wait_for(lambda: "Saved: " in plain(client), "it is saved")
    assert "It breaks its limits." in plain(client)
    held, motion = read_lift(tmp_path / "lift.yaml")
    assert held == OBJECT
    np.testing.assert_array_equal(motion.points, opened.editing.motion.points)
    played = read_joint_trajectory(tmp_path / "lift.csv")
    elbow = played.joint_names.index("RARM_JOINT3")
    assert played.at(0.6).positions[elbow] == pytest.approx(motion.at([0.6])[0][0, ELBOW], abs=1e-6)
    client.set("File", str(tmp_path / "nowhere" / "lift.yaml"))
    client.set("Save", True)
    wait_for(lambda: "can't be written: No such file" in plain(client), "that is refused")


@pytest.mark.feature("000-F158")
def test_no_file_is_replaced_unasked_and_none_written_elsewhere(opened: Open, tmp_path: Path) -> None:
    client, table = opened.client, tmp_path / "lift.csv"
    table.write_text("somebody's")
    client.set("Save", True)
    wait_for(lambda: "lift.csv' is there already" in plain(client), "it is refused")
    assert not (tmp_path / "lift.yaml").exists()
    assert table.read_text() == "somebody's"
    client.set("Overwrite", True)
    elsewhere = Path.home() / "humanoid_stack_test" / "lift.yaml"
    for name, why in ((str(elsewhere), "isn't in a folder that requests may write to"), ("/", "names no file")):
        client.set("File", name)
        client.set("Save", True)
        wait_for(lambda why=why: why in plain(client), "it is refused")
    client.set("File", str(tmp_path / "lift.yaml"))
    client.set("Save", True)
    wait_for(lambda: "Saved: " in plain(client), "it is saved")
    assert table.read_text() != "somebody's"


def test_the_simulator_plays_what_is_on_the_page(opened: Open) -> None:
    opened.client.set("Simulate", True)
    wait_for(lambda: "In the simulator the robot" in plain(opened.client), "it was played", 120.0)
    assert re.search(r"Object raised by \d+ mm, feet slip by", plain(opened.client))
