"""Policies from the console name no files of the custodian's machine, whatever their columns are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from querygate.core.errors import ConfigError
from querygate.custody.policy.console_policy import read_console_policy
from tests.policies import AGE, make_policy, quasi


@pytest.mark.parametrize("name", ["ward", "values", "title", "unit"])
@pytest.mark.parametrize("file", ["secret.csv", "nowhere.csv"])
def test_a_hierarchy_in_a_file_is_refused_and_not_opened(tmp_path: Path, name: str, file: str) -> None:
    (tmp_path / "secret.csv").write_text("Alice Smith,all\nBob Jones,all\n", encoding="utf-8")
    text = make_policy("t", {"age": AGE, name: quasi("category", hierarchy=str(tmp_path / file))})
    with pytest.raises(ConfigError) as refused:
        read_console_policy(text)
    assert refused.value.detail == (
        f"policy: columns.{name}.hierarchy: names a file or a database; accepted in the console: nothing"
    )


def test_files_in_lists_are_named_too() -> None:
    text = make_policy("t", {"age": AGE, "ward": quasi("category", values=["a.csv"])}, k_map=["people.csv"])
    with pytest.raises(ConfigError) as refused:
        read_console_policy(text)
    assert "columns.ward" not in refused.value.detail
    assert "policy: k_map: names a file" in refused.value.detail


def test_titles_and_values_may_look_like_files() -> None:
    text = make_policy("t", {"age": AGE | {"title": "age.csv"}, "ward": quasi("category", values=["a.csv", "b"])})
    assert read_console_policy(text).policy.dataset == "t"


def test_what_is_no_toml_is_told_as_ever() -> None:
    with pytest.raises(ConfigError) as refused:
        read_console_policy("k = = 5")
    assert refused.value.code == "QG801"
