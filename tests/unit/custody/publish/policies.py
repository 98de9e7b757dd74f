"""Policies that several suites publish under."""

from __future__ import annotations

STICKY = '[republish]\non_overlap = "sticky"\n'


def register_policy(k: int) -> str:
    """People of a register, each with a number of their own, so that versions can be laid together."""
    return f"""
dataset = "t"
k = {k}
person = "mrn"
[columns.mrn]
role = "identifier"
[columns.age]
role = "quasi-identifier"
type = "integer"
domain = [0, 100]
grid = 1
weight = 4
[columns.zip]
role = "quasi-identifier"
type = "integer"
domain = [0, 1000]
grid = 10
[columns.ward]
role = "sensitive"
type = "category"
diversity = {{ kind = "distinct", l = 2 }}
[anonymise]
method = "mondrian"
"""
