"""What these modules, which publish more than all others together, do without unless they are about it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from querygate.custody.publish import method_choice
from querygate_adapters.vault import staged_file
from tests.engine import attach_in_memory, attach_staged

MOST_COMPARED = method_choice.COMPARED_ROWS
OWN_ENGINES = staged_file.connect, staged_file.in_memory
ONE_ENGINE = attach_staged, attach_in_memory


@pytest.fixture(scope="module", autouse=True)
def _one_method_and_engine() -> Iterator[None]:
    """As with a large table, the method `auto` is Mondrian; and one engine has the staging tables of all publications.

    Modules that are about the choice of a method ask for `compared_methods`, and those about what an engine may reach
    for `own_engines`.
    """
    method_choice.COMPARED_ROWS = 0
    staged_file.connect, staged_file.in_memory = ONE_ENGINE  # type: ignore[assignment]
    yield
    method_choice.COMPARED_ROWS = MOST_COMPARED
    staged_file.connect, staged_file.in_memory = OWN_ENGINES


@pytest.fixture(scope="module")
def compared_methods() -> Iterator[None]:
    method_choice.COMPARED_ROWS = MOST_COMPARED
    yield
    method_choice.COMPARED_ROWS = 0


@pytest.fixture(scope="module")
def own_engines() -> Iterator[None]:
    staged_file.connect, staged_file.in_memory = OWN_ENGINES
    yield
    staged_file.connect, staged_file.in_memory = ONE_ENGINE  # type: ignore[assignment]
