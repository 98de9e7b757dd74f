"""Every statement of the corpus: what is accepted means what DuckDB means; what is refused says what would do."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, groupby

import pytest

from querygate.core.errors import CODES, Refusal
from querygate.core.ports import Limits
from querygate.sql import understand
from tests.each import Test, each
from tests.sql.study import AXIS_ROWS, CATALOG, NATIVE, Sample, empty, raw, samples
from tests.unit.sql.plan_reference import agrees, carry_out, exact_block

ACCEPTED, REFUSED, REWRITTEN = samples("accepted"), samples("refused"), samples("rewritten")
FAMILIES = sorted({sample.expected["family"] for sample in REWRITTEN})


def by_file(found: list[Sample]) -> Callable[[Test], Test]:
    """A test for each file of the corpus, which tries all its statements."""
    files = {file: list(there) for file, there in groupby(found, lambda sample: sample.where.rpartition(":")[0])}

    def decorated(test: Test) -> Test:
        def run(file: str) -> None:
            each("sample", files[file])(test)()

        run.__name__, run.__doc__ = test.__name__, test.__doc__
        return pytest.mark.parametrize("file", files)(run)

    return decorated


@by_file(ACCEPTED)
def test_accepted(sample: Sample) -> None:
    """DuckDB takes the same text, and on the raw rows its answer is what the plan says, row for row."""
    plan = understand(sample.sql, CATALOG, NATIVE)
    empty().execute(sample.sql)
    given = raw().execute(sample.sql).fetchall()

    assert agrees(plan, exact_block(AXIS_ROWS, CATALOG), given)


@by_file(REFUSED)
def test_refused(sample: Sample) -> None:
    """One code, a reason, a way out; and the suggestion works when it is sent back.

    What cannot be bounded shows when a plan is carried out, so that is tried too.
    """
    limits = Limits(**{key: int(value) for key, value in sample.expected.items() if key.startswith("max_")})
    with pytest.raises(Refusal) as caught:
        carry_out(understand(sample.sql, CATALOG, NATIVE, limits), exact_block(AXIS_ROWS, CATALOG))
    refusal = caught.value

    assert refusal.code == sample.expected["code"]
    assert refusal.detail
    assert refusal.remedy
    assert "sqlglot" not in refusal.detail
    if refusal.suggestion is not None:
        assert understand(refusal.suggestion, CATALOG, NATIVE, limits).hash
    if "suggests" in sample.expected:
        assert refusal.suggestion == sample.expected["suggests"]


@pytest.mark.parametrize("family", FAMILIES)
def test_rewritten(family: str) -> None:
    """Rewordings of one question have one hash."""
    hashes = {
        sample.sql: understand(sample.sql, CATALOG, NATIVE).hash
        for sample in REWRITTEN
        if sample.expected["family"] == family
    }

    assert len(hashes) > 1
    assert len(set(hashes.values())) == 1, hashes


@pytest.mark.parametrize("family", FAMILIES)
def test_rewordings_give_one_answer_on_the_raw_rows_too(family: str) -> None:
    answers = [
        sorted(map(repr, raw().execute(sample.sql).fetchall()))
        for sample in REWRITTEN
        if sample.expected["family"] == family and "columns" not in sample.expected
    ]

    assert len(answers) > 1
    assert all(answer == answers[0] for answer in answers)


def test_families_are_different_questions() -> None:
    hashes = {sample.expected["family"]: understand(sample.sql, CATALOG, NATIVE).hash for sample in REWRITTEN}

    assert not [(a, b) for a, b in combinations(hashes, 2) if hashes[a] == hashes[b]]


def test_the_corpus_is_large_and_knows_every_code() -> None:
    """A code of the SQL families that nothing here provokes is a code nobody has seen."""
    codes = {code for code in CODES if code.startswith(("QG1", "QG2"))}
    codes -= {"QG216", "QG217"}  # which are about noisy answers, and about datasets that are published as views
    codes -= {"QG218", "QG219"}  # which are about models

    assert len(ACCEPTED) >= 400
    assert len(REFUSED) >= 350
    assert len(FAMILIES) >= 12
    assert {sample.expected["code"] for sample in REFUSED} == codes
    assert len({sample.sql for sample in ACCEPTED + REFUSED}) == len(ACCEPTED + REFUSED)
