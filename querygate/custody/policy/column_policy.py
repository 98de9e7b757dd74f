"""The policy of one column: its role, its codes, its texts in extracts, and its protection."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias

from querygate.core.derived_columns import Censored
from querygate.core.publications.vault_ports import AgeAt
from querygate.core.types import NUMERIC, Role, Type

Number: TypeAlias = int | float
Meaning: TypeAlias = "bool | int | float | str | Sequence[Meaning] | Mapping[str, Meaning] | None"
"""The content of a policy, as it is hashed."""

ClassMoments: TypeAlias = Literal["none", "rounded", "exact"]
Carry: TypeAlias = Literal["bins", "hull", "univariate", "joint"]
Diversity: TypeAlias = Literal[
    "distinct",
    "entropy",
    "recursive",
    "t-closeness",
    "alpha",
    "p-sensitive",
    "ke",
    "em",
    "personalised",
    "ck",
    "growth",
    "mined",
    "range",
]
Distance: TypeAlias = Literal["equal", "ordered", "hierarchy"]
Missing: TypeAlias = Literal["", "not applicable"]
SequenceMethod: TypeAlias = Literal["refined", "dnala", "bins"]
Lattice: TypeAlias = Literal["iupac", "dnala", "tree"]
UtilityKind: TypeAlias = Literal["level", "groups", "diseases", "none"]

PUBLISHED: frozenset[str] = frozenset({"quasi-identifier", "sensitive", "codes", "public"})
"""Roles whose columns reach the store. Everything else stays in the vault."""


@dataclass(frozen=True, slots=True)
class DiversityPolicy:
    """A guarantee that every class must keep for a sensitive column. Only the parameters of its kind are set.

    distinct (l), entropy (l) and recursive (c, l): Machanavajjhala et al. 2007; t-closeness (t): Li et al. 2007;
    alpha (no value may hold more than this share of a class, or than its own of `alphas`): Wong et al. 2006;
    p-sensitive (p): Truta, Vinay 2006;
    ke (e, distinct): Zhang et al. 2007; em (epsilon, m): Li et al. 2008; personalised (by, share): Xiao, Tao 2006;
    ck (share, pieces): Martin et al. 2007; growth (share): Tao et al. 2008; mined (l, expected): Li, Li 2008;
    range (share of the domain that the values of a class span): Loukides, Shao 2011.
    """

    kind: Diversity
    l: Number | None = None  # noqa: E741 - the name the literature and the policy file use
    c: float | None = None
    t: float | None = None
    alpha: float | None = None
    alphas: tuple[tuple[str, float], ...] = ()  # values with a share of their own
    distance: Distance | None = None  # t-closeness; None: equal, of categories
    p: int | None = None
    e: Number | None = None
    distinct: int | None = None
    epsilon: Number | None = None
    m: float | None = None
    share: float | None = None
    pieces: int | None = None  # pieces of knowledge
    expected: float | None = None  # records in which a rule without exceptions must have been possible
    by: str | None = None  # the column that says what each person guards
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()  # names for sets of values

    def most(self, value: str | None) -> float:
        """The greatest share of a class that a value may hold, as far as alpha says."""
        return next((share for text, share in self.alphas if text == value), self.alpha or 1.0)


@dataclass(frozen=True, slots=True)
class HierarchyPolicy:
    """How the values of a category are generalised: by a rule, or by the rows of a file."""

    preset: str = ""
    rows: tuple[tuple[str, ...], ...] = ()  # value, its ancestors, root

    def meaning(self) -> dict[str, Meaning]:
        """The rule, or a hash of the file's content; its location does not matter."""
        if self.preset:
            return {"preset": self.preset}
        return {"sha256": hashlib.sha256(json.dumps(self.rows).encode()).hexdigest()}


Protection: TypeAlias = Literal[
    "k^m", "itemsets", "visits", "complete", "classes", "coherence", "rules", "uncertainty", "patterns"
]


