"""Risk reports in the custodian's process: on a source without a site, on a dataset that the site serves, or on an
extract.

A report has only aggregates. The report on a dataset is kept at the site, outside the vault, so that a gate without a
vault can show it to custodians (see `risk_report_files`).
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from querygate.control import stamp
from querygate.core.answer_forms.spreadsheet_cells import unescape
from querygate.core.errors import ConfigError, ExtractRefused
from querygate.core.progress import Progress, no_progress
from querygate.core.publications.vault_ports import Source
from querygate.core.types import Catalog, Ints
from querygate.custody.columns.population import Population, read_people, read_population, read_register
from querygate.custody.columns.source_columns import Beside
from querygate.custody.extract.k_anonymous import make_k_anonymous
from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.policy.view_rules import not_of_views
from querygate.custody.risk_report.allele_risk import allele_risks
from querygate.custody.risk_report.extract_side import check_released, released_side
from querygate.custody.risk_report.gene_risk import gene_risks
from querygate.custody.risk_report.known_texts import ROLES
from querygate.custody.risk_report.risk_body import After, RiskReport
from querygate.custody.risk_report.risk_files import make_files
from querygate.custody.risk_report.risk_report import Assessment, make_report
from querygate.custody.risk_report.sides import DiseaseScope, Side, at_stake, raw_sides
from querygate.custody.risk_report.version_side import published_side
from querygate.custody.use_cases.kept_policy import read_kept_policy
from querygate.custody.use_cases.publish_version import open_version_writer
from querygate.custody.use_cases.scratch_vault import scratch_rows
from querygate.site.open_gate import OpenSite, now
from querygate.site.risk_report_files import keep_risk
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.vault.report_rows import ReportRows
from querygate_adapters.vault.written_store import WrittenStore

FILES = ("extract.parquet", "extract.csv")
"""The file with the records of an extract in its folder: the first that exists."""


@dataclass(frozen=True, slots=True)
class RiskOptions:
    """How to measure a report. Without a register, the policy's own population counts, if it names one."""

    population: str = ""
    count: str = ""
    released: Path | None = None
    disease: DiseaseScope | None = None


def assess_source(
    policy: Policy,
    source: Source,
    asked: RiskOptions,
    *,
    beside: Path = Path(),
    memory_mb: int = 4096,
    progress: Progress = no_progress,
) -> RiskReport:
    """The report on a source, without a site: the raw rows are put into a vault that is gone afterwards.

    After is the release that was asked about, or else the classes that the policy would make.
    """
    register = _register(policy, asked, beside)
    _check_disease(policy, asked.disease, register)
    with scratch_rows(policy, source, beside, memory_mb=memory_mb, progress=progress) as rows:
        raw = _raw(policy, rows.selected(""))
        assessing = _Assessing(policy, raw, register, asked, progress)
        if asked.released is not None:
            return assessing.against_release(asked.released)
        if policy.views is not None:
            raise not_of_views("A risk report", "Assess a file of records, or a policy without the table [views].")
        return assessing.against_policy(rows, _own_population(policy, beside))


def assess_dataset(
    opened: OpenSite, dataset: str, asked: RiskOptions, *, user: str, progress: Progress = no_progress
) -> RiskReport:
    """The report on the served version, from its raw rows; kept at the site unless it is about a release."""
    catalog = opened.store.current(dataset).catalog
    store, vault = open_version_writer(opened).files(dataset, catalog.version)
    if not vault.exists():
        raise ConfigError(
            "QG804", "The vault does not have the raw rows of the served version.", "Publish the dataset again."
        )
    with closing(ReportRows(vault, memory_mb=opened.site.settings["publish_memory_mb"])) as rows:
        found = read_kept_policy(rows.policy())
        if found is None:
            raise ConfigError("QG804", "The policy of the served version was not stored.", "Publish the dataset again.")
        policy, beside = found
        register = _register(policy, asked, beside)
        _check_disease(policy, asked.disease, register)
        progress("reading the raw rows")
        classes, raw = rows.classed([column.name for column in _measured(policy)])
        assessing = _Assessing(policy, raw, register, asked, progress, catalog.version)
        if asked.released is not None:
            return assessing.against_release(asked.released)
        if catalog.margins:
            raise not_of_views("A risk report", f"See `querygate report {dataset}`, or assess a file of records.")
        report = assessing.against_version(WrittenStore(store), classes)
    keep_risk(opened, dataset, catalog.version, make_files(report), user=user)
    return report


