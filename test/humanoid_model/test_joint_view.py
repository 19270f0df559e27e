# SPDX-License-Identifier: Apache-2.0
"""Ball joints as three angles: round trip, and rates against finite differences."""

import numpy as np
import pinocchio as pin
from numpy.testing import assert_allclose

from humanoid_model.joint_view import BallJoint
from humanoid_model.urdf import read_urdf

URDF = """<robot name="ball">
<link name="world"/><link name="a"/><link name="b"/><link name="arm"/>
<joint name="x" type="continuous">
  <parent link="world"/><child link="a"/><origin rpy="0.3 0.2 0.1"/><axis xyz="1 0 0"/></joint>
<joint name="y" type="continuous">
  <parent link="a"/><child link="b"/><origin rpy="1.5707963267948966 0 0"/><axis xyz="0 {sign} 0"/></joint>
<joint name="z" type="continuous">
  <parent link="b"/><child link="arm"/><axis xyz="0 0 1"/></joint>
</robot>"""


def ball(sign: int) -> BallJoint:
    return BallJoint(read_urdf(URDF.format(sign=sign)), ("x", "y", "z"))


def test_angles_and_quaternion_round_trip() -> None:
    rng = np.random.default_rng(0)
    for sign in (1, -1):
        joint = ball(sign)
        assert_allclose(joint.axes.T @ joint.axes, np.eye(3), atol=1e-12)
        for _ in range(50):
            angles = rng.uniform([-3, -1.5, -3], [3, 1.5, 3])
            assert_allclose(joint.angles(joint.quaternion(angles)), angles, atol=1e-9)


def test_rate_matrix_is_the_derivative() -> None:
    rng = np.random.default_rng(1)
    h = 1e-6
    for sign in (1, -1):
        joint = ball(sign)
        for _ in range(20):
            angles, rates = rng.uniform(-1.2, 1.2, 3), rng.normal(size=3)
            before, after = (
                pin.Quaternion(joint.quaternion(angles + s * h * rates)).matrix() for s in (-1, 1)
            )
            omega = pin.log3(before.T @ after) / (2 * h)
            assert_allclose(joint.rate_matrix(angles) @ rates, omega, atol=1e-6)
