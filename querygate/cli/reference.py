"""Reference pages from the tables that the program itself runs on, so that they cannot tell another story.

python -m querygate.cli.reference docs/reference
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from querygate.cli.commands import main as commands
from querygate.core.errors import CODES
from querygate.site.settings import FILE, PREFIX, SETTINGS, Setting
from querygate.web.explanations import EXPLANATIONS
from querygate.web.pages import SECTIONS, WHO, make_example, make_fields
from querygate.web.routes import ROUTES, Parameter, Route

CLI = """\
# Command line

`querygate` and `python -m querygate` are the same. A command works on one site: the folder of `--site` (before or
after the command), else of the environment variable `QUERYGATE_SITE`, else `./site`.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | refusal, or a check that did not pass |
| 2 | usage: the command line, a setting, a policy or a source needs correcting |
| 3 | fault: unexpected; the incident number leads to the log |

Data goes to standard output, in the format that `--format` names. An error goes to standard error as code and title,
detail, remedy and, where there is one, a statement that is accepted; with `--format json` or `jsonl` it is the
problem object of the [HTTP interface](http.md) on standard output. Progress goes to standard error.
"""

HTTP = """\
# HTTP

`querygate serve` listens on 127.0.0.1:8080 unless the [settings](settings.md) or its options say otherwise. The same
table is served as a page at `/docs` and as OpenAPI 3.1 at `/openapi.json`.

Send a key as `Authorization: Bearer qg_...`. Bodies are JSON, in UTF-8, whatever `Content-Type` says.

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

`suggestion`, where there is one, is a statement that the gate accepts. An address that does not exist is QG307, a
method that is not available is QG306 with status 405 and the header `Allow`.
"""

SETTINGS_PAGE = f"""\
# Settings

Settings say where and how a site runs. They stand in `{FILE}` in the site's folder, one `name = value` per
line; an environment variable `{PREFIX}` and the name in capitals comes first. `querygate doctor` shows each value and
where it came from. The privacy of a dataset is never a setting: that is its [policy](policy.md).

| setting | default | accepted | environment | meaning |
|---|---|---|---|---|
"""

REFUSALS = """\
# Refusals

Every error has a code, and the same code at every front door. The statements below go to a dataset `patients` with
the columns age, sex, sbp and visited.

QG1xx: the text is not one statement that can be read. QG2xx: readable, but outside what can be bounded; decided from
the statement and the schema alone. QG3xx: this person, this request, these limits. QG4xx: the privacy budget. QG5xx:
the answer could tell too much; fixed wording. QG6xx: extracts of records, and requests for them.
QG8xx: a custodian's file, source or site. QG900: unexpected.
"""


def make_pages() -> dict[str, str]:
    """Name and text of each generated page."""
    return {
        "cli.md": CLI + "".join(_command(path, command) for path, command in walk(commands, "querygate")),
        "http.md": HTTP % make_example("Problem") + "".join(_sections()),
        "settings.md": SETTINGS_PAGE + "".join(map(_setting, SETTINGS)),
        "refusals.md": REFUSALS + "".join(map(_refusal, CODES)),
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
    parts = [f"\n### `{route.method} {route.path}`\n\n{route.summary} Needs {WHO[route.who]}.\n"]
    if route.parameters:
        parts.append(
            "\n" + _table(("parameter", "meaning"), ((f"`{p.name}`", _parameter(p)) for p in route.parameters))
        )
    if route.body:
        fields = _table(("field", "meaning"), ((f"`{name}`", meaning) for name, meaning in make_fields(route.body)))
        parts.append(f"\nSend:\n\n{fields}\n{_block(make_example(route.body), 'json')}")
    if make_example(route.gives):
        parts.append(f"\nWhat comes back:\n\n{_block(make_example(route.gives), 'json')}")
    if route.who != "anyone" or route.codes:
        listed = ", ".join(f"[{code}](refusals.md#{code.lower()})" for code in route.all_codes)
        parts.append(f"\nRefusals: {listed}.\n")
    return "".join(parts)


def _parameter(parameter: Parameter) -> str:
    schema = parameter.schema
    choice = f" One of {', '.join(schema['enum'])}." if "enum" in schema else ""
    bounds = f" From {schema['minimum']} to {schema['maximum']}." if "maximum" in schema else ""
    default = f" Default {schema['default']}." if "default" in schema else ""
    return parameter.help + choice + bounds + default


def _setting(setting: Setting) -> str:
    kind = {bool: "true or false", int: "whole number", float: "number", str: "text"}[type(setting.default)]
    accepted = kind if setting.least is None else f"{kind} from {setting.least:,} to {setting.most:,}"
    default = str(setting.default).lower() if setting.default != "" else '""'
    cells = (f"`{setting.name}`", f"`{default}`", accepted, f"`{PREFIX}{setting.name.upper()}`", setting.help)
    return f"| {' | '.join(cells)} |\n"


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
