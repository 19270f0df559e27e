# SPDX-License-Identifier: Apache-2.0
"""What calls of the posture generator cost."""