def assess_extract(
    policy: Policy,
    protected: ProtectedRecords,
    register: Population | None,
    catalog: Catalog,
    progress: Progress = no_progress,
) -> RiskReport | None:
    """The report on the records of an extract, before they leave; None where they are nobody's, or where values may be
    others by chance, so that looking them up tells nothing.

    `policy` is that of the extract, with its columns alone.
    """
    if protected.kind in ("condensed", "randomised"):
        return None
    everybody = DiseaseScope() if protected.kind == "same-disease" else None
    # A table without columns has no rows either: codes alone are told by their classes.
    raw = protected.raw if protected.raw.num_columns else pa.table({"class": protected.classes})
    assessing = _Assessing(policy, raw, register, RiskOptions(disease=everybody), progress, catalog.version)
    return replace(assessing.against_table("extract", protected.table, ()), policy_hash=catalog.policy_hash)


@dataclass(frozen=True)
class _Assessing:
    """One report in the making."""

    policy: Policy
    raw: pa.Table
    register: Population | None
    asked: RiskOptions
    progress: Progress
    version: int | None = None

    def __post_init__(self) -> None:
        if not self.raw.num_rows:
            raise ConfigError("QG802", "The source has no records.", "Name a source that contains records.")
        _check_anybody(self.policy, self.asked.disease, self.raw)

    def against_release(self, released: Path) -> RiskReport:
        self.progress("reading the release")
        table = _read_release(released)
        private = check_released(self.policy, table.column_names)
        if not table.num_rows or table.num_rows > self.raw.num_rows:
            what = "no records" if not table.num_rows else "more records than the source"
            raise ConfigError("QG802", f"The release has {what}.", "Name a release made from this source.")
        return self.against_table("release", table, _of_private(private))

    def against_policy(self, rows: ReportRows, own: Population | None) -> RiskReport:
        try:
            made = make_k_anonymous(
                _classes_alone(self.policy),
                rows,
                "",
                population=own,
                progress=self.progress,
                clock_s=time.perf_counter,
            )
        except ExtractRefused as problem:
            remedy = f"{problem.remedy} Or name a release with --released."
            raise ConfigError("QG803", f"The policy's classes cannot be formed: {problem.detail}", remedy) from None
        return self.against_table("policy", made.table, ())

    def against_table(self, after: After, table: pa.Table, notes: Sequence[str]) -> RiskReport:
        quasi = [column for column in self.policy.named("quasi-identifier") if not column.is_numeric]
        texts = {column.name: _texts(column, self.raw[column.name]) for column in quasi}
        side, unread = released_side(
            self.policy, table, self.register, self.asked.disease, texts=texts, rows=self.raw.num_rows
        )
        return self._report(after, side, [*notes, *_of_unread(unread)])

    def against_version(self, written: WrittenStore, classes: Ints) -> RiskReport:
        side = published_side(self.policy, written, self.raw, classes, self.register, self.asked.disease)
        return self._report("published", side, ())

    def _report(self, after: After, side: Side, notes: Sequence[str]) -> RiskReport:
        moment = now()
        rules = raw_sides(self.policy, self.raw, self.register, self.asked.disease, moment.year)
        assessed = Assessment(
            policy=self.policy,
            after=after,
            rules=rules,
            released=side,
            population=self.register,
            disease=self.asked.disease,
            version=self.version,
            made=stamp(moment),
            notes=notes,
            alleles=tuple(allele_risks(self.policy, self.raw)),
            genes=tuple(gene_risks(self.policy, self.raw)),
        )
        return make_report(assessed, self.progress)


