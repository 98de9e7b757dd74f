"""Reference pages from the tables that the program itself runs on, so that they cannot tell another story.

python -m querygate.cli.reference_pages docs/reference
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from querygate.cli.commands import main as commands
from querygate.core.errors import CODES
from querygate.core.rights import MODES, ROLES
from querygate.custody.policy.clinical_measures import measures
from querygate.site.settings import FILE, PREFIX, SETTINGS, Setting
from querygate.site.sign_on.sign_on_settings import SECRET_VARIABLE, SIGN_ON_KEYS, SignOnKey
from querygate.web.refusal_explanations import EXPLANATIONS
from querygate.web.route_reference import SECTIONS, explain_who, make_example, make_fields
from querygate.web.routes import ROUTES, Parameter, Route

CLI = """\
# Command line

`querygate` and `python -m querygate` are the same. A command works on one site: the folder given by `--site` (before
or after the command), otherwise by the environment variable `QUERYGATE_SITE`, otherwise `./site`.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | refusal, or a failed check |
| 2 | usage: correct the command line, a setting, a policy or a source |
| 3 | internal error; the incident number is in the log |
| 130 | interrupted (Ctrl-C) before anything was done |

Data goes to standard output, in the format given by `--format`. An error goes to standard error: code and title,
detail, remedy and, if there is one, a statement that is accepted. With `--format json` or `jsonl`, it goes to standard
output as the problem object of the [HTTP interface](http.md). Progress goes to standard error.
"""

HTTP = """\
# HTTP

`querygate serve` listens on 127.0.0.1:8080 unless the [settings](settings.md) or its options say otherwise. The gate
serves this page with all others at `/docs`, the description as OpenAPI 3.1 at `/openapi.json`, and a page to try calls
out at `/docs/api`.

Send a key as `Authorization: Bearer qg_...`. Bodies are JSON, in UTF-8, whatever `Content-Type` says. Answers carry the
hash of the policy that they were given under in the header `X-QueryGate-Policy`.

Every response has an `X-Request-ID`: the one you sent, or a new one; the log and the gate's own output name it. What a
`GET` gives has an `ETag`; sent back as `If-None-Match` it is answered with 304 and no body if nothing has changed. Long
lists come in pages: send `next` as `before` until it is null.

```sh
curl http://127.0.0.1:8080/api/v1/query \\
  -H "Authorization: Bearer $QUERYGATE_KEY" \\
  -d '{"dataset": "patients", "sql": "SELECT AVG(sbp) FROM patients"}'
```

## Errors

Every error is `application/problem+json` (RFC 9457) with a [code](refusals.md):

```json
%s
```

`suggestion`, if there is one, is a statement that the gate accepts. `help` is a page of the
gate's own documentation. An unknown address gives QG307; an unsupported
method gives QG306 with status 405 and the header `Allow`.
"""

SETTINGS_PAGE = f"""\
# Settings

Settings say where and how a site runs. They are in `{FILE}` in the site's folder, one `name = value` per line. An
environment variable, `{PREFIX}` followed by the name in capitals, takes precedence. `querygate doctor` shows each value
and where it comes from. How a dataset is protected is never a setting, but part of its [policy](policy.md).

| setting | default | accepted | environment | meaning |
|---|---|---|---|---|
"""

SIGN_ON_PAGE = f"""
## The file of single sign-on

The setting `single_sign_on` names it; [Single sign-on](../how-to/single-sign-on.md) has examples. The secret of the
client is not in it, but in a file that only the gate may read or in the variable `{SECRET_VARIABLE}`.

"""

REFUSALS = """\
<!-- Written by `make docs` from querygate/web/refusal_explanations.py. -->

# Refusals

Every error has a code, the same on the command line and over HTTP. The example statements use a dataset `patients`
with the columns age, sex, sbp and visited.

QG1xx: the text is not one valid statement. QG2xx: a valid statement for which no range can be computed; decided from
the statement and the schema alone. QG3xx: permissions, requests and limits. QG4xx: the privacy budget. QG5xx: the
answer could reveal too much; fixed wording. QG6xx: extracts and extract requests. QG8xx: a custodian's file, source or
site. QG900: an internal error.
"""


MEASURES = """\
<!-- Written by `make docs` from querygate/custody/policy/data/measures.toml. -->

# Measures that drafts recognise

[`querygate policy draft`](../how-to/draft-a-policy.md) recognises a number by the name of its column, its unit and its
range. It takes the domain of the measure, which is public knowledge, and bins that have the cuts among their edges. A
unit that the name spells (`chol_mgdl`) decides; otherwise the unit in which the median of the column is an ordinary
one. A column whose values do not fit into the domain is not taken for the measure.

To add one, add a table to `querygate/custody/policy/data/measures.toml`.

