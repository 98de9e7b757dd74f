# A gate: its address, a key and perhaps a dataset. The key is in no printed form of it.

qg_connect <- function(url, key = Sys.getenv("QUERYGATE_KEY"), dataset = NULL, timeout_s = 60) {
  url <- sub("/+$", "", url)
  is_local <- grepl("^http://(127\\.0\\.0\\.1|localhost|\\[::1\\])(:[0-9]+)?(/|$)", url)
  if (!grepl("^https://", url) && !is_local) {
    stop("The address of the gate must be an https address.", call. = FALSE)
  }
  if (!nzchar(key)) {
    stop("There is no key. Put it into the environment variable QUERYGATE_KEY.", call. = FALSE)
  }
  hidden <- function() key
  structure(list(url = url, key = hidden, dataset = dataset, timeout_s = timeout_s), class = "qg_connection")
}

print.qg_connection <- function(x, ...) {
  about <- if (is.null(x$dataset)) "" else paste0(", dataset ", x$dataset)
  cat("<QueryGate at ", x$url, about, ">\n", sep = "")
  invisible(x)
}

# One request. What got lost on the way is sent again; a question has a name of its own, so it stays one question.
qg_call <- function(gate, path, body = NULL, once = FALSE) {
  request <- httr2::request(paste0(gate$url, "/api/v1", path))
  request <- httr2::req_headers(request, Authorization = paste("Bearer", gate$key()), Accept = "application/json")
  request <- httr2::req_user_agent(request, paste0("querygate-r/", client_version()))
  request <- httr2::req_timeout(request, gate$timeout_s)
  request <- httr2::req_options(request, followlocation = FALSE)
  if (!is.null(body)) request <- httr2::req_body_json(request, body, auto_unbox = TRUE, digits = NA)
  if (once) request <- httr2::req_headers(request, `Idempotency-Key` = new_name())
  request <- httr2::req_error(request, is_error = function(response) FALSE)
  response <- send(request, pauses_s = c(0.2, 0.5, 1))
  found <- read_json(response)
  if (httr2::resp_status(response) >= 300) refuse(found)
  list(status = httr2::resp_status(response), body = found, policy = httr2::resp_header(response, "X-QueryGate-Policy"))
}

later <- c("QG314", "QG317", "QG318", "QG325", "QG804")

send <- function(request, pauses_s) {
  for (pause_s in c(pauses_s, NA)) {
    response <- tryCatch(httr2::req_perform(request), httr2_http = stop, error = function(error) NULL)
    if (is.null(response)) {
      if (is.na(pause_s)) stop("Nothing answers at this address.", call. = FALSE)
    } else {
      asked <- httr2::resp_header(response, "Retry-After")
      asked_s <- if (is.null(asked)) NA else suppressWarnings(as.numeric(asked))
      may_pass <- httr2::resp_status(response) %in% c(409, 429, 502, 503, 504) &&
        isTRUE(read_json(response)$code %in% later) && (is.na(asked_s) || asked_s <= 30)
      if (is.na(pause_s) || !may_pass) return(response)
      if (!is.na(asked_s)) pause_s <- asked_s
    }
    Sys.sleep(pause_s)
  }
}

read_json <- function(response) {
  text <- httr2::resp_body_string(response, encoding = "UTF-8")
  # Whole numbers beyond 2^53 stay texts: a double could move an end of a range inwards.
  tryCatch(
    jsonlite::fromJSON(text, simplifyVector = FALSE, bigint_as_char = TRUE),
    error = function(error) stop("The server at this address is not a gate.", call. = FALSE)
  )
}

# A refusal is a condition of its own: tryCatch(..., qg_refusal = function(refused) refused$suggestion)
refuse <- function(problem) {
  if (is.null(problem$code)) stop("The server at this address is not a gate.", call. = FALSE)
  kept <- problem[c("code", "title", "detail", "remedy", "suggestion", "span", "query_id")]
  names(kept) <- c("code", "title", "detail", "remedy", "suggestion", "span", "query_id")
  stop(structure(class = c("qg_refusal", "error", "condition"), c(kept, list(message = problem$detail, call = NULL))))
}

conditionMessage.qg_refusal <- function(c) {
  lines <- c(paste(c$code, c$detail), c$remedy, if (!is.null(c$suggestion)) paste("Try:", c$suggestion))
  paste(lines, collapse = "\n")
}

new_name <- function() {
  # Not from R's random numbers: a script that sets a seed would give two questions one name.
  paste0(format(Sys.time(), "%Y%m%d%H%M%OS6"), "-", Sys.getpid(), "-", basename(tempfile("")))
}

client_version <- function() as.character(getNamespaceVersion("querygate"))
