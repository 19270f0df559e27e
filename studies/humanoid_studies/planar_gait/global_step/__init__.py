# SPDX-License-Identifier: Apache-2.0
"""All phases of a gait in one problem: transition states, durations and step length chosen by the optimum."""
