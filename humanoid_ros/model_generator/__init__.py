# SPDX-License-Identifier: Apache-2.0
"""The model generator node: equations, code and inverse dynamics of robots."""
