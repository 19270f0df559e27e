# SPDX-License-Identifier: Apache-2.0
"""One mechanism serves kinematics and, as a robot, everything else."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.generated_functions import compute

from humanoid_codegen import DynamicModel
from humanoid_kinematics import Coupling, Mechanism, Tool, load_mechanism
from humanoid_model import RobotError, load_robot

INERTIA = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
LINKS = "".join(f'<link name="{name}">{INERTIA}</link>' for name in ("world", "a", "b", "c"))
URDF = f"""<robot name="r">{LINKS}
  <joint name="i" type="continuous"><parent link="world"/><child link="a"/></joint>
  <joint name="k" type="continuous"><parent link="a"/><child link="b"/>
    <mimic joint="i" multiplier="-2" offset="0.5"/></joint>
  <joint name="f" type="floating"><parent link="b"/><child link="c"/></joint>
</robot>"""


def test_the_model_generator_sees_the_same_loops():
    mechanism = load_mechanism("rssr")
    model = DynamicModel(mechanism.robot, loops=mechanism.loops)
    (loop,) = mechanism.loops
    for seed in range(3):
        q = mechanism.initial + 0.1 * np.random.default_rng(seed).normal(size=mechanism.model.nq)
        places = mechanism.robot.link_placements(q)
        a, b = places[loop.link_a], places[loop.link_b]
        residual = compute(model, "loop_closure", q=q, v=np.zeros(mechanism.model.nv))["residual"]
        assert np.abs(residual) == pytest.approx(np.abs(a.rotation.T @ (b.translation - a.translation)), abs=1e-12)


@pytest.mark.feature("002-F187")
def test_mimic_joints_are_coupled():
    mechanism = Mechanism.from_robot(load_robot(URDF))
    (coupling,) = mechanism.couplings
    assert (coupling.name, dict(coupling.factors), coupling.offset) == ("k", {"k": 1.0, "i": 2.0}, 0.5)
    q = mechanism.initial
    total = sum(factor * q[mechanism.robot.index_q(joint)] for joint, factor in coupling.factors.items())
    assert total == pytest.approx(coupling.offset)
    assert mechanism.driven == ("i",)
    assert mechanism.passive == ("k", "f")


def test_any_robot_is_a_mechanism_with_its_loops_and_drives():
    robot = load_robot("five_bar")
    mechanism = Mechanism.from_robot(robot, (Tool("middle", "bar_2", pin.SE3.Identity()),))
    assert mechanism.loops == robot.loops
    assert mechanism.driven == robot.joint_names
    assert np.array_equal(mechanism.initial, robot.default_posture)
    assert load_mechanism("bip_ankle").driven == ("l_ankle_right_screw", "l_ankle_left_screw")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"driven": ("x",)}, "unknown driven joint 'x'. There are i, k, f"),
        ({"tools": (Tool("t", "x"),)}, "unknown tool 't', link 'x'. There are world, a, b, c"),
        ({"couplings": (Coupling("g", {"x": 1.0}),)}, "unknown coupling 'g', joint 'x'. There are i, k, f"),
        ({"couplings": (Coupling("g", {"f": 1.0}),)}, "coupling 'g': joint 'f' has several coordinates"),
        ({"driven": ("i",), "locked": ("i",)}, "joint 'i': is driven and locked. Keep one of the two"),
    ],
)
def test_what_the_robot_does_not_have_is_refused(more, told):
    robot = load_robot(URDF)
    with pytest.raises(RobotError) as caught:
        Mechanism(robot, robot.default_posture, **more)
    assert told in str(caught.value)
