"""Every key that a policy file may have, by table, and the accepted words.

A new key is added here first: what is not here is refused as unknown. `column_rules` says which columns it applies to.
"""

from __future__ import annotations

from querygate.custody.policy.code_list_rules import METHODS as CODE_METHODS
from querygate.custody.policy.text_columns import KINDS as IDENTIFIER_KINDS
from querygate.custody.policy.text_columns import SEQUENCE_METHODS
from querygate.custody.policy.toml_reader import Vocabulary

KEYS = {
    "": (
        *("dataset", "title", "k", "unit", "columns", "anonymise", "answers", "laplace", "audit"),
        *(
            "references",
            "join",
            "events",
            "derive",
            "k_map",
            "person",
            "k_counts",
            "republish",
            "release",
            "limited_data_set",
            "randomised",
            "views",
        ),
    ),
    "columns.*": (
        *("role", "type", "title", "absent", "spelled", "censored", "written", "from", "at", "domain", "grid", "cuts"),
        *("weight", "carry"),
        *("bins", "guard", "values", "ordered", "rare", "diversity", "missing", "hierarchy", "edges", "groups"),
        *("system", "separator", "unknown", "method", "protect", "utility"),
        *(
            "kind",
            "dates",
            "tags",
            "unknown_words",
            "earliest_year",
            "terms",
            "t",
            "tagger",
            "lattice",
            "alike",
            "k",
            "within",
        ),
    ),
    "columns.*.diversity": (
        *("kind", "l", "c", "t", "alpha", "distance", "p", "e", "distinct", "epsilon", "m", "by", "share", "groups"),
        *("pieces", "expected", "alphas"),
    ),
    "columns.*.protect": (
        *("kind", "m", "itemsets", "column", "between", "k", "sensitive", "share", "support", "rules", "look_for"),
    ),
    "columns.*.utility": ("kind", "level", "groups", "spare"),
    "anonymise": ("method", "edges", "class_moments", "statistics", "max_width", "largest_k", "search", "target"),
    "answers": ("modes", "min_group"),
    "laplace": (
        *("epsilon_per_query", "epsilon_total", "epsilon_per_user", "epsilon_per_project", "epsilon_least"),
        "epsilon_per_extract",
        *("delta", "mechanism", "person", "rows_per_person"),
    ),
    "audit": ("on_differencing",),
    "references.*": ("file", "key", "columns"),
    "join.*": ("source", "on", "columns", "kind", "many"),
    "events.*": ("source", "on", "time"),
    "derive.*": ("events", "take", "column", "where", "since", "until", "around", "days", "names"),
    "k_map": ("population", "k", "columns", "count"),
    "republish": ("on_overlap", "few_changes"),
    "release": ("population", "count", "columns", "threshold", "instance", "require"),
    "limited_data_set": ("checked",),
    "randomised": ("rho1", "rho2", "methods", "kept", "window", "noise", "spread"),
    "views": (
        *("mode", "frame", "spanning", "extra", "prefer", "linked", "codes", "values", "sum_cell", "on_uncertified"),
    ),
}

CHOICES = {
    "k_counts": ("persons", "rows"),
    "columns.*.role": (
        *("identifier", "quasi-identifier", "sensitive", "codes", "note", "sequence", "payload", "public", "withheld"),
    ),
    "columns.*.type": ("integer", "number", "date", "timestamp", "category", "boolean", "text", "codes"),
    "columns.*.censored": ("limit", "missing"),
    "columns.*.written": ("day/month/year", "month/day/year"),
    "columns.*.carry": ("bins", "hull", "univariate", "joint"),
    "columns.*.diversity.kind": (
        *("distinct", "entropy", "recursive", "t-closeness", "alpha", "p-sensitive", "ke", "em", "personalised"),
        *("ck", "growth", "mined", "range"),
    ),
    "columns.*.missing": ("value", "not applicable"),
    "columns.*.unknown": ("refuse", "other"),
    "columns.*.method": (
        *dict.fromkeys(name for names in CODE_METHODS.values() for name in names),
        *SEQUENCE_METHODS,
    ),
    "columns.*.kind": IDENTIFIER_KINDS,
    "randomised.noise": ("laplace", "normal"),
    "columns.*.dates": ("year", "shift", "tag"),
    "columns.*.tags": ("keyed", "numbered", "kind", "natural"),
    "columns.*.lattice": ("iupac", "dnala", "tree"),
    "columns.*.within": ("file", "classes"),
    "columns.*.protect.kind": tuple(CODE_METHODS),
    "columns.*.protect.look_for": ("rest", "whole"),
    "columns.*.utility.kind": ("level", "groups", "diseases", "none"),
    "columns.*.utility.spare": ("none", "listed"),
    "columns.*.diversity.distance": ("equal", "ordered", "hierarchy"),
    "anonymise.method": (
        *("auto", "mondrian", "mondrian-relaxed", "snake", "snake-polished"),
        *("boxes", "top-down", "bottom-up", "top-down-greedy", "r-tree", "gather", "mondrian-target", "univariate"),
        "boxes-by-point",
    ),
    "anonymise.edges": ("grid", "tight"),
    "anonymise.class_moments": ("none", "rounded", "exact"),
    "anonymise.search": ("guarded", "blind"),
    "answers.modes": ("interval", "laplace"),
    "laplace.mechanism": ("geometric", "laplace", "gaussian-discrete", "gaussian-analytic"),
    "audit.on_differencing": ("alert", "warn", "refuse"),
    "references.*.columns": ("category", "integer", "number"),
    "join.*.kind": ("left", "inner"),
    "join.*.many": ("refuse",),
    "derive.*.take": ("first", "last", "min", "max", "mean", "sum", "count", "distinct", "any", "list"),
    "republish.on_overlap": ("refuse", "sticky", "extend", "retire"),
    "republish.few_changes": ("refuse", "report"),
    "views.mode": ("auto", "none", "spanning"),
    "views.on_uncertified": ("coarsen", "refuse"),
}

VOCABULARY = Vocabulary(KEYS, CHOICES)
