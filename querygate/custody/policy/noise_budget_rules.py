"""The table [laplace]: how much privacy noisy answers may cost, in all, for one person, and for one question."""

from __future__ import annotations

from collections.abc import Sequence

from querygate.core.types import USUAL_LEAST, USUAL_MECHANISM, NoiseOptions
from querygate.custody.policy.column_policy import ColumnPolicy
from querygate.custody.policy.toml_reader import Bound, TomlTable, listed

_EPSILON = Bound(above=0, most=100)


def read_noise(
    top: TomlTable, modes: tuple[str, ...], person: str, columns: Sequence[ColumnPolicy]
) -> NoiseOptions | None:
    """Its content; None if the policy has no noisy answers."""
    if "laplace" not in modes:
        if "laplace" in top:
            top.fail("laplace", "is set, but no answers use that mode", 'answers.modes = ["interval", "laplace"]')
        return None
    if "laplace" not in top:
        top.fail("laplace", "is missing", "a table [laplace] with epsilon_per_query, epsilon_total, epsilon_per_user")
        return None
    table = top.table("laplace")
    each, total, user = (
        float(table.required(key, _EPSILON) or 1.0)
        for key in ("epsilon_per_query", "epsilon_total", "epsilon_per_user")
    )
    project = table.number("epsilon_per_project", _EPSILON) if "epsilon_per_project" in table else None
    extract = table.number("epsilon_per_extract", _EPSILON) if "epsilon_per_extract" in table else None
    if extract is not None and extract > min(total, user):
        table.fail("epsilon_per_extract", "is more than somebody may spend", f"at most {min(total, user)}")
    limits = {"epsilon_total": total, "epsilon_per_user": user, "epsilon_per_project": project}
    for key, limit in limits.items():
        if limit is not None and limit < each:
            table.fail(key, "is less than the cost of one question", f"at least epsilon_per_query ({each})")
    least = float(table.number("epsilon_least", _EPSILON) or USUAL_LEAST)
    if "epsilon_least" in table and least > each:
        table.fail("epsilon_least", "is more than one question may cost", f"at most epsilon_per_query ({each})")
    delta = float(table.number("delta", Bound(least=0, most=1e-3)) or 0.0)
    mechanism = table.choice("mechanism", USUAL_MECHANISM) or USUAL_MECHANISM
    if mechanism.startswith("gaussian") != (delta > 0):
        table.fail("delta", "applies to the Gaussian mechanisms only", '0, or mechanism = "gaussian-discrete"')
    rows = int(table.number("rows_per_person", Bound(least=1, most=1000, whole=True)) or 1)
    named = table.text("person") if "person" in table else person
    known = [column.name for column in columns if column.role == "identifier"]
    if named and named not in known:
        table.fail("person", "is not an identifier", listed(known) or "a column with role identifier (there is none)")
    if rows > 1 and not named:
        table.fail("rows_per_person", "needs a column that identifies persons", 'person = "COLUMN"')
    return NoiseOptions(
        epsilon_per_query=each,
        epsilon_total=total,
        epsilon_per_user=user,
        epsilon_per_project=None if project is None else float(project),
        delta=delta,
        mechanism=mechanism,
        person=named,
        rows_per_person=rows,
        epsilon_least=least,
        epsilon_per_extract=None if extract is None else float(extract),
    )
