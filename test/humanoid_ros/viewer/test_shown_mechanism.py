# SPDX-License-Identifier: Apache-2.0
"""A mechanism on the page is where its node says, and shows what is measured there."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import KleinfingerKhalil, LinkChange, MechanismSolver, load_mechanism
from humanoid_kinematics.analysis.recording import Channel, Channels
from humanoid_ros.viewer.drawing.shapes import RobotDrawing
from humanoid_ros.viewer.mechanism_panel import DISTANCES, ELLIPSOIDS, MARGINS, PATHS, SPHERES
from humanoid_ros.viewer.page import Page
from humanoid_ros.viewer.shown_mechanism import SPHERE, ShownMechanism

pytestmark = pytest.mark.filterwarnings("ignore:.*E10")


def shown(page: Page, name: str) -> tuple[ShownMechanism, RobotDrawing]:
    mechanism = load_mechanism(name)
    bodies = RobotDrawing(page.server.scene, name, mechanism.robot.description)
    return ShownMechanism(page.server.scene, "/mechanism", MechanismSolver(mechanism)), bodies


def take(mechanism: ShownMechanism, time: float, q: np.ndarray) -> dict[str, pin.SE3]:
    robot = mechanism.solver.mechanism.robot
    mechanism.take(time, {name: float(q[robot.index_q(name)]) for name in robot.joint_names}, (), (), {})
    return dict(robot.link_placements(q))


@pytest.mark.feature("002-F162", "002-F163")
def test_spheres_are_as_large_as_joints_are_fast_orc_17(page: Page) -> None:
    """MacDac 10 mm along x: the joints' speeds are as 0 : 1 : 2 : 1 : 0."""
    mechanism, bodies = shown(page, "macdac")
    mechanism.show(SPHERES, True)
    q = np.radians([0.0, 30.0, -60.0, 120.0, 180.0])
    take(mechanism, 0.0, q)
    placements = take(mechanism, 0.1, q + np.radians([0.0, 1.43959, 2.87918, -1.43959, 0.0]))
    mechanism.draw(placements, bodies)
    node = mechanism._marks._kinds["sphere", "plain"][0].node
    assert node is not None
    radii = node.batched_scales[:, 0]
    fastest = np.radians(28.7918)  # rad/s; at 1 rad/s a sphere is as large as it gets
    np.testing.assert_allclose(
        radii, SPHERE * mechanism.solver.length * fastest * np.array([0, 0.5, 1, 0.5, 0]), atol=1e-5
    )
    np.testing.assert_allclose(node.batched_positions[2], placements["link_3"].translation, atol=1e-6)


@pytest.mark.feature("002-F164")
def test_links_are_red_at_a_limit_and_have_their_own_colour_again(page: Page) -> None:
    mechanism, bodies = shown(page, "macdac")
    mechanism.show(MARGINS, True)
    q = mechanism.solver.q.copy()
    upper = mechanism.solver.upper[1]
    q[1] = upper
    placements = take(mechanism, 0.0, q)
    mechanism.draw(placements, bodies)
    shape, own = bodies._shapes["link_2"][0]
    assert tuple(shape.color) == (229, 25, 25)
    mechanism.show(MARGINS, False)
    mechanism.draw(placements, bodies)
    assert tuple(shape.color) == tuple(int(255 * part) for part in own[:3])


def test_velocity_ellipsoid_is_flat_where_the_tool_moves_in_a_plane(page: Page) -> None:
    mechanism, bodies = shown(page, "planar_hybrid")
    mechanism.show(ELLIPSOIDS, True)
    mechanism.draw(take(mechanism, 0.0, mechanism.solver.q), bodies)
    node = mechanism._marks._kinds["sphere", "plain"][0].node
    assert node is not None
    axes = np.sort(node.batched_scales[0])
    assert axes[0] < 1e-5 < axes[1]
    placed = pin.Quaternion(*(float(x) for x in node.batched_wxyzs[0])).toRotationMatrix()
    normal = placed[:, int(np.argmin(node.batched_scales[0]))]
    axis = mechanism.solver.tool_jacobian(mechanism.solver.mechanism.tools[0].name)[3:, 0]
    assert abs(normal @ axis) == pytest.approx(1.0, abs=1e-5)


