# Questions and answers.

qg_query <- function(gate, sql, dataset = gate$dataset, mode = NULL, epsilon = NULL) {
  found <- qg_call(gate, "/query", question(sql, dataset, mode, epsilon), once = TRUE)
  if (found$status == 202) found <- await_job(gate, found$body$job)
  make_answer(found$body, found$policy)
}

qg_check <- function(gate, sql, dataset = gate$dataset, mode = NULL) {
  qg_call(gate, "/query/check", question(sql, dataset, mode, NULL))$body
}

qg_datasets <- function(gate) {
  found <- qg_call(gate, "/datasets")$body$datasets
  data.frame(
    dataset = texts(found, "dataset"), title = texts(found, "title"),
    version = vapply(found, function(one) as.integer(one$version), 1L),
    k = vapply(found, function(one) as.integer(one$k), 1L), stringsAsFactors = FALSE
  )
}

qg_describe <- function(gate, dataset = gate$dataset) {
  told <- qg_call(gate, paste0("/datasets/", escaped(dataset)))$body
  columns <- told$columns
  found <- data.frame(
    name = texts(columns, "name"), type = texts(columns, "type"), role = texts(columns, "role"),
    title = texts(columns, "title"), stringsAsFactors = FALSE
  )
  attr(found, "policy") <- unlist(told$policy)
  attr(found, "examples") <- unlist(told$examples)
  found
}

qg_history <- function(gate, limit = 20) {
  found <- qg_call(gate, paste0("/history?limit=", as.integer(limit)))$body$entries
  data.frame(
    time = texts(found, "time"), answer = texts(found, "id"), dataset = texts(found, "dataset"),
    outcome = texts(found, "outcome"), sql = texts(found, "sql"), stringsAsFactors = FALSE
  )
}

question <- function(sql, dataset, mode, epsilon) {
  if (is.null(dataset)) stop("Say which dataset the statement is about.", call. = FALSE)
  options <- list(mode = mode, epsilon = epsilon)
  options <- options[!vapply(options, is.null, TRUE)]
  c(list(dataset = dataset, sql = sql), if (length(options)) list(options = options))
}

await_job <- function(gate, job, longest_s = 600) {
  until <- Sys.time() + longest_s
  repeat {
    found <- qg_call(gate, paste0("/jobs/", escaped(job)))
    if (!is.null(found$body$finished)) break
    if (Sys.time() > until) stop("The job ", job, " still runs.", call. = FALSE)
    Sys.sleep(0.5)
  }
  if (!is.null(found$body$problem)) refuse(found$body$problem)
  list(body = found$body$result, policy = found$policy)
}

# A data frame with a column for each of the select list; what the answer says of itself is an attribute.
make_answer <- function(body, policy = NULL) {
  names <- vapply(body$columns, function(column) column$name, "")
  columns <- lapply(body$columns, function(column) {
    cells <- lapply(body$rows, function(row) row[[column$name]])
    switch(column$kind,
      key = values(cells, column$type),
      range = qg_range(
        values(lapply(cells, `[[`, "low"), column$type, -1), values(lapply(cells, `[[`, "high"), column$type, 1),
        values(lapply(cells, `[[`, "estimate"), column$type),
        vapply(cells, function(cell) cell$sharp, TRUE), vapply(cells, function(cell) cell$may_be_null, TRUE)
      ),
      noisy = vapply(cells, function(cell) as.numeric(cell$value), 1)
    )
  })
  found <- vctrs::new_data_frame(setNames(columns, names), n = length(body$rows))
  kept <- setdiff(names(body), "rows")
  attr(found, "querygate") <- c(body[kept], list(policy_hash = policy))
  class(found) <- c("qg_answer", class(found))
  found
}

# `towards` says to which side an end that no double can hold is moved: -1 down, 1 up.
values <- function(cells, type, towards = 0) {
  missing <- vapply(cells, is.null, TRUE)
  cells[missing] <- NA
  if (type %in% c("integer", "number")) return(vapply(cells, number, 1, towards = towards))
  if (type == "boolean") return(vapply(cells, as.logical, TRUE))
  text <- vapply(cells, as.character, "")
  if (type == "date") as.Date(text) else text
}

number <- function(cell, towards) {
  value <- as.numeric(cell)
  is_long <- is.character(cell) && is.finite(value)
  if (is_long) value + towards * abs(value) * 2^-52 else value
}

texts <- function(found, name) {
  vapply(found, function(one) if (is.null(one[[name]])) NA_character_ else as.character(one[[name]]), "")
}

escaped <- function(text) utils::URLencode(text, reserved = TRUE)

qg_provenance <- function(answer) {
  told <- attr(answer, "querygate")
  told[intersect(c("query_id", "dataset", "version", "policy_hash", "mode", "notes"), names(told))]
}

print.qg_answer <- function(x, ...) {
  told <- attr(x, "querygate")
  shown <- as.data.frame(lapply(x, format), check.names = FALSE, stringsAsFactors = FALSE)
  names(shown) <- names(x)
  print(shown, row.names = FALSE, right = FALSE)
  for (note in told$notes) cat(note, "\n", sep = "")
  cat(told$dataset, ", version ", told$version, "; ", told$query_id, "\n", sep = "")
  invisible(x)
}

# A bar for each range, and a tick for its estimate.
plot.qg_answer <- function(x, column = NULL, ...) {
  told <- attr(x, "querygate")
  kinds <- vapply(told$columns, function(one) one$kind, "")
  names <- vapply(told$columns, function(one) one$name, "")
  if (is.null(column)) column <- names[kinds == "range"][1]
  ranges <- x[[column]]
  if (!inherits(ranges, "qg_range")) stop("This column has no ranges.", call. = FALSE)
  low <- as.numeric(qg_low(ranges))
  high <- as.numeric(qg_high(ranges))
  keys <- lapply(names[kinds == "key"], function(name) as.character(x[[name]]))
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
  title(main = paste0(told$dataset, ", version ", told$version), xlab = column)
  invisible(x)
}
