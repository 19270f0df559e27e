# SPDX-License-Identifier: Apache-2.0
"""Reader of MuJoCo's MJCF: its bodies, as scenes and as trees of links and joints."""
