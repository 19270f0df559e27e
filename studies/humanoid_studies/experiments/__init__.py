# SPDX-License-Identifier: Apache-2.0
"""Experiments beside numbers printed elsewhere (specifications 000 §27, 003 Part 4): results, and finding by name."""
