"""Codes of many columns packed into few numbers (words), for grouping, sorting and joining."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from querygate.core.types import Array, Ints
from querygate_adapters.store.column_arrays import ints
from querygate_adapters.vault.distinct_rows import WORD


def words_of(columns: Sequence[str], sizes: Mapping[str, int]) -> list[list[str]]:
    """The columns in order, in groups whose codes fit into one number."""
    words: list[list[str]] = [[]]
    room = WORD
    for name in columns:
        if sizes[name] > room:
            words, room = [*words, []], WORD
        words[-1].append(name)
        room //= sizes[name]
    return words


def packed(word: Sequence[str], sizes: Mapping[str, int], code_of: Callable[[str], str]) -> str:
    """The number of a word in SQL; a missing value has the code -1."""
    key = "CAST(0 AS BIGINT)"
    for name in word:
        key = f"({key} * {sizes[name]} + {code_of(name)} + 1)"
    return key


def unpacked(found: Mapping[str, Array], words: Sequence[Sequence[str]], sizes: Mapping[str, int]) -> dict[str, Ints]:
    """The codes of each column, from the words k0, k1 and so on."""
    codes = {}
    for i, word in enumerate(words):
        key = ints(found[f"k{i}"])
        for name in reversed(word):
            key, code = np.divmod(key, sizes[name])
            codes[name] = code - 1
    return codes
