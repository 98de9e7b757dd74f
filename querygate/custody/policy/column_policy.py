"""What a policy says of one column: its role, its codes, its texts in extracts, and what protects it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias

from querygate.core.types import NUMERIC, Role, Type
from querygate.core.vault_ports import AgeAt

Number: TypeAlias = int | float
Meaning: TypeAlias = "bool | int | float | str | Sequence[Meaning] | Mapping[str, Meaning] | None"
"""What a policy says, as it is hashed."""

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
Censored: TypeAlias = Literal["", "limit", "missing"]
SequenceMethod: TypeAlias = Literal["refined", "dnala", "bins"]
Lattice: TypeAlias = Literal["iupac", "dnala", "tree"]
UtilityKind: TypeAlias = Literal["level", "groups", "diseases", "none"]

PUBLISHED: frozenset[str] = frozenset({"quasi-identifier", "sensitive", "codes", "public"})
"""Roles whose columns reach the store. Everything else stays in the vault."""


@dataclass(frozen=True, slots=True)
class DiversityPolicy:
    """What every class must keep of a sensitive column. Only the parameters of its kind are set.

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
    pieces: int | None = None  # of knowledge
    expected: float | None = None  # records that a rule which nobody breaks must be seen in
    by: str | None = None  # the column that says what each person guards
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()  # names for sets of values

    def most(self, value: str | None) -> float:
        """The greatest share of a class that a value may hold, as far as alpha says."""
        return next((share for text, share in self.alphas if text == value), self.alpha or 1.0)


@dataclass(frozen=True, slots=True)
class HierarchyPolicy:
    """How the values of a category are generalised: by a rule, or as the rows of a file say."""

    preset: str = ""
    rows: tuple[tuple[str, ...], ...] = ()  # value, its ancestors, root

    def meaning(self) -> dict[str, Meaning]:
        """The rule, or a hash of what is in the file; where it lies does not matter."""
        if self.preset:
            return {"preset": self.preset}
        return {"sha256": hashlib.sha256(json.dumps(self.rows).encode()).hexdigest()}


Protection: TypeAlias = Literal["k^m", "itemsets", "visits", "complete", "classes", "coherence", "rules", "uncertainty"]


@dataclass(frozen=True, slots=True)
class ProtectPolicy:
    """What somebody may be known to have, and what it must not lead to.

    Each set of codes is kept by k records, or by nobody: sets of up to m codes (`k^m`), those that are listed, those of
    each visit in another column, whole lists (`complete`), or sets of up to m codes within each class (`classes`). Or
    sets of codes tell no sensitive one with more than a share of certainty: those of up to m public codes, which k
    records keep as well (`coherence`), those that rules name (`rules`), or any up to m (`uncertainty`).

    Of a set of which a code is suppressed, k records or nobody keep the `rest`; where only `whole` sets are looked for,
    nothing more is asked of it.
    """

    kind: Protection = "k^m"
    m: int = 0
    itemsets: tuple[tuple[str, ...], ...] = ()
    column: str = ""  # of visits
    between: str = ""  # what separates visits, where they are written as text
    k: int = 0  # 0: the policy's
    sensitive: tuple[str, ...] = ()  # codes, or groups of the system
    share: float = 0.0
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
    spare: Literal["none", "listed"] = "none"  # are codes of the list given up last?


@dataclass(frozen=True, slots=True)
class CodesPolicy:
    """How lists of codes are read and published."""

    system: str = ""  # empty: as the rows say
    rows: tuple[tuple[str, ...], ...] = ()  # code, its ancestors, root
    separator: str = ""  # of codes in a text; empty: a text is one code
    unknown: Literal["refuse", "other"] = "refuse"  # what the system does not have
    method: str = "cba"
    protect: ProtectPolicy = field(default_factory=ProtectPolicy)
    utility: UtilityPolicy = field(default_factory=UtilityPolicy)

    def meaning(self) -> dict[str, Meaning]:
        """What is set. Of long lists a hash; where a file lies does not matter."""
        fields = asdict(self)
        fields["rows"] = digest(self.rows)
        fields["protect"]["itemsets"] = digest(self.protect.itemsets)
        fields["protect"]["rules"] = digest(self.protect.rules)
        fields["utility"]["groups"] = digest(tuple(sorted(self.utility.groups)))
        for part, key, unset in (("protect", "look_for", "rest"), ("utility", "spare", "none")):
            if fields[part][key] == unset:
                del fields[part][key]
        return {key: set_fields(value) if isinstance(value, dict) else value for key, value in fields.items() if value}


def digest(rows: tuple[tuple[object, ...], ...]) -> str:
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest() if rows else ""


