"""The reference page: every key the loader takes, with type, default and an example; and no other."""

from __future__ import annotations

import re
import tomllib

from querygate.custody.policy import accepted_keys, parse_policy
from querygate.custody.policy.policy_keys import CHOICES, VOCABULARY
from tests.each import each
from tests.places import ROOT

PAGE = (ROOT / "docs" / "reference" / "policy.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### `([^`]+)`\n(.*?)(?=^##|\Z)", PAGE, flags=re.MULTILINE | re.DOTALL))
BLOCKS = re.findall(r"^```toml\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)


def test_the_page_explains_exactly_the_accepted_keys():
    assert sorted(SECTIONS) == sorted(accepted_keys())


@each("key", accepted_keys())
def test_every_key_has_type_default_and_example(key):
    section = SECTIONS[key]
    assert "\nType: " in section
    assert "\nDefault: " in section
    example = re.search(r"```toml\n(.*?)```", section, flags=re.DOTALL)
    assert example
    assert key.rsplit(".", 1)[-1] in example.group(1)


@each("pattern", CHOICES)
def test_every_choice_is_explained_with_its_key(pattern):
    for choice in VOCABULARY.accepted(pattern):
        assert f"`{choice}`" in SECTIONS[pattern]


def test_the_example_loads_and_the_others_are_toml():
    assert parse_policy(BLOCKS[0]).warnings == ()
    for block in BLOCKS:
        assert tomllib.loads(block)