"""


def make_pages() -> dict[str, str]:
    """Name and text of each generated page."""
    return {
        "cli.md": CLI + "".join(_command(path, command) for path, command in walk(commands, "querygate")),
        "http.md": HTTP % make_example("Problem") + "".join(_sections()),
        "settings.md": SETTINGS_PAGE + "".join(map(_setting, SETTINGS)) + SIGN_ON_PAGE + _sign_on_keys(),
        "refusals.md": REFUSALS + "".join(map(_refusal, CODES)),
        "measures.md": MEASURES + _measures(),
    }


def walk(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    """Every command below a group, with the words that call it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            continue
        if isinstance(command, click.Group):
            yield from walk(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def _command(path: str, command: click.Command) -> str:
    usage = " ".join([path, *command.collect_usage_pieces(click.Context(command, info_name=path))])
    options = [option for option in command.params if isinstance(option, click.Option)]
    return (
        f"\n## `{path}`\n\n{inspect.cleandoc(command.help or '')}\n\n{_block(usage)}\n"
        + _table(("option", "meaning"), ((f"`{_usage(option)}`", _meaning(option)) for option in options))
        + f"\nExample:\n\n{_block(getattr(command, 'example', ''), 'sh')}"
    )


def _usage(option: click.Option) -> str:
    listed = "|".join(option.type.choices) if isinstance(option.type, click.Choice) else option.type.name.upper()
    value = "" if option.is_flag else option.metavar or listed
    return f"{', '.join(option.opts)} {value}".strip()


def _meaning(option: click.Option) -> str:
    return f"{option.help}{' Required.' if option.required else ''}"


def _sections() -> Iterator[str]:
    by_name = {route.name: route for route in ROUTES}
    for title, names in SECTIONS.items():
        yield f"\n## {title}\n"
        for name in names:
            yield _route(by_name[name])


def _route(route: Route) -> str:
    parts = [f"\n### `{route.method} {route.path}`\n\n{route.summary} Needs {explain_who(route.who)}.\n"]
    if route.parameters:
        parts.append(
            "\n" + _table(("parameter", "meaning"), ((f"`{p.name}`", _parameter(p)) for p in route.parameters))
        )
    if route.body:
        fields = _table(("field", "meaning"), ((f"`{name}`", meaning) for name, meaning in make_fields(route.body)))
        parts.append(f"\nSend:\n\n{fields}\n{_block(make_example(route.body), 'json')}")
    if make_example(route.gives):
        parts.append(f"\nResponse:\n\n{_block(make_example(route.gives), 'json')}")
    if route.who or route.codes:
        listed = ", ".join(f"[{code}](refusals.md#{code.lower()})" for code in route.all_codes)
        parts.append(f"\nRefusals: {listed}.\n")
    return "".join(parts)


def _parameter(parameter: Parameter) -> str:
    schema = parameter.schema
    choice = f" One of {', '.join(schema['enum'])}." if "enum" in schema else ""
    bounds = f" From {schema['minimum']} to {schema['maximum']}." if "maximum" in schema else ""
    default = f" Default {schema['default']}." if "default" in schema else ""
    header = "A header. " if parameter.where == "header" else ""
    return header + parameter.help + choice + bounds + default


def _setting(setting: Setting) -> str:
    kind = {bool: "true or false", int: "whole number", float: "number", str: "text"}[type(setting.default)]
    accepted = kind if setting.least is None else f"{kind} from {setting.least:,} to {setting.most:,}"
    default = str(setting.default).lower() if setting.default != "" else '""'
    cells = (f"`{setting.name}`", f"`{default}`", accepted, f"`{PREFIX}{setting.name.upper()}`", setting.help)
    return f"| {' | '.join(cells)} |\n"


def _sign_on_keys() -> str:
    def shown(key: SignOnKey) -> str:
        default = key.default
        if default is None:
            return "required"
        if isinstance(default, float):
            return f"`{default:g}`"
        return f"`{json.dumps(default)}`"

    rows = [(f"`{key.name}`", shown(key), key.help) for key in SIGN_ON_KEYS]
    groups = (
        f"`role`: one of {', '.join(ROLES)}. `grants`: a list of {{dataset, modes}}, with modes among "
        f"{', '.join(MODES)}; all modes, if left out. Of several groups with a role, the first in the file counts; "
        "grants add up."
    )
    return _table(("key", "default", "meaning"), [*rows, ("`groups.NAME`", "none", groups)])


def _refusal(code: str) -> str:
    meaning, explained = CODES[code], EXPLANATIONS[code]
    text = (
        f"\n## {code}\n\n**{meaning.title}** (HTTP {meaning.status}, SQLSTATE {meaning.sqlstate}, "
        f"exit code {meaning.exit})\n\n{explained.means}\n\nWhat to do: {explained.do}\n\n"
    )
    if explained.accepted:
        sql = f"-- refused\n{explained.example}\n-- accepted\n{explained.accepted}"
        return text + _block(sql, "sql")
    return text + _block(explained.example)


def _measures() -> str:
    def shown(numbers: Iterable[float], between: str) -> str:
        return between.join(f"{number:,.12g}" for number in numbers)

    rows = (
        (one.title, unit.unit, shown(unit.median, " to "), shown(unit.domain, " to "), shown(unit.cuts, ", ") or "none",
         one.source)
        for one in measures()
        for unit in one.units
    )  # fmt: skip
    return _table(("measure", "unit", "median between", "domain", "cuts", "source of the cuts"), rows)


def _table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(headings)
    lines = [titles, ["---"] * len(titles), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _block(text: str, language: str = "") -> str:
    return f"```{language}\n{text}\n```\n"


def write_pages(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in make_pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