@dataclass(frozen=True, slots=True)
class CodeGroup:
    """Codes of a list, or groups of its system: a flag is true of a record that has one of them."""

    column: str
    codes: tuple[str, ...]


IN_EXTRACTS: frozenset[str] = frozenset({"note", "sequence", "payload"})
"""Roles whose columns no query reaches: they leave in extracts alone, and where they are named. Notes and sequences are
changed on the way, a payload is not."""


@dataclass(frozen=True, slots=True)
class NotePolicy:
    """How free text is scrubbed of what names people, and of terms that tell too much (t-plausibility)."""

    dates: Literal["year", "shift", "tag"] = "year"
    tags: Literal["keyed", "numbered", "kind", "natural"] = "keyed"
    unknown_words: bool = True  # are capitalised words that no dictionary knows taken for names?
    earliest_year: int = 0  # years before it tell of great age; 0: none does
    terms: tuple[tuple[str, str], ...] = ()  # term, its parent
    t: int = 0  # texts that have to be plausible; 0: terms stay as they are
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
    """One source column, or a flag made of one. Fields that do not apply to its role and type are None or empty."""

    name: str
    role: Role
    type: Type | None = None
    title: str = ""
    low: Number | None = None  # public domain, both ends included
    high: Number | None = None
    grid: Number | None = None  # quasi-identifying and sensitive numbers
    cuts: tuple[Number, ...] = ()  # quasi-identifying numbers
    edges: tuple[Number, ...] = ()  # of public cells in place of a grid, from low to high; empty: there is a grid
    weight: float | None = None  # quasi-identifiers
    carry: Carry | None = None  # sensitive numbers
    bins: Number | tuple[Number, ...] | None = None  # a width, or every edge from low to high
    guard: Number | None = None  # e; 0 is off
    values: tuple[str, ...] = ()  # public values in code-point order; empty: not declared
    order: tuple[str, ...] = ()  # all public values, the least first, where the policy says that they have an order
    rare: str = ""  # what values are called together that are not declared, or that fewer than k people have
    diversity: tuple[DiversityPolicy, ...] = ()  # sensitive columns
    missing: Missing = ""  # what a missing value is to the guarantees of a sensitive column; empty: a value
    hierarchy: HierarchyPolicy | None = None  # quasi-identifying and sensitive categories
    codes: CodesPolicy | None = None  # code lists
    groups: tuple[tuple[str, ...], ...] = ()  # values that are published together alone; empty: each by itself
    note: NotePolicy | None = None  # notes
    sequence: SequencePolicy | None = None  # sequences
    kind: str = ""  # what an identifier is; empty: not told
    absent: tuple[str, ...] = ()  # texts of the source that stand for no value
    written: str = ""  # day/month/year or month/day/year; empty: dates of the source have no slashes
    spelled: tuple[tuple[str, tuple[str, ...]], ...] = ()  # values, and the texts of the source that are read as them
    censored: Censored = ""  # what numbers beyond a limit of detection are read as; empty: they cannot be read
    age: AgeAt | None = None  # what an age is worked out from; None: a column of the source
    of_codes: CodeGroup | None = None  # what a flag is true of; None: a column of the source

    @property
    def is_numeric(self) -> bool:
        return self.type in NUMERIC

    @property
    def is_published(self) -> bool:
        return self.role in PUBLISHED

    @property
    def is_protected_in_classes(self) -> bool:
        """Can the codes of the column be published only once classes are made?"""
        return self.codes is not None and self.codes.protect.kind == "classes"

    @property
    def spares_missing(self) -> bool:
        """Are missing values left out of what classes must keep of the column?"""
        return self.missing == "not applicable"

    @property
    def is_in_extracts(self) -> bool:
        return self.role in IN_EXTRACTS

    def meaning(self) -> dict[str, Meaning]:
        """What is set, apart from the name. Of a column that stays in the vault only the role matters."""
        if self.is_in_extracts:
            return self._meaning_of_texts()
        if not self.is_published:
            return set_fields({"role": self.role, "kind": self.kind, **self._reading()})
        fields = {key: value for key, value in asdict(self).items() if key != "name"}
        kept = sorted((set_fields(d) for d in fields["diversity"]), key=lambda d: json.dumps(d, sort_keys=True))
        fields["diversity"] = kept[0] if len(kept) == 1 else tuple(kept)  # one stands for itself, as it is written
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
    """Without what is not set, at any depth."""
    return {
        key: set_fields(value) if isinstance(value, dict) else value
        for key, value in fields.items()
        if value is not None and value != "" and value != ()
    }
