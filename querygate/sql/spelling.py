"""Step 5: the text, word by word, must be spelt as DuckDB spells it.

A tree can look right although the text was not. The parser reads many dialects: it takes `<=>` and `!` for operators,
drops a unary plus, a comma too many or a bracket too few, puts clauses into order, and reads `IN [1, NULL]` like
`IN (1, NULL)`, which means something else to DuckDB. So a statement that would be answered is read once more, against
the part of DuckDB's own grammar that the gate answers:

    statement := [FROM source] SELECT [ALL] item, ... [FROM source] [WHERE test] [GROUP BY value, ...]
                 [ORDER BY value [ASC | DESC] [NULLS FIRST | NULLS LAST], ...] [LIMIT number]
    source    := name : name | name [[AS] name]
    item      := name : value | value [[AS] name]
    test      := part AND | OR part ...        part := NOT ... value suffix ...
    suffix    := comparison value | IS [NOT] NULL | TRUE | FALSE | UNKNOWN | DISTINCT FROM value | ISNULL | NOTNULL
                 | NOT NULL | [NOT] IN ( value, ... ) | [NOT] BETWEEN [ASYMMETRIC] value AND value
    value     := -value | number | text | NULL | TRUE | FALSE | DATE text | CAST ( value AS DATE ) | value :: DATE
                 | ( test ) | name [. name] | function ( * | [ALL] value, ... )

Then the same text asks the same of the gate and of the raw table.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import sqlglot
from sqlglot.tokenizer_core import Token, TokenType

from querygate.core.errors import Refusal, Span, SyntaxRefused, UnsupportedSQL
from querygate.sql.allow import AGGREGATES
from querygate.sql.parse import DIALECT

FUNCTIONS = frozenset(name.upper() for name in AGGREGATES.values())
COMPARISONS = frozenset({"=", "==", "<>", "!=", "<", "<=", ">", ">="})
RESERVED = frozenset(
    """ALL ANALYSE ANALYZE AND ANTI ANY ARRAY AS ASC ASOF ASYMMETRIC AT AUTHORIZATION BINARY BOTH BY CASE CAST CHECK
    COLLATE COLLATION COLUMN COLUMNS CONCURRENTLY CONSTRAINT CREATE CROSS DEFAULT DEFERRABLE DESC DESCRIBE DISTINCT DO
    ELSE END EXCEPT FALSE FETCH FOR FOREIGN FREEZE FROM FULL GENERATED GLOB GROUP HAVING ILIKE IN INITIALLY INNER
    INTERSECT INTO IS ISNULL JOIN LAMBDA LATERAL LEADING LEFT LIKE LIMIT MAP NATURAL NOT NOTNULL NULL OFFSET ON ONLY OR
    ORDER OUTER OVERLAPS PIVOT PIVOT_LONGER PIVOT_WIDER PLACING POSITIONAL PRIMARY QUALIFY REFERENCES RETURNING RIGHT
    SELECT SEMI SHOW SIMILAR SOME STRUCT SUMMARIZE SYMMETRIC TABLE TABLESAMPLE THEN TO TRAILING TRUE TRY_CAST TUPLE
    UNION UNIQUE UNPACK UNPIVOT USING VARIADIC VERBOSE WHEN WHERE WINDOW WITH""".split()  # noqa: SIM905
)
"""DuckDB's words that are no names unless they are quoted (duckdb_keywords: reserved, type_function)."""

NEED_AS = frozenset(
    """CENTURIES CENTURY DAY DAYS DECADE DECADES EXCLUDE EXPORT_STATE HOUR HOURS IGNORE MICROSECOND MICROSECONDS
    MILLENNIA MILLENNIUM MILLISECOND MILLISECONDS MINUTE MINUTES MONTH MONTHS PRECISION QUARTER QUARTERS RESPECT
    SECOND SECONDS VARYING WEEK WEEKS WITHIN WITHOUT YEAR YEARS""".split()  # noqa: SIM905
)
"""Words that would be read as part of the value before them, so that they name a column after AS alone."""