def test_sliders_are_for_driven_joints_within_their_limits(page: Page) -> None:
    ankle, _ = shown(page, "bip_ankle")
    assert [view.name for view in ankle.joint_views()] == ["l_ankle_right_screw", "l_ankle_left_screw"]
    cross, _ = shown(page, "cross")  # the file names no motors
    views = {view.name: view for view in cross.joint_views()}
    assert len(views) == 15
    assert (views["joint_1"].prismatic, views["joint_1"].limits) == (True, pytest.approx((-2.5, -0.1)))


def test_loops_let_go_of_and_limits_stay_over_a_change(page: Page) -> None:
    mechanism, _ = shown(page, "fourbar")
    loop = mechanism.solver.mechanism.loops[0].name
    mechanism.let_go([loop])
    mechanism.replace(MechanismSolver(load_mechanism("fourbar")))
    assert not mechanism.solver.holds(loop)
    mechanism.limit(LinkChange("link_1", None, KleinfingerKhalil(), (-0.5, 0.7)))
    assert mechanism.link_view("link_1").limits == (-0.5, 0.7)


@pytest.mark.feature("002-F152")
def test_paths_of_tools_are_where_tools_were(page: Page) -> None:
    mechanism, bodies = shown(page, "macdac")
    mechanism.show(PATHS, True)
    q, tool = mechanism.solver.q.copy(), mechanism.solver.mechanism.tools[0]
    ways = []
    for step in range(5):
        placements = take(mechanism, 0.1 * step, q + 0.1 * step * np.eye(5)[0])
        mechanism.draw(placements, bodies)
        ways.append((placements[tool.link] * tool.placement).translation)
    (node,) = mechanism._paths._nodes.values()
    np.testing.assert_allclose(node.points, np.stack([ways[:-1], ways[1:]], axis=1), atol=1e-6)
    mechanism.show(PATHS, False)
    mechanism.draw(placements, bodies)
    assert not mechanism._paths._nodes


@pytest.mark.feature("002-F163")
def test_values_show_as_shape_and_texture_of_marks_and_transparency_and_texture_of_parts(page: Page) -> None:
    mechanism, bodies = shown(page, "macdac")
    link, joint = "link_2", "joint_2"
    looks = [("shape", "mark", ("sphere", "box")), ("texture", "mark", ("plain", "stripes")),
             ("transparency", "part", (0.0, 0.8)), ("texture", "part", ("plain", "wire"))]  # fmt: skip
    channels = [Channel(f"position/{joint}", kind, on, 0.0, 1.0, shows) for kind, on, shows in looks]
    mechanism.show_channels(Channels(channels))
    q = np.zeros(5)
    q[1] = 1.0
    mechanism.draw(take(mechanism, 0.0, q), bodies)
    assert list(mechanism._marks._kinds) == [("box", "stripes")]
    shape = bodies._shapes[link][0][0]
    assert (shape.opacity, shape.wireframe) == (pytest.approx(0.2), True)
    mechanism.draw(take(mechanism, 0.1, np.zeros(5)), bodies)
    assert list(mechanism._marks._kinds) == [("sphere", "plain")]
    assert (shape.opacity, shape.wireframe) == (None, False)


@pytest.mark.feature("002-F165")
def test_the_link_next_to_an_obstacle_is_coloured_by_its_distance(page: Page) -> None:
    mechanism, bodies = shown(page, "macdac")
    mechanism.show(DISTANCES, True)
    robot, q = mechanism.solver.mechanism.robot, mechanism.solver.q
    joints = {name: float(q[robot.index_q(name)]) for name in robot.joint_names}
    mechanism.take(0.0, joints, (), (), {"distance/link_3": 0.0})
    mechanism.draw(robot.link_placements(q), bodies)
    assert tuple(bodies._shapes["link_3"][0][0].color) == (229, 25, 25)
    mechanism.take(0.1, joints, (), (), {})
    mechanism.draw(robot.link_placements(q), bodies)
    shape, own = bodies._shapes["link_3"][0]
    assert tuple(shape.color) == tuple(int(255 * part) for part in own[:3])


def test_its_copy_stands_on_the_base_that_the_page_has(page: Page) -> None:
    mechanism, bodies = shown(page, "fourbar")
    base = pin.SE3(np.eye(3), np.array([0.0, 0.5, 0.1]))
    links = mechanism.solver.mechanism.robot.link_placements(mechanism.solver.q)
    mechanism.draw({link: base * place for link, place in links.items()}, bodies)
    np.testing.assert_allclose(
        mechanism.solver.placement("link_2").translation, base.act(links["link_2"].translation), atol=1e-12
    )
