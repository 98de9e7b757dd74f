"""An extract from top to bottom: read, protect, verify, measure, write. Nothing is written before it is verified."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from querygate.core.extract_spec import ExtractSpec, invalid
from querygate.core.ports import Native
from querygate.core.progress import Progress, no_progress
from querygate.core.types import Catalog
from querygate.custody.columns.population import Population
from querygate.custody.extract import reviewer_figures
from querygate.custody.extract.condensed_records import Material, check_models, make_condensed
from querygate.custody.extract.extract_files import make_files
from querygate.custody.extract.extract_page import make_report
from querygate.custody.extract.extract_scope import narrowed, read_filter, under, understood
from querygate.custody.extract.free_texts import with_texts
from querygate.custody.extract.k_anonymous import METHODS, RecordReader, make_k_anonymous
from querygate.custody.extract.protected_records import ProtectedRecords
from querygate.custody.extract.public_cells import check_looked_up
from querygate.custody.extract.recipe_trials import keeping_models, tune
from querygate.custody.extract.release_extract import make_release
from querygate.custody.extract.same_disease_extract import make_same_disease
from querygate.custody.policy import Policy
from querygate.methods.anonymise import RECODERS

FORMAT = 1


@dataclass(frozen=True)
class Builder:
    """Makes the extracts of one dataset. `secret` decides what is drawn: the same for the same request, here alone."""

    policy: Policy
    catalog: Catalog
    rows: RecordReader
    native: Native
    secret: bytes
    clock_s: Callable[[], float]
    population: Population | None = None
    progress: Progress = no_progress
    register: Population | None = None  # that releases and same-disease files are looked up in
    year: int = 0  # in which it leaves

    def build(self, wish: ExtractSpec, folder: Path, *, request_id: str) -> dict[str, Any]:
        """Write the files of the extract into the folder; returns its figures."""
        protected, body = self.make(wish, request_id)
        self.write(protected, body, wish, folder)
        return body

    def write(self, protected: ProtectedRecords, body: dict[str, Any], wish: ExtractSpec, folder: Path) -> None:
        """Write the files of what was made into the folder."""
        self.progress("writing")
        for name, content in {**make_files(protected, wish.formats), **make_report(protected, body)}.items():
            (folder / name).write_bytes(content)

    def make(self, wish: ExtractSpec, request_id: str) -> tuple[ProtectedRecords, dict[str, Any]]:
        """The records that would leave, and what is to be said of them."""
        policy = narrowed(self.policy, wish)
        check_models(policy, wish.models)
        where = read_filter(wish.where, self.catalog, self.native)
        ways = {
            "condensed": self._condensed,
            "release": self._release,
            "same-disease": self._same_disease,
            "k-anonymous": self._k_anonymous,
        }
        protected, risk, trials = ways[wish.kind](wish, policy, where, _Draw(self.secret, request_id))
        self.progress("measuring")
        return protected, {
            "format": FORMAT,
            "request": request_id,
            "dataset": self.policy.dataset,
            "version": self.catalog.version,
            "policy_hash": self.catalog.policy_hash,
            "wish": wish.to_dict(),
            **reviewer_figures.promise(protected, policy, wish),
            "before": reviewer_figures.before(policy, protected.raw, self.population),
            "risk": risk,
            "utility": reviewer_figures.utility(protected, policy, wish, trials),
        }

    def _k_anonymous(
        self, wish: ExtractSpec, policy: Policy, where: str, draw: _Draw
    ) -> tuple[ProtectedRecords, Any, list[Any]]:
        if wish.method and wish.method not in METHODS:
            raise invalid("method", "is not a method for making classes", *METHODS)

        def made(method: str) -> ProtectedRecords:
            return make_k_anonymous(
                under(policy, method),
                self.rows,
                where,
                recoder=method if method in RECODERS.names() else "",
                suppress=wish.suppress,
                cells=wish.suppress_cells,
                population=self.population,
                progress=self.progress,
                clock_s=self.clock_s,
            )

        protected = keeping_models(wish, policy, made, self.progress)
        protected = with_texts(protected, policy, self.policy.person, self.rows.selected, draw, self.progress)
        return protected, reviewer_figures.risk_of_classes(protected, policy, self.population), []

    def _release(
        self, wish: ExtractSpec, policy: Policy, where: str, draw: _Draw
    ) -> tuple[ProtectedRecords, Any, list[Any]]:
        check_looked_up(self.policy, wish.kind, understood(wish.where, self.catalog, self.native)[1])
        protected, risk = make_release(
            policy, self.rows, where, self.register, year=self.year, draw=draw, progress=self.progress
        )
        return protected, risk, []

    def _same_disease(
        self, wish: ExtractSpec, policy: Policy, where: str, draw: _Draw
    ) -> tuple[ProtectedRecords, Any, list[Any]]:
        check_looked_up(self.policy, wish.kind, understood(wish.where, self.catalog, self.native)[1])
        protected, risk = make_same_disease(
            policy, self.rows, where, self.register, k=wish.k, year=self.year, draw=draw, progress=self.progress
        )
        return protected, risk, []

    def _condensed(
        self, wish: ExtractSpec, policy: Policy, where: str, draw: _Draw
    ) -> tuple[ProtectedRecords, Any, list[Any]]:
        self.progress("reading the records")
        material = Material.of(policy, self.rows.selected(where))
        recipe, trials = tune(wish, policy, material, draw, self.progress)
        self.progress("condensing")
        protected = make_condensed(material, recipe, draw)
        protected = replace(protected, parameters={**protected.parameters, "tried": len(trials)})
        return protected, reviewer_figures.risk_of_synthetic(protected, policy, material, recipe, draw), trials


class _Draw:
    """Random numbers that follow from a secret, the request and what they are for, by a counter-based generator."""

    def __init__(self, secret: bytes, request_id: str) -> None:
        self._secret, self._request_id = secret, request_id

    def __call__(self, purpose: str) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=int.from_bytes(self.key(purpose)[:16], "big")))

    def key(self, purpose: str) -> bytes:
        """32 bytes that nobody can tell who does not have the secret."""
        name = json.dumps([self._request_id, purpose]).encode()
        return hmac.new(self._secret, name, hashlib.sha256).digest()
