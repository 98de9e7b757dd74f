"""Diseases that come of changes in one gene, and which: whoever knows the one knows where to look for the other.

The list is that of the tutorial of Gkoulalas-Divanis and Loukides (2012), after Malin and Sweeney ("Determining the
identifiability of DNA database entries", AMIA 2000), with the genes as they are called today and the codes of ICD-9-CM
and ICD-10. It is not complete.
"""

from __future__ import annotations

from typing import NamedTuple


class SingleGene(NamedTuple):
    """A disease, its gene, and how its codes begin in either system, without points."""

    disease: str
    gene: str
    icd9: str
    icd10: str


SINGLE_GENE = (
    SingleGene("Huntington's disease", "HTT", "3334", "G10"),
    SingleGene("sickle-cell disease", "HBB", "2826", "D57"),
    SingleGene("fragile X syndrome", "FMR1", "75983", "Q992"),
    SingleGene("Refsum's disease", "PHYH", "3563", "G601"),
    SingleGene("phenylketonuria", "PAH", "2701", "E700"),
    SingleGene("methaemoglobinaemia", "CYB5R3", "2897", "D74"),
    SingleGene("galactosaemia", "GALT", "2711", "E742"),
    SingleGene("amyotrophic lateral sclerosis", "SOD1", "33520", "G1221"),
    SingleGene("Friedreich's ataxia", "FXN", "3340", "G111"),
)


def single_gene(code: str) -> SingleGene | None:
    """The disease of a code; codes of ICD-9-CM that begin with a letter are no diseases of these.

    >>> single_gene("333.4").gene, single_gene("G10").gene, single_gene("250.00")
    ('HTT', 'HTT', None)
    """
    plain = "".join(filter(str.isalnum, code.upper()))
    found = (one for one in SINGLE_GENE if plain.startswith(one.icd10 if plain[:1].isalpha() else one.icd9))
    return next(found, None)
