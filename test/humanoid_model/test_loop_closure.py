# SPDX-License-Identifier: Apache-2.0
"""Cuts of loops, whatever file they stand in, hold what was cut."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import InputError
from humanoid_model.loop_closure import KINDS, ROWS, LoopClosure, read_loop_closures
from humanoid_model.urdf import read_urdf
from humanoid_model.yaml_node import read_yaml


def read(tmp_path, text):
    path = tmp_path / "loops.yaml"
    path.write_text(text)
    return read_loop_closures(read_yaml(path, InputError))


def urdf(kind, more=""):
    origins = '<parent_origin xyz="0.1 0 0" rpy="0.3 0 0"/><child_origin xyz="0 0.2 0"/>'
    return f"""<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
      <joint name="i" type="continuous"><parent link="a"/><child link="b"/></joint>
      <joint name="k" type="continuous"><parent link="a"/><child link="c"/></joint>
      <constraint name="cut" type="{kind}"><parent link="b"/><child link="c"/>{origins}{more}</constraint></robot>"""


def held(loop, motion):
    """Largest part of a motion of the second cut frame, given in the first, that the rows see."""
    twist = np.concatenate([motion.translation, pin.log3(motion.rotation)])
    return max(abs(twist[ROWS.index(row)]) for row in loop.rows)


MOTIONS = {  # in a frame with z along the axis
    "turn about z": pin.SE3(pin.exp3(np.array([0.0, 0.0, 2.5])), np.zeros(3)),
    "turn about x": pin.SE3(pin.exp3(np.array([0.5, 0.0, 0.0])), np.zeros(3)),
    "slide along z": pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.7])),
    "slide along x": pin.SE3(np.eye(3), np.array([0.7, 0.0, 0.0])),
}
FREE = {"point": {"turn about z", "turn about x"}, "axis": {"turn about z"}, "slide": {"slide along z"}, "frame": set()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_cut_lets_its_motions_pass_and_no_other(kind, tmp_path):
    (loop,) = read(tmp_path, f"pin: {{kind: {kind}, a: {{link: one}}, b: {{link: two}}}}")
    assert (loop.name, loop.link_a, loop.link_b) == ("pin", "one", "two")
    assert {name for name, motion in MOTIONS.items() if held(loop, motion) < 1e-12} == FREE[kind]


def test_an_end_may_name_the_axis_instead_of_angles(tmp_path):
    a, b = np.array([0.0, 3.0, 4.0]), np.array([-1.0, 0.0, 0.0])
    (loop,) = read(tmp_path, "pin: {kind: axis, a: {link: one, xyz: [1, 2, 3], axis: [0, 3, 4]}, "
                             "b: {link: two, axis: [-1, 0, 0]}}")  # fmt: skip
    assert np.allclose(loop.placement_a.rotation[:, 2], a / 5)
    assert np.allclose(loop.placement_a.translation, [1, 2, 3])
    assert np.allclose(loop.placement_b.rotation[:, 2], b)
    for placement in (loop.placement_a, loop.placement_b):
        assert np.allclose(placement.rotation @ placement.rotation.T, np.eye(3))
        assert np.linalg.det(placement.rotation) == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{kind: hinge, a: {link: a}, b: {link: b}}", "pin.kind: is 'hinge'. Use one of point, axis, slide, frame"),
        ("{kind: axis, rows: [x], a: {link: a}, b: {link: b}}", "pin: has 'kind' and 'rows'. Keep one"),
        ("{a: {link: a, axis: [1, 0, 0]}, b: {link: b}}", "pin.a.axis: stands where no axis is held. Give rpy"),
        ("{kind: axis, a: {link: a, axis: [0, 0, 0]}, b: {link: b}}", "pin.a.axis: is zero. Give the direction"),
        ("{kind: axis, a: {link: a, axis: [0, 0, 1], rpy: [0, 0, 0]}, b: {link: b}}", "stands where 'rpy' is."),
    ],
)
def test_cuts_that_can_not_be_are_refused(text, told, tmp_path):
    with pytest.raises(InputError) as caught:
        read(tmp_path, f"pin: {text}")
    assert told in str(caught.value)
    assert "loops.yaml:1: " in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "rows"), [("revolute", "axis"), ("prismatic", "slide"), ("spherical", "point"), ("link", "frame")]
)
def test_the_constraint_element_of_a_urdf_is_a_cut(kind, rows):
    axes = '<parent_axis xyz="0 2 0"/><child_axis xyz="0 0 -1"/>'
    (loop,) = read_urdf(urdf(kind, axes)).loops
    assert (loop.name, loop.link_a, loop.link_b, loop.rows) == ("cut", "b", "c", KINDS[rows])
    assert np.allclose(loop.placement_a.translation, [0.1, 0, 0])
    assert np.allclose(loop.placement_b.translation, [0, 0.2, 0])
    turn = pin.rpy.rpyToMatrix(0.3, 0, 0)
    if rows in ("axis", "slide"):
        assert np.allclose(loop.placement_a.rotation[:, 2], turn @ [0, 1, 0])
        assert np.allclose(loop.placement_b.rotation[:, 2], [0, 0, -1])
    else:
        assert np.allclose(loop.placement_a.rotation, turn)


def test_the_childs_axis_is_the_parents_unless_given():
    (loop,) = read_urdf(urdf("revolute")).loops
    assert np.allclose(loop.placement_b.rotation[:, 2], [1, 0, 0])
    (loop,) = read_urdf(urdf("revolute", '<parent_axis xyz="0 1 0"/>')).loops
    assert np.allclose(loop.placement_b.rotation[:, 2], [0, 1, 0])


@pytest.mark.feature("002-F182")
@pytest.mark.parametrize("kind", ["revolute", "universal"])
@pytest.mark.parametrize("wrong", ["axis", "Parent_axis", "origin"])
def test_an_unknown_part_of_a_constraint_is_named_and_not_ignored(kind, wrong):
    with pytest.raises(InputError, match=rf":5: <{wrong}>: unknown in <constraint name='cut'>. Use parent, parent_or"):
        read_urdf(urdf(kind, f'\n<{wrong} xyz="0 1 0"/>'))


def test_a_cut_universal_joint_becomes_a_hinge_to_its_cross_and_a_cut_hinge():
    robot = read_urdf(urdf("universal", '<parent_axis xyz="0 1 1"/><child_axis xyz="1 0 0"/>'))
    (loop,) = robot.loops
    hinge = robot.joints["cut_hinge"]
    assert (hinge.parent, hinge.child, loop.link_a, loop.link_b) == ("b", "cut_cross", "cut_cross", "c")
    assert np.allclose(hinge.axis, np.array([0, 1, 1]) / np.sqrt(2))
    assert np.allclose(hinge.placement.translation, [0.1, 0, 0])
    assert abs(loop.placement_a.rotation[:, 2] @ hinge.axis) < 1e-12
    assert loop.rows == KINDS["axis"]
    again = read_urdf(robot.text)
    assert again.joints.keys() == robot.joints.keys()
    assert again.loops == robot.loops


def test_cuts_are_equal_by_what_they_say():
    def cut(x):
        return LoopClosure("c", "a", pin.SE3.Identity(), "b", pin.SE3(np.eye(3), np.array([x, 0, 0])))

    assert cut(1.0) == cut(1.0)
    assert cut(1.0) != cut(2.0)
