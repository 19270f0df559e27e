# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from humanoid_codegen.dynamics.dynamic_model import DynamicModel
from humanoid_codegen.dynamics.joint_transform import joint_transform
from humanoid_codegen.dynamics.mechanism import JointKind, Mechanism
from humanoid_codegen.dynamics.newton_euler_body import inverse_dynamics
from humanoid_codegen.expression.function import count_operations
from humanoid_model import load_robot


def test_origins_slide_to_where_they_have_fewest_coordinates():
    # The knee of HRP-2 is 35 mm beside the hip along its own axis: that shift needs no product.
    mechanism = Mechanism.from_robot(load_robot("hrp2"))
    knee = next(body for body in mechanism.bodies if body.name == "RLEG_JOINT3")
    assert np.count_nonzero(knee.position) == 1


def test_skew_axes_become_coordinate_axes():
    mechanism = Mechanism.from_robot(load_robot("tree4"))
    skew = load_robot("tree4").description.joints
    assert any(np.count_nonzero(joint.axis) > 1 for joint in skew.values())
    for body in mechanism.bodies:
        transform = joint_transform(body, [0.3] * mechanism.nq)
        at_rest, turned = (np.array(joint_transform(body, [x] * mechanism.nq).matrix) for x in (0.0, 0.3))
        along = np.eye(3)[body.axis]
        np.testing.assert_allclose(at_rest.T @ turned @ along, along, atol=1e-14)
        moved = np.array(transform.position) - np.array(joint_transform(body, [0.0] * mechanism.nq).position)
        slides = body.kind is JointKind.PRISMATIC
        np.testing.assert_allclose(at_rest.T @ moved, 0.3 * body.sign * along if slides else np.zeros(3), atol=1e-14)
        assert np.trace(at_rest.T @ turned) == pytest.approx(3.0 if slides else 1.0 + 2.0 * np.cos(0.3))


def chain(rpy: str, axis: str) -> str:
    link = (
        '<link name="{0}"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/>'
        '<inertia ixx="1" ixy="0.1" ixz="0.2" iyy="1.1" iyz="0.3" izz="1.2"/></inertial></link>'
    )
    joint = (
        '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/>'
        f'<origin xyz="0.3 0 0" rpy="{rpy}"/><axis xyz="{axis}"/></joint>'
    )
    return (
        '<robot name="chain"><link name="world"/>' + link.format("a") + link.format("b")
        + joint.format("j", "world", "a") + joint.format("k", "a", "b") + "</robot>"
    )  # fmt: skip


@pytest.mark.parametrize("digits", [4, 8, 12, 14, 17])
def test_quarter_turns_are_free_when_written_well(digits):
    turned = DynamicModel(chain(f"0 0 {np.pi / 2:.{digits}g}", "0 0 1"))
    # A turn about the joint's own axis is part of its angle, however it is written.
    straight = DynamicModel(chain("0 0 0", "0 0 1"))
    extra = (
        count_operations(turned.function("bias")).arithmetic - count_operations(straight.function("bias")).arithmetic
    )
    assert extra <= 4
    across = DynamicModel(chain(f"{np.pi / 2:.{digits}g} 0 0", "0 0 1"))
    free = DynamicModel(chain(f"{np.pi / 2!r} 0 0", "0 0 1"))
    costs = [count_operations(model.function("bias")).arithmetic for model in (across, free)]
    assert (costs[0] == costs[1]) == (digits > 12)


def test_an_axis_may_point_backwards():
    forward, backward = (Mechanism.from_robot(load_robot(chain("0.1 0.2 0.3", axis))) for axis in ("0 1 0", "0 -1 0"))
    q, v, a = np.random.default_rng(0).normal(size=(3, 2))
    there = np.array(inverse_dynamics(forward, q, v, a), dtype=float)
    back = np.array(inverse_dynamics(backward, -q, -v, -a), dtype=float)
    np.testing.assert_allclose(back, -there, atol=1e-12)
