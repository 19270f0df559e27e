# SPDX-License-Identifier: Apache-2.0
"""HRP-2 walks over ROS on its controller, is pushed so that it must step, and stops.

Start the stack first: ``python -m humanoid_ros.bringup sim scene=walk controller=true``
or ``ros2 launch humanoid_stack sim.launch.py scene:=walk controller:=true``.
"""

from __future__ import annotations

import argparse

from humanoid_stack.msg import ControllerStatus

from humanoid_ros.client import HumanoidStack


def main() -> None:
    """Walk."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with HumanoidStack("hrp2") as stack:
        stack.run(1.0)
        start = stack.state.base
        stack.walk(0.2)
        stack.run(4.0)
        print("pushed")
        stack.push("WAIST", [0.0, 200.0, 0.0], duration=0.1)
        stack.run(3.0)
        stack.walk(0.0)
        stack.run(3.0)
        status, end = stack.balance, stack.state.base
        assert start is not None
        assert end is not None
        ahead, aside, _ = end.translation - start.translation
        standing = status.mode == ControllerStatus.STANDING
        print(f"walked {ahead:.2f} m, {aside:+.2f} m aside; {'stands' if standing else 'moves'}")
        print(f"{status.ticks} ticks, {status.late_ticks} late, {1e3 * status.tick_seconds:.1f} ms each at last")


if __name__ == "__main__":
    main()
