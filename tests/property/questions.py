"""Fifty questions, no two of which ask the same."""

from __future__ import annotations

from tests.property.rewordings import Among, Compare, Item, Missing, Not, Question, Said, both, either, within

COUNT = Item("count")
OLD, HIGH = Compare("age", ">=", 40), Compare("sbp", ">", 120)
WOMEN, WIEN, SMOKER = Compare("sex", "=", "F"), Compare("city", "=", "Wien"), Compare("smoker", "=", True)
SEX, CITY, SMOKES = ("{sex}",), ("{city}",), ("{smoker}",)
AGE_BAND = (
    "CASE WHEN {age} < 40 THEN 'young' ELSE 'old' END",
    "CASE WHEN {age} >= 40 THEN 'old' ELSE 'young' END",
    "IF({age} <= 39, 'young', 'old')",
)
RISK = (
    "CASE WHEN {sex} = 'M' AND {age} > 40 THEN 2 ELSE 1 END",
    "CASE WHEN NOT ({sex} = 'M' AND {age} >= 41) THEN 1 ELSE 2 END",
    "CASE WHEN {age} <= 40 THEN 1 WHEN {sex} IN ('F', 'X') THEN 1 ELSE 2 END",
)
TALL = Said(("{sbp} > {age} + 60", "60 + {age} < {sbp}", "NOT {sbp} <= {age} + 60", "{sbp} > 60 + {age}"))
SUM_OVER = Said(("{sbp} + {age} >= 200", "{age} + {sbp} > 199", "NOT 200 > {age} + {sbp}"))


def of(function: str, *texts: str, where: object = None) -> Item:
    return Item(function, texts, where)  # type: ignore[arg-type]


SBP, AGE, WEIGHT, BORN = "{sbp}", "{age}", "{weight}", "{born}"

QUESTIONS = (
    Question((COUNT,)),
    Question((COUNT,), OLD),
    Question((COUNT,), HIGH),
    Question((COUNT,), both(OLD, HIGH)),
    Question((COUNT,), either(OLD, HIGH)),
    Question((COUNT,), within("age", 39, 41)),
    Question((COUNT,), Not(within("age", 17, 40))),
    Question((COUNT,), Among("age", (16, 39, 120))),
    Question((COUNT,), Among("city", ("Wien", "Graz", "O'Brien"))),
    Question((COUNT,), Not(Among("city", ("Wien", "Linz")))),
    Question((COUNT,), Missing("sbp")),
    Question((COUNT,), either(Missing("sbp"), HIGH)),
    Question((COUNT,), SMOKER),
    Question((COUNT,), Not(either(SMOKER, HIGH))),
    Question((COUNT,), both(OLD, either(WIEN, SMOKER))),
    Question((COUNT,), either(both(WOMEN, OLD), both(SMOKER, HIGH))),
    Question((COUNT,), either(Compare("weight", "<", 0.5), Compare("weight", ">", 70.0))),
    Question((COUNT,), Compare("born", ">=", 10_956)),
    Question((COUNT,), both(Compare("pulse", ">", 0), Compare("pulse", "<", 2**53))),
    Question((COUNT,), TALL),
    Question((COUNT,), either(TALL, WOMEN)),
    Question((COUNT,), SUM_OVER),
    Question((of("avg", SBP),)),
    Question((of("avg", SBP),), OLD),
    Question((of("avg", SBP), COUNT), both(WOMEN, Not(SMOKER))),
    Question((of("avg", SBP, where=both(OLD, SMOKER)),)),
    Question((of("sum", SBP, where=either(OLD, SMOKER)),), WOMEN),
    Question((of("count", SBP, where=WIEN), COUNT)),
    Question((Item("count", where=both(OLD, SMOKER)), Item("count", where=HIGH))),
    Question((of("max", SBP, where=Not(WOMEN)), of("min", AGE))),
    Question((of("avg", "{sbp} + {age}", "{age} + {sbp}"),)),
    Question((of("sum", "{sbp} - {age}"),), OLD),
    Question((of("var", SBP),)),
    Question((of("sd", WEIGHT),), either(OLD, WOMEN)),
    Question((of("quartile", SBP),), Compare("age", "<>", 40)),
    Question((of("median", AGE),), HIGH),
    Question((of("distinct", "{city}"),), OLD),
    Question((of("distinct", AGE), of("max", BORN)), either(SMOKER, Missing("city"))),
    Question((COUNT,), keys=(SEX,)),
    Question((COUNT, of("avg", SBP)), HIGH, (SEX,)),
    Question((of("avg", AGE),), either(OLD, WIEN), (CITY,)),
    Question((of("sum", AGE), COUNT), None, (SEX, SMOKES)),
    Question((COUNT,), SMOKER, (AGE_BAND,)),
    Question((of("max", SBP),), None, (RISK,)),
    Question((of("avg", SBP, where=SMOKER),), OLD, (SEX,)),
    Question((COUNT,), None, (CITY,), having=Compare("age", ">=", 11)),
    Question((of("avg", SBP),), OLD, (CITY,), having=within("age", 3, 8)),
    Question((COUNT,), None, (CITY,), outer="AVG({n})"),
    Question((of("avg", AGE), COUNT), HIGH, (SEX,), outer="MAX({n})"),
    Question((COUNT, of("max", AGE)), OLD, (CITY,), outer="MIN({n}) WHERE {n} > 3"),
)
