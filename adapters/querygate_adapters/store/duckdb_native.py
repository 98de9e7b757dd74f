"""DuckDB without data: how it parses a statement, and the results of a function of one column on public values.

By asking the engine, the gate gives statements exactly the engine's meaning. The engine parses a statement and the
gate's own wording of it, and both must give the same tree. It evaluates expressions generated from an allow-listed tree
on values that are public anyway, in memory, with limits on time and memory, and cannot open files.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Hashable, Sequence
from decimal import Decimal
from importlib import import_module
from typing import Any, TypeAlias, TypeVar, cast

import duckdb

from querygate.core.json_body import JsonValue
from querygate.core.ports import SqlReading, TabulatedValues
from querygate.core.types import SqlValue
from querygate_adapters.store.duckdb_lockdown import in_memory

_Node: TypeAlias = dict[str, Any]
"""A node of a statement as the engine serialises it: what a key holds depends on the class of the node."""

_Key = TypeVar("_Key")
_Kept = TypeVar("_Kept")

KEPT, KEPT_BYTES = 512, 64 * 2**20
"""How many parsed statements and tables are cached, and the memory for the tables."""

_SERIALISED = "SELECT json_serialize_sql(?), json_serialize_sql(?)"


class DuckDBNative:
    """An in-memory engine without data. Results are cached: texts and domains are public and few."""

    def __init__(self, *, timeout_s: float = 2.0, memory_mb: int = 256) -> None:
        self._timeout_s = timeout_s
        self._known: dict[tuple[str, str, Hashable], tuple[TabulatedValues, int]] = {}
        self._bytes = 0
        self._lock = threading.Lock()
        self._db = in_memory(memory_limit=f"{memory_mb}MB", threads="1", lock_configuration="true")
        self._mine = threading.local()  # a cursor for each thread: making one costs a fifth of a parse
        self._alike: dict[tuple[str, str], None] = {}

    # -- reading -------------------------------------------------------------------------------------------------

    def read(self, sql: str, own: str) -> SqlReading:
        """Does the database read the statement as it reads the gate's own wording of it?

        Statements that it reads alike it also reads alike with other numbers in the same places: its grammar depends on
        the kind of a number, not on its value.
        """
        (shape, numbers), (own_shape, own_numbers) = _shape(sql), _shape(own)
        is_known = (shape, own_shape) in self._alike and numbers == own_numbers
        reading = SqlReading(True) if is_known else self._read(sql, own)
        if reading.alike and not is_known and numbers == own_numbers:
            with self._lock:
                _keep(self._alike, (shape, own_shape), None)
        return reading

    def _read(self, sql: str, own: str) -> SqlReading:
        if not hasattr(self._mine, "cursor"):
            self._mine.cursor = self._db.cursor()
        try:
            texts = self._mine.cursor.execute(_SERIALISED, [sql, own]).fetchone()
        except duckdb.Error:
            return SqlReading(False)
        if texts is not None and _PLACES.sub("", texts[0]) == _PLACES.sub("", texts[1]) and _IS_READ in texts[0]:
            return SqlReading(True)  # identical texts, as for most statements
        theirs, ours = (json.loads(text) for text in texts or ())
        if theirs["error"] or ours["error"]:
            place = theirs.get("position")
            return SqlReading(False, int(place) if theirs["error"] and str(place).isdigit() else None)
        return SqlReading(_are_alike(theirs["statements"], ours["statements"]))

    # -- evaluating ----------------------------------------------------------------------------------------------

    def tabulate(self, text: str, kind: str, values: Sequence[SqlValue]) -> TabulatedValues:
        """The result of the expression over the column `x` for each value, in order; None stands for NULL."""
        if kind == "number":  # used in the search for a step, and not again
            return self._calculate(text, kind, values)[0]
        key = (text, kind, _axis_key(kind, values))
        with self._lock:
            if key in self._known:
                return self._known[key][0]
        found, size = self._calculate(text, kind, values)
        with self._lock:
            if key not in self._known:
                self._known[key] = found, size
                self._bytes += size
            while self._bytes > KEPT_BYTES or len(self._known) > KEPT:
                self._bytes -= self._known.pop(next(iter(self._known)))[1]
        return found

    def _calculate(self, text: str, kind: str, values: Sequence[SqlValue]) -> tuple[TabulatedValues, int]:
        """The results, and how many bytes they take."""
        by_arrow = import_module("querygate_adapters.store.value_tabulation")  # with pyarrow, which is slow to load
        return cast(tuple[TabulatedValues, int], by_arrow.tabulate(self._db, text, kind, values, self._timeout_s))


def _keep(kept: dict[_Key, _Kept], key: _Key, value: _Kept) -> None:
    """Cache it, and drop the oldest entries if there are too many."""
    kept[key] = value
    while len(kept) > KEPT:
        kept.pop(next(iter(kept)))


_NUMBER = re.compile(
    r"""(?P<other>'[^']*'|"[^"]*"|--[^\n]*|/\*.*?\*/|[\w$.]*[A-Za-z_$][\w$.]*)|(?P<number>\b\d{1,9}(?:\.\d{1,9})?\b)""",
    re.ASCII | re.DOTALL,
)