# Spaces for one reader and part of a name for the other, and comments that only templates know.
_STRANGE = re.compile(r"[\x01-\x08\x0e-\x1f\x7f\x85\u1680\u200b\u2028\u2029\ufeff]|\{#")
_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)


def check_spelling(sql: str) -> None:
    """Refuse a statement that has a plan but is not spelt as DuckDB spells it.

    >>> check_spelling("SELECT COUNT(*) FROM patients WHERE age BETWEEN 40 AND 50;")
    """
    tokens = sqlglot.tokenize(sql, dialect=DIALECT)
    _check_characters(sql, tokens)
    _Reader([token for token in tokens if token.token_type != TokenType.SEMICOLON]).statement()


def _check_characters(sql: str, tokens: list[Token]) -> None:
    quoted = [token for token in tokens if token.token_type in _QUOTED]
    starts, ends = [0, *(token.end + 1 for token in quoted)], [*(token.start for token in quoted), len(sql)]
    for start, end in zip(starts, ends, strict=True):
        found = _STRANGE.search(sql, start, end)
        if found:
            line = sql.count("\n", 0, found.start()) + 1
            raise SyntaxRefused(
                "QG101",
                "There is a character that has no place outside quotes.",
                "Type the statement anew there; invisible characters come with copied text.",
                span=Span(line, found.start() - sql.rfind("\n", 0, found.start())),
            )


