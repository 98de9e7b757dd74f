"""The same question from a program: what to paste into a shell, a notebook or a script."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Snippets:
    """How a question is written elsewhere. `pg_port` is 0 where nothing speaks PostgreSQL's protocol."""

    pg_port: int = 0

    def __call__(self, origin: str, dataset: str, sql: str, user: str = "") -> dict[str, str]:
        """By the name of the language. The key is never among them: it is read from the environment."""
        body = shlex.quote(json.dumps({"dataset": dataset, "sql": sql}, ensure_ascii=False))
        authorization = '-H "Authorization: Bearer $QUERYGATE_KEY"'
        found = {
            "Python": make_python(origin, dataset, sql),
            "R": (
                "library(querygate)\n\n"
                f"gate <- qg_connect({_r(origin)}, dataset = {_r(dataset)})\n"
                f"answer <- qg_query(gate, {_r(sql)})\n"
                "answer"
            ),
            "curl": f"curl {origin}/api/v1/query {authorization} \\\n  -d {body}",
        }
        if self.pg_port:
            host = urlsplit(origin).hostname
            found["psql"] = f"psql -h {host} -p {self.pg_port} -U {user or '$USER'} querygate -c {shlex.quote(sql)}"
        return found


def make_python(origin: str, dataset: str, sql: str) -> str:
    """With the client of this gate, which reads the key from QUERYGATE_KEY."""
    connected = f"gate = querygate.connect({origin!r}, dataset={dataset!r})"
    return f"import querygate\n\n{connected}\nanswer = gate.query({sql!r})\nprint(answer)"


def _r(text: str) -> str:
    """A string as R reads it."""
    return json.dumps(text, ensure_ascii=False)
