"""Builds an extract from top to bottom: open the raw rows, protect, verify, measure, write. Nothing is written before
it is verified. For a site it is made from the served version, under the policy of its publication; without a site, from
a source.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from querygate.core.errors import ConfigError, ExtractRefused, QueryGateError
from querygate.core.extracts.extract_checks import check_wish
from querygate.core.extracts.extract_spec import A_KIND, NOISY, ExtractSpec
from querygate.core.extracts.extracts_of_views import beside_words
from querygate.core.extracts.use_agreement import check_agreed
from querygate.core.json_body import from_json, to_json
from querygate.core.ports import Native
from querygate.core.progress import Progress, no_progress
from querygate.core.publications.vault_ports import Source
from querygate.core.types import Catalog
from querygate.custody.columns.person_rows import check_unnamed
from querygate.custody.columns.population import Population, read_population, read_register
from querygate.custody.columns.source_columns import Beside
from querygate.custody.extract.condensed_records import Material, make_condensed
from querygate.custody.extract.extract_files import make_files
from querygate.custody.extract.extract_report import make_report
from querygate.custody.extract.extract_scope import make_catalog, narrowed
from querygate.custody.extract.free_texts import with_texts
from querygate.custody.extract.k_anonymous import RecordReader, make_k_anonymous
from querygate.custody.extract.limited_records import make_limited
from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.extract.public_cells import check_looked_up
from querygate.custody.extract.randomised_records import make_randomised
from querygate.custody.extract.raw_tables import out_of
from querygate.custody.extract.recipe_trials import RecipeTrial, methods_to_try, models_changed, refuse_models, tune
from querygate.custody.extract.recipient_figures import recipient_figures
from querygate.custody.extract.release_extract import make_release
from querygate.custody.extract.reviewer_figures import make_figures, risk_of_classes, risk_of_synthetic
from querygate.custody.extract.same_disease_extract import make_same_disease
from querygate.custody.policy import Policy
from querygate.custody.risk_report.risk_body import RiskReport
from querygate.custody.risk_report.risk_files import make_files as make_risk_files
from querygate.custody.use_cases.kept_policy import read_kept_policy
from querygate.custody.use_cases.noisy_extracts import NoisyCase, make_noisy
from querygate.custody.use_cases.open_noise import open_noise
from querygate.custody.use_cases.requester_history import read_history
from querygate.custody.use_cases.risk_assessment import assess_extract
from querygate.custody.use_cases.scratch_vault import scratch_rows
from querygate.custody.use_cases.vault_keys import vault_key
from querygate.site.open_gate import OpenSite, shared_native
from querygate.sql.extract_condition import read_condition
from querygate_adapters.sources.open_source import open_source
from querygate_adapters.store.duckdb_store import version_file
from querygate_adapters.vault.report_rows import ReportRows

FORMAT = 1
KEY_FILE = "extract.key"
"""A key in the vault from which synthetic records are drawn. Anyone who has it can draw the same ones again."""


class SiteExtractBuilder:
    """Makes the extracts of a site's datasets; implements `core.extracts.approval.ExtractBuilder`. What the requester
    has learnt is in the log of `asked`, where it is not the site's own.
    """

    def __init__(self, opened: OpenSite, progress: Progress = no_progress, *, asked: OpenSite | None = None) -> None:
        self._opened, self._progress, self._asked = opened, progress, asked or opened

    def preview(self, spec: ExtractSpec, *, requester: str) -> Mapping[str, Any]:
        name = hashlib.sha256(json.dumps(spec.to_dict(), sort_keys=True).encode()).hexdigest()
        return self._make(spec, f"preview {name}", requester)

    def build(self, spec: ExtractSpec, folder: Path, *, request_id: str, requester: str) -> Mapping[str, Any]:
        return self._make(spec, request_id, requester, folder)

    def risk_page(self, assessment: Mapping[str, Any]) -> bytes:
        return make_risk_files(from_json(RiskReport, assessment))["report.html"]

    def _make(self, spec: ExtractSpec, request_id: str, requester: str, folder: Path | None = None) -> dict[str, Any]:
        """The figures of the extract, in the folder if there is one; and beside them, for those who decide alone, the
        risk report on its records and what the requester has learnt before."""
        with self._case(spec) as case:
            if spec.kind in NOISY:
                made = make_noisy(self._noisy(case, spec), spec, request_id, requester, folder)
                return {**made, "learnt": asdict(read_history(self._asked, spec.dataset, requester))}
            extract = protect(case, spec, request_id)
            if folder is not None:
                write(case, extract, spec, folder)
            people = case.register or case.population
            assessed = assess_extract(extract.policy, extract.protected, people, case.catalog, self._progress)
        return {
            **extract.body,
            "assessment": None if assessed is None else to_json(assessed),
            "learnt": asdict(read_history(self._asked, spec.dataset, requester)),
        }

    def _noisy(self, case: ExtractCase, spec: ExtractSpec) -> NoisyCase:
        where, _ = read_condition(spec.where, case.catalog, case.native)
        return NoisyCase(case.policy, case.catalog, case.rows, where, open_noise(self._opened))

    @contextmanager
    def _case(self, spec: ExtractSpec) -> Iterator[ExtractCase]:
        site, catalog = self._opened.site, self._opened.store.current(spec.dataset).catalog
        vault = version_file(site.vault / spec.dataset, catalog.version)
        if not vault.exists():
            raise ExtractRefused(
                "QG605", "The vault does not have the raw rows of the served version.", "Publish the dataset again."
            )
        with closing(ReportRows(vault, memory_mb=site.settings["publish_memory_mb"])) as rows:
            found = read_kept_policy(rows.policy())
            if found is None:
                raise ExtractRefused(
                    "QG605", "The policy of the served version was not stored.", "Publish the dataset again."
                )
            policy, base_dir = found
            secret, native = vault_key(site.vault, KEY_FILE), self._opened.gate.native
            yield open_case(policy, base_dir, spec, rows, catalog, native, secret, self._progress)


def make_extract(
    policy: Policy,
    source: Source,
    spec: ExtractSpec,
    folder: Path,
    *,
    secret: bytes,
    base_dir: Path = Path(),
    memory_mb: int = 4096,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """One extract of a source, without a site: the raw rows are put into a temporary vault."""
    check_agreed(spec, None, "")  # an agreement goes on record with an approval, and there is none at a desk
    if spec.kind in NOISY:
        raise ExtractRefused(
            "QG605",
            f"At a desk there is no privacy budget, from which {NOISY[spec.kind]} is paid for.",
            "Publish the dataset at a site, and request it there with `querygate export request`.",
        )
    with scratch_rows(policy, source, base_dir, memory_mb=memory_mb, progress=progress) as rows:
        case = open_case(policy, base_dir, spec, rows, make_catalog(policy), shared_native(), secret, progress)
        extract = protect(case, spec, "anonymise")
        write(case, extract, spec, folder)
        return extract.body


# -- what an extract is made of --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExtractCase:
    """What extracts of a dataset are made from. `secret` decides what is drawn: the same for the same request."""

    policy: Policy
    base_dir: Path  # of the policy
    catalog: Catalog
    rows: RecordReader
    native: Native
    secret: bytes
    population: Population | None
    register: Population | None  # that releases and same-disease files are looked up in
    year: int  # in which it leaves
    clock_s: Callable[[], float]
    progress: Progress


def open_case(
    policy: Policy,
    base_dir: Path,
    spec: ExtractSpec,
    rows: RecordReader,
    catalog: Catalog,
    native: Native,
    secret: bytes,
    progress: Progress,
) -> ExtractCase:
    """The rows with the tables that the policy names, which are next to it in `base_dir`."""

    def people(read: Callable[[Policy, Beside], Population | None]) -> Population | None:
        try:
            return read(policy, lambda specification: open_source(specification, base_dir))
        except QueryGateError as problem:
            raise ExtractRefused(
                "QG605", f"The population of the policy cannot be read: {problem.detail}", problem.remedy
            ) from None

    return ExtractCase(
        policy,
        base_dir,
        catalog,
        rows,
        native,
        secret,
        population=people(read_population),
        register=people(read_register) if spec.kind in A_KIND else None,
        year=time.gmtime().tm_year,
        clock_s=time.perf_counter,
        progress=progress,
    )


# -- making it -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Extract:
    """Records that may leave, the policy of just their columns, and what reviewers are told about them."""

    policy: Policy
    protected: ProtectedRecords
    body: dict[str, Any]


Made = tuple[ProtectedRecords, dict[str, Any], list[RecipeTrial]]
"""The records, their risk, and what was tried."""


def _check_people(case: ExtractCase) -> None:
    """An extract counts records, so each must belong to a different person."""
    try:
        check_unnamed(case.policy, (), case.rows.count_values, case.rows.count_values)
    except ConfigError as problem:
        raise ExtractRefused("QG605", problem.detail, problem.remedy) from None
    person = case.policy.person
    found = case.rows.count_values([person]).get(person) if person else None
    if found is not None and found.distinct < found.known:
        raise ExtractRefused(
            "QG605",
            f"{found.distinct:,} people have {found.known:,} records, and k of an extract counts records.",
            "Ask for statistics instead, or ask the custodian to publish one row per person.",
        )


def protect(case: ExtractCase, spec: ExtractSpec, request_id: str) -> Extract:
    """The records that would leave, and the report on them."""
    _check_people(case)
    policy = narrowed(case.policy, spec)
    check_wish(spec, {column.name: column.type or "category" for column in out_of(policy)})
    where, named = read_condition(spec.where, case.catalog, case.native)
    if spec.kind in A_KIND:
        check_looked_up(case.policy, spec.kind, named)
    protected, risk, trials = _WAYS[spec.kind](case, spec, policy, where, _Draw(case.secret, request_id))
    case.progress("measuring")
    body = {
        "format": FORMAT,
        "request": request_id,
        "dataset": case.policy.dataset,
        "version": case.catalog.version,
        "policy_hash": case.catalog.policy_hash,
        "wish": spec.to_dict(),
        **make_figures(protected, policy, spec, case.population, risk, trials),
        "beside_views": None if case.policy.views is None else {"words": beside_words(spec)},
    }
    return Extract(policy, protected, body)


def write(case: ExtractCase, extract: Extract, spec: ExtractSpec, folder: Path) -> None:
    """Write the files of an extract into the folder."""
    case.progress("writing")
    told = recipient_figures(extract.protected, extract.policy, spec, extract.body)
    files = {**make_files(extract.protected, spec.formats), **make_report(told)}
    for name, content in files.items():
        (folder / name).write_bytes(content)


def _k_anonymous(case: ExtractCase, spec: ExtractSpec, policy: Policy, where: str, draw: _Draw) -> Made:
    changed = []
    for method in methods_to_try(spec):
        if method:
            case.progress(f"trying {method}")
        protected = make_k_anonymous(
            policy,
            case.rows,
            where,
            method,
            suppress=spec.suppress,
            cells=spec.suppress_cells,
            population=case.population,
            progress=case.progress,
            clock_s=case.clock_s,
        )
        trial = models_changed(spec, policy, protected)
        if trial is None:
            break
        changed.append(trial)
    else:
        raise refuse_models(spec, changed)
    protected = protected.shuffled(draw("order"))
    protected = with_texts(
        protected, policy, case.policy.person, case.rows.selected, draw, case.progress, case.base_dir
    )
    return protected, risk_of_classes(protected, policy, case.population), []


def _release(case: ExtractCase, spec: ExtractSpec, policy: Policy, where: str, draw: _Draw) -> Made:
    protected, risk = make_release(
        policy, case.rows, where, case.register, year=case.year, draw=draw, progress=case.progress
    )
    return protected, risk, []


def _same_disease(case: ExtractCase, spec: ExtractSpec, policy: Policy, where: str, draw: _Draw) -> Made:
    protected, risk = make_same_disease(
        policy, case.rows, where, case.register, k=spec.k, year=case.year, draw=draw, progress=case.progress
    )
    return protected, risk, []


def _limited(case: ExtractCase, spec: ExtractSpec, policy: Policy, where: str, draw: _Draw) -> Made:
    protected, risk = make_limited(policy, case.rows, where, draw)
    return protected, risk, []


def _randomised(case: ExtractCase, spec: ExtractSpec, policy: Policy, where: str, draw: _Draw) -> Made:
    protected, risk = make_randomised(policy, case.rows, where, spec.method, draw)
    return protected, risk, []


def _condensed(case: ExtractCase, spec: ExtractSpec, policy: Policy, where: str, draw: _Draw) -> Made:
    case.progress("reading the records")
    material = Material.of(policy, case.rows.selected(where))
    recipe, trials = tune(spec, policy, material, draw, case.progress)
    case.progress("condensing")
    protected = make_condensed(material, recipe, draw)
    protected = replace(protected, parameters={**protected.parameters, "tried": len(trials)})
    return protected, risk_of_synthetic(protected, policy, material, recipe, draw), trials


_WAYS: Mapping[str, Callable[[ExtractCase, ExtractSpec, Policy, str, _Draw], Made]] = {
    "k-anonymous": _k_anonymous,
    "condensed": _condensed,
    "release": _release,
    "same-disease": _same_disease,
    "limited": _limited,
    "randomised": _randomised,
}


class _Draw:
    """Random numbers derived from a secret, the request and their purpose, by a counter-based generator."""

    def __init__(self, secret: bytes, request_id: str) -> None:
        self._secret, self._request_id = secret, request_id

    def __call__(self, purpose: str) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=int.from_bytes(self.key(purpose)[:16], "big")))

    def key(self, purpose: str) -> bytes:
        """32 bytes that nobody can predict without the secret."""
        name = json.dumps([self._request_id, purpose]).encode()
        return hmac.new(self._secret, name, hashlib.sha256).digest()
