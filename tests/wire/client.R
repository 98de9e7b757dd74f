# A session as an epidemiologist has it: what is there, a question, a refusal, and the same with dplyr.
suppressPackageStartupMessages({
  library(DBI)
  library(dplyr)
})
connection <- dbConnect(
  RPostgreSQL::PostgreSQL(), host = "127.0.0.1", port = as.integer(Sys.getenv("PORT")), user = "ann",
  password = Sys.getenv("PGPASSWORD"), dbname = "querygate"
)
print(dbListTables(connection))
print(dbListFields(connection, "survey"))
invisible(dbExecute(connection, "SET querygate.interval = 'columns'"))
print(dbGetQuery(connection, "SELECT COUNT(*) FROM survey WHERE age >= 20")[, 1:2])
refused <- tryCatch(dbGetQuery(connection, "SELECT age FROM survey"), error = conditionMessage, warning = conditionMessage)
cat(grepl("SELECT age FROM survey", paste(refused, collapse = " ")), "\n")
found <- suppressWarnings(tbl(connection, "survey")) %>%
  filter(age >= 20L) %>%
  summarise(n = n()) %>%
  collect()
print(as.data.frame(found[, 1:2]))
invisible(dbDisconnect(connection))
