"""Publications whose raw rows stay in Spark, and stores that Spark serves."""
