"""Systems of diagnosis codes that several packages read, one file for each."""
