"""Commands for papers and programs: files of queries, citations, histories, dummy rows."""