def _shape(sql: str) -> tuple[str, list[str]]:
    """A text with its plain numbers taken out, and those numbers; whole ones and decimals are different kinds.

    >>> _shape("SELECT count(*) FROM t1 WHERE a > 1.5 AND b = '7'")
    ("SELECT count(*) FROM t1 WHERE a > 0.0 AND b = '7'", ['1.5'])
    """
    numbers: list[str] = []

    def taken_out(found: re.Match[str]) -> str:
        number = found["number"]
        if number is None:
            return found[0]
        numbers.append(number)
        return "0.0" if "." in number else "0"

    return _NUMBER.sub(taken_out, sql), numbers


def _axis_key(kind: str, values: Sequence[SqlValue]) -> Hashable:
    """A key that distinguishes axes: whole numbers and days have no gaps, so their ends suffice."""
    if kind in ("integer", "date"):
        return len(values), values[0], tuple(values[-2:])
    return tuple(values)


# -- what two readings must have in common ----------------------------------------------------------------------------

_PLACES = re.compile(r'"query_location(?:_length)?":\d+,?')
_IS_READ = '"error":false'
_IGNORED = frozenset({"query_location", "query_location_length", "qualified_name"})
_NEGATED = {
    "COMPARE_NOT_IN": "COMPARE_IN",
    "OPERATOR_IS_NOT_NULL": "OPERATOR_IS_NULL",
    "COMPARE_NOT_BETWEEN": "COMPARE_BETWEEN",
    "COMPARE_NOTEQUAL": "COMPARE_EQUAL",
    "COMPARE_DISTINCT_FROM": "COMPARE_NOT_DISTINCT_FROM",
}
_NEGATED_FUNCTIONS = {"!~~": "~~", "!~~*": "~~*"}
_ALIASES = {
    "ceiling": "ceil", "pow": "power", "**": "power", "^": "power", "datediff": "date_diff", "datepart": "date_part",
    "datetrunc": "date_trunc", "substr": "substring", "char_length": "length", "character_length": "length",
    "len": "length", "lcase": "lower", "ucase": "upper", "variance": "var_samp", "mod": "%",
    "stddev": "stddev_samp", "quantile": "quantile_disc", "mean": "avg", "ifnull": "coalesce", "countif": "count_if",
    "first_value": "first", "strpos": "instr", "position": "instr", "dayofmonth": "day", "weekday": "dayofweek",
    "prefix": "starts_with", "suffix": "ends_with", "@": "abs", "stdev": "stddev_samp", "date_add": "+",
    "percentile_cont": "quantile_cont", "percentile_disc": "quantile_disc",
}  # fmt: skip
"""Names under which DuckDB has one and the same function."""

