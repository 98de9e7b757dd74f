"""The datasets that are served, one line for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from querygate.core.answer_bodies import DatasetBody
from querygate.core.errors import ConfigError
from querygate.core.ports import Store
from querygate.core.types import Catalog


def served_catalogs(
    store: Store, broken: Callable[[ConfigError], object], among: Iterable[str] | None = None
) -> Iterator[Catalog]:
    """Of every dataset being served, or of these; `broken` is told of those that cannot be opened."""
    for dataset in store.datasets() if among is None else among:
        try:
            yield store.current(dataset).catalog
        except ConfigError as error:
            broken(error)


def make_summary(catalog: Catalog) -> DatasetBody:
    """One line of the list of datasets."""
    return {
        "dataset": catalog.dataset,
        "title": catalog.title,
        "version": catalog.version,
        "rows": None if catalog.noisy_only else catalog.rows,
        "k": catalog.k,
        "published": catalog.published,
    }