@dataclass(frozen=True, slots=True)
class ProtectPolicy:
    """Which codes an attacker may know, and what they must not lead to.

    Each set of codes occurs in k records, or in none: sets of up to m codes (`k^m`), listed sets, those of each visit
    in another column, whole lists (`complete`), or sets of up to m codes within each class (`classes`). Or sets of
    codes reveal no sensitive code with more than a given confidence: sets of up to m public codes, which must occur in
    k records as well (`coherence`), those named by rules (`rules`), or any sets up to m (`uncertainty`). Or rules are
    not told by the records at all (`patterns`), beside k^m.

    If a code of a set is suppressed, the `rest` must occur in k records or none; with `whole`, nothing more is required
    of it.
    """

    kind: Protection = "k^m"
    m: int = 0
    itemsets: tuple[tuple[str, ...], ...] = ()
    column: str = ""  # the column of visits
    between: str = ""  # what separates visits written as text
    k: int = 0  # 0: the policy's
    sensitive: tuple[str, ...] = ()  # codes, or groups of the system
    share: float = 0.0
    support: int = 0  # the fewest records that make a pattern; 0: one
    rules: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()  # known codes, secret codes
    look_for: Literal["rest", "whole"] = "rest"


@dataclass(frozen=True, slots=True)
class UtilityPolicy:
    """Codes that may be published as one item: those of one group, which a level of the code system or a list gives.

    Codes outside all groups of a list are grouped by the level; where that is 0 they stay alone.
    """

    kind: UtilityKind = "level"
    level: int = 0
    groups: tuple[tuple[str, ...], ...] = ()
    spare: Literal["none", "listed"] = "none"  # are listed codes suppressed last?


@dataclass(frozen=True, slots=True)
class CodesPolicy:
    """How lists of codes are read and published."""

    system: str = ""  # empty: given by the rows
    rows: tuple[tuple[str, ...], ...] = ()  # code, its ancestors, root
    separator: str = ""  # between codes in a text; empty: a text is one code
    unknown: Literal["refuse", "other"] = "refuse"  # for texts that the system does not have
    method: str = "cba"
    protect: ProtectPolicy = field(default_factory=ProtectPolicy)
    utility: UtilityPolicy = field(default_factory=UtilityPolicy)

    def meaning(self) -> dict[str, Meaning]:
        """The values set. Long lists as a hash; the location of a file does not matter."""
        fields = asdict(self)
        fields["rows"] = digest(self.rows)
        fields["protect"]["itemsets"] = digest(self.protect.itemsets)
        fields["protect"]["rules"] = digest(self.protect.rules)
        fields["utility"]["groups"] = digest(tuple(sorted(self.utility.groups)))
        for part, key, unset in (
            ("protect", "look_for", "rest"),
            ("protect", "support", 0),
            ("utility", "spare", "none"),
        ):
            if fields[part][key] == unset:
                del fields[part][key]
        return {key: set_fields(value) if isinstance(value, dict) else value for key, value in fields.items() if value}


def digest(rows: tuple[tuple[object, ...], ...]) -> str:
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest() if rows else ""


@dataclass(frozen=True, slots=True)
class CodeGroup:
    """Codes of a list, or groups of its system: the flag is true for records that have one of them."""

    column: str
    codes: tuple[str, ...]


IN_EXTRACTS: frozenset[str] = frozenset({"note", "sequence", "payload"})
"""Roles that no query reaches: they are released only in extracts that name them. Notes and sequences are changed
first, a payload is not."""


@dataclass(frozen=True, slots=True)
class NotePolicy:
    """How free text is scrubbed of identifying details, and of terms that reveal too much (t-plausibility)."""

    dates: Literal["year", "shift", "tag"] = "year"
    tags: Literal["keyed", "numbered", "kind", "natural"] = "keyed"
    unknown_words: bool = True  # do capitalised words that are in no dictionary count as names?
    earliest_year: int = 0  # earlier years reveal a great age; 0: none does
    terms: tuple[tuple[str, str], ...] = ()  # term, its parent
    t: int = 0  # number of texts that must be plausible; 0: terms stay as they are
    tagger: str = ""  # file of a learned tagger beside the policy, and what it was when the policy was read
    tagger_hash: str = ""


@dataclass(frozen=True, slots=True)
class SequencePolicy:
    """How aligned DNA is generalised until k records have the same."""

    method: SequenceMethod = "refined"
    lattice: Lattice = "iupac"
    k: int = 0  # 0: the policy's
    within: Literal["file", "classes"] = "file"  # the same among all records, or within each class
    bins: int = 0  # of that method
    alike: int = 0  # sites of each sequence that have the same letter, along the tree; 0: any number


