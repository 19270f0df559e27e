# SPDX-License-Identifier: Apache-2.0
"""Contact solvers to compare with: other methods, approximate laws, other libraries."""
