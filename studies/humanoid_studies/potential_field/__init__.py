# SPDX-License-Identifier: Apache-2.0
"""Planning for points in potential fields (specification 001 chapters 5 and 6), which the contact planner came from."""
