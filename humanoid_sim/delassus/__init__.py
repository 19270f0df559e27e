# SPDX-License-Identifier: Apache-2.0
"""The Delassus operator: what constraint forces do to the velocities at the constraints."""
