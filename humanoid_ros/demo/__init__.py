# SPDX-License-Identifier: Apache-2.0
"""The demo: HRP-2 stands, squats, is pushed, on a local page."""
