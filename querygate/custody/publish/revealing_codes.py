"""Warns the custodian, when publishing, of lists of codes by which many people could still be found."""

from __future__ import annotations

from collections.abc import Iterator

from querygate.custody.code_lists.code_items import CodeReport, explain_codes
from querygate.custody.policy.toml_reader import dotted
from querygate.custody.publish.step_state import PublicationState

MUCH = 0.1
"""The share of people from which on a warning is given."""


def code_warnings(state: PublicationState) -> Iterator[str]:
    """A warning for each such list, in the form of a policy's warnings."""
    for made in state.code_lists.values():
        if _finds_many(made.report):
            yield (
                f"{dotted(('columns', made.report.column))}: {explain_codes(made.report)} Publish named groups of its "
                'codes in views (views.codes), or say that all codes may be known: protect = { kind = "complete" }'
            )


def _finds_many(report: CodeReport) -> bool:
    return report.measures is not None and max(report.measures.found[-1].after, report.alone) > MUCH
