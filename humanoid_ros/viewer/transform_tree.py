# SPDX-License-Identifier: Apache-2.0
"""Latest placement of every frame, from the transforms of /tf and /tf_static."""

from __future__ import annotations

import pinocchio as pin


class TransformTree:
    """The newest transform of each frame relative to its parent, and the chains between frames.

    It keeps no history: a view shows the present. Any tree is accepted, flat (world to each link)
    as the simulator sends it or chained as robot_state_publisher does.

    Args:
        root: Name of the frame that placements are expressed in.
    """

    def __init__(self, root: str = "world") -> None:
        self.root = root
        self._parent: dict[str, tuple[str, pin.SE3]] = {}

    def set(self, parent: str, child: str, placement_parent_child: pin.SE3) -> None:
        """Store the newest placement of frame `child` in frame `parent`."""
        self._parent[child] = (parent, placement_parent_child)

    def placement(self, frame: str) -> pin.SE3 | None:
        """Return the placement of a frame in the root frame.

        Returns:
            placement_root_frame, or None where no chain of known transforms joins the two
            (also when a faulty sender made a loop).
        """
        placement = pin.SE3.Identity()
        # A chain can't be longer than the number of frames: a loop ends here.
        for _ in range(len(self._parent) + 1):
            if frame == self.root:
                return placement
            if frame not in self._parent:
                return None
            frame, placement_parent_child = self._parent[frame]
            placement = placement_parent_child * placement
        return None
