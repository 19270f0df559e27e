# SPDX-License-Identifier: Apache-2.0
"""The controller: keeps a robot on its feet by its sensors, and lets it walk as it is told."""
