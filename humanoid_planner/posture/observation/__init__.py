# SPDX-License-Identifier: Apache-2.0
"""Postures from which a robot sees what it should."""
