"""What tools send that take the gate for a PostgreSQL server: questions with parameters, and looks at the catalog."""
