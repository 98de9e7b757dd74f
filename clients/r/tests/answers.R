# What data frames go through: whatever is done to an answer can be printed, and says where it comes from.
library(querygate)

cell <- function(low, high, estimate) list(low = low, high = high, estimate = estimate, sharp = TRUE, may_be_null = is.null(low))
columns <- list(
  list(name = "sex", kind = "key", type = "category"), list(name = "m", kind = "range", type = "number"),
  list(name = "day", kind = "range", type = "date")
)
rows <- list(
  list(sex = "female", m = cell(123.48512, 124.78699, 124.157), day = cell("2024-01-01", "2024-02-01", "2024-01-09")),
  list(sex = "male", m = cell(NULL, NULL, NULL), day = cell("2024-01-01", "2024-01-01", "2024-01-01"))
)
make <- function(id, rows) {
  about <- list(query_id = id, dataset = "survey", version = 1L, mode = "interval", notes = list("A note."))
  querygate:::make_answer(c(about, list(columns = columns, rows = rows)))
}
answer <- make("q_1", rows)
plain <- as.data.frame(answer)
printed <- function(x) paste(capture.output(print(x)), collapse = "\n")
shows <- function(x, text = "123.48 .. 124.79 (about 124.16)") grepl(text, printed(x), fixed = TRUE)
footer <- "survey, version 1; q_1"

stopifnot(
  shows(answer), shows(answer, "2024-01-01 .. 2024-02-01 (about 2024-01-09)"), shows(answer, footer),
  shows(plain), shows(data.frame(x = 1:2, m = answer$m)), shows(merge(answer, answer, by = "sex")),
  shows(rbind(answer, answer), footer), nrow(rbind(answer, answer)) == 4, nrow(rbind(plain, plain)) == 4,
  shows(rbind(plain, plain)), shows(summary(answer), "123.48512"), shows(make("q_1", list()), footer)
)

# Parts keep where they come from; rows of two answers are of neither.
for (part in list(answer[1, ], answer["m"], subset(answer, sex == "male"), head(answer, 1), transform(answer))) {
  stopifnot(identical(attr(part, "querygate"), attr(answer, "querygate")))
}
both <- rbind(answer, make("q_2", rows))
stopifnot(is.null(attr(both, "querygate")), nrow(both) == 4, shows(both), !shows(both, "version"))
attr(answer, "querygate") <- NULL
stopifnot(shows(answer), !shows(answer, "version"))
pdf(NULL)
plot(answer["m"])

flat <- qg_flat(make("q_1", rows))
stopifnot(
  identical(names(flat)[1:6], c("sex", "m_low", "m_high", "m_estimate", "m_may_be_null", "m_sharp")),
  identical(flat$m_low, c(123.48512, NA)), identical(flat$m_may_be_null, c(FALSE, TRUE)),
  inherits(flat$day_high, "Date"), qg_provenance(flat)$query_id == "q_1",
  identical(dim(qg_flat(make("q_1", list()))), c(0L, 11L))
)
file <- tempfile(fileext = ".csv")
write.csv(flat, file, row.names = FALSE)
stopifnot(identical(read.csv(file)$m_low, flat$m_low))
write.csv(plain, file)
stopifnot(any(grepl("123.48 .. 124.79", readLines(file), fixed = TRUE)))

# Formulas: a text right of a comparison is a value, and a name in backticks is a name.
sent <- function(formula) querygate:::formula_text(formula)
stopifnot(
  identical(sent(BMI ~ (Geschlecht == "m")), "BMI ~ (Geschlecht == 'm')"),
  identical(sent(`Blutdruck "s"` ~ bands(`HbA1c (%)`, 6)), "`Blutdruck \"s\"` ~ bands(`HbA1c (%)`, 6)"),
  identical(sent(y ~ (a == "it's \"so\"") + (b != "")), "y ~ (a == 'it''s \"so\"') + (b != '')"),
  identical(sent(y ~ a + b), "y ~ a + b")
)
