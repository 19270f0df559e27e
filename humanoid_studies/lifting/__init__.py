# SPDX-License-Identifier: Apache-2.0
"""A humanoid lifts objects in its sagittal plane: statics, optimal and dynamic lifts, and their replay."""
