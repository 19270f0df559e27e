# SPDX-License-Identifier: Apache-2.0
"""The embedded view: what is drawn on the page, free of ROS. The viewer node feeds it."""
