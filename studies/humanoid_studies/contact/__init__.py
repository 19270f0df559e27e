# SPDX-License-Identifier: Apache-2.0
"""Contact solvers to compare with (specification 000 §§5, 6 and 10): other methods and laws, other libraries."""
