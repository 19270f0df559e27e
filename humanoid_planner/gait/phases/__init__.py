# SPDX-License-Identifier: Apache-2.0
"""Phases of a walk: what each begins and ends with, how they follow each other, and what that sums up to."""
