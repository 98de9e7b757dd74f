"""The custodian's root for release policies: reads the records and the population, searches, and writes the files."""

from __future__ import annotations

import hashlib
import json
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

from querygate.core.errors import ConfigError
from querygate.core.json_body import to_json
from querygate.core.progress import Progress, no_progress
from querygate.custody.columns.population import Population, linked, read_people, records_of
from querygate.custody.extract.raw_tables import texts_of
from querygate.custody.pages.fill import fill
from querygate.custody.policy import ColumnPolicy, Policy
from querygate.custody.policy.policy_file import PolicyFile
from querygate.custody.policy.toml_reader import RawTable
from querygate.custody.policy_search import AlternativesSearch, Decision, applied, harboured, limited, search
from querygate.custody.policy_search.alternatives_search import SearchOptions
from querygate.custody.policy_search.search_report import SearchedPopulation, SearchReport
from querygate.custody.policy_search.unequal_interest import weights_of
from querygate.custody.risk_report.code_table import text_codes
from querygate.custody.use_cases.scratch_vault import scratch_rows
from querygate_adapters.sources.open_source import open_source

TEMPLATE = "policy_search.html"


@dataclass(frozen=True)
class Register:
    """A population that a custodian named: a file, and the columns by which people are found."""

    file: Path
    count: str
    columns: tuple[ColumnPolicy, ...]

    @classmethod
    def named(cls, given: PolicyFile, file: str, count: str, columns: tuple[str, ...]) -> Register | None:
        """The population named in the command, or else in [release], or else in [k_map]."""
        policy = given.policy
        wanted = policy.release or policy.k_map
        if unknown := set(columns) - {column.name for column in policy.named("quasi-identifier")}:
            raise ConfigError(
                "QG801",
                f"{', '.join(sorted(unknown))}: not a quasi-identifier of the policy.",
                f"Accepted: {', '.join(column.name for column in policy.named('quasi-identifier'))}.",
            )
        if file:
            return cls(Path(file), count, tuple(linked(policy, columns)))
        if wanted is None:
            return None
        names = columns or wanted.columns
        return cls(given.folder / wanted.population, count or wanted.count, tuple(linked(policy, names)))

    def people(self) -> Population:
        return read_people("population", self.columns, str(self.file), self.count, open_source)

    def table(self, policy: Policy, to: Path, threshold: float | str) -> RawTable:
        """The table [release] of a policy in the folder `to`."""
        named = [column.name for column in self.columns]
        table: RawTable = {"population": Path(os.path.relpath(self.file.absolute(), to.absolute())).as_posix()}
        table |= {"count": self.count} if self.count else {}
        table |= {"columns": named} if len(named) < len(policy.named("quasi-identifier")) else {}
        return {**table, "threshold": threshold}

    def described(self, population: SearchedPopulation) -> SearchedPopulation:
        digest = hashlib.sha256(self.file.read_bytes()).hexdigest()
        return replace(population, file=self.file.name, count=self.count, sha256=digest)


def no_population() -> ConfigError:
    return ConfigError(
        "QG801",
        "Risk is measured over a population, and none is named.",
        "Name a table of people with --population, or in [release] of the policy.",
    )


def search_policies(
    given: PolicyFile,
    source: str,
    register: Register,
    options: SearchOptions,
    *,
    progress: Progress = no_progress,
    memory_mb: int = 4096,
) -> AlternativesSearch:
    """Alternatives to Safe Harbor for the records of a source."""
    progress("reading the population")
    people = register.people()
    with scratch_rows(given.policy, open_source(source), given.folder, memory_mb=memory_mb, progress=progress) as rows:
        selected = rows.selected("")
        with selected.reading():
            names = [column.name for column in register.columns]
            wanted = {one.column for one in options.required} | {one.column for one in options.interests}
            raw = selected.batches([*names, *sorted(wanted - {*names})]).read_all()
    progress("searching")
    records = records_of(register.columns, raw)
    sensitive = {one.column: text_codes(raw[one.column])[1] for one in options.required}
    texts = [texts_of(raw[one.column]) for one in options.interests]
    weights = weights_of(options.interests, texts, raw.num_rows) if options.interests else None
    found = search(given.policy, register.columns, records, people, options, given.order(), sensitive, weights)
    return replace(found, report=replace(found.report, population=register.described(found.report.population)))


def write_search(
    given: PolicyFile, register: Register, found: AlternativesSearch, options: SearchOptions, folder: Path
) -> SearchReport:
    """Write report.html, report.json and a policy file for each kind into an existing folder; the report names them."""
    kinds = [replace(told, file=f"policy_{number}.toml") for number, told in enumerate(found.report.kinds, 1)]
    for kind, told in zip(found.kinds, kinds, strict=True):
        release = register.table(given.policy, folder, options.threshold)
        release |= {"require": [str(one) for one in options.required]} if options.required else {}
        raw = applied(given.raw, found.ground.axes, kind.representative.policy, release)
        head = f"# {told.text}\n# Made from {given.path.name}; see `report.html` next to it for the figures."
        (folder / str(told.file)).write_text(given.written(raw, folder, head), encoding="utf-8")
    report = replace(found.report, kinds=tuple(kinds))
    body = json.dumps(to_json(report), indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "report.json").write_text(body, encoding="utf-8")
    (folder / "report.html").write_text(fill(TEMPLATE, report=report), encoding="utf-8")
    return report


def safe_harbor_of(
    given: PolicyFile, register: Register | None, year: int, to: Path
) -> tuple[str, tuple[Decision, ...]]:
    """The policy after Safe Harbor as the text of a file in the folder `to`, and what was decided of each column."""
    raw, decided = harboured(given.policy, given.raw, register.people() if register else None, year)
    left = {name for name, table in raw["columns"].items() if table["role"] == "quasi-identifier"}
    if register is not None:
        table = register.table(given.policy, to, "safe-harbor")
        named = [name for name in (column.name for column in register.columns) if name in left]
        raw["release"] = {**table, "columns": named}
    head = f"# Safe Harbor applied to {given.path.name}; check that each column was recognised correctly."
    return given.written(raw, to, head), decided


def limited_data_set_of(given: PolicyFile, to: Path) -> tuple[str, tuple[Decision, ...]]:
    """The policy for limited data sets as the text of a file in the folder `to`, and what was decided of columns."""
    raw, decided = limited(given.policy, given.raw)
    head = f"# For limited data sets, from {given.path.name}; check that each column was recognised correctly."
    return given.written(raw, to, head), decided


def this_year() -> int:
    return time.gmtime().tm_year
