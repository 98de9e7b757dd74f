"""anonymise: one extract of a source, without a site."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from querygate.cli.shared.command import Command
from querygate.cli.shared.output import print_record, progress
from querygate.cli.shared.request_options import read_spec, spec_options
from querygate.cli.shared.shared_options import format_option, new_folder
from querygate.core.count_text import counted
from querygate.core.extracts.extract_spec import ExtractSpec, invalid


@click.command(
    cls=Command,
    example="querygate anonymise --policy trial.toml --source trial.csv --k 20 --out extract\n"
    "querygate anonymise --policy trial.toml --source trial.csv --kind condensed --k 20 --out extract \\\n"
    '  --model "cox: Surv(time, status) ~ age + sex"',
)
@click.option("--policy", "policy_file", required=True, type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="Policy file (TOML).")  # fmt: skip
@click.option(
    "--source", required=True, metavar="SOURCE", help="A file, or any source that `querygate publish` accepts."
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="A new folder.")
@spec_options
@click.option(
    "--secret",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A seed file for synthetic records: the same file gives the same records.  [default: a secret seed]",
)
@format_option
def anonymise(policy_file: Path, source: str, out: Path, secret: Path | None, form: str, **given: Any) -> None:
    """Make one extract from a source, with its report; needs no site and no approval.

    The policy says who is protected and how. The extract is verified before anything is written.
    """
    from querygate.custody.policy import load_policy
    from querygate.custody.use_cases.extract_builder import make_extract
    from querygate_adapters.sources.open_source import open_source

    policy = load_policy(policy_file)
    spec = ExtractSpec.of({"dataset": policy.dataset, "purpose": "made by hand", **_with_kind(read_spec(given))})
    if spec.dataset != policy.dataset:
        raise invalid("dataset", f"the policy is for {policy.dataset}")
    drawn_by = secret.read_bytes() if secret else os.urandom(32)
    with new_folder(out) as staged, progress() as tell:
        body = make_extract(
            policy, open_source(source), spec, staged, secret=drawn_by, base_dir=policy_file.parent, progress=tell
        )
    print_record({**body, "folder": str(out)}, form, lambda: _explain(body, out))


def _with_kind(body: dict[str, Any]) -> dict[str, Any]:
    """A way to condense is named by its method alone."""
    from querygate.methods.synthesis import METHODS

    return {"kind": "condensed", **body} if body.get("method") in METHODS.names() else body


def _explain(body: dict[str, Any], out: Path) -> str:
    left = f", {body['left_out']:,} left out" if body["left_out"] else ""
    at_least = f" of at least {body['k']}" if body["k_asked"] else ""
    what = f"{counted(body['records'], 'record')} in {counted(body['classes'], 'class', 'classes')}{at_least}{left}."
    first, *others = body["risk"]["words"]
    lines = [first, what] if body["kind"] == "condensed" else [what, first]
    lines += [*others, *body["before"]["words"]]
    texts = (*body["notes"], *body["sequences"], *body["payloads"])
    lines += [sentence for line in texts for sentence in line["words"]]
    for model in body["utility"]["models"]:
        shares = ", ".join(f"{name} {model[name]:.1%}" for name in ("significance", "sign", "outside"))
        lines.append(f"{model['model']}: changed {shares}.")
    lines += body["beside_views"]["words"] if body["beside_views"] else []
    return "\n".join([*lines, f"See {out / 'report.html'}."])