_PARTS = frozenset({"date_part", "date_trunc", "date_diff"})
_PART_NAMES = {"dow": "dayofweek", "weekday": "dayofweek", "doy": "dayofyear"}
_TYPES = {
    "TEXT": "VARCHAR", "STRING": "VARCHAR", "CHAR": "VARCHAR", "INT": "INTEGER", "INT4": "INTEGER", "SIGNED": "INTEGER",
    "INT8": "BIGINT", "LONG": "BIGINT", "FLOAT8": "DOUBLE", "REAL": "FLOAT", "FLOAT4": "FLOAT", "BOOL": "BOOLEAN",
    "LOGICAL": "BOOLEAN", "NUMERIC": "DECIMAL", "INT2": "SMALLINT", "SHORT": "SMALLINT", "INT128": "HUGEINT",
}  # fmt: skip


def _are_alike(one: JsonValue, two: JsonValue) -> bool:
    """Compares two trees side by side; only where they differ are their meanings compared."""
    if isinstance(one, dict) and isinstance(two, dict) and one.keys() == two.keys():
        for key, value in one.items():
            if key not in _IGNORED and value != two[key] and not _are_alike_inside(value, two[key]):
                return _meaning(one) == _meaning(two)
        return True
    return _are_alike_inside(one, two)


def _are_alike_inside(one: JsonValue, two: JsonValue) -> bool:
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return all(_are_alike(a, b) for a, b in zip(one, two, strict=True))
    if isinstance(one, dict) and isinstance(two, dict):
        return _are_alike(one, two) if one.keys() == two.keys() else _meaning(one) == _meaning(two)
    return one == two


