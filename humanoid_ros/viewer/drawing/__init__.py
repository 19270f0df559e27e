# SPDX-License-Identifier: Apache-2.0
"""What is drawn on the page, and messages in the drawings' terms."""
