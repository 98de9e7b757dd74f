# A range as a person reads it: three digits of its width, and rounding that never moves an end inwards.

most_digits <- 6

range_text <- function(low, high, estimate, may_be_null) {
  if (is.na(low)) return("NULL")
  rounded <- rounded_value(low, high)
  told <- if (low == high) {
    paste(own_text(low), "exactly")
  } else if (!is.null(rounded)) {
    paste(rounded, "(rounded)")
  } else {
    paste(end_text(low, low, high, floor), "..", end_text(high, low, high, ceiling))
  }
  if (may_be_null) told <- paste(told, "or NULL")
  if (is.na(estimate) || low == high || !is.null(rounded)) return(told)
  paste0(told, " (about ", about_text(estimate, low, high), ")")
}

# The place of the last digit: three digits of the width, but no more than are worth reading.
last_place <- function(low, high) {
  sizes <- abs(c(low, high))
  finite <- is.finite(sizes)
  finest <- floor(log10(min(1, sum(sizes[finite])))) - most_digits
  if (all(finite)) max(floor(log10(high - low)) - 2, finest) else finest
}

# A multiple of 10^place at the end or beyond it, or the end itself where its own text has no more digits.
end_text <- function(value, low, high, towards) {
  if (is_told_whole(value, low, high)) return(own_text(value))
  place <- last_place(low, high)
  if (value != 0 && abs(value) < 10^place) place <- floor(log10(abs(value))) - 1
  if (place < -300 || round(value, -place) == value) return(own_text(value))
  steps <- towards(value / 10^place) + (if (identical(towards, floor)) c(1, 0, -1) else c(-1, 0, 1))
  texts <- vapply(steps, function(step) digits_text(step, place), "")
  is_beyond <- if (identical(towards, floor)) as.numeric(texts) <= value else as.numeric(texts) >= value
  c(texts[is_beyond], own_text(value))[1]
}

about_text <- function(value, low, high) {
  place <- if (is_told_whole(value, low, high)) NA else last_place(low, high)
  if (is.na(place) || place < -300) own_text(value) else digits_text(round(value / 10^place), place)
}

# Dates, texts, infinite ends and whole numbers have no digits to leave out.
is_told_whole <- function(value, low, high) {
  if (!is.numeric(value) || !is.finite(value)) return(TRUE)
  all(abs(c(low, high)) < 2^53) && low == round(low) && high == round(high) && value == round(value)
}

# The number that every value of a range rounds to; NULL where the range is wider than the digits that are shown.
rounded_value <- function(low, high) {
  if (!is.numeric(low) || low == high || is_told_whole(low, low, high) || !is.finite(high)) return(NULL)
  size <- floor(log10(max(abs(low), abs(high))))
  if (size < -290 || high - low > 10^(min(0, size) - most_digits)) return(NULL)
  for (place in min(0, size - most_digits + 1) - 0:3) {
    both <- round(c(low, high) / 10^place)
    if (both[1] == both[2] && both[1] != 0) return(digits_text(both[1], place))
  }
  NULL
}

# Read from its digits: a power of ten is not always a double.
digits_text <- function(steps, place) own_text(as.numeric(sprintf("%.0fe%d", steps, as.integer(place))))

# The shortest text that is read back as this very number; as a power of ten where that is shorter to read.
own_text <- function(value) {
  if (!is.numeric(value)) return(as.character(value))
  is_long <- is.finite(value) && value != 0 && !(abs(value) > 1e-7 && abs(value) < 1e16)
  texts <- vapply(15:17, function(digits) format(value + 0, digits = digits, scientific = is_long), "")
  c(texts[as.numeric(texts) == value], texts[3])[1]
}
