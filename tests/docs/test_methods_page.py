"""The page of methods names every one that there is, each in its own section."""

from __future__ import annotations

import re

import pytest

from querygate.core.extracts.extract_spec import METHODS as BY_KIND
from querygate.methods.anonymise import ANONYMISERS
from querygate.methods.code_lists.code_methods import METHODS as CODE_METHODS
from querygate.methods.sequences.sequence_methods import METHODS as SEQUENCE_METHODS
from querygate.methods.synthesis.synthesis_methods import METHODS as SYNTHESIS_METHODS
from tests.docs.pages import DOCS

SECTIONS = {
    "Classes": {*ANONYMISERS.names(), *BY_KIND["k-anonymous"]},
    "Code lists": set(CODE_METHODS.names()),
    "Sequences": set(SEQUENCE_METHODS.names()),
    "Condensed records": {*SYNTHESIS_METHODS.names(), *BY_KIND["condensed"]},
    "Randomised records": set(BY_KIND["randomised"]),
}


@pytest.mark.parametrize("section", SECTIONS)
def test_every_method_is_on_the_page(section: str) -> None:
    page = (DOCS / "reference" / "methods.md").read_text(encoding="utf-8")
    lines = page.partition(f"\n## {section}\n")[2].partition("\n## ")[0].splitlines()
    named = {name for line in lines for name in re.findall(r"`([^`]+)`", line.partition("|")[2].partition("|")[0])}
    assert named == SECTIONS[section]
