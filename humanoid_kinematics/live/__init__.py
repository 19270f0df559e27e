# SPDX-License-Identifier: Apache-2.0
"""Mechanisms that run: driven by the newest commands, edited and switched while they move."""
