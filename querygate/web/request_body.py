"""Bodies of requests: JSON objects with exactly the fields that are accepted, of the types that are."""

from __future__ import annotations

import json

from flask import request

from querygate.core.json_body import JsonValue
from querygate.web.problems import malformed

LONGEST_NAME = 63


def read_object(
    remedy: str = 'Send {"dataset": "...", "sql": "SELECT ..."}.', *, optional: bool = False
) -> dict[str, JsonValue]:
    """The object that was sent. Where it is optional, no body at all is one without fields."""
    sent = request.get_data()
    if optional and not sent:
        return {}
    try:
        body = json.loads(sent)
    except (ValueError, RecursionError):  # not UTF-8, not JSON, or brackets without end
        raise malformed("The body is not JSON.", remedy) from None
    if not isinstance(body, dict):
        raise malformed("The body must be a JSON object.", remedy)
    return body


def check_fields(body: dict[str, JsonValue], prefix: str, accepted: tuple[str, ...]) -> None:
    """Anything else is refused by name."""
    unknown = sorted(set(body) - set(accepted))
    if unknown:
        listed = ", ".join(prefix + accepted_name for accepted_name in accepted)
        raise malformed(f"{prefix}{unknown[0][:LONGEST_NAME]}: is not a known field.", f"Accepted: {listed}.")


def read_text(body: dict[str, JsonValue], name: str) -> str:
    """A field that is a text."""
    value = body.get(name)
    if not isinstance(value, str):
        raise malformed(f"{name}: must be text.", f'Send "{name}" as a string.')
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can bring in and nothing else can keep
        raise malformed(f"{name}: is not valid Unicode.", "Correct the escapes.") from None
    return value


def read_truth(name: str) -> bool:
    """What follows the question mark: true or false, false where it is silent."""
    text = request.args.get(name, "false")
    if text not in ("true", "false"):
        raise malformed(f"{name}: must be true or false.")
    return text == "true"
