# SPDX-License-Identifier: Apache-2.0
"""Mechanisms on the viewer's page over DDS, moved by the kinematics node: dragged, driven, edited, recorded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from fixtures.page_client import PageClient, wait_for
from fixtures.ros_domain import claim_domain

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.page_partner import Viewer, running_viewer, spun_node  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from humanoid_kinematics import JointGoal, MechanismSolver, load_mechanism  # noqa: E402
from humanoid_kinematics.analysis.recording import Recording  # noqa: E402

pytestmark = pytest.mark.ros
DOMAIN = claim_domain()
BODIES = "/robots/fourbar/"
BLOCK = """<robot name="block"><link name="block"><visual><geometry><box size="1 1 1"/></geometry></visual></link>
<link name="lid"/><joint name="weld" type="fixed"><parent link="block"/><child link="lid"/></joint></robot>"""


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    """The viewer, beside the kinematics node with a four-bar."""
    node = subprocess.Popen(
        [sys.executable, "-m", "humanoid_ros.kinematics", "--ros-args", "-p", "mechanism:=fourbar"],
        env={**os.environ, "ROS_DOMAIN_ID": str(DOMAIN)},
    )
    try:
        with running_viewer(DOMAIN) as viewer:
            yield viewer
    finally:
        node.send_signal(signal.SIGINT)
        code = node.wait(60.0)
    assert code == 0


@pytest.fixture
def page(viewer: Viewer) -> Iterator[PageClient]:
    """A page on which the four-bar stands as its file has it."""
    client = PageClient(viewer[1])
    wait_for(lambda: "Load mechanism" in client.controls, "the panel is there")
    load(client, "fourbar")
    wait_for(lambda: "/mechanisms/fourbar/lines/axes" in client.nodes, "its axes are drawn", 240.0)
    wait_for(lambda: "position" in client.nodes[f"{BODIES}link_3"], "its bodies are placed")
    yield client
    client.close()


def load(page: PageClient, path: str) -> None:
    """Ask until the node answers, which the viewer may not have found yet; then load, once."""

    def refused() -> bool:
        page.set("Load mechanism", True)
        time.sleep(0.3)
        return "unknown mechanism" in page.texts

    page.set("or path", "nothing")
    wait_for(refused, "the node is there", 120.0)
    page.set("or path", path)
    page.set("Load mechanism", True)
    wait_for(lambda: "freedom" in page.texts, "it is loaded", 120.0)


def place(page: PageClient, link: str) -> np.ndarray:
    return np.array(page.nodes[BODIES + link]["position"])


def angle(page: PageClient, link: str) -> float:
    """Angle about z of a link [rad]."""
    w, _, _, z = page.nodes[BODIES + link].get("wxyz", (1.0, 0.0, 0.0, 0.0))
    return float(2.0 * np.arctan2(z, w))


def drag(page: PageClient, link: str, phase: str, hold: np.ndarray, to: np.ndarray) -> None:
    page.send(
        "SceneNodeDragMessage", phase=phase, name=f"{BODIES}{link}/0", instance_index=None,
        start_position=hold.tolist(), start_screen_pos=(0.5, 0.5), end_position=to.tolist(),
        end_screen_pos=(0.5, 0.5), button="left", modifier=None,
    )  # fmt: skip


def slider(page: PageClient) -> str:
    """Label of the crank's field."""
    found = wait_for(lambda: [label for label in list(page.controls) if label.startswith("joint 1 [")], "it is there")
    return str(found[0])


@pytest.mark.feature("002-F109", "002-F140", "002-F180")
def test_a_part_that_is_dragged_follows_the_pointer_with_its_loop_closed(page: PageClient) -> None:
    solver = MechanismSolver(load_mechanism("fourbar"))
    # Seen from the eye of the page's client, at the origin: the crank's tip is held, and comes under another ray.
    hold = solver.placement("link_2").translation.copy()
    turned = MechanismSolver(load_mechanism("fourbar"))
    for _ in range(5):
        turned.command(JointGoal("joint_1", float(solver.q[0]) + 0.3))
    to = turned.placement("link_2").translation.copy()
    drag(page, "link_1", "start", hold, to)
    drag(page, "link_1", "update", hold, to)
    wait_for(lambda: np.allclose(place(page, "link_2"), to, atol=2e-3), "the crank's tip is under the pointer")
    wait_for(
        lambda: np.allclose(place(page, "link_3"), turned.placement("link_3").translation, atol=5e-3), "so the rest"
    )
    drag(page, "link_1", "end", hold, to)


