# What an answer says of itself stays with its parts, and with the flat form.

qg_provenance <- function(answer) {
  told <- attr(answer, "querygate")
  told[intersect(c("query_id", "dataset", "version", "policy_hash", "mode", "notes"), names(told))]
}

# Each range as plain columns: name_low, name_high, name_estimate, name_may_be_null and name_sharp.
qg_flat <- function(answer) {
  parts <- lapply(names(answer), function(name) {
    column <- answer[[name]]
    if (!inherits(column, "qg_range")) return(setNames(list(column), name))
    fields <- c("low", "high", "estimate", "may_be_null", "sharp")
    setNames(lapply(fields, function(field) vctrs::field(column, field)), paste(name, fields, sep = "_"))
  })
  columns <- do.call(c, c(list(list()), parts))
  names(columns) <- make.unique(as.character(names(columns)), sep = "_")
  found <- vctrs::new_data_frame(columns, n = nrow(answer))
  attr(found, "querygate") <- attr(answer, "querygate")
  found
}

`[.qg_answer` <- function(x, ...) {
  found <- NextMethod()
  if (is.data.frame(found)) attr(found, "querygate") <- attr(x, "querygate")
  found
}

# Rows of two answers are no answer of their own: they stay one only where both are parts of the same.
rbind.qg_answer <- function(..., deparse.level = 1, stringsAsFactors = FALSE) {
  given <- Filter(Negate(is.null), list(...))
  plain <- lapply(given, as.data.frame)
  found <- vctrs::vec_rbind(!!!lapply(plain, without_provenance))
  told <- unique(lapply(given, attr, "querygate"))
  if (length(told) > 1 || is.null(told[[1]])) return(found)
  attr(found, "querygate") <- told[[1]]
  class(found) <- c("qg_answer", class(found))
  found
}

without_provenance <- function(frame) {
  attr(frame, "querygate") <- NULL
  frame
}

print.qg_answer <- function(x, ...) {
  told <- attr(x, "querygate")
  shown <- as.data.frame(lapply(x, format), check.names = FALSE, stringsAsFactors = FALSE)
  names(shown) <- names(x)
  print(shown, row.names = FALSE, right = FALSE)
  for (note in told$notes) cat(note, "\n", sep = "")
  if (!is.null(told)) cat(told$dataset, ", version ", told$version, "; ", told$query_id, "\n", sep = "")
  invisible(x)
}

# A bar for each range, and a tick for its estimate.
plot.qg_answer <- function(x, column = NULL, ...) {
  told <- attr(x, "querygate")
  is_range <- vapply(x, inherits, TRUE, "qg_range")
  if (is.null(column)) column <- names(x)[is_range][1]
  ranges <- x[[column]]
  if (!inherits(ranges, "qg_range")) stop("This column has no ranges.", call. = FALSE)
  low <- as.numeric(qg_low(ranges))
  high <- as.numeric(qg_high(ranges))
  noisy <- Filter(function(one) one$kind == "noisy", told$columns)
  is_key <- !is_range & !names(x) %in% vapply(noisy, function(one) one$name, "")
  keys <- lapply(names(x)[is_key], function(name) as.character(x[[name]]))
  labels <- if (length(keys)) do.call(paste, c(keys, sep = ", ")) else rep("", length(low))
  drawn <- is.finite(low) & is.finite(high)
  before <- par(mar = c(4, 4 + max(0, nchar(labels)) / 2, 2, 1))
  on.exit(par(before))
  plot.new()
  plot.window(xlim = if (any(drawn)) range(low[drawn], high[drawn]) else c(0, 1), ylim = c(length(low) + 0.5, 0.5))
  rows <- seq_along(low)
  segments(low[drawn], rows[drawn], high[drawn], rows[drawn], lwd = 6, col = "steelblue", lend = 1)
  points(as.numeric(qg_estimate(ranges))[drawn], rows[drawn], pch = "|")
  axis(1)
  axis(2, at = rows, labels = labels, las = 1, tick = FALSE)
  title(main = if (!is.null(told)) paste0(told$dataset, ", version ", told$version), xlab = column)
  invisible(x)
}
