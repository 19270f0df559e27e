# SPDX-License-Identifier: Apache-2.0
"""Contact by penalty forces and by impulses alone: what the constraint method is compared with."""
