# What needs no gate: ranges, their texts, and ends that no double can hold.
library(querygate)

found <- qg_range(c(127.41237, 30, NA, -Inf), c(131.88811, 30, NA, Inf), c(129, 30, NA, 0), may_be_null = c(FALSE, FALSE, TRUE, TRUE))
stopifnot(
  length(found) == 4,
  identical(format(found), c("127.41 .. 131.89 (about 129)", "30 exactly", "NULL", "-Inf .. Inf or NULL (about 0)")),
  identical(qg_low(found[1]), 127.41237),
  nrow(data.frame(a = 1:4, b = found)) == 4
)

number <- querygate:::number
stopifnot(
  number("9007199254740993", -1) <= 2^53, number("9007199254740993", 1) > 2^53,
  number(3, -1) == 3, is.na(number(NA, 1)), number("inf", 1) == Inf
)

ends <- querygate:::end_text
for (value in c(1e-300, 123.4567891, 1e300, -5.4321e-7, 0, 2^53, 0.1 + 0.2, 5e-324, -99999.999999, -1e-300)) {
  for (width in c(1e-9, 0.3, 7.77, 1e6)) {
    stopifnot(as.numeric(ends(value, value, value + width, floor)) <= value)
    stopifnot(as.numeric(ends(value, value - width, value, ceiling)) >= value)
  }
}

wrong <- tryCatch(qg_connect("http://gate.example.org", "k"), error = conditionMessage)
stopifnot(grepl("https", wrong))
stopifnot(!any(grepl("secret", capture.output(print(qg_connect("https://gate.example.org", "secret"))))))
