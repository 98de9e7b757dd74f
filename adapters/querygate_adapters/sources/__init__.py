"""Where raw data comes from: files, PostgreSQL, Spark. Only custody imports this."""
