# SPDX-License-Identifier: Apache-2.0
"""Three of ten packets are lost, or late: services answer, and a motion through the bridge reaches its end."""

from __future__ import annotations

import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Duration
from fixtures.bridges import MIXED
from fixtures.ros_domain import claim_domain
from fixtures.ros_processes import start_program
from humanoid_stack.action import ExecuteTrajectory
from humanoid_stack.msg import WholeBodyTrajectory
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from humanoid_model import load_robot
from humanoid_model.files import find_resource
from test.humanoid_ros.conftest import Client, wait_until

AGAIN = """  <publisher profile_name="again" is_default_profile="true">
    <times><heartbeatPeriod><nanosec>50000000</nanosec></heartbeatPeriod></times>
  </publisher>
</profiles>"""
"""Writers ask this often whether everything has come, instead of every 3 s."""
FAULTS = {"lost": {"LOSS": "0.3"}, "late": {"LATE": "0.3", "DELAY": "0.1"}}


@pytest.fixture(params=FAULTS)
def lossy(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A simulator and a bridge whose packets are lost or overtaken, and a client."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    library = tmp_path / "lossy.so"
    source = Path(__file__).parents[2] / "fixtures" / "lossy.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl", "-lpthread"], check=True)
    profile, config = tmp_path / "again.xml", tmp_path / "bridge.yaml"
    profile.write_text(find_resource("config/dds/this_machine.xml").read_text().replace("</profiles>", AGAIN))
    config.write_text(MIXED.replace("lead: 2.0", "lead: 5.0"))
    domain = claim_domain()
    with monkeypatch.context() as change:
        change.setenv("FASTRTPS_DEFAULT_PROFILES_FILE", str(profile))
        change.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")  # what the profile says is left as it is
        change.setenv("LD_PRELOAD", str(library))
        for name, value in FAULTS[request.param].items():
            change.setenv(name, value)
        with (tmp_path / "simulator").open("wb") as log:
            simulator = start_program("simulator", domain, log=log)
        words = ("-p", f"config:={config}", "-p", "use_sim_time:=true")
        with (tmp_path / "bridge").open("wb") as log:
            bridge = start_program("controller_bridge", domain, *words, log=log)
    client = Client(simulator, domain)
    yield client
    client.close()
    for process in (bridge, simulator):
        process.send_signal(signal.SIGINT)
    assert [process.wait(60.0) for process in (bridge, simulator)] == [0, 0]
    for name in ("simulator", "bridge"):
        assert "Traceback" not in (tmp_path / name).read_text()


def test_a_motion_reaches_its_end(lossy: Client) -> None:
    for _ in range(10):
        for still in (True, False):
            assert lossy.call(SetBool, "pause", SetBool.Request(data=still)).success
    joint, robot = "RARM_JOINT0", load_robot("hrp2", geometry=False)
    start = float(robot.default_posture[robot.index_q(joint)])
    zero = [0.0]
    points = [
        JointTrajectoryPoint(positions=[place], velocities=zero, accelerations=zero, time_from_start=Duration(sec=when))
        for when, place in ((0, start), (3, start + 0.4))
    ]
    motion = WholeBodyTrajectory(robot="hrp2", joints=JointTrajectory(joint_names=[joint], points=points))
    action = lossy.action(ExecuteTrajectory, "execute_trajectory")
    joints = lossy.listen(JointState, "joint_states", 1)

    def execute(**fields: Any) -> Any:
        handle = lossy.result(action.send_goal_async(ExecuteTrajectory.Goal(trajectory=motion, **fields)))
        return lossy.result(handle.get_result_async()).result

    wait_until(lambda: bool(execute(dry_run=True).success), "the bridge finds no controllers")
    result = execute()
    assert result.success, result.message
    last = joints.wait_new()
    np.testing.assert_allclose(last.position[list(last.name).index(joint)], start + 0.4, atol=0.02)