@pytest.mark.feature("002-F128")
def test_a_slider_moves_its_joint_and_the_joint_moves_the_slider(page: PageClient) -> None:
    label = slider(page)
    page.set(label, 80.0)
    wait_for(lambda: abs(angle(page, "link_1") - np.radians(80.0)) < 1e-3, "the crank is there")
    hold = place(page, "link_2")
    drag(page, "link_1", "start", hold, hold + np.array([0.03, 0.0, 0.0]))
    wait_for(lambda: angle(page, "link_1") < np.radians(75.0), "a hand turns it")
    drag(page, "link_1", "end", hold, hold)
    wait_for(lambda: abs(page.controls[label]["value"] - np.degrees(angle(page, "link_1"))) < 0.5, "the field shows it")


@pytest.mark.feature("002-F046", "002-F120")
def test_an_edited_link_changes_while_it_runs_and_one_that_can_not_be_is_refused(page: PageClient) -> None:
    page.set("Link to edit", "link_2")
    page.set("Edit link", True)
    wait_for(lambda: "d [mm]" in page.controls, "its panel is open")
    length = float(np.linalg.norm(place(page, "link_2")))
    page.set("d [mm]", 1e3 * length + 10.0)
    wait_for(
        lambda: abs(np.linalg.norm(place(page, "link_2")) - length - 0.01) < 1e-4,
        "the crank is longer",
    )
    wait_for(lambda: "Changed." in page.texts, "that is told")
    page.set("d [mm]", 1500.0)
    wait_for(lambda: "no longer close" in page.texts, "a crank that is too long is refused")
    assert np.linalg.norm(place(page, "link_2")) == pytest.approx(length + 0.01, abs=1e-4)
    page.set("Close", True)
    time.sleep(0.5)


@pytest.mark.feature("002-F126")
def test_a_locked_drive_is_named_when_it_hinders(page: PageClient) -> None:
    page.send(
        "SceneNodeClickMessage", name=f"{BODIES}link_1/0", instance_index=None, ray_origin=(0.0, 0.0, 1.0),
        ray_direction=(0.0, 0.0, -1.0), screen_pos=(0.5, 0.5), modifier=None,
    )  # fmt: skip
    wait_for(lambda: "Locked" in page.controls, "its panel is open")
    page.set("Locked", True)
    wait_for(lambda: "Changed." in page.texts, "it is locked")
    before = angle(page, "link_1")
    label = slider(page)

    def named() -> bool:
        """It is told for a while after each command: a busy machine may miss it."""
        page.set(label, float(np.degrees(before)) + 20.0 + time.monotonic() % 1.0)
        return "In the way: lock of joint_1" in page.texts

    wait_for(named, "the lock is named")
    assert angle(page, "link_1") == pytest.approx(before, abs=1e-6)


def test_a_loop_is_let_go_of_and_held_again(page: PageClient) -> None:
    loop = load_mechanism("fourbar").loops[0].name
    slid = slider(page)
    # Open, the coupler doesn't follow what turns the rocker; held, it does again.
    wait_for(lambda: page.set(loop, False) or "is let go of" in page.texts, "it is open")
    coupler = angle(page, "link_2") - angle(page, "link_1")
    page.set(slid, 90.0)
    wait_for(lambda: abs(angle(page, "link_1") - np.radians(90.0)) < 1e-3, "the crank turns")
    assert angle(page, "link_2") - angle(page, "link_1") == pytest.approx(coupler, abs=1e-6)
    page.set(loop, True)
    wait_for(lambda: abs(angle(page, "link_2") - angle(page, "link_1") - coupler) > 0.05, "the loop is closed again")


def test_a_motion_is_recorded_and_replayed(page: PageClient, tmp_path: Path) -> None:
    path = tmp_path / "motion.csv"
    label = slider(page)
    page.set("Recording", str(path))
    page.set("Record", True)
    wait_for(lambda: "Stop recording" in page.controls or "Recorded to" in page.texts, "it is recorded")
    page.set(label, 75.0)
    wait_for(lambda: abs(angle(page, "link_1") - np.radians(75.0)) < 1e-3, "the crank moves")
    page.set("Record", True)
    wait_for(lambda: "The recording is written." in page.texts, "it is written")
    recording = Recording.read_csv(path)
    assert recording.configurations[-1][0] == pytest.approx(np.radians(75.0), abs=1e-3)
    page.set(label, 60.0)
    wait_for(lambda: abs(angle(page, "link_1") - np.radians(60.0)) < 1e-3, "it is brought back")
    page.set("Replay", True)
    wait_for(lambda: abs(angle(page, "link_1") - np.radians(75.0)) < 1e-3, "the replay brings it there again")
    wait_for(lambda: "shown to its end" in page.texts, "that is told")


