# SPDX-License-Identifier: Apache-2.0
"""Reports of solved phases: figures, tables and files (specification 003 sections 2.27, 2.28 and 2.32.3)."""
