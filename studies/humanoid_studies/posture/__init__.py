# SPDX-License-Identifier: Apache-2.0
"""Studies of the planner thesis' postures and distances (specification 001 chapters 4, 5 and 11)."""
