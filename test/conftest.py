# SPDX-License-Identifier: Apache-2.0
"""The garbage collector looks at what tests make, and seldom."""

import gc


def pytest_collection_finish() -> None:
    """Thousands of tests and what they import live to the end: they need not be walked through again and again.

    Generated models are graphs of millions of nodes, none of which is garbage: half the time of their tests went into
    looking for some.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
