"""One query from top to bottom: `answer` is the specification, the other files are its steps."""
