"""Extracts of a dataset that is published as views.

Views are certified together, and not with anything else. Records in classes over all quasi-identifiers, their sensitive
values linked, are what may never stand beside views: laid together they fix whole records of single people. So such an
extract leaves only if every reviewer has acknowledged it, which is on record.
"""

from __future__ import annotations

from querygate.core.errors import ExtractRefused
from querygate.core.extracts.extract_spec import NOISY, ExtractSpec, invalid
from querygate.core.types import Catalog

RECORDS = (
    "The dataset is published as views. Their certificates cover only the views. This extract groups the same records "
    "differently and keeps their sensitive values together: anyone who compares it with the gate's answers may work "
    "out whole records of single people, whatever the k of the extract."
)
SYNTHETIC = (
    "The dataset is published as views, whose certificates say nothing about synthetic records. No synthetic record is "
    "a real person's, but clusters of k records keep their means and covariances, which views do not publish. Having "
    "both may make a value easier to guess than either does on its own; by how much has not been measured."
)


NOISED = (
    "The dataset is published as views, whose certificates say nothing about noisy models and tables. The privacy "
    "budget covers these instead: whatever else is known, nobody's record changes the result by more than epsilon."
)


def beside_words(spec: ExtractSpec) -> list[str]:
    """What those who decide are told of an extract beside views."""
    if spec.kind in NOISY:
        return [NOISED]
    return [SYNTHETIC if is_synthetic(spec) else RECORDS]


def is_synthetic(spec: ExtractSpec) -> bool:
    return spec.kind == "condensed" or spec.kind in NOISY


def check_acknowledged(spec: ExtractSpec, catalog: Catalog, acknowledged: bool) -> None:
    """ExtractRefused QG608 for records of a dataset that is published as views, unless it was acknowledged."""
    if catalog.margins and not is_synthetic(spec) and not acknowledged:
        raise ExtractRefused(
            "QG608",
            f"{catalog.dataset} is published as views, and records combined with views can reveal whole records of "
            "single people.",
            "Options:\n"
            "- answer with statistics instead\n"
            '- ask for synthetic records (kind = "condensed"); the certificates do not cover them either\n'
            "- publish the dataset as classes, without [views]; answers already given from the views remain known\n"
            "- approve it with --beside-views (beside_views over HTTP), which logs that the recipient is trusted with "
            "single people's records; a request already approved without it must be revoked and made again.",
        )


def check_needed(spec: ExtractSpec, catalog: Catalog, acknowledged: bool) -> None:
    """QG604 where something is acknowledged that is not so: it would be on record for later, unread."""
    if acknowledged and (not catalog.margins or is_synthetic(spec)):
        why = "its records are synthetic" if catalog.margins else f"{catalog.dataset} is not published as views"
        raise invalid("beside_views", f"there is nothing to acknowledge, because {why}")
