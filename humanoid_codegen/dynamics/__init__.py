# SPDX-License-Identifier: Apache-2.0
"""One text of each algorithm of rigid-body dynamics, for numbers and expressions alike, and the model made of them."""
