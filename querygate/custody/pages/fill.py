"""A report as one HTML file: no script, no external content, every text escaped."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from querygate.core.count_text import counted
from querygate.core.json_body import JsonValue

LONGEST = 120
"""The most characters shown of a policy value."""


def data_uris(pictures: Mapping[str, bytes]) -> dict[str, str]:
    """PNG files by name, as data URIs for a page."""
    return {name: f"data:image/png;base64,{base64.b64encode(png).decode()}" for name, png in pictures.items()}


def fill(template: str, **values: object) -> str:
    """Fill a template of this folder. A missing value is an error, not an empty string."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    """It caches templates: reading one takes longer than filling it."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(figure=figure, whole=whole, percent=percent, value=value, counted=counted)
    return environment


def figure(number: float | None) -> str:
    """A number for a person.

    >>> figure(1234567), figure(117.68412), figure(0.000123456), figure(None), figure(5.0)
    ('1,234,567', '117.7', '0.0001235', '–', '5')
    """
    if number is None:
        return "–"
    if float(number).is_integer() and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:,.0f}" if abs(number) >= 10_000 else f"{number:.4g}"


def whole(number: float) -> str:
    """A number with all significant digits, for arithmetic that a reader checks.

    >>> whole(1265), whole(1100.25), whole(1 / 3)
    ('1265', '1100.25', '0.3333333333')
    """
    return str(number) if isinstance(number, int) else f"{number:.10g}"


def percent(share: float | None) -> str:
    """A share for a person, with a non-breaking space.

    >>> [percent(share).replace("\\xa0", " ") for share in (0.12345, 0.00012, 0.0, 1.0)]
    ['12.3 %', '0.012 %', '0 %', '100 %']
    """
    if share is None:
        return "–"
    places = 1 if share >= 0.001 else 3
    return f"{100 * share:.{places}f}".rstrip("0").rstrip(".") + "\N{NO-BREAK SPACE}%"


def value(given: JsonValue) -> str:
    """A value of a policy, shortened."""
    text = "–" if given is None else given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
