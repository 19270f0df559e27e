# SPDX-License-Identifier: Apache-2.0
"""Motions before and while a robot executes them: checks of them, their timing, and where they can be stopped."""
