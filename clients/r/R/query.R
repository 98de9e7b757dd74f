# Questions and answers.

qg_query <- function(gate, sql, dataset = gate$dataset, mode = NULL, epsilon = NULL) {
  found <- qg_call(gate, "/query", question(sql, dataset, mode, epsilon), once = TRUE)
  if (found$status == 202) found <- await_job(gate, found$body$job)
  make_answer(found$body, found$policy)
}

# A model: like an answer, a row for each term, and how the formula was read in attr(found, "querygate")$model.
qg_fit <- function(gate, family, formula, dataset = gate$dataset, where = NULL, exposure = NULL, reference = NULL,
                   weights = NULL) {
  if (is.null(dataset)) stop("Say which dataset the model is about.", call. = FALSE)
  if (inherits(formula, "formula")) formula <- formula_text(formula)
  more <- list(where = where, exposure = exposure, reference = as.list(reference), weights = as.list(weights))
  body <- c(list(dataset = dataset, family = family, formula = formula), more[lengths(more) > 0])
  make_answer(qg_call(gate, "/model", body)$body)
}

# A formula of R for the gate: names stay in backticks, and texts get the single quotes of SQL.
formula_text <- function(formula) {
  text <- paste(deparse(formula, width.cutoff = 500L), collapse = " ")
  found <- gregexpr("`[^`]*`|\"(\\\\.|[^\"\\\\])*\"", text, perl = TRUE)
  regmatches(text, found) <- lapply(regmatches(text, found), function(parts) {
    is_text <- startsWith(parts, "\"")
    values <- vapply(parts[is_text], function(part) as.character(str2lang(part)), "")
    parts[is_text] <- paste0("'", gsub("'", "''", values, fixed = TRUE), "'")
    parts
  })
  text
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
