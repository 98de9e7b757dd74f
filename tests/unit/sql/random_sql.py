"""Random SQL that is nearly right: conditions, numbers in every spelling, statements with a word amiss."""

from __future__ import annotations

import math
import random
import re

VALUES = {
    "age": ["40", "0", "39.5", "4e1", "-1", "NULL"],
    "sbp": ["120", "121", "120.0", "NULL"],
    "weight": ["0.1", "0.5", "1e-1", "0", "NULL"],
    "born": ["'1970-01-01'", "DATE '2020-02-29'", "NULL"],
    "sex": ["'F'", "'M'"],
    "city": ["'Graz'", "'O''Brien'", "''", "NULL"],
    "smoker": ["TRUE", "FALSE", "NULL"],
}
COMPARISONS = ["=", "<>", "<", "<=", ">", ">=", "==", "!="]
AFTER = ["IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE", "IS NULL", "= TRUE", "IS TRUE IS FALSE"]
WORDS = [*COMPARISONS, *AFTER, "IS NOT DISTINCT FROM", "IS", "NOT", "IN", "BETWEEN", "AND", "OR", "NOT NULL", "ISNULL"]
WORDS += ["(", ")", ",", "-", "+", "LIKE", "||", "::DATE", "IS UNKNOWN", *VALUES, "40", "'F'", "TRUE", "NULL"]

NAMES = ["sex", "city", "smoker", "age", "n", "x"]
AGGREGATES = ["COUNT(*)", "COUNT(city)", "AVG(sbp)", "SUM(age)", "MIN(born)", "MAX(weight)", "MAX(age)"]
STRAY = [",", "(", ")", ".", "*", ":", "::", ";", "-", "1", "'x'", '"sex"', "sex", "city", "n"]
STRAY += str.split(
    "SELECT FROM WHERE GROUP BY ORDER LIMIT AS DISTINCT ALL ASC DESC NULLS FIRST LAST AND OR IN BETWEEN IS NULL"
)
STRAY += str.split(
    "DATE CAST COUNT LEFT NATURAL USING ON JOIN OFFSET HAVING WINDOW SAMPLE FETCH TOP PERCENT ONLY FINAL FOR"
)
STRAY += str.split(
    "WITH EXCLUDE END CASE ANY EXISTS INTERVAL ESCAPE COLLATE OVER FILTER PIVOT LATERAL SEMI VALUES TABLE"
)


def atom(rng: random.Random) -> str:
    name = rng.choice(list(VALUES))
    one, two = rng.choice(VALUES[name]), rng.choice(VALUES[name])
    negated = rng.choice(["", "NOT "])
    forms = [
        f"{name} {rng.choice(COMPARISONS)} {one}",
        f"{one} {rng.choice(COMPARISONS)} {name}",
        f"{name} {negated}IN ({one}, {two})",
        f"{name} {negated}BETWEEN {one} AND {two}",
        f"{name} IS {negated}NULL",
        f"{name} IS {negated}DISTINCT FROM {one}",
        "smoker",
        rng.choice(["TRUE", "FALSE", "NULL"]),
    ]
    return rng.choice(forms)


def condition(rng: random.Random) -> str:
    """Atoms with NOT before, IS after and AND, OR between, and now and then brackets: precedence is what is asked."""
    parts = []
    for _ in range(rng.randint(1, 4)):
        said = rng.choice(["", "", "NOT ", "NOT NOT "]) + atom(rng) + " " + rng.choice(["", "", "", *AFTER])
        parts += [f"({said})" if rng.random() < 0.2 else said.strip(), rng.choice(["AND", "OR"])]
    return " ".join(parts[:-1])


def statement(rng: random.Random) -> str:
    """Names that are columns and aliases at once, positions, brackets: who is meant by what is what is asked."""
    items = []
    for _ in range(rng.randint(1, 3)):
        alias = rng.choice(["", "", " AS ", " "])
        items.append(rng.choice([*NAMES[:3], *AGGREGATES]) + (alias + rng.choice(NAMES) if alias else ""))
    terms = [*NAMES[:3], *NAMES, "1", "2", "(sex)", "(n)", "patients.sex", "patients.city"]
    groups = [rng.choice(terms) for _ in range(rng.randint(0, 3))]
    after = ["", " ASC", " DESC", " NULLS FIRST", " DESC NULLS FIRST", " ASC NULLS LAST"]
    orders = [rng.choice(terms + AGGREGATES) + rng.choice(after) for _ in range(rng.randint(0, 2))]
    sql = f"SELECT {', '.join(items)} FROM patients"
    sql += f" WHERE {atom(rng)}" if rng.random() < 0.3 else ""
    sql += f" GROUP BY {', '.join(groups)}" if groups else ""
    sql += f" ORDER BY {', '.join(orders)}" if orders else ""
    return sql + (f" LIMIT {rng.randint(0, 4)}" if rng.random() < 0.3 else "")


def amiss(rng: random.Random, text: str, words: list[str]) -> str:
    """The text with a word or two dropped, doubled, swapped or put in from elsewhere."""
    found = re.findall(r"\w+|'[^']*'|\"[^\"]*\"|[^\w\s]+", text)
    for _ in range(rng.choice([1, 1, 2])):
        i, j = rng.randrange(len(found)), rng.randrange(len(found))
        match rng.randrange(5):
            case 0:
                found[i : i + 1] = []
            case 1:
                found.insert(i, rng.choice(words))
            case 2:
                found[i], found[j] = found[j], found[i]
            case 3:
                found[i] = rng.choice(words)
            case _:
                found.insert(i, found[j])
        found = found or ["SELECT"]
    return " ".join(found)


def number(rng: random.Random) -> str:
    """A number near a place where something happens: whole, decimal, floating, long, with zeros before and after."""
    whole = rng.choice([0, 1, 40, 41, 120, 2**53, 2**53 + 1, 2**62, 2**63, 10**18, 10**20, 10**37]) + rng.choice(
        [-1, 0, 1]
    )
    real = rng.choice([0.1, math.nextafter(0.1, 1), 0.5, 70.5, 1e-5])
    forms = [
        str(whole),
        f"{whole}." + rng.choice(["", "0", "5", "00", "000000000000000001", "0000000000000000001", "9" * 18]),
        f"{whole:.17e}",
        f"{rng.choice(['0', '00000000000000000000000000000000000000000'])}{abs(whole)}",
        f"{real:.17g}",
        f"{real:.20e}",
        f"{whole}e{rng.choice(['0', '1', '-1', '+0', '-00'])}",
        rng.choice(
            [".5", "5.", ".1", "0.", "1_0", "4.05e1", ".4e2", "400e-1", "0.1000", "0.10000000000000001", "NULL"]
        ),
    ]
    return rng.choice(["", "", "", "-"]) + rng.choice(forms).replace("--", "-")
