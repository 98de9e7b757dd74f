"""One test for many small cases: to collect, start and report a test of its own costs more than most of them.

All cases are tried, and whatever fails is told with its case.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

SHOWN = 10
"""Failures that are shown in full; the others are only listed."""

Test = Callable[..., None]


def each(names: str, cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run the test with each case, which is what the names stand for: a value, or one for each name.

    As with pytest.mark.parametrize, other arguments are fixtures; but these are made once.
    """
    keys, tried = names.split(", "), list(cases)
    assert tried, "no case"

    def decorated(test: Test) -> Test:
        def run(**fixtures: Any) -> None:
            failed = {}
            for case in tried:
                values = zip(keys, case if len(keys) > 1 else [case], strict=True)
                try:
                    test(**fixtures, **dict(values))
                except Exception as error:
                    error.add_note(f"{names} = {case!r}")
                    failed[repr(case)] = error
            if failed:
                told = f"{len(failed)} of {len(tried)} cases of {names}: {', '.join(failed)}"
                raise ExceptionGroup(told, list(failed.values())[:SHOWN])

        given = inspect.signature(test)
        others = [parameter for name, parameter in given.parameters.items() if name not in keys]
        run.__dict__.update(test.__dict__)
        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        run.__signature__ = given.replace(parameters=others)  # type: ignore[attr-defined]
        return run

    return decorated