@dataclass(frozen=True, slots=True)
class ColumnPolicy:
    """One source column, or a flag derived from one. Fields that do not apply to its role and type are None or
    empty."""

    name: str
    role: Role
    type: Type | None = None
    title: str = ""
    low: Number | None = None  # public domain, both ends included
    high: Number | None = None
    grid: Number | None = None  # for quasi-identifying and sensitive numbers
    cuts: tuple[Number, ...] = ()  # for quasi-identifying numbers
    edges: tuple[Number, ...] = ()  # edges of public cells instead of a grid, from low to high; empty: there is a grid
    weight: float | None = None  # quasi-identifiers
    carry: Carry | None = None  # sensitive numbers
    bins: Number | tuple[Number, ...] | None = None  # a width, or every edge from low to high
    guard: Number | None = None  # e; 0 is off
    values: tuple[str, ...] = ()  # public values in code-point order; empty: not declared
    order: tuple[str, ...] = ()  # all public values, lowest first, if the policy declares an order
    rare: str = ""  # the common name of values that are not declared, or that fewer than k people have
    diversity: tuple[DiversityPolicy, ...] = ()  # sensitive columns
    missing: Missing = ""  # how guarantees of a sensitive column treat missing values; empty: as a value
    hierarchy: HierarchyPolicy | None = None  # quasi-identifying and sensitive categories
    codes: CodesPolicy | None = None  # code lists
    groups: tuple[tuple[str, ...], ...] = ()  # values that are only published together; empty: each by itself
    note: NotePolicy | None = None  # notes
    sequence: SequencePolicy | None = None  # sequences
    kind: str = ""  # kind of identifier; empty: unknown
    absent: tuple[str, ...] = ()  # texts of the source that stand for a missing value
    written: str = ""  # day/month/year or month/day/year; empty: dates of the source have no slashes
    spelled: tuple[tuple[str, tuple[str, ...]], ...] = ()  # values, and the texts of the source that are read as them
    censored: Censored = ""  # what numbers beyond a limit of detection are read as; empty: they cannot be read
    age: AgeAt | None = None  # the dates of a derived age; None: a column of the source
    of_codes: CodeGroup | None = None  # the codes of a flag; None: a column of the source

    @property
    def is_numeric(self) -> bool:
        return self.type in NUMERIC

    @property
    def is_published(self) -> bool:
        return self.role in PUBLISHED

    @property
    def is_protected_in_classes(self) -> bool:
        """Can the column's codes be published only after classes are made?"""
        return self.codes is not None and self.codes.protect.kind == "classes"

    @property
    def spares_missing(self) -> bool:
        """Do the guarantees for this column ignore missing values?"""
        return self.missing == "not applicable"

    @property
    def is_in_extracts(self) -> bool:
        return self.role in IN_EXTRACTS

    def meaning(self) -> dict[str, Meaning]:
        """The values set, without the name. For a column that stays in the vault only the role matters."""
        if self.is_in_extracts:
            return self._meaning_of_texts()
        if not self.is_published:
            return set_fields({"role": self.role, "kind": self.kind, **self._reading()})
        fields = {key: value for key, value in asdict(self).items() if key != "name"}
        kept = sorted((set_fields(d) for d in fields["diversity"]), key=lambda d: json.dumps(d, sort_keys=True))
        fields["diversity"] = kept[0] if len(kept) == 1 else tuple(kept)  # a single one is written as itself
        if self.hierarchy is not None:
            fields["hierarchy"] = self.hierarchy.meaning()
        if self.codes is not None:
            fields["codes"] = self.codes.meaning()
        return set_fields(fields)

    @property
    def is_amended(self) -> bool:
        """Are values of the source read as something else than they are?"""
        return any(self._reading().values())

    def _reading(self) -> dict[str, Meaning]:
        return {"absent": self.absent, "written": self.written, "spelled": self.spelled, "censored": self.censored}

    def _meaning_of_texts(self) -> dict[str, Meaning]:
        fields = set_fields({"role": self.role, "title": self.title, "absent": self.absent})
        if self.note is not None:
            learned = {} if self.note.tagger else {"tagger", "tagger_hash"}
            kept = {key: value for key, value in asdict(self.note).items() if key not in learned}
            fields["note"] = {**kept, "terms": digest(self.note.terms)}
        if self.sequence is not None:
            kept = asdict(self.sequence)
            fields["sequence"] = {key: value for key, value in kept.items() if key != "alike" or value}
        return fields


def set_fields(fields: Mapping[str, Meaning]) -> dict[str, Meaning]:
    """Without unset fields, at any depth."""
    return {
        key: set_fields(value) if isinstance(value, dict) else value
        for key, value in fields.items()
        if value is not None and value != "" and value != ()
    }
