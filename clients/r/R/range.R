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

format.qg_range <- function(x, digits = 6, ...) {
  low <- qg_low(x)
  high <- qg_high(x)
  told <- ifelse(
    is.na(low), "NULL",
    ifelse(low == high, paste(end_text(low, digits, -1), "exactly"),
           paste(end_text(low, digits, -1), "..", end_text(high, digits, 1)))
  )
  told <- ifelse(vctrs::field(x, "may_be_null") & !is.na(low), paste(told, "or NULL"), told)
  likely <- qg_estimate(x)
  has_likely <- !is.na(likely) & !is.na(low) & low != high
  shown <- if (is.numeric(likely)) vapply(likely, function(one) format(signif(one, digits), digits = 15), "") else likely
  ifelse(has_likely, paste0(told, " (about ", shown, ")"), told)
}

# Few digits, and rounded away from the middle: what is shown is still guaranteed.
end_text <- function(value, digits, towards) {
  if (!is.numeric(value)) return(as.character(value))
  places <- ifelse(is.finite(value) & value != 0, digits - 1 - floor(log10(abs(value))), 0)
  scale <- 10^pmin(pmax(places, 0), 15)
  whole <- is.finite(value) & value == round(value)
  rounded <- if (towards < 0) floor(value * scale) / scale else ceiling(value * scale) / scale
  moved <- if (towards < 0) rounded > value else rounded < value
  shown <- ifelse(whole | !is.finite(value) | moved, value, rounded)
  vapply(shown, function(one) format(one, digits = 15, trim = TRUE), "")
}

vec_ptype_abbr.qg_range <- function(x, ...) "range"
vec_ptype_full.qg_range <- function(x, ...) "range"
