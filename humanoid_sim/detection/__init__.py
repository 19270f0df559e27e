# SPDX-License-Identifier: Apache-2.0
"""Contact points between the shapes of a world."""
