# A range as a column: both ends are guaranteed, the estimate is likely. It works in data frames and tibbles.

qg_range <- function(low = double(), high = double(), estimate = NA, sharp = FALSE, may_be_null = FALSE) {
  fields <- vctrs::vec_recycle_common(
    low = low, high = high, estimate = vctrs::vec_cast(estimate, low), sharp = sharp, may_be_null = may_be_null
  )
  vctrs::new_rcrd(fields, class = "qg_range")
}

qg_low <- function(x) vctrs::field(x, "low")
qg_high <- function(x) vctrs::field(x, "high")
qg_estimate <- function(x) vctrs::field(x, "estimate")

# Data frames pass `digits`, at times NULL: how many are shown follows from the width of each range, as in Python.
format.qg_range <- function(x, ...) {
  shown <- Map(
    range_text, as.list(qg_low(x)), as.list(qg_high(x)), as.list(qg_estimate(x)), vctrs::field(x, "may_be_null")
  )
  vapply(shown, identity, "", USE.NAMES = FALSE)
}

summary.qg_range <- function(object, ...) {
  low <- qg_low(object)
  known <- !is.na(low)
  told <- c(
    Ranges = length(object), Exact = sum(known & low == qg_high(object)),
    `May be NULL` = sum(vctrs::field(object, "may_be_null")),
    Lowest = if (any(known)) own_text(min(low[known])) else "NULL",
    Highest = if (any(known)) own_text(max(qg_high(object)[known])) else "NULL"
  )
  structure(told, class = c("summaryDefault", "table"))
}

# rbind() of data frames assigns beyond the end.
`[<-.qg_range` <- function(x, i, value) {
  if (missing(i)) i <- seq_along(x)
  past <- if (is.numeric(i)) max(0, i) - length(x) else 0
  if (past > 0) x <- vctrs::vec_slice(x, c(seq_along(x), rep(NA_integer_, past)))
  vctrs::vec_assign(x, i, value)
}

vec_cast.character.qg_range <- function(x, to, ...) format(x)

vec_ptype_abbr.qg_range <- function(x, ...) "range"
vec_ptype_full.qg_range <- function(x, ...) "range"
