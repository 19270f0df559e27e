# SPDX-License-Identifier: Apache-2.0
"""The experiments of the thesis (specification 000 §27), one file each, with the thesis' numbers beside ours.

``python -m humanoid_studies`` lists and runs them; ``studies/docs/experiments.md`` tells what came out.
"""