def _meaning(tree: JsonValue) -> JsonValue:
    """A tree without positions and without differences in wording that do not matter."""
    if isinstance(tree, list):
        return [_meaning(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    node: _Node = {key: _meaning(value) for key, value in tree.items() if key not in _IGNORED}
    kind = node.get("type")
    if node.get("class") == "CONJUNCTION":
        flat: list[JsonValue] = []
        for child in node["children"]:
            same = isinstance(child, dict) and child.get("class") == "CONJUNCTION" and child["type"] == kind
            flat.extend(child["children"] if same and not child.get("alias") else [child])
        return {**node, "children": flat}
    if isinstance(kind, str) and kind in _NEGATED:
        return _not({**node, "type": _NEGATED[kind], "alias": ""}, node.get("alias", ""))
    if node.get("class") == "FUNCTION":
        return _function(node)
    if node.get("class") == "CAST":
        return _interval_text(node) or node
    if "null_order" in node:  # DuckDB's own order: rising, NULL last
        orders = {"type": kind, "null_order": node["null_order"]}
        defaults = {"type": "ASCENDING", "null_order": "NULLS LAST"}
        return {**node, **{k: defaults[k] if v == "ORDER_DEFAULT" else v for k, v in orders.items()}}
    if kind == "TYPE":
        return _type_meant(node)
    if "literal" in node and isinstance(node["literal"], dict):
        return {**node, "literal": _number(node["literal"])}
    return node


def _type_meant(node: _Node) -> _Node:
    """DuckDB ignores the length of a VARCHAR, and a DECIMAL without a precision has 18 digits, 3 after the point."""
    name = str(node["type_name"]).upper()
    name, figures = _TYPES.get(name, name), node["children"]
    if name == "DECIMAL":
        figures = [str(figure["literal"]["text"]) for figure in figures if "literal" in figure] or ["18", "3"]
    return {**node, "type_name": name, "children": [] if name == "VARCHAR" else figures}


_CASE = {"class": "CASE", "type": "CASE_EXPR"}
_INTERVAL = re.compile(r"(\d{1,6}) (day|week|month|year)s?", re.IGNORECASE)
_UNITS = frozenset(f"to_{unit}s" for unit in ("day", "week", "month", "quarter", "year"))


def _not(child: _Node, alias: str) -> _Node:
    return {"class": "OPERATOR", "type": "OPERATOR_NOT", "alias": alias, "children": [child]}


def _function(node: _Node) -> _Node:
    name = str(node["function_name"])
    if name in _NEGATED_FUNCTIONS:
        return _not({**node, "function_name": _NEGATED_FUNCTIONS[name], "alias": ""}, node.get("alias", ""))
    name = _ALIASES.get(name, name)
    node = {**node, "function_name": name, "is_operator": False}
    arguments = node.get("arguments") or []
    if name == "if" and len(arguments) == 3:
        when, then, otherwise = (argument["expression"] for argument in arguments)
        checks = [{"when_expr": when, "then_expr": then}]
        return {**_CASE, "alias": node["alias"], "case_checks": checks, "else_expr": otherwise}
    if name in ("quantile_cont", "quantile_disc") and len(arguments) == 1:
        return _within_group(node, arguments)
    if name in _UNITS and arguments:
        node["arguments"] = _whole_texts(arguments)
        number = _only_number(node["arguments"])
        return node if number is None else {"interval": [number, name.removeprefix("to_")], "alias": node["alias"]}
    if name in _PARTS and arguments:
        literal = arguments[0].get("expression", {}).get("literal")
        if isinstance(literal, dict) and literal.get("kind") == "STRING":
            part = str(literal["text"]).lower()
            literal["text"] = _PART_NAMES.get(part, part)
    return node


def _within_group(node: _Node, arguments: list[_Node]) -> _Node:
    """PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x) is QUANTILE_CONT(x, p) where the order rises."""
    orders = node["order_bys"]["orders"]
    if len(orders) != 1 or orders[0]["type"] != "ASCENDING":
        return node
    value = {"name": "", "expression": orders[0]["expression"]}
    return {**node, "order_bys": {**node["order_bys"], "orders": []}, "arguments": [value, *arguments]}


def _interval_text(node: _Node) -> _Node | None:
    """INTERVAL '3 days' is INTERVAL 3 DAY."""
    literal = node["child"].get("literal", {})
    text = _INTERVAL.fullmatch(str(literal.get("text"))) if literal.get("kind") == "STRING" else None
    if text is None or node["try_cast"] or node["type_expr"].get("type_name") != "INTERVAL":
        return None
    return {"interval": [str(int(text[1])), f"{text[2].lower()}s"], "alias": node["alias"]}


def _only_number(arguments: list[_Node]) -> str | None:
    """The whole number in a constant interval, whatever the database wraps around it."""
    (argument,) = arguments
    found = argument["expression"]
    while found.get("class") == "CAST" or found.get("function_name") == "trunc":
        found = found["child"] if found["class"] == "CAST" else found["arguments"][0]["expression"]
    literal = found.get("literal", {})
    return str(int(Decimal(literal["text"]))) if literal.get("kind") == "INTEGER" else None


def _whole_texts(tree: JsonValue) -> JsonValue:
    """INTERVAL '3' DAY is INTERVAL 3 DAY: the number of units may be in quotes."""
    if isinstance(tree, list):
        return [_whole_texts(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    if tree.get("kind") == "STRING" and str(tree.get("text")).isdigit():
        return _number({**tree, "kind": "INTEGER"})
    return {key: _whole_texts(value) for key, value in tree.items()}


def _number(literal: _Node) -> _Node:
    """Numbers are equal by value and kind: 1_000 is 1000, .5 is 0.5, while 1e0 stays a double."""
    if literal.get("kind") == "STRING":
        return literal
    try:
        return {**literal, "text": str(Decimal(str(literal["text"]).replace("_", "")).normalize())}
    except ArithmeticError:
        return literal