class _Reader:
    """Walks over the words, one method for each line of the grammar. Nesting was bounded when the text was parsed."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    # -- words -------------------------------------------------------------------------------------------------

    def kind(self, ahead: int = 0) -> TokenType | None:
        return self.tokens[self.at + ahead].token_type if self.at + ahead < len(self.tokens) else None

    def word(self, ahead: int = 0) -> str:
        """The keyword or sign that comes, in capitals; empty for what is quoted, for a number, and at the end."""
        if self.kind(ahead) in (None, TokenType.NUMBER, *_QUOTED):
            return ""
        return self.tokens[self.at + ahead].text.upper()

    def take(self, *words: str) -> bool:
        """Step over these words if they come next."""
        found = all(self.word(i) == wanted for i, wanted in enumerate(words))
        self.at += len(words) if found else 0
        return found

    def need(self, found: bool) -> None:
        if not found:
            raise self.unexpected()

    def unexpected(self) -> Refusal:
        if self.at >= len(self.tokens):
            return SyntaxRefused("QG101", "The statement ends too early.", "Complete it.")
        return SyntaxRefused(
            "QG101",
            "The statement cannot be read as DuckDB's SQL from this place on.",
            "Correct the SQL at the place shown.",
            span=_span(self.tokens[self.at]),
        )

    # -- clauses -----------------------------------------------------------------------------------------------

    def statement(self) -> None:
        first = self.take("FROM")
        if first:
            self.source()
        self.need(self.take("SELECT"))
        self.take("ALL")
        self.listed(self.item)
        if not first:
            self.need(self.take("FROM"))
            self.source()
        if self.take("WHERE"):
            self.test()
        if self.take("GROUP BY"):
            self.listed(self.value)
        if self.take("ORDER BY"):
            self.listed(self.term)
        if self.take("LIMIT"):
            self.need(self.kind() == TokenType.NUMBER)
            self.at += 1
        self.need(self.at == len(self.tokens))

    def listed(self, one: Callable[[], None]) -> None:
        one()
        while self.take(","):
            one()

    def source(self) -> None:
        if self.kind() == TokenType.STRING:
            raise UnsupportedSQL(
                "QG205",
                "FROM takes the name of a dataset, not a text or a file.",
                "Write FROM and the dataset's name.",
                span=_span(self.tokens[self.at]),
            )
        named = self.prefix()
        self.name()
        if not named and (self.take("AS") or self.kind() in (TokenType.VAR, TokenType.IDENTIFIER)):
            self.name()

    def item(self) -> None:
        named = self.prefix()
        self.value()
        if not named and self.take("AS"):
            self.label()
        elif not named and self.kind() in (TokenType.VAR, TokenType.IDENTIFIER):
            self.need(self.word() not in NEED_AS)
            self.name()

    def term(self) -> None:
        self.value()
        _ = self.take("ASC") or self.take("DESC")
        _ = self.take("NULLS", "FIRST") or self.take("NULLS", "LAST")

    def prefix(self) -> bool:
        """`name:` before what it names."""
        if self.word(1) != ":":
            return False
        self.name()
        self.at += 1
        return True

    def label(self) -> None:
        """After AS a column may be called by any word, and by a text."""
        if self.kind() == TokenType.STRING or self.word()[:1].isidentifier():
            self.at += 1
        else:
            self.name()

    # -- conditions and values -----------------------------------------------------------------------------------

    def test(self) -> None:
        self.part()
        while self.take("AND") or self.take("OR"):
            self.part()

    def part(self) -> None:
        while self.take("NOT"):
            pass
        self.value()
        while self.suffix():
            pass

    def suffix(self) -> bool:
        if self.word() in COMPARISONS:
            self.at += 1
            self.value()
            return True
        if self.take("ISNULL") or self.take("NOTNULL") or self.take("NOT", "NULL"):
            return True
        if self.take("IS"):
            self.take("NOT")
            if self.take("DISTINCT", "FROM"):
                self.value()
            else:
                self.need(any(self.take(word) for word in ("NULL", "TRUE", "FALSE", "UNKNOWN")))
            return True
        negated = self.take("NOT")
        if self.take("IN"):
            self.need(self.take("("))
            self.closed_list()
            return True
        if self.take("BETWEEN"):
            self.take("ASYMMETRIC")
            self.value()
            self.need(self.take("AND"))
            self.value()
            return True
        self.need(not negated)
        return False

    def value(self) -> None:
        while self.take("-"):
            pass
        if self.kind() in (TokenType.NUMBER, TokenType.STRING):
            self.at += 1
        elif self.word() == "." and self.kind(1) == TokenType.NUMBER:  # .5 is two words to the parser
            self.need(self.tokens[self.at].end + 1 == self.tokens[self.at + 1].start)
            self.at += 2
        elif self.take("("):
            self.test()
            self.need(self.take(")"))
        elif self.take("CAST", "("):
            self.value()
            self.need(self.take("AS", "DATE", ")"))
        elif self.word(1) == "(":
            self.call()
        elif self.word() == "DATE" and self.kind(1) == TokenType.STRING:
            self.at += 2
        elif not any(self.take(word) for word in ("NULL", "TRUE", "FALSE")):
            self.name()
            if self.take("."):
                self.name()
        while self.take("::", "DATE"):
            pass

    def call(self) -> None:
        token = self.tokens[self.at]
        if token.text.upper() not in FUNCTIONS:
            raise UnsupportedSQL(
                "QG204",
                "This function is not available.",
                "Available are COUNT, SUM, AVG, MIN and MAX of a column.",
                span=_span(token),
            )
        self.at += 2
        if self.take("*"):
            self.need(self.take(")"))
        elif self.take("ALL"):
            self.need(self.word() != ")")
            self.closed_list()
        else:
            self.closed_list()

    def closed_list(self) -> None:
        """Values up to the closing bracket; there may be none."""
        if not self.take(")"):
            self.listed(self.value)
            self.need(self.take(")"))

    def name(self) -> None:
        """A quoted name that is not empty, or a word that is no keyword."""
        quoted = self.kind() == TokenType.IDENTIFIER and self.tokens[self.at].text != ""
        plain = self.word()[:1].isidentifier() and self.word() not in RESERVED
        self.need(quoted or plain)
        self.at += 1


def _span(token: Token) -> Span:
    length = token.end - token.start + 1
    return Span(token.line, max(1, token.col - length + 1), length)
