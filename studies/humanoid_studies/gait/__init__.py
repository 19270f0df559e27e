# SPDX-License-Identifier: Apache-2.0
"""The numerical experiments of the gait thesis (specification 003 Part 4), each beside what the thesis printed."""