@pytest.fixture
def private() -> Iterator[Path]:
    """A file of the user's outside the folders that requests may name files of."""
    with tempfile.NamedTemporaryFile("w", dir=Path.home(), prefix=".humanoid_stack_test_", suffix=".yaml") as file:
        file.write("password: hunter2\n")
        file.flush()
        yield Path(file.name)


@pytest.mark.feature("002-F163")
def test_files_elsewhere_are_neither_read_nor_written(page: PageClient, private: Path) -> None:
    """Nor is anything of them told: a page of channels quoted the first line of what it couldn't use."""
    refused = "isn&#x27;t in a folder that requests may"
    page.set("Channels", str(private))
    wait_for(lambda: f"{refused} name files of" in page.texts, "its channels are refused")
    page.set("or path", str(private))
    page.set("Load mechanism", True)
    wait_for(lambda: "path: " in page.texts, "so is a mechanism")
    page.set("or path", "fourbar")
    page.set("Recording", str(private))
    page.set("Overwrite", True)
    page.set("Record", True)
    wait_for(lambda: f"{refused} write to" in page.texts, "so is a recording")
    page.set("Replay", True)
    wait_for(lambda: f"{refused} name files of" in page.texts, "so is a replay")
    page.set("Recording", "x\0y")
    page.set("Replay", True)
    wait_for(lambda: "is no path" in page.texts, "so is what is no path")
    page.set("Overwrite", False)
    assert "hunter2" not in page.texts
    assert private.read_text() == "password: hunter2\n"


@pytest.mark.feature("002-F163")
def test_a_recording_is_replaced_when_that_is_asked_for_alone(page: PageClient, tmp_path: Path) -> None:
    path = tmp_path / "motion.csv"
    path.write_text("somebody's")
    page.set("Recording", str(path))
    page.set("Record", True)
    wait_for(lambda: "is there already" in page.texts, "it is refused")
    assert path.read_text() == "somebody's"
    page.set("Overwrite", True)
    page.set("Record", True)
    wait_for(lambda: "Recorded to" in page.texts, "it is recorded to")
    page.set("Record", True)
    wait_for(lambda: "The recording is written" in page.texts, "it is written")
    assert path.read_text() != "somebody's"
    page.set("Overwrite", False)


def test_a_file_that_can_not_be_read_is_told_and_the_last_one_stays(page: PageClient, tmp_path: Path) -> None:
    path = tmp_path / "wrong.mad"
    path.write_text("RAFF ( wrong ) { robot }")
    page.set("or path", str(path))
    page.set("Load mechanism", True)
    wait_for(lambda: "wrong.mad:1" in page.texts, "file and line are told")
    assert f"{BODIES}link_1" in page.nodes


@pytest.mark.feature("002-F133")
def test_sliders_of_the_base_bring_the_mechanism_elsewhere(page: PageClient) -> None:
    before = place(page, "link_2")
    page.set("base x [mm]", 300.0)
    further = before + np.array([0.3, 0.0, 0.0])
    wait_for(lambda: np.allclose(place(page, "link_2"), further, atol=1e-3), "it stands further on")
    page.set("base x [mm]", 0.0)
    wait_for(lambda: np.allclose(place(page, "link_2"), before, atol=1e-3), "and back")


@pytest.mark.feature("002-F131")
def test_a_flood_of_what_a_person_does_is_taken_and_the_last_counts(page: PageClient) -> None:
    """Specification 002, EXP-09: more than the page draws, while the mechanism goes on."""
    label = slider(page)
    before = page.controls[label]["value"]
    for value in np.linspace(60.0, 85.0, 400):
        page.set(label, float(value))
    page.set(label, 70.0)
    wait_for(lambda: abs(angle(page, "link_1") - np.radians(70.0)) < 1e-3, "the crank is where the last said")
    # The field is told nothing of the flood that it began: it would show what has been overtaken.
    wait_for(lambda: page.controls[label]["value"] == before or abs(page.controls[label]["value"] - 70.0) < 0.5, "so")


