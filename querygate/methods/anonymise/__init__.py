"""Anonymisers: divide records into classes that keep a promise, and measure what was promised.

Pure: arrays in, arrays out. The caller codes the quasi-identifiers and groups the records to distinct combinations.

>>> import numpy as np
>>> age = Attribute.ordered_by("age", np.array([0, 1, 2, 3]), edges=np.array([0.0, 20, 40, 60, 80]))
>>> table = Table((age,), counts=np.array([3, 4, 1, 5]))
>>> labels = ANONYMISERS.get("mondrian")(table, k=3)
>>> labels, partition_check.smallest_class(labels, table.counts)
(array([0, 1, 2, 2]), 3)
"""

from __future__ import annotations

from querygate.core.registry import Registry
from querygate.methods.anonymise import (
    knowledge_check,
    mutual_information,
    partition_check,
    range_check,
    version_overlay,
)
from querygate.methods.anonymise.anonymisers import ANONYMISERS, Method
from querygate.methods.anonymise.blind_classes import blind
from querygate.methods.anonymise.class_boxes import (
    ALL_NULLS,
    NO_NULLS,
    SOME_NULLS,
    Box,
    Intervals,
    ValueSets,
    boxes,
    join_boxes,
    loss_by_attribute,
    ncp,
)
from querygate.methods.anonymise.clusters.bottom_up import bottom_up
from querygate.methods.anonymise.clusters.top_down import top_down
from querygate.methods.anonymise.division.coarse_cuts import CoarseCut, coarse_cuts
from querygate.methods.anonymise.division.mondrian import Progress, mondrian, one_class
from querygate.methods.anonymise.division.univariate import Unsuitable
from querygate.methods.anonymise.guards.diversity import (
    Alpha,
    Closeness,
    Distinct,
    EntropyDiversity,
    Recursive,
    Sensitive,
)
from querygate.methods.anonymise.guards.growth import Growth
from querygate.methods.anonymise.guards.guard import Guard, NumericHull
from querygate.methods.anonymise.guards.k_map import KMap
from querygate.methods.anonymise.guards.numeric_guards import Numbers, Proximity, SpreadGuard
from querygate.methods.anonymise.guards.p_sensitive import PSensitive
from querygate.methods.anonymise.guards.person_guards import PersonCount, PersonRows, ValueHolders
from querygate.methods.anonymise.guards.personal_guard import PersonalGuard
from querygate.methods.anonymise.guards.plausible_values import PlausibleValues
from querygate.methods.anonymise.guards.range_guard import Leaves, Names, RangeDiversity, Ranks, Scale
from querygate.methods.anonymise.guards.tree_closeness import TreeCloseness
from querygate.methods.anonymise.guards.worst_knowledge import Safety
from querygate.methods.anonymise.recode.full_domain import full_domain
from querygate.methods.anonymise.recode.full_subtree import full_subtree
from querygate.methods.anonymise.recode.hierarchy import Hierarchy
from querygate.methods.anonymise.recode.local_recode import local
from querygate.methods.anonymise.recode.recoder import RecodedTable, Recoder
from querygate.methods.anonymise.stable_classes import stay_together
from querygate.methods.anonymise.statistic_weights import (
    directed,
    directed_by_record,
    record_weights,
    statistic_weights,
)
from querygate.methods.anonymise.table import NULL, Attribute, Infeasible, Table, Target

RECODERS: Registry[Recoder] = Registry("recoder")
RECODERS.register("full-domain", full_domain)
RECODERS.register("full-subtree", full_subtree)
RECODERS.register("local", local)

__all__ = [
    "ANONYMISERS",
    "Method",
    "Progress",
    "mondrian",
    "one_class",
    "top_down",
    "bottom_up",
    "directed",
    "statistic_weights",
    "record_weights",
    "directed_by_record",
    "Unsuitable",
    "Attribute",
    "Hierarchy",
    "Table",
    "Target",
    "NULL",
    "Infeasible",
    "Guard",
    "NumericHull",
    "Sensitive",
    "Distinct",
    "EntropyDiversity",
    "Recursive",
    "Alpha",
    "Closeness",
    "TreeCloseness",
    "PSensitive",
    "Growth",
    "RangeDiversity",
    "Names",
    "Ranks",
    "Leaves",
    "Scale",
    "PlausibleValues",
    "Safety",
    "PersonalGuard",
    "PersonCount",
    "PersonRows",
    "ValueHolders",
    "Numbers",
    "SpreadGuard",
    "Proximity",
    "KMap",
    "blind",
    "CoarseCut",
    "coarse_cuts",
    "Box",
    "Intervals",
    "ValueSets",
    "NO_NULLS",
    "SOME_NULLS",
    "ALL_NULLS",
    "boxes",
    "join_boxes",
    "loss_by_attribute",
    "ncp",
    "stay_together",
    "RECODERS",
    "Recoder",
    "RecodedTable",
    "full_domain",
    "full_subtree",
    "local",
    "knowledge_check",
    "partition_check",
    "range_check",
    "mutual_information",
    "version_overlay",
]
