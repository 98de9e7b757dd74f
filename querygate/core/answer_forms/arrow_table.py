"""An answer as an Arrow table: the flat table with types, `name_sharp` beside each range, and in the metadata of the
schema what the answer says of itself.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from querygate.core.answer_forms.flat_table import endings_of, table

if TYPE_CHECKING:  # which needs numpy, and a client does not
    from querygate.core.answer_bodies import AnswerBody
    from querygate.core.types import Scalar


METADATA = b"querygate"
"""The key in the metadata of a schema under which an answer says what it is: JSON, all of it but the rows."""

_KINDS = {"integer": pa.decimal128(38, 0), "number": pa.float64(), "boolean": pa.bool_()}


def arrow_table(body: AnswerBody) -> pa.Table:
    """The answer as a table. Each field says of which column it is, and which part of a range."""
    names, rows = table(body, tells_sharp=True)
    fields = list(_typed_parts(body))
    if body["mode"] == "interval":
        fields += [(pa.bool_(), {}), (pa.int64(), {}), (pa.int64(), {})]
    fields += [(pa.bool_(), {})] * (len(names) - len(fields))  # which keys are rolled up
    arrays = [_array([row[i] for row in rows], kind) for i, (kind, _) in enumerate(fields)]
    told = {key: value for key, value in body.items() if key != "rows"}
    schema = pa.schema(
        [
            pa.field(name, array.type, metadata=part)
            for name, array, (_, part) in zip(names, arrays, fields, strict=True)
        ],
        {METADATA: json.dumps(told, ensure_ascii=False).encode()},
    )
    return pa.Table.from_arrays(arrays, schema=schema)


def _typed_parts(body: AnswerBody) -> Iterator[tuple[pa.DataType, dict[str, str]]]:
    """The type and the metadata of each flat column."""
    for column in body["columns"]:
        kind = _KINDS.get(column["type"], pa.string())
        if column["type"] == "integer" and column["kind"] == "range":
            kind = pa.int64()
        if column["kind"] == "noisy":
            kind = pa.float64()
        for ending in endings_of(column, body, tells_sharp=True):
            part = {"querygate.column": column["name"], "querygate.part": ending[1:] or column["kind"]}
            yield pa.bool_() if ending in ("_may_be_null", "_sharp") else kind, part


def _array(values: Sequence[Scalar], kind: pa.DataType) -> pa.Array:
    if kind == pa.float64():
        values = [None if value is None else float(value) for value in values]
    try:
        return pa.array(values, kind)
    except (OverflowError, pa.ArrowInvalid):  # a SUM beyond 64 bits
        return pa.array([None if value is None else str(value) for value in values], pa.string())


def to_arrow_stream(body: AnswerBody) -> bytes:
    from pyarrow import ipc  # like parquet slow to load, and most commands and answers need neither

    return _written(arrow_table(body), ipc.new_stream)


def to_arrow_file(body: AnswerBody) -> bytes:
    from pyarrow import ipc

    return _written(arrow_table(body), ipc.new_file)


def _written(data: pa.Table, writer_of: Callable[..., Any]) -> bytes:
    sink = io.BytesIO()
    with writer_of(sink, data.schema) as writer:
        writer.write_table(data)
    return sink.getvalue()


def to_parquet(body: AnswerBody) -> bytes:
    from pyarrow import parquet

    sink = io.BytesIO()
    parquet.write_table(arrow_table(body), sink)
    return sink.getvalue()
