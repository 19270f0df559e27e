# SPDX-License-Identifier: Apache-2.0
"""A page on which lifts are edited by hand: control points are dragged, and the motion is judged again. No node."""