def _of_private(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    return [
        f"The release has columns that the policy never publishes: {', '.join(names)}. People may be found directly "
        "through them; the figures below do not include them."
    ]


def _of_unread(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    return [
        f"The released values of {', '.join(names)} cannot be looked up in the register, so the release was not "
        "measured against it."
    ]


# -- reading ---------------------------------------------------------------------------------------------------------


def _measured(policy: Policy) -> tuple[ColumnPolicy, ...]:
    return policy.named("quasi-identifier", "sensitive", *ROLES)


def _raw(policy: Policy, source: Source) -> pa.Table:
    with source.reading():
        return source.batches([column.name for column in _measured(policy)]).read_all()


def _texts(column: ColumnPolicy, raw: pa.ChunkedArray) -> list[str]:
    """The possible values of a category: declared ones, those of its hierarchy, and those that occur."""
    present = [str(text) for text in raw.cast(pa.string()).unique().drop_null().to_pylist()]
    leaves = [row[0] for row in column.hierarchy.rows] if column.hierarchy is not None else []
    return sorted({*column.values, *leaves, *present})


def _classes_alone(policy: Policy) -> Policy:
    """What classes are made of, and codes: tables are joined already, and nobody is told apart."""
    roles = ("quasi-identifier", "sensitive", "public", "codes")
    beside = policy.wishes | {c.codes.protect.column for c in policy.columns if c.codes is not None}
    columns = tuple(c for c in policy.columns if c.role in roles or c.name in beside)
    return replace(policy.of_one_table(), columns=columns, person="")


def _read_release(path: Path) -> pa.Table:
    """The records of an extract, given as a file or as its folder."""
    file = path
    if path.is_dir():
        _check_not_synthetic(path / "report.json")
        found = [path / name for name in FILES if (path / name).is_file()]
        if not found:
            raise ConfigError(
                "QG802", f"{path} does not contain an extract.", f"Name a file, or a folder with {' or '.join(FILES)}."
            )
        file = found[0]
    source = open_source(str(file))
    with source.reading():
        table = source.batches(source.columns()).read_all()
    return _unescaped(table) if file.name == FILES[1] else table


def _unescaped(table: pa.Table) -> pa.Table:
    """The original texts of an extract's CSV, in which they are escaped so that no spreadsheet runs them."""
    arrays = [
        pa.array([None if text is None else unescape(text) for text in column.to_pylist()], column.type)
        if pa.types.is_string(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(arrays, names=[unescape(name) for name in table.column_names])


def _check_not_synthetic(report: Path) -> None:
    try:
        body = json.loads(report.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    if isinstance(body, Mapping) and body.get("kind") == "condensed":
        raise ConfigError(
            "QG802",
            "The records of this extract are synthetic, so they cannot be compared with raw records one by one.",
            "See the extract's own report: it says who can be found by values that were kept.",
        )


def _register(policy: Policy, asked: RiskOptions, beside: Path) -> Population | None:
    """The named register, with the quasi-identifiers that it has; or else the policy's."""
    if not asked.population:
        if asked.count:
            raise ConfigError("QG801", "--count needs a population, and none is named.", "Add --population.")
        return _some(_own_population(policy, beside) or read_register(policy, _opening(beside)))
    source = open_source(asked.population)
    there, quasi = source.columns(), policy.named("quasi-identifier")
    shared = [column for column in quasi if column.name in there]
    if not shared:
        raise ConfigError(
            "QG802",
            "The population contains none of the policy's quasi-identifiers.",
            f"Give it at least one of the columns {', '.join(column.name for column in quasi)}, with this spelling.",
        )
    if asked.count and asked.count not in there:
        raise ConfigError("QG802", f"The population has no column {asked.count}.", f"Accepted: {', '.join(there)}.")
    if asked.count in [column.name for column in quasi]:
        raise ConfigError(
            "QG802",
            f"--count: {asked.count} describes people, and is not a number of people.",
            "Name another column, or leave out --count.",
        )
    return _some(read_people("--population", shared, "the file", asked.count, lambda _: source))


def _own_population(policy: Policy, beside: Path) -> Population | None:
    """That of the policy's k-map, which classes have to keep."""
    return read_population(policy, _opening(beside))


def _opening(beside: Path) -> Beside:
    return lambda specification: open_source(specification, beside)


def _some(population: Population | None) -> Population | None:
    if population is not None and not population.persons.any():
        raise ConfigError("QG802", "The population contains nobody.", "Name a register that contains people.")
    return population


# -- checks ----------------------------------------------------------------------------------------------------------


def _check_disease(policy: Policy, disease: DiseaseScope | None, register: Population | None) -> None:
    if disease is None:
        return
    if register is None:
        raise ConfigError(
            "QG801",
            "The risk of being in the file is measured against a population, and none is named.",
            "Add --population, or add [k_map] to the policy.",
        )
    accepted = [column.name for column in policy.named("sensitive")]
    if disease.column and disease.column not in accepted:
        raise ConfigError(
            "QG801",
            f"--disease: {disease.column} is not a sensitive column of the policy.",
            f"Accepted: {', '.join(accepted) or 'none; use --same-disease'}.",
        )


def _check_anybody(policy: Policy, disease: DiseaseScope | None, raw: pa.Table) -> None:
    if disease is not None and not np.any(at_stake(policy, raw, disease)):
        values = policy.column(disease.column).values
        remedy = f"Accepted: {', '.join(values)}." if values else "Check how the source spells it."
        raise ConfigError("QG802", f"--disease: no record has this value of {disease.column}.", remedy)
