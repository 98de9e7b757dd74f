"""Functions that the gate knows of a column with few values alone, as texts with a place for it."""

from __future__ import annotations

NUMBERS_OF_INTEGER = (
    "ACOS({x} / 1e6)", "ACOSH(ABS({x}) + 1)", "ASIN({x} / 1e6)", "ASINH({x})", "ATAN({x})", "ATAN2({x}, 2)",
    "ATANH({x} / 1e6)", "COS({x})", "COSH({x} / 1e6)", "COT({x} + 0.5)", "DEGREES({x})", "FDIV({x}, 7)",
    "FMOD({x}, 7)", "GAMMA(ABS({x}) % 9 + 1)", "LGAMMA(ABS({x}) + 1)", "RADIANS({x})", "ROUND_EVEN({x} / 7, 1)",
    "ROUNDBANKERS({x} / 7, 1)", "SIN({x})", "SINH({x} / 1e6)", "TAN({x})", "TANH({x})",
)  # fmt: skip

INTEGERS_OF_INTEGER = (
    "({x} & 3)", "({x} | 4)", "XOR({x}, 5)", "(~{x})", "((ABS({x}) % 100) << 2)", "({x} >> 1)",
    "CAST(BIT_COUNT({x}) AS BIGINT)",
)  # fmt: skip

TEXTS_OF_INTEGER = ("HEX({x})", "BIN(ABS({x}) % 8)", "TO_BASE(ABS({x}) % 8, 3)")

NUMBERS_OF_TEXT = (
    "LEVENSHTEIN({x}, 'ab')", "DAMERAU_LEVENSHTEIN({x}, 'ba')", "HAMMING(LEFT({x} || 'aa', 2), 'ab')",
    "JACCARD({x} || 'a', 'ab')", "JARO_SIMILARITY({x}, 'ab')", "JARO_WINKLER_SIMILARITY({x}, 'ab')",
    "ASCII({x})", "UNICODE({x})", "ORD({x})", "STRLEN({x})", "BIT_LENGTH({x})",
)  # fmt: skip

TEXTS_OF_TEXT = ("MD5({x})", "STRIP_ACCENTS({x})", "NFC_NORMALIZE({x})", "TRANSLATE({x}, 'ab', 'ba')")

CONDITIONS_OF_TEXT = ("PREFIX({x}, 'a')", "SUFFIX({x}, 'b')")

CONDITIONS_OF_INTEGER = ("SIGNBIT({x})", "ISINF({x} / 2)")

INTEGERS_OF_DATE = (
    "DAYOFMONTH({x})", "HOUR({x})", "WEEKOFYEAR({x})", "DECADE({x})", "CENTURY({x})", "MILLENNIUM({x})", "ERA({x})",
    "ISOYEAR({x})", "WEEKDAY({x})", "YEARWEEK({x})", "DATEPART('year', {x})",
    "DATESUB('month', {x}, DATE '2004-01-01')", "CAST(JULIAN({x}) AS BIGINT)", "CAST(EPOCH({x}) AS BIGINT)",
)  # fmt: skip
