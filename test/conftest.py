# SPDX-License-Identifier: Apache-2.0
"""The garbage collector looks at what tests make, and seldom; ROS domains are given back after each file."""

import gc
from collections.abc import Iterator

import pytest
from fixtures.ros_domain import claimed_domains, release_domain


def pytest_collection_finish() -> None:
    """Thousands of tests and what they import live to the end: they need not be walked through again and again.

    Generated models are graphs of millions of nodes, none of which is garbage: half the time of their tests went into
    looking for some.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="module", autouse=True)
def _give_domains_back() -> Iterator[None]:
    """Made before all that starts programs, ended after it; a run has more files than there are domains."""
    before = claimed_domains()
    yield
    for domain in claimed_domains() - before:
        release_domain(domain)
