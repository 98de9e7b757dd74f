"""The genotype-phenotype attack: diagnoses that tell a gene, in records that leave beside DNA.

Somebody who knows that a person has Huntington's disease knows what their sequence shows at one gene, and somebody who
has the sequence knows the diagnosis. So a record with such a disease can be found from either side, whatever protects
the two columns apart (Malin, Sweeney, AMIA 2000).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa

from querygate.core.count_text import counted
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.risk_report.risk_body import GeneRisk, KnownGene
from querygate.methods.code_lists.single_gene import single_gene


def gene_risks(policy: Policy, raw: pa.Table) -> Iterator[GeneRisk]:
    """Of each column of ICD codes beside sequences, where somebody has such a disease."""
    beside = tuple(column.name for column in policy.named("sequence") if column.name in raw.column_names)
    for column in policy.named("codes") if beside else ():
        if column.name in raw.column_names and column.codes is not None and column.codes.system.startswith("icd"):
            found = find_gene_risk(column, raw[column.name], beside)
            if found.records:
                yield found


def find_gene_risk(column: ColumnPolicy, raw: pa.ChunkedArray, beside: tuple[str, ...]) -> GeneRisk:
    counts: Counter[tuple[str, str]] = Counter()
    records = 0
    for codes in raw.to_pylist():
        mine = {(one.disease, one.gene) for one in map(single_gene, _codes(column, codes)) if one is not None}
        counts.update(mine)
        records += bool(mine)
    known = tuple(KnownGene(disease, gene, many) for (disease, gene), many in sorted(counts.items()))
    return GeneRisk(column.name, beside, records, sum(one.records == 1 for one in known), known)


def _codes(column: ColumnPolicy, codes: object) -> list[str]:
    """A record has a text, or a list of texts; the codes in a text stand between separators."""
    texts = codes if isinstance(codes, list) else [codes]
    separator = (column.codes.separator if column.codes is not None else "") or "\0"
    return [part.strip() for text in texts if text is not None for part in str(text).split(separator)]


def explain_genes(risk: GeneRisk) -> tuple[str, ...]:
    """For those who decide."""
    fewest = min(one.records for one in risk.known)
    beside = " and ".join(risk.beside)
    return (
        f"{counted(risk.records, 'record has', 'records have')} a diagnosis in {risk.column} caused by a single gene "
        f"({counted(len(risk.known), 'disease')}): whoever knows it knows what {beside} shows there, and the other way "
        f"round. Somebody known to have such a disease is one of as few as {fewest:,}. Release one of the two columns, "
        "or sequences without these genes.",
    )
