"""What a route of the HTTP door is: its address, who may come, what goes in and out, and how it refuses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from querygate.core.rights import Right
from querygate.web.schemas.schema_parts import Schema

API = "/api/v1"
HTML = "text/html"
JSON = "application/json"
STREAMED = {"text/event-stream", "application/zip"}
ANYONE: tuple[Right, ...] = ()

TRUTH = {"enum": ["true", "false"], "default": "false"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A part of the path, of what follows the question mark, or a header."""

    name: str
    where: Literal["path", "query", "header"]
    help: str
    schema: Schema


BEFORE = Parameter(
    "before",
    "query",
    "Only entries before this moment (ISO 8601): the `next` of the page before.",
    {"type": "string"},
)


@dataclass(frozen=True, slots=True)
class Route:
    """One route. `name` is the view's; `who` are rights, of which one opens it (none: anybody comes in); `body` and
    `gives` name schemas; `codes` are the refusals of its own. What is `later` may answer 202 with a job in place of
    what it gives."""

    name: str
    method: Literal["GET", "POST", "PUT", "DELETE"]
    path: str
    summary: str
    who: tuple[Right, ...]
    gives: str = ""  # a schema; empty for what is not JSON
    media: tuple[str, ...] = (JSON,)
    body: str = ""
    parameters: tuple[Parameter, ...] = ()
    codes: tuple[str, ...] = ()
    later: bool = False

    @property
    def all_codes(self) -> tuple[str, ...]:
        """The refusals of the route, and those that follow from who may come and what is sent."""
        codes = set(self.codes) | {"QG900"}
        codes |= {"QG315"} if self.later else set()
        codes |= {"QG301", "QG302", "QG306", "QG317", "QG318"} if self.who else set()
        codes |= {"QG306", "QG308"} if self.body else set()
        return tuple(sorted(codes))

    @property
    def has_tag(self) -> bool:
        """Whether what it gives has an `ETag`; not what is sent piece by piece."""
        return self.method == "GET" and self.path.startswith(API) and not {*self.media} & STREAMED

    @property
    def rule(self) -> str:
        """The path as Flask writes it; a parameter with listed values takes those only.

        >>> Route("a", "GET", "/x/{y}", "", ANYONE).rule
        '/x/<y>'
        """
        schemas = {p.name: p.schema for p in self.parameters}

        def converter(match: re.Match[str]) -> str:
            values = schemas.get(match[1], {}).get("enum")
            return f"<any({', '.join(values)}):{match[1]}>" if values else f"<{match[1]}>"

        return re.sub(r"\{(\w+)\}", converter, self.path)
