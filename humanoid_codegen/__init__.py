# SPDX-License-Identifier: Apache-2.0
"""Dynamic models of robots as readable equations and fast code."""
