# SPDX-License-Identifier: Apache-2.0
import shutil
import subprocess

import networkx
import pytest
from matplotlib import image

from humanoid_model.errors import InputError
from humanoid_studies.script.graph import draw_png, write_dot
from humanoid_studies.script.robot import Robot

pytestmark = pytest.mark.feature("004-F32")


def chain(n: int) -> Robot:
    joints = [[f"j{i}", "fixed", f"l{i}", f"l{i + 1}", "0 0 0", "0 0 0", "1 0 0"] for i in range(n)]
    return Robot("chain", {"joint": joints, "link": [[f"l{i}"] for i in range(n + 1)]})


def test_nodes_are_links_and_edges_joints(urdf_folder):
    robot = Robot.from_urdf(urdf_folder / "syn3p33r.urdf")
    graph = robot.graph
    assert set(graph.nodes) == {link.name for link in robot.links}
    assert {(a, b, name) for a, b, name in graph.edges(data="joint")} == {
        (joint.parent, joint.child, joint.name) for joint in robot.joints
    }
    assert networkx.is_arborescence(graph)
    assert graph.out_degree("thorax") == 3  # neck and both shoulders
    assert graph.nodes["head"]["mass"] == pytest.approx(3.83832823649)


def test_dot_text_of_the_tree(urdf_folder):
    dot = write_dot(Robot.from_urdf(urdf_folder / "tree4.urdf"))
    assert dot.startswith('digraph "tree4" {\n')
    assert '  "tip" [style="rounded,dashed"]\n' in dot
    assert '  "base" -> "armB" [label="j2 (prismatic)", color="#c2571a", fontcolor="#c2571a"]\n' in dot
    assert dot.count("->") == 5


def test_dot_text_with_quotes_in_names():
    dot = write_dot(Robot("r", {"link": [['a"\\\n']]}))
    assert '  "a\\"\\\\?" [' in dot


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz: apt install graphviz")
def test_graphviz_reads_the_text():
    dot = write_dot(Robot("r", {"link": [['a"\\\n']]}))
    subprocess.run(["dot", "-Tsvg"], input=dot, text=True, check=True, capture_output=True)


def test_picture_of_the_tree(urdf_folder, tmp_path):
    draw_png(Robot.from_urdf(urdf_folder / "tree4.urdf"), tmp_path / "tree4.png")
    picture = image.imread(tmp_path / "tree4.png")
    assert picture.shape[0] > 100
    assert picture.shape[1] > 400
    assert (picture[..., :3] < 0.9).any(axis=2).mean() > 0.01  # something is drawn


@pytest.mark.parametrize("joints", [0, 300])
def test_picture_of_the_shortest_and_of_a_long_chain(joints, tmp_path):
    draw_png(chain(joints), tmp_path / "chain.png")
    assert image.imread(tmp_path / "chain.png").shape[0] > 50


def test_names_with_dollars_are_drawn_as_they_are(tmp_path):
    draw_png(Robot("r", {"link": [["$\\frac$"]]}), tmp_path / "r.png")
    assert (tmp_path / "r.png").stat().st_size > 0


def test_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none/r.png: can't be written: No such file or directory"):
        draw_png(chain(1), tmp_path / "none" / "r.png")
