# SPDX-License-Identifier: Apache-2.0
"""The fallback packages are the public ones to whoever listens: ROS 2's type hashes are equal.

The hashes were computed from the definitions in the jazzy branches of geometry2 and control_msgs.
They cover names, order and types of all fields, nested types included; not comments.
"""

import json

import pytest

PUBLIC = {
    "tf2_msgs.msg.TFMessage": "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
    "control_msgs.msg.JointTolerance": (
        "c254f9cece0f3b733017b6990fd46d1326e25242d6b8844398c97d9a88e7d648"
    ),
    "control_msgs.msg.JointComponentTolerance": (
        "739ea7566931944d33830fa10f1bf5e7a7fbdc3172bce7a7eaac642bd6e3ffa4"
    ),
    "control_msgs.msg.JointTrajectoryControllerState": (
        "51d8dd89cc624cbe9daaeeb4d80d6de9b86168ffdc3be41fefc0953e3c26e480"
    ),
    "control_msgs.srv.QueryTrajectoryState": (
        "4a0935dffef18bc5b9e101c9d03d84e681ecd4cebd724b8f11fde008751a325a"
    ),
    "control_msgs.action.FollowJointTrajectory": (
        "738ebcb7a2d7cfa42f9f1001cc99ce3a4383d1cfe508015d9be8485e4b1c66f6"
    ),
}


@pytest.mark.ros
@pytest.mark.parametrize("name", PUBLIC)
def test_type_hash_is_the_public_one(name):
    package, kind, interface = name.split(".")
    get_share = pytest.importorskip("ament_index_python").get_package_share_path
    path = get_share(package) / kind / f"{interface}.json"
    hashes = {
        entry["type_name"]: entry["hash_string"]
        for entry in json.loads(path.read_text())["type_hashes"]
    }
    assert hashes[f"{package}/{kind}/{interface}"] == f"RIHS01_{PUBLIC[name]}"


@pytest.mark.ros
def test_constants_are_the_public_ones():
    from control_msgs.action import FollowJointTrajectory
    from control_msgs.msg import JointComponentTolerance

    codes = {
        "SUCCESSFUL": 0,
        "INVALID_GOAL": -1,
        "INVALID_JOINTS": -2,
        "OLD_HEADER_TIMESTAMP": -3,
        "PATH_TOLERANCE_VIOLATED": -4,
        "GOAL_TOLERANCE_VIOLATED": -5,
    }
    assert {name: getattr(FollowJointTrajectory.Result, name) for name in codes} == codes
    axes = {"X_AXIS": 1, "Y_AXIS": 2, "Z_AXIS": 3, "TRANSLATION": 4, "ROTATION": 5}
    assert {name: getattr(JointComponentTolerance, name) for name in axes} == axes
