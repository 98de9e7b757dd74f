"""Tests, benchmarks and soaks. They ask more than a person would, and show many keys that open nothing."""

import os

from tests import granted_site

__all__ = ["granted_site"]

for setting, value in {
    "LOGIN_FAILURES_PER_MINUTE": "100000",
    "REQUESTS_PER_MINUTE": "0",
    "CONCURRENT_REQUESTS": "0",
    "CPU_S_PER_DAY": "0",
}.items():
    os.environ.setdefault(f"QUERYGATE_{setting}", value)
