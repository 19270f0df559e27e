# SPDX-License-Identifier: Apache-2.0
"""Two links that walk on a line: the planner thesis' didactic robot (specification 001 section 2.3)."""