@pytest.mark.feature("002-F141")
def test_the_view_is_left_to_its_person_while_the_mechanism_moves_and_changes(page: PageClient) -> None:
    page.settings.clear()
    page.send(
        "ViewerCameraMessage", wxyz=(1, 0, 0, 0), position=(0.0, -2.0, 0.3), fov=1.0, near=0.1, far=10.0,
        image_height=10, image_width=10, look_at=(0, 0, 0), up_direction=(0, 0, 1),
    )  # fmt: skip
    page.set(slider(page), 90.0)
    wait_for(lambda: abs(angle(page, "link_1") - np.radians(90.0)) < 1e-3, "the crank moves")
    assert not moved_camera(page)
    edit(page, "link_2", "d [mm]", 1e3 * float(np.linalg.norm(place(page, "link_2"))) + 5.0)
    assert not moved_camera(page)


@pytest.mark.feature("002-F141")
def test_a_mechanism_that_an_edit_has_made_larger_is_looked_at_again(page: PageClient) -> None:
    load(page, "puma")
    wait_for(lambda: "position" in page.nodes["/robots/puma/link_5"], "its bodies are placed", 240.0)
    wait_for(lambda: page.controls["File"]["value"] == "puma", "the list says that it runs")
    time.sleep(1.0)
    page.settings.clear()
    edit(page, "link_3", "d [mm]", 1800.0)
    wait_for(lambda: moved_camera(page), "the camera goes back")
    position, at = (np.array(page.settings[f"SetCamera{kind}Message"][key])
                    for kind, key in (("Position", "position"), ("LookAt", "look_at")))  # fmt: skip
    assert np.linalg.norm(position - at) > 3.0


def moved_camera(page: PageClient) -> bool:
    return any(kind.startswith("SetCamera") for kind in list(page.settings))


def edit(page: PageClient, link: str, parameter: str, value: float) -> None:
    """Set a parameter of a link, and wait until its bodies are drawn anew where it has brought them."""
    page.set("Link to edit", link)
    page.set("Edit link", True)
    wait_for(lambda: parameter in page.controls, "its panel is open")
    page.set(parameter, value)
    wait_for(lambda: "Changed." in page.texts, "it is changed")
    time.sleep(1.0)
    page.set("Close", True)


def test_beside_a_mechanism_alone_nothing_is_said_of_simulators(page: PageClient) -> None:
    wait_for(lambda: page.controls["Pause"]["visible"] is False, "its buttons aren't there")
    assert "no simulator" not in page.texts
    assert page.controls["Mechanism"]["value"] == "fourbar"


def test_a_mechanism_without_movable_links_is_shown_and_the_next_one_too(page: PageClient, tmp_path: Path) -> None:
    path = tmp_path / "block.urdf"
    path.write_text(BLOCK)
    load(page, str(path))
    wait_for(lambda: "/robots/block/block/0" in page.nodes, "it is drawn")
    wait_for(lambda: page.controls["Mechanism"]["value"] == "block", "the panel is about it")
    wait_for(lambda: page.controls["File"]["value"] == "another file", "none of the list")
    page.set("base z [mm]", 50.0)
    wait_for(lambda: np.allclose(page.nodes["/robots/block/block"]["position"][2], 0.05), "its base is moved")
    assert "can&#x27;t" not in page.texts
    assert "Error" not in page.texts


@pytest.mark.feature("002-F181")
def test_a_phantom_stands_where_somebody_else_says(page: PageClient) -> None:
    with spun_node(lambda context: rclpy.create_node("replay", context=context), DOMAIN) as somebody:
        publisher = somebody.create_publisher(JointState, "fourbar/phantom", 1)
        rocker = "/mechanisms/fourbar/phantom/link_1"

        def told() -> bool:
            publisher.publish(JointState(name=["joint_1"], position=[2.0]))
            return "wxyz" in page.nodes.get(rocker, {})

        wait_for(told, "it is there")
    w, _, _, z = page.nodes[rocker]["wxyz"]
    assert 2.0 * np.arctan2(z, w) == pytest.approx(2.0, abs=1e-6)
    wait_for(lambda: abs(page.nodes[f"{rocker}/0"]["opacity"] - 0.3) < 1e-6, "one looks through it")
    assert angle(page, "link_1") != pytest.approx(2.0, abs=0.1)
