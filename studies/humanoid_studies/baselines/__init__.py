# SPDX-License-Identifier: Apache-2.0
"""What the stack's own ways are compared with: penalties, impulses (specification 000 §5), the thesis' plain texts."""
